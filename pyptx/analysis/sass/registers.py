"""Which registers a machine instruction reads and writes, and what it is apart from their numbers.

Nothing documents this for SASS; the tables below are held against `nvdisasm -lrm wide` by tests/analysis. Where they
cannot know, they err on the side of reading: a register taken for read, or not for written, makes a comparison
stricter and never wrong.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

__all__ = ["READ", "READ_WRITE", "WRITE", "Field", "Shape", "fields", "shape"]

READ, WRITE, READ_WRITE = 1, 2, 3                      # READ_WRITE: a guarded write may leave what was there

_REGISTER = re.compile(r"(?<![\w.])(UR|UP|R|P|B)(\d+)(?:\.(64|U32)\b)?(?:\.reuse)?")
_NO_RESULT = re.compile(
    r"(ST|RED(?!UX)|BRA|BRX|EXIT|BAR|MEMBAR|CCTL|ERRBAR|DEPBAR|LDGDEPBAR|LDGSTS|ARRIVES|UTMA|UBLK|UTC(?!ATOMSWS)|WARPSYNC|NANOSLEEP"
    r"|BSYNC|RET|CALL|JMP|KILL|YIELD|NOP|FENCE|UCGABAR|USETMAXREG|WARPGROUP|PREEXIT|ACQBULK|BREAK|BMOV|BPT|PREFETCH|R2P"
    r"|UMEMBAR|UGETNEXTWORKID|SUST|SURED|CGAERRBAR)")
_PREDICATE_FIRST = re.compile(r"UTCATOMSWS|SHFL|U?LOP3|ATOM|ELECT|MATCH|CREDUX|R2UR|REDUX|LDG|LD$|SUATOM|SYNCS|QSPC")
_NOTE = re.compile(r"\s*\(\*.*\*\)")                    # nvdisasm names the targets of an indirect branch
_LAST_WORD = re.compile(r"\S+$")
_SIGNS = "-+!~|"
_MMA = {"884": (8, 8, 4), "8816": (8, 8, 16), "8832": (8, 8, 32), "88128": (8, 8, 128), "1684": (16, 8, 4),
        "1688": (16, 8, 8), "16816": (16, 8, 16), "16832": (16, 8, 32), "16864": (16, 8, 64), "168128": (16, 8, 128),
        "168256": (16, 8, 256)}
_BITS = {"TF32": 32, "F16": 16, "BF16": 16, "S8": 8, "U8": 8, "S4": 4, "U4": 4, "B1": 1, "E4M3": 8, "E5M2": 8,
         "E3M2": 8, "E2M3": 8, "E2M1": 8}


@dataclass(frozen=True, slots=True)
class Shape:
    """An instruction without the numbers of its registers.

    Attributes:
        key: opcode and operands with a letter for each register; a branch target is `->`. Constants, offsets and
            constant banks are kept; the operand cache's `.reuse`, which is scheduling, is not.
        exact: the same with the registers' own names.
        registers: the units "R4", "UP0" that it touches, the words of a wide operand one by one, in order of writing.
        roles: READ, WRITE or READ_WRITE, one for each of `registers`.
    """

    key: str
    exact: str
    registers: tuple[str, ...]
    roles: tuple[int, ...]


class Field(NamedTuple):
    """A register named in an operand: where it stands, and the units it takes, "R4" "R5" for a wide one."""

    place: int                                          # of the operand
    start: int
    end: int
    bank: str
    suffix: str                                         # "64", "U32" or empty
    units: tuple[str, ...]
    role: int


@lru_cache(maxsize=1 << 16)
def fields(opcode: str, operands: tuple[str, ...], predicate: str = "") -> tuple[Field, ...]:
    """The registers named in the operands, in order of writing."""
    word, *modifiers = opcode.split(".")
    results, found = _results(word, operands, modifiers), []
    for place, operand in enumerate(operands):
        role = WRITE if place in results else READ
        if role == WRITE and predicate:
            role = READ_WRITE
        for match in _REGISTER.finditer(operand):
            bank, number, width = match[1], int(match[2]), _width(word, modifiers, operands, place, match)
            found.append(Field(place, match.start(), match.end(), bank, match[3] or "",
                               tuple(f"{bank}{number + n}" for n in range(width)), role))
    return tuple(found)


@lru_cache(maxsize=1 << 16)
def shape(opcode: str, operands: tuple[str, ...], predicate: str = "", branch: bool = False) -> Shape:
    """The shape of an instruction; `branch`: its last operand is an address in the same function."""
    if branch:
        operands = (*operands[:-1], _LAST_WORD.sub("->", operands[-1]))
    operands = tuple(_NOTE.sub("", operand) for operand in operands)
    registers, roles, keys, at = [], [], [[] for _ in operands], [0] * len(operands)
    for one in fields(opcode, operands, predicate):
        registers += one.units
        roles += [one.role] * len(one.units)
        keys[one.place] += [operands[one.place][at[one.place]:one.start], one.bank, one.suffix and f".{one.suffix}"]
        at[one.place] = one.end
    for place, operand in enumerate(operands):
        keys[place].append(operand[at[place]:])
        if operand == "PR":                             # all predicates: R2P sets some of them
            registers += [f"P{n}" for n in range(7)]
            roles += [READ_WRITE if opcode.startswith("R2P") else READ] * 7
    guard = ""
    if predicate:
        name = predicate.lstrip("!")
        guard = f"@{predicate.rstrip('0123456789')} " if name[-1].isdigit() else f"@{predicate} "
        if name[-1].isdigit():
            registers.append(name)
            roles.append(READ)
    at_guard = f"@{predicate} " if predicate else ""
    exact = ", ".join(operand.replace(".reuse", "") for operand in operands)
    return Shape(f"{guard}{opcode} {', '.join(map(''.join, keys))}", f"{at_guard}{opcode} {exact}", tuple(registers),
                 tuple(roles))


def _results(word: str, operands: tuple[str, ...], modifiers: list[str]) -> set[int]:
    """Places of the operands that the instruction writes."""
    kinds = [_kind(operand) for operand in operands]
    if not operands or _NO_RESULT.match(word):
        return set()
    if word in ("PLOP3", "UPLOP3") or word.endswith("SETP") or word.endswith("SETP2"):
        return {place for place in (0, 1) if kinds[place:place + 1] == ["P"]}
    if kinds[0] == "P":
        follows = kinds[1:2] == ["R"] and _PREDICATE_FIRST.match(word)
        return {0, 1} if follows else {0}
    if kinds[0] != "R":
        return {0} if kinds[0] == "B" and word.startswith("BSSY") else set()
    found, place = {0}, 1
    if "256" in modifiers and word.startswith("LD") and kinds[1:2] == ["R"]:
        return {0, 1}
    while kinds[place:place + 1] == ["P"] and operands[place][0] != "!" and place <= (1 if word[:4] == "VOTE" else 2):
        found.add(place)
        place += 1
    return found


def _kind(operand: str) -> str:
    """ "R": a register of either bank, "P": a predicate, "B": a convergence barrier, "": anything else."""
    name = operand.lstrip(_SIGNS)
    if re.match(r"U?R(\d+|Z)\b", name):
        return "R"
    if re.match(r"U?P(\d|T)\b", name):
        return "P"
    return "B" if re.match(r"B\d+$", name) else ""


def _width(word: str, modifiers: list[str], operands: tuple[str, ...], place: int, match: re.Match[str]) -> int:
    """How many consecutive registers an operand names by its first."""
    bank, suffix, operand = match[1], match[3], operands[place]
    if bank in ("P", "UP", "B"):
        return 1
    before = operand[:match.start()]
    if suffix == "64":
        return 2
    if before.endswith("gdesc["):
        return 2 if _kind(operands[1]) == "R" else 4
    if before.endswith(("desc[", "cx[")):
        return 1 if before.endswith("idesc[") else 2
    if "[" in before and "]" not in before[before.rindex("["):]:
        return _address_width(word, modifiers, operand, bank, suffix, place)
    return _data_width(word, modifiers, operands, place)


def _address_width(word: str, modifiers: list[str], operand: str, bank: str, suffix: str | None, place: int) -> int:
    if word.startswith("UTMA"):
        dimensions = next((int(m[0]) for m in modifiers if re.fullmatch(r"\dD", m)), 1)
        return 2 if place else 2 + dimensions
    if word.startswith("UBLK"):
        return 2
    if suffix == "U32":
        return 1
    if bank == "UR":                                    # a base beside [R2.U32+UR4] is 64 bits wide
        alone = "R" not in operand.replace("UR", "")
        return 2 if ".U32" in operand or ("E" in modifiers and ("64+" in operand or alone)) else 1
    return 2 if "E" in modifiers and "desc" not in operand and ".64" not in operand and ".U32" not in operand \
        and word in ("LDG", "STG", "LD", "ST", "ATOM", "ATOMG", "RED", "QSPC") else 1


def _data_width(word: str, modifiers: list[str], operands: tuple[str, ...], place: int) -> int:
    if word.endswith("GMMA"):
        return _gmma_width(modifiers, place)
    if word[1:] == "MMA":
        return _mma_width(word, modifiers, place)
    if word in ("LEPC", "RET", "BRX", "BRXU", "JMX"):
        return 2                                        # an address of code
    if word in ("LDTM", "STTM"):
        count = next((int(m[1:]) for m in modifiers if re.fullmatch(r"[xX]\d+", m)), 1)
        return count
    if word in ("LDSM", "STSM"):
        return int(modifiers[-1]) if modifiers[-1] in ("2", "4") else 1
    if re.match(r"LD|ST|ULDC|SULD|SUST", word):
        return {"64": 2, "128": 4, "256": 4}.get(next((m for m in modifiers if m in ("64", "128", "256")), ""), 1)
    if re.match(r"ATOM|RED", word):
        wide = "64" in modifiers or "128" in modifiers or "F64" in modifiers
        return (4 if "128" in modifiers else 2) if wide else 1
    if word in ("DADD", "DMUL", "DFMA", "DSETP", "DMNMX", "FADD2", "FMUL2", "FFMA2"):
        return 2
    if word in ("IMAD", "UIMAD") and "WIDE" in modifiers:
        general = [p for p, operand in enumerate(operands) if _kind(operand) != "P"]
        return 2 if place in (general[0], general[-1] if len(general) > 3 else -1) else 1
    if word == "CS2R":
        return 1 if "32" in modifiers else 2
    if word in ("F2F", "I2F", "F2I", "FRND"):
        types = [m for m in modifiers if re.fullmatch(r"[FSU]\d+|BF16", m)]
        if word == "F2F":
            return 2 if types[place:place + 1] == ["F64"] else 1
        if word == "FRND":
            return 2 if "F64" in types else 1
        wide_result = {"I2F": "F64", "F2I": ""}[word] in types if word == "I2F" else bool({"S64", "U64"} & set(types))
        wide_source = bool({"S64", "U64"} & set(types)) if word == "I2F" else "F64" in types
        return 2 if (wide_source if place else wide_result) else 1
    if word in ("I2I", "F2IP", "PRMT", "SHF", "USHF", "LEA", "ULEA"):
        return 1
    if {"64", "U64", "S64"} & set(modifiers) and word not in ("SYNCS", "MUFU", "SHFL", "R2UR"):
        return 2
    return 2 if word == "SYNCS" and place == 2 and {"64"} & set(modifiers) else 1


def _gmma_width(modifiers: list[str], place: int) -> int:
    columns = next((int(m.split("x")[1]) for m in modifiers if re.fullmatch(r"\d+x\d+x\d+", m)), 256)
    types = [m for m in modifiers if m in ("F32", "F16", "S32")]
    accumulator = columns // 4 if types[:1] == ["F16"] else columns // 2
    return accumulator if place != 1 else 4


def _mma_width(word: str, modifiers: list[str], place: int) -> int:
    shaped = next((m for m in modifiers if m in _MMA), None)
    if shaped is None or place > 3:
        return 1 if place > 3 else 4
    m, n, k = _MMA[shaped]
    types = [x for x in modifiers if x in _BITS]
    bits = {"DMMA": 64, "OMMA": 4}.get(word) or (_BITS[types[-1]] if types else 16)
    result = 64 if word == "DMMA" else 16 if word == "HMMA" and "F32" not in modifiers else 32
    sparse = 2 if "SP" in modifiers else 1
    return max(1, {0: m * n * result, 1: m * k * bits // sparse, 2: n * k * bits, 3: m * n * result}[place] // 1024)
