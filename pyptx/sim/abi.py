"""The interface between Python and the C core: the constants that both sides use, defined once.

`core/build_core.py` writes these definitions and the structures of `abi_structures` as a C header when it compiles the
core, so there is no copy to keep in step. Both modules import nothing of pyptx: the build loads them by path.

In C a constant is named PREFIX_NAME: "bounds" of `FAULTS` is FAULT_BOUNDS.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import TypeVar

_Class = TypeVar("_Class", bound=type)

_constants: list[tuple[str, dict[str, int]]] = []  # the prefix and the values of each C enumeration


def _enumeration(prefix: str, *names: str) -> tuple[str, ...]:
    """Names numbered from 0; "" leaves a gap."""
    _constants.append((prefix, {name: code for code, name in enumerate(names) if name}))
    return names


def _values(prefix: str, values: dict[str, int]) -> dict[str, int]:
    _constants.append((prefix, values))
    return values


def _exported(prefix: str):
    """Export the upper-case attributes of a class as constants."""

    def export(cls: _Class) -> _Class:
        _constants.append((prefix, {name: int(value) for name, value in vars(cls).items() if name.isupper()}))
        return cls

    return export


# operations ----------------------------------------------------------------------------------------------------------


@_exported("F_")
class OpFlag:
    """Bits of `Op.flags`."""

    FULL = 1 << 0  # writes a temporary: executed for all lanes
    COUNT = 1 << 1  # the first operation of a PTX instruction
    BRANCH = 1 << 2
    EXIT = 1 << 3
    SYNC = 1 << 4  # waits for the lanes of a membermask
    BARRIER = 1 << 5
    TRAP = 1 << 6
    JUMP_TABLE = 1 << 7
    GUARDED = 1 << 8  # has a guard predicate
    CALL = 1 << 9
    RETURN = 1 << 10
    HOST = 1 << 11  # a call of a driver function, executed in Python
    WAIT = 1 << 12  # may have to be retried, see async.h
    LAND_EAGERLY = 1 << 13  # its asynchronous operations complete at once in every schedule
    DIVERGENT = 1 << 14  # lanes of a warp may wait in different places


@_exported("")
class Limit:
    """Sizes and counts that both sides rely on."""

    LANES = 32
    NONE = 0xFFFFFFFF  # no operand
    CTA_SPECIAL_ROWS = 16  # rows for CTA_SPECIALS; addresses of shared variables follow
    OBSERVED_LINKS = 16  # mbarriers kept for each instruction of an observed run
    RECENT_SECTORS = 256  # of global memory that a profiled warp is known to have read: 8 KiB
    NAMED_SEGMENTS = 63  # of a launch, whose buffers a profile names where an instruction loads from them
    ATOMIC_BLOCK = 512  # bytes of consecutive addresses that are in one slice of L2
    ATOMIC_BLOCKS = 1024  # counters of atomic operations by block: the address modulo 512 KiB
    OBJECT_WINDOW = 0x7F6000000000  # handles of textures and surfaces
    OBJECT_STRIDE = 4096
    FUNCTION_STRIDE = 16  # of the addresses of functions
    MIN_FRAME_BYTES = 512  # of a call, in a warp: 16 bytes a thread
    CALL_STACK_BYTES = 512 << 15  # of all calls of a warp: 512 KiB a thread, as much local memory as a thread can have


# Segments of an operand: its low two bits.
REGISTERS, CONSTANTS, PER_CTA, PER_WARP = range(4)

# Special registers that the core fills for each CTA, in this order.
CTA_SPECIALS = (
    *(f"%{kind}.{axis}" for kind in ("ctaid", "clusterid", "cluster_ctaid") for axis in "xyz"),
    "%cluster_ctarank",
)

NUMBER_FORMATS = _enumeration(
    "T_",
    *("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"),
    *("f16", "bf16", "tf32", "f32", "f64"),
    *("e4m3", "e5m2", "e2m3", "e3m2", "e2m1", "ue8m0", "s2f6"),
)
ROUNDINGS = _enumeration("", "rn", "rz", "rm", "rp", "rna")  # the low bits of Op.mod of a floating-point operation
MODIFIERS = _values(
    "M_",
    {
        "ftz": 8,
        "sat": 16,
        "relu": 32,
        "nan": 64,
        "xorsign": 128,
        "abs": 256,
        "satfinite": 512,
        "oob": 1024,
        "pzo": 2048,
    },
)
SHUFFLES = _enumeration("SHUFFLE_", "up", "down", "bfly", "idx")
VOTES = _enumeration("VOTE_", "all", "any", "uni", "ballot")
REDUX = _enumeration(
    "REDUX_", "add", "min.s32", "max.s32", "min.u32", "max.u32", "and", "or", "xor", "min.f32", "max.f32"
)
BARRIERS = _enumeration("BARRIER_", "sync", "arrive", "popc", "and", "or")
ATOMICS = _enumeration("ATOMIC_", "add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec")


# memory --------------------------------------------------------------------------------------------------------------

# "mixed": lanes of one access address different spaces; "cluster": shared memory of any CTA of the cluster.
STATE_SPACES = _enumeration("SPACE_", "generic", "global", "shared", "local", "const", "param", "mixed", "cluster")


@_exported("ACCESS_")
class AccessFlag:
    """Bits of `Op.mod` of a memory access; see memory.c for the others."""

    SIGNED = 1 << 8
    GENERIC = 1 << 8  # of a shared address in a row
    WIDE = 1 << 16  # the address register has 64 bits
    ABSOLUTE = 1 << 17  # there is no address register


@_exported("MBARRIER_")
class MbarrierFlag:
    """Bits 0-7 of `Op.mod` of an mbarrier operation."""

    DROP, EXPECT, NO_COMPLETE, OWN, PARITY, NOINC, COMPLETE, V1 = (1 << k for k in range(8))


@_exported("BULK_")
class BulkFlag:
    """Bits of `Op.mod` of a bulk copy, after its direction."""

    OWN, REDUCE, GENERIC_TO, GENERIC_FROM, GENERIC_BARRIER = (4 << k for k in range(5))


BULK_DIRECTIONS = _enumeration("BULK_", "load", "peer", "store")

# The counter that a wait for asynchronous operations names; the last one is of operations without.
TRACKS = _enumeration("TRACK_", "cp.async", "bulk", "wgmma", "tcgen05", "tcgen05.ld", "tcgen05.st", "")
_values("TRACK_", {"none": TRACKS.index("")})


@_exported("ASYNC_GROUP_")
class AsyncGroupFlag:
    """Bits of `Op.mod` of async_group, after its track."""

    COMMIT, ALL, READ = 8, 16, 32


SCHEDULES = _enumeration("SCHEDULE_", "eager", "late", "random")


# tensor cores and tensor memory --------------------------------------------------------------------------------------

# Elements of matrices. "e2m1" fills bits 5-2 of a byte, "e2m1x8" four bits; 16 padded elements fill the first 8 or 12 of
# 16 bytes of memory.
ELEMENT_FORMATS = _enumeration(
    "E_",
    *("f16", "bf16", "tf32", "e4m3", "e5m2", "e3m2", "e2m3", "e2m1", "e2m1x8"),
    *("s8", "u8", "s4", "u4", "b1", "f32", "s32", "f64", "ue8m0", "ue4m3"),
    *("e2m1_padded", "e3m2_padded", "e2m3_padded", "formats"),
)
TENSOR_CORES = ("fast", "hw", "none")  # none: their work is counted and not done
STEP_RESULTS = _enumeration("TO_", "f32", "f16", "e8m13")  # what the hardware model rounds the sum of a step to


@_exported("P_")
class ProductFlag:
    """Bits of `Product.flags`."""

    SATURATE, XOR, ORDERED, HARDWARE = (1 << k for k in range(4))
    ROUNDING = 1 << 4  # bits 4-5: ROUNDINGS, of f64


MATRIX_SHAPES = _enumeration("", "m8n8", "m16n16", "m8n16", "m16n8")  # of ldmatrix and stmatrix
MATRIX_LINES = _enumeration("LINE_", "b16", "b8", "b6", "b4", "s4")
WGMMA_GROUPS = _enumeration("WGMMA_", "fence", "commit_group", "wait_group")
TCGEN05_KINDS = _enumeration("K_", "f16", "tf32", "f8f6f4", "i8", "mxf8f6f4", "mxf4", "mxf4nvf4")


@_exported("TCGEN05_")
class Tcgen05Flag:
    """Flags of tcgen05.mma; EXCLUSIVE is a bit of `Op.mod` of an allocation."""

    SPARSE, WS, A_TMEM, ASHIFT, PAIR = (1 << k for k in range(5))
    EXCLUSIVE = 4


TMEM_SHAPES = _enumeration("TMEM_", "32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2")
TMEM_COPIES = _enumeration(
    "TMEM_CP_",
    *("128x256b", "4x256b", "128x128b", "64x128b.warpx2::02_13", "64x128b.warpx2::01_23", "32x128b.warpx4"),
)
TMEM_REDUCTIONS = _enumeration("TMEM_", "", "min.s32", "max.s32", "min.u32", "max.u32", "min.f32", "max.f32")


@_exported("TM_")
class TensorMemoryProblem(IntEnum):
    """Invalid uses of tensor memory, found when an instruction is issued and when its CTA exits."""

    NONE = 0
    COLUMNS = 1
    RELINQUISHED = 2
    NOT_ALLOCATED = 3
    SIZE = 4
    LEAK = 5
    UNALLOCATED = 6
    WARP = 7
    LANE = 8
    UNEVEN = 9
    PAIR = 10
    MIXED = 11
    PAIR_SIZE = 12
    TYPE = 13
    SHAPE = 14
    SPARSE = 15
    RESERVED = 16
    K96 = 17
    TRANSPOSE = 18
    VERSION = 19
    LAYOUT = 20
    SCALE_ID = 21
    SHIFT = 22
    ALIGNMENT = 23
    SELECTOR = 24
    ASHIFT = 25
    NEGATE = 26
    ABSOLUTE = 27
    TARGET = 28
    EXCLUSIVE = 29
    BLOCKS = 30


# tensor maps and their copies ----------------------------------------------------------------------------------------

TENSOR_COPY_DIRECTIONS = _enumeration("TC_", "load", "store", "reduce", "prefetch")
TENSOR_COPY_MODES = _enumeration("TC_", "tile", "gather4", "scatter4", "im2col", "w", "w128")
TENSOR_MAP_FIELDS = _enumeration(
    "MAP_",
    *("global_address", "rank", "box_dim", "global_dim", "global_stride", "element_stride"),
    *("elemtype", "interleave_layout", "swizzle_mode", "swizzle_atomicity", "fill_mode"),
)


@_exported("TP_")
class TensorCopyProblem(IntEnum):
    """Invalid tensor copies, found at issue or at completion."""

    NONE = 0
    MAP_SPACE = 1
    MAP_ALIGNMENT = 2
    MAP_MAGIC = 3
    RANK = 4
    MODE = 5
    ELEMENT = 6
    BOX = 7
    STEP = 8
    TENSOR = 9
    SWIZZLE = 10
    COORDINATE = 11
    OFFSET = 12
    SHARED_ALIGNMENT = 13
    SHARED_BOUNDS = 14
    GLOBAL_BOUNDS = 15
    READ_ONLY = 16
    TARGET = 17
    FIELD = 18
    BARRIER = 19


# textures and surfaces -----------------------------------------------------------------------------------------------

OBJECT_KINDS = _enumeration("OBJECT_", "none", "texture", "surface")
GEOMETRIES = _enumeration("G_", "1d", "2d", "3d", "a1d", "a2d", "cube", "acube", "2dms", "a2dms")
CHANNEL_FORMATS = _enumeration("C_", "u8", "s8", "u16", "s16", "u32", "s32", "f16", "f32")
TEXTURE_MODES = _enumeration("TEXTURE_", "plain", "base", "level", "grad", "gather")
TEXTURE_TYPES = _enumeration("D_", "u32", "s32", "f32", "f16", "f16x2")
SURFACE_BOUNDS = _enumeration("SURFACE_", "trap", "clamp", "zero")
OBJECT_QUERIES = _enumeration(
    "Q_",
    *("width", "height", "depth", "channel_data_type", "channel_order", "normalized_coords"),
    *("array_size", "num_mipmap_levels", "num_samples", "memory_layout"),
)


@_exported("O_")
class ObjectWord:
    """64-bit words of the record of a texture or surface; LEVEL is the first of LEVEL_WORDS words for each level."""

    KIND, GEOMETRY, CHANNELS, FORMAT, FLAGS, FILTER, MIP_FILTER, MODES, BORDER = range(9)
    BIAS, LEAST, MOST, LEVELS, LAYERS, SAMPLES, BYTES, STEP = range(12, 20)
    LEVEL, COLOR, PLAIN = 24, 256, 384


LEVEL_FIELDS = _enumeration("L_", "address", "width", "height", "depth", "row", "slice", "layer", "sample", "words")
LEVEL_WORDS = LEVEL_FIELDS.index("words")


@_exported("O_")
class ObjectFlag:
    """Bits of the word FLAGS of such a record."""

    NORMALIZED, NORMALIZED_FLOAT, LINEAR = 1, 2, 8


@_exported("XP_")
class TextureProblem(IntEnum):
    """Invalid accesses of textures and surfaces."""

    NONE = 0
    HANDLE = 1
    KIND = 2
    GEOMETRY = 3
    TYPE = 4
    LAYER = 5
    SAMPLE = 6
    BOUNDS = 7
    ALIGNMENT = 8
    LINEAR = 9
    CHANNELS = 10
    FITS = 11
    FORMAT = 12
    LEVEL = 13
    OFFSET = 14
    MEMORY = 15


# a launch ------------------------------------------------------------------------------------------------------------


@_exported("STATUS_")
class Status(IntEnum):
    """Result of `core_run`; after RUNNING, HOST_CALL and STOPPED the launch can be resumed."""

    RUNNING = 0
    DONE = 1
    FAULT = 2
    DEADLOCK = 3
    STEP_LIMIT = 4
    HOST_CALL = 5
    STOPPED = 6


GROUP_STATES = _enumeration("GROUP_", "ready", "barrier", "parked", "free", "waiting")

FAULTS = _enumeration(
    "FAULT_",
    *("", "bounds", "alignment", "read_only", "trap", "barrier_count", "membermask", "barrier_id", "jump", "memory"),
    *("space", "warp", "function", "no_mbarrier", "mbarrier_count", "mbarrier_underflow", "tx_range", "no_complete"),
    *("size", "remote", "rank", "cluster_arrive", "cluster_wait", "registers", "split", "tensor", "uniform", "tmem"),
    *("warpgroup", "sanitizer", "texture", "call_depth"),
)


# the sanitizer -------------------------------------------------------------------------------------------------------

# "limit": the sanitizer stopped watching; "more": the number of unlisted findings. Python reports "unwritten".
FINDINGS = _enumeration(
    "FINDING_",
    *("race", "proxy", "init-fence", "fence-after", "uninitialized", "unawaited", "unawaited-barrier", "peer"),
    *("limit", "more", "dead", "missed", "map", "unwritten", "image", "swizzle", "live-mbarrier"),
    *("default-scope", "fence-elsewhere"),
)
# Rows of a clock: a thread, and the operations that a thread issued.
ACCESSORS = _enumeration(
    "ROW_", "thread", "cp.async", "bulk-read", "bulk", "wgmma", "tcgen05", "tcgen05.ld", "tcgen05.st", "mbarrier"
)
ACCESSES = _enumeration("SEEN_", "read", "write", "atomic")
WATCHED_SPACES = _enumeration("IN_", "shared", "global", "tensor")
ORDERINGS = _enumeration("ORDER_", "weak", "relaxed", "acquire", "release", "acq_rel")
SCOPES = _enumeration("SCOPE_", "cta", "cluster", "gpu", "sys")
FENCES = _enumeration("FENCE_", "none", "memory", "proxy", "init", "after", "map", "relaxed", "before")


# a debugged launch ---------------------------------------------------------------------------------------------------


@_exported("MARK_")
class Mark:
    """Bits of an instruction: stop before it; do not while a warp is followed; record its executions."""

    STOP, PASS, LOG = 1, 2, 4


@_exported("STOPPED_BY_")
class Reason(IntEnum):
    """Reason why a launch stopped."""

    NONE = 0
    STEP = 1
    WARP = 2
    OTHER = 3
    MARK = 4
    CHANGE = 5
    FINDING = 6


FOLLOWED = _enumeration("FOLLOW_", "none", "warp", "others", "all")


@_exported("WATCH_")
class Space(IntEnum):
    """The memory that holds watched bytes."""

    REGISTERS = 0
    SHARED = 1
    LOCAL = 2
    TENSOR = 3
    GLOBAL = 4


@_exported("EVENT_")
class EventKind(IntEnum):
    """Kinds of events. `step` counts the warp-instructions that began earlier; `a` and `b`:

    TURN_STARTED    a warp starts to run
    TURN_ENDED      it stops; a: bits, 1 can continue, 2 waits at a barrier, 4 for other lanes, 8 otherwise, 16 exited
    EXECUTED        an instruction with Mark.LOG
    ISSUED          an asynchronous operation; a: its number, its track from bit 56; b: 0, or bit 63 | CTA << 32 | mbarrier
    LANDED          it completed; a: its number; b: 1 when only its source was read so far
    WAITED          lanes found phase b of an mbarrier complete; a: CTA << 32 | mbarrier
    PHASE           an mbarrier enters phase b; a: CTA << 32 | mbarrier
    CTA_STARTED, CTA_ENDED      a: its cluster, b: its rank
    """

    TURN_STARTED = 0
    TURN_ENDED = 1
    EXECUTED = 2
    ISSUED = 3
    LANDED = 4
    WAITED = 5
    PHASE = 6
    CTA_STARTED = 7
    CTA_ENDED = 8


def c_constants() -> list[str]:
    """Return the constants as lines of C."""
    lines = []
    for prefix, values in _constants:
        for name, value in values.items():
            constant = prefix + re.sub(r"\W+", "_", name).upper()
            suffix = "ull" if value >> 32 else "u"
            lines.append(
                f"#define {constant} {value:#x}{suffix}" if value >> 31 else f"enum {{ {constant} = {value} }};"
            )
    return lines
