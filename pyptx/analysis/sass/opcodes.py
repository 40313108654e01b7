"""SASS opcodes: a group of the instruction mix and a description for each.

Opcodes as the "Instruction Set Reference" of NVIDIA's CUDA Binary Utilities lists them for Turing to Blackwell, and as
nvdisasm 13.5 prints them; opcodes missing there are inferred from what ptxas generates for documented PTX.
"""

from __future__ import annotations

from functools import cache

__all__ = ["GROUPS", "opcode_group", "describe_opcode"]

# A line that ends in ":" starts a group. A * matches any letters; the first matching line applies.
_TABLE = """
tensor:
HMMA        multiplies matrix fragments of a warp on the tensor cores: 16-bit or TF32 inputs
IMMA        multiplies matrix fragments of a warp on the tensor cores: integers
BMMA        multiplies matrix fragments of a warp on the tensor cores: single bits
DMMA        multiplies matrix fragments of a warp on the tensor cores: f64
QMMA        multiplies matrix fragments of a warp on the tensor cores: 8-, 6- or 4-bit floats
OMMA        multiplies matrix fragments of a warp on the tensor cores: block-scaled 4-bit floats
HGMMA       wgmma: four warps multiply tiles out of shared memory, 16-bit or TF32 inputs, asynchronously
IGMMA       wgmma: four warps multiply tiles out of shared memory, integer inputs, asynchronously
QGMMA       wgmma: four warps multiply tiles out of shared memory, FP8 inputs, asynchronously
BGMMA       wgmma: four warps multiply tiles out of shared memory, single bits, asynchronously
WARPGROUP   orders registers and wgmma instructions of four warps: ARRIVE is the fence, DEPBAR waits for groups
WARPGROUPSET  sets how the wgmma instructions that follow are grouped
UTCHMMA     tcgen05.mma: multiplies tiles into tensor memory, 16-bit or TF32 inputs, issued by one thread
UTCIMMA     tcgen05.mma: multiplies tiles into tensor memory, integer inputs, issued by one thread
UTCQMMA     tcgen05.mma: multiplies tiles into tensor memory, 8-, 6- or 4-bit floats, issued by one thread
UTCOMMA     tcgen05.mma: multiplies tiles into tensor memory, block-scaled 4-bit floats, issued by one thread
UTC*MMA     tcgen05.mma: multiplies tiles into tensor memory, issued by one thread
async:
UBLKCP      copies a block of bytes between memories in the background (cp.async.bulk)
UBLKRED     adds a block of bytes to memory in the background (cp.reduce.async.bulk)
UBLKPF      fetches a block of bytes into L2 in the background (cp.async.bulk.prefetch)
UTMALDG     TMA: copies a tile of a tensor from global into shared memory in the background
UTMASTG     TMA: copies a tile of a tensor from shared into global memory in the background
UTMAREDG    TMA: adds a tile of shared memory to a tensor in global memory in the background
UTMAPF      TMA: fetches a tile of a tensor into L2 in the background
UTMACCTL    TMA: fetches a tensor map into its cache or drops it from there
UTMACMDFLUSH  TMA: closes the group of bulk copies issued so far (commit_group)
UTMA*       TMA: works on tiles of a tensor in the background
LDGSTS      copies from global to shared memory past the registers (cp.async)
ARRIVES     arrives on an mbarrier once earlier cp.async copies have landed
LDGDEPBAR   closes the group of cp.async copies issued so far (commit_group)
SYNCS       works on an mbarrier in shared memory: init, arrive, expect bytes, test or wait for a phase
UTCCP       tcgen05.cp: copies from shared into tensor memory
UTCSHIFT    tcgen05.shift: moves rows of tensor memory down
UTCBAR      tcgen05.commit: arrives on an mbarrier once earlier tensor work is done
UTCATOMSWS  takes or gives back columns of tensor memory (tcgen05.alloc, dealloc)
UGETNEXTWORKID  asks for the next block of the grid to take over (clusterlaunchcontrol)
float32:
FADD        adds f32
FADD2       adds two pairs of f32 at once
FMUL        multiplies f32
FMUL2       multiplies two pairs of f32 at once
FFMA        multiplies and adds f32 with one rounding
FFMA2       multiplies and adds two pairs of f32 at once
FFMA32I     multiplies and adds f32 with a constant inside the instruction
FADD32I     adds f32 with a constant inside the instruction
FMUL32I     multiplies f32 with a constant inside the instruction
FMNMX       minimum or maximum of f32
FMNMX3      minimum or maximum of three f32
FSEL        picks one of two f32 by a predicate
FSET        compares f32 and writes the answer into a register
FSETP       compares f32 and writes the answer into predicates
FSWZADD     adds f32 of adjacent lanes, with a sign for each (derivatives)
FCHK        checks whether a fast f32 division is exact enough, else a slower path is taken
float16:
HADD2       adds pairs of f16 or bf16
HADD2_32I   adds pairs of f16 with a constant inside the instruction
HMUL2       multiplies pairs of f16 or bf16
HMUL2_32I   multiplies pairs of f16 with a constant inside the instruction
HFMA2       multiplies and adds pairs of f16 or bf16; also used to load constants
HFMA2_32I   multiplies and adds pairs of f16 with a constant inside the instruction
HMNMX2      minimum or maximum of pairs of f16 or bf16
VHMNMX      minimum or maximum of packed f16 values, three at once
HSET2       compares pairs of f16 and writes the answers into a register
HSETP2      compares pairs of f16 and writes the answers into predicates
float64:
DADD        adds f64
DMUL        multiplies f64
DFMA        multiplies and adds f64 with one rounding
DSETP       compares f64 and writes the answer into predicates
DMNMX       minimum or maximum of f64
DSET        compares f64 and writes the answer into a register
special:
MUFU        a fast approximation by table: RCP, RSQ, SQRT, SIN, COS, EX2, LG2 or TANH
convert:
F2F         converts between floating-point types
F2FP        packs two floats into narrower ones (f16, bf16, fp8)
F2I         converts a float to an integer
F2IP        packs floats as narrow integers
I2F         converts an integer to a float
I2FP        converts an integer to f32 on the arithmetic pipe
I2I         converts between integer sizes
I2IP        packs integers as narrower ones, with saturation
FRND        rounds a float to a whole number
shared:
LDS         loads from shared memory
STS         stores to shared memory
STAS        stores to shared memory of another block of the cluster and tells its mbarrier
ATOMS       atomic operation on shared memory
LDSM        ldmatrix: loads matrix fragments of a warp from shared memory
STSM        stmatrix: stores matrix fragments of a warp to shared memory
MOVM        transposes a matrix fragment across the lanes of a warp
LDTM        tcgen05.ld: loads from tensor memory into registers
STTM        tcgen05.st: stores registers to tensor memory
local:
LDL         loads from local memory: a register that was spilled, or a local array
STL         stores to local memory: a register that is spilled, or a local array
global:
LDG         loads from global memory
STG         stores to global memory
LD          loads from memory whose space is known only at run time (generic)
ST          stores to memory whose space is known only at run time (generic)
CCTL        cache control: fetches, writes back or drops lines
CCTLL       cache control for local memory
CCTLT       cache control for textures
PREFETCH    fetches a line into a cache
atomic:
ATOM        atomic operation on generic memory that gives back the old value
ATOMG       atomic operation on global memory that gives back the old value
RED         atomic operation on memory without a result
REDG        atomic operation on global memory without a result
REDAS       atomic operation on shared memory of the cluster that tells an mbarrier
constant:
LDC         loads from a constant bank, such as a parameter of the kernel
LDCU        loads from a constant bank into a uniform register
ULDC        loads from a constant bank into a uniform register
warp:
SHFL        passes registers between the lanes of a warp
VOTE        asks all lanes of a warp a yes-or-no question
VOTEU       asks all lanes of a warp a yes-or-no question; the answer goes to uniform registers
MATCH       finds the lanes of a warp that hold the same value
REDUX       reduces a value over the lanes of a warp into a uniform register
CREDUX      reduces a value over the lanes of a warp: minimum or maximum
ELECT       picks one lane of the warp
sync:
BAR         waits at, or arrives on, a barrier of the block
B2R         reads the state of a barrier, or what a barrier reduced, into a register
R2B         writes a register to a barrier
MEMBAR      orders memory accesses before it and after it
FENCE       orders memory accesses between proxies, such as TMA and ordinary loads
ERRBAR      waits until errors of earlier memory accesses would have shown
DEPBAR      waits until a scoreboard has come down to a count
UCGABAR_*   barrier of all blocks of a cluster: arrive or wait
CGAERRBAR   waits until errors of accesses inside the cluster would have shown
UMEMBAR     orders memory accesses, once for the warp
USETMAXREG  takes registers from the pool of the block or gives them back (setmaxnreg)
WARPSYNC    waits until the named lanes of the warp have arrived
ENDCOLLECTIVE  ends a stretch that all lanes of a warp run together
NANOSLEEP   sleeps for about so many nanoseconds
ACQBULK     waits for what the grid before this one has written (griddepcontrol)
BSSY        sets the reconvergence point of the lanes of a warp
BSYNC       waits until the lanes of a warp have reconverged
BMOV        moves the lane mask of a convergence barrier to or from a register
BREAK       removes lanes from a convergence barrier
control:
BRA         branches
BRX         branches to an address in a register
BRXU        branches to an address in a uniform register
JMP         branches to an absolute address
JMX         branches to an absolute address in a register
JMXU        branches to an absolute address in a uniform register
CALL        calls a function
RET         returns from a function
EXIT        ends the thread
KILL        ends the thread (graphics)
NOP         does nothing
YIELD       lets other lanes of a warp that has split run
BPT         stops for the debugger, or traps
RPCMOV      moves the address to return to
RTT         returns from a trap
PREEXIT     lets the next grid start (griddepcontrol.launch_dependents)
PMTRIG      triggers a performance counter event
ACQSHMINIT  waits until shared memory has been set up
texture:
TEX         fetches from a texture
TLD         loads a texel
TLD4        fetches the four texels that filtering would mix
TMML        asks for the level of detail of a texture fetch
TXD         fetches from a texture with derivatives
TXQ         asks for the properties of a texture
SULD        loads from a surface
SUST        stores to a surface
SUATOM      atomic operation on a surface
SURED       atomic operation on a surface without a result
SUQUERY     asks for the properties of a surface
move:
MOV         copies a register or a constant
MOV32I      loads a constant that stands inside the instruction
UMOV        copies a uniform register or loads a constant into one
PRMT        picks four bytes out of two registers
UPRMT       picks four bytes out of two uniform registers
SEL         picks one of two registers by a predicate
USEL        picks one of two uniform registers by a predicate
S2R         reads a special register, such as the thread's index
S2UR        reads a special register into a uniform register
CS2R        reads a special register that is always at hand; also clears registers
CS2UR       reads a special register that is always at hand into a uniform register
R2UR        copies a register into a uniform one; all lanes must hold the same value
R2P         unpacks the bits of a register into predicates
P2R         packs predicates into the bits of a register
UP2UR       packs uniform predicates into the bits of a uniform register
UR2UP       unpacks the bits of a uniform register into uniform predicates
UP2R        packs uniform predicates into the bits of a register
LEPC        reads the address of the next instruction
PLOP3       any logic function of three predicates
UPLOP3      any logic function of three uniform predicates
SGXT        extends the sign of a field of bits
USGXT       extends the sign of a field of bits, in uniform registers
GETLMEMBASE reads where local memory begins
SETLMEMBASE sets where local memory begins
USETSHMSZ   sets how much shared memory the block has
UVIRTCOUNT  counts a virtual resource of the multiprocessor, such as tensor memory that is given back
integer:
IADD        adds integers
IADD3       adds three integers, with carries in predicates
IADD32I     adds a constant inside the instruction
IMAD        multiplies and adds integers; also used to copy registers (IMAD.MOV) and to shift (IMAD.SHL)
IMUL        multiplies integers
IMUL32I     multiplies by a constant inside the instruction
ISETP       compares integers and writes the answer into predicates
ISET        compares integers and writes the answer into a register
IMNMX       minimum or maximum of integers
VIMNMX      minimum or maximum of integers
VIMNMX3     minimum or maximum of three integers
VIADD       adds two integers
VIADDMNMX   adds two integers and takes the minimum or maximum with a third
LEA         computes an address: base plus a scaled index
LOP         logic function of two registers
LOP3        any logic function of three registers, bit by bit
LOP32I      logic function with a constant inside the instruction
SHF         shifts a pair of registers
SHL         shifts left
SHR         shifts right
XMAD        multiplies 16-bit halves and adds
ISCADD      adds a scaled integer
IABS        absolute value of an integer
IDP         dot product of packed bytes or halves, added to a sum
IDP4A       dot product of four packed bytes, added to a sum
BREV        reverses the order of bits
POPC        counts the bits that are set
FLO         finds the highest bit that is set
BMSK        makes a mask of bits from a position and a width
ISAD        adds absolute differences of integers
VABSDIFF    absolute differences of integers, summed
VABSDIFF4   absolute differences of packed bytes, summed
QSPC        asks which memory an address is in
BFE         takes a field of bits out
BFI         puts a field of bits in
"""


@cache
def _rows() -> tuple[tuple[str, str, str], ...]:
    """Return (pattern, group, description) in the order of the table."""
    rows, group = [], ""
    for line in _TABLE.strip().splitlines():
        if line.endswith(":") and " " not in line:
            group = line[:-1]
        else:
            pattern, _, sentence = line.partition(" ")
            rows.append((pattern, group, sentence.strip()))
    return tuple(rows)


GROUPS = (*dict.fromkeys(group for _, group, _ in _rows()), "uniform", "other")


def opcode_group(opcode: str) -> str:
    """Return the group of an opcode, ignoring modifiers: `LDG.E.128` is "global"."""
    return _lookup(opcode.partition(".")[0])[0]


def describe_opcode(opcode: str) -> str:
    """Return the description of an opcode, without a full stop; empty for unknown opcodes."""
    return _lookup(opcode.partition(".")[0])[1]


@cache
def _lookup(word: str) -> tuple[str, str]:
    for pattern, group, sentence in _rows():
        head, star, tail = pattern.partition("*")
        if word == pattern or (star and word.startswith(head) and word[len(head) :].endswith(tail)):
            return group, sentence
    if word.startswith("U") and len(word) > 1:  # the uniform variant, executed once for the warp
        _, sentence = _lookup(word[1:])
        return "uniform", f"{sentence}; once for the warp, in uniform registers" if sentence else ""
    return "other", ""
