"""What kind of work a SASS opcode is: the groups of the instruction mix."""

from __future__ import annotations

from functools import cache

__all__ = ["GROUPS", "group_of"]

# One line a group: opcodes as the CUDA binary utilities list them, without modifiers. First match wins;
# a trailing * matches any ending.
_TABLE = """
tensor     HMMA IMMA BMMA DMMA QMMA OMMA *GMMA UTC*MMA WARPGROUP*
async      UBLKCP UBLKRED UBLKPF UTMA* LDGSTS ARRIVES LDGDEPBAR SYNCS UTCCP UTCSHIFT UTCBAR UTCATOMSWS
float32    FADD* FMUL* FFMA* FMNMX* FSEL FSET FSETP FSWZADD FCHK
float16    HADD2* HMUL2* HFMA2* HMNMX2 HSET2 HSETP2
float64    DADD DMUL DFMA DSETP DMNMX DSET
special    MUFU
convert    F2F* F2I* I2F* I2I* I2FP* F2IP I2IP FRND*
shared     LDS* STS* ATOMS* LDSM STSM MOVM LDTM STTM
local      LDL* STL*
global     LDG* STG* LD ST CCTL* CCTLL CCTLT PREFETCH
atomic     ATOM ATOMG* RED REDG REDAS
constant   LDC LDCU ULDC
warp       SHFL VOTE VOTEU MATCH REDUX CREDUX ELECT
sync       BAR* MEMBAR FENCE* ERRBAR DEPBAR* UCGABAR* CGAERRBAR UMEMBAR USETMAXREG WARPSYNC* NANOSLEEP ACQBULK
sync       BSYNC* BSSY* BMOV*
control    BRA BRX* JMP JMX* CALL RET EXIT BREAK KILL NOP YIELD BPT RPCMOV RTT ACQSHMINIT PREEXIT PMTRIG
texture    TEX TLD* TMML TXD TXQ SU*
move       MOV* UMOV PRMT SEL USEL S2R S2UR CS2R* R2UR R2P P2R UP2UR P2UR UR2UP R2B B2R LEPC UPLOP3 PLOP3
move       SGXT USGXT GETLMEMBASE SETLMEMBASE
integer    IADD* IMAD* IMUL* ISETP* ISET IMNMX* VIMNMX* VIADD* LEA* LOP* SHF* SHL SHR XMAD ISCADD*
integer    IABS IDP* BREV POPC FLO BMSK ISAD SCADD VABSDIFF* QSPC BFE BFI
uniform    U*
"""

GROUPS = (*dict.fromkeys(line.split()[0] for line in _TABLE.strip().splitlines()), "other")


@cache
def group_of(opcode: str) -> str:
    """Group of an opcode; modifiers after the first dot do not count: `LDG.E.128` is "global"."""
    word = opcode.partition(".")[0]
    for line in _TABLE.strip().splitlines():
        name, *patterns = line.split()
        if any(_matches(word, pattern) for pattern in patterns):
            return name
    return "other"


def _matches(word: str, pattern: str) -> bool:
    head, star, tail = pattern.partition("*")
    return word == pattern if not star else word.startswith(head) and word[len(head):].endswith(tail)
