"""Execution pipes: the unit of an SM that a machine instruction occupies, and its cycles and latency."""

from __future__ import annotations

import re
from functools import lru_cache
from math import inf

from pyptx._frozen import frozen
from pyptx.analysis.gpus import Gpu
from pyptx.analysis.model.constants import Constants
from pyptx.analysis.sass.opcodes import opcode_group
from pyptx.isa import targets
from pyptx.toolchain.sass_registers import mma_shape

__all__ = ["PipeUse", "access_lanes", "has_known_cost", "matrix_product", "pass_cycles", "pipe_use"]

# Load/store units of an SM by compute capability times ten: architecture whitepapers of TU102, GA102 and AD102; others
# have a unit for each lane of a warp. tests/benchmarks/foreign.py: matrix products on RTX A6000 that are limited by them.
_ACCESS_LANES = {75: 16, 86: 16, 87: 16, 89: 16}
TURING = 75

# Operations of s8 per operation of a type where tensor cores have their full rate. GeForce halves products that are summed in
# f32 (NVIDIA, Ada and Blackwell whitepapers: RTX 4090 330 TFLOP/s of f16 with sums of f16, 165 with sums of f32).
_PER_S8 = {"f16": 2, "tf32": 4, "f8": 1}

_FMA = frozenset("FFMA FADD FMUL FFMA32I FADD32I FMUL32I FSWZADD".split())
_PAIRS = frozenset("FFMA2 FADD2 FMUL2".split())
_HALF = frozenset("HFMA2 HADD2 HMUL2 HMNMX2 HSETP2 HSET2 HFMA2_32I HADD2_32I HMUL2_32I".split())
_DOUBLE = frozenset("DFMA DADD DMUL DSETP DMNMX".split())
_MULTIPLY = frozenset("IMAD IMUL XMAD IDP IDP4A IMUL32I IMAD32I".split())
_SLOW = frozenset("F2F F2I I2F FRND POPC FLO BREV F2IP I2FP".split())
_SPECIAL = frozenset("MUFU SHFL REDUX CREDUX S2R S2UR LDC LDCU ULDC MATCH MOVM VOTE R2UR B2R".split())
_NONE = frozenset(
    "NOP BRA BRX EXIT BSSY BSYNC WARPSYNC YIELD CALL RET DEPBAR LDGDEPBAR WARPGROUP BAR MEMBAR FENCE "
    "ERRBAR SYNCS UTMALDG UTMASTG UBLKCP UTMACMDFLUSH USETMAXREG ELECT UCGABAR_ARV UCGABAR_WAIT".split()
)
_UNFAMILIAR_GROUPS = frozenset(("texture", "other"))
_UNFAMILIAR = frozenset("NANOSLEEP ACQBULK CALL UTCCP UTCSHIFT UTCATOMSWS CCTL CCTLL CCTLT".split())


@frozen
class PipeUse:
    """Use of a unit by one warp-wide execution.

    Attributes:
        unit: "fma", "alu", "mufu", "fp64", "shared", "tensor" or "".
        cycles: cycles of the SM's unit; one cycle on each of the 4 sub-cores counts as 1 for 4 warps.
        latency: cycles until the result, for instructions that set a scoreboard.
        idle: fraction of the cycles in which the unit is blocked, but takes no energy.
    """

    unit: str
    cycles: float
    latency: float
    idle: float = 0.0


def access_lanes(gpu: Gpu) -> int:
    """Return the lanes of loads and stores, of shared or global memory, that an SM executes per cycle."""
    return _ACCESS_LANES.get(targets.parse(gpu.target).number, 32)


def pass_cycles(gpu: Gpu) -> int:
    """Return the cycles in which L1 and shared memory move a register of each lane of a warp.

    Turing moves 64 bytes per cycle (Jia et al. 2019, arXiv 1903.07486: 58.8 from L1 of T4, and 3662 GB/s from shared memory), others 128.
    """
    return 2 if targets.parse(gpu.target).number == TURING else 1


@lru_cache(maxsize=8192)
def has_known_cost(opcode: str) -> bool:
    """Return False for opcodes that the model does not know: textures, waits of unknown duration, unlisted opcodes."""
    return opcode_group(opcode) not in _UNFAMILIAR_GROUPS and opcode.partition(".")[0] not in _UNFAMILIAR


@lru_cache(maxsize=8192)
def pipe_use(opcode: str, gpu: Gpu, constants: Constants) -> PipeUse:
    """Return the use of a synchronous instruction that does not access memory."""
    word = opcode.partition(".")[0]
    core, special = gpu.core, constants.special_cycles
    if word in _FMA:
        return PipeUse("fma", 32 / core["f32"], 4)
    if word in _PAIRS:
        return PipeUse("fma", 64 / core["f32"], 4)
    if word in _HALF:
        return PipeUse("fma", 64 / core["f16"], 6)
    if word in _DOUBLE:
        return PipeUse("fp64", 32 / core["f64"], 8 + 2 * 32 / core["f64"])
    if word in _MULTIPLY:
        return PipeUse("fma", 32 / core["i32.mul"], 6)
    if word == "MUFU":
        return PipeUse("mufu", 32 / core["mufu"], special)
    if word in _SLOW:
        # CUDA Programming Guide, "Throughput of Native Arithmetic Instructions": conversions from and to 64-bit types have the
        # rate of f64 where that is 2 per cycle and SM (7.5, 8.6, 8.9, 12.0), elsewhere that of other conversions
        if core["f64"] < core["cvt"] and re.search(r"\.[FSU]64\b", opcode):
            return PipeUse("fp64", 32 / core["f64"], 8 + 2 * 32 / core["f64"])
        return PipeUse("mufu", 32 / core["cvt"], special)
    if word == "F2FP":
        return PipeUse("alu", 32 / core["cvt.pack"], 5)
    if word == "SHFL":
        return PipeUse("shared", 32 / core["shuffle"], special)
    if word in ("REDUX", "CREDUX"):
        return PipeUse("alu", 1 / core["redux"], special)
    if (product := matrix_product(opcode)) is not None:
        kind, operations = product
        rate = gpu.flops_per_clock("mma", kind) or gpu.flops_per_clock("mma", "f16") or 1024
        full = max(rate, gpu.flops_per_clock("mma", "s8") / _PER_S8.get(kind, inf))
        if kind == "f16" and "F32" not in opcode:
            rate = full
        return PipeUse("tensor", operations / rate, 24, 1 - rate / full)
    if word in _NONE or word.startswith("U"):
        return PipeUse("", 0, special)
    if word in ("IADD3", "IADD", "VIADD", "IADD32I"):
        return PipeUse("alu", 32 / core["i32.add"], 5)
    group = opcode_group(opcode)
    if word in _SPECIAL or group in ("constant", "warp", "sync", "control", "async", "uniform"):
        return PipeUse("", 0, special)
    return PipeUse("alu", 32 / core["i32.mul"], 5)


@lru_cache(maxsize=1024)
def matrix_product(opcode: str) -> tuple[str, int] | None:
    """Return type and dense operations of one warp's matrix product (a quarter of a wgmma); None for other opcodes."""
    found = re.match(r"(H|I|Q|O|B|D)(G?)MMA((?:\.\w+)+)", opcode)
    if found is None:
        return None
    words = found[3].split(".")[1:]
    half = 2 if "SP" in words else 1
    kind = {"I": "s8", "Q": "f8", "O": "f4", "B": "b1", "D": "f64"}.get(found[1], "tf32" if "TF32" in words else "f16")
    if found[2]:
        m, n, k = map(int, next(word for word in words if re.fullmatch(r"\d+x\d+x\d+", word)).split("x"))
        return kind, 2 * m * n * k // half // 4
    shape = mma_shape(words)
    if shape is None:
        return None
    m, n, k = shape
    return kind, 2 * m * n * k // half
