"""Tensor memory: cells that ld, st and cp access, instruction descriptors, layout of D.

Cells are lanes (0 to 127) and columns (0 to 511) of 32 bits; an address is lane << 16 | column.
Source: PTX ISA, "Tensor Memory", "Data Movement Shape", "Data Path Layout Organization", "Instruction descriptor",
"Matrix Shape", "Sparsity selector"; details that the figures leave open follow CUTLASS (mma_traits_sm100_frag.hpp).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pyptx.sim.abi import TensorMemoryProblem

__all__ = [
    "BLOCK",
    "COLUMNS",
    "Geometry",
    "LANES",
    "TmemProblem",
    "copy_lanes",
    "copy_size",
    "geometry",
    "metadata",
    "spread",
    "zero_columns",
]

LANES, COLUMNS, BLOCK = 128, 512, 32
_LANE = np.arange(32)


class TmemProblem(Exception):
    """Invalid tcgen05 instruction: the problem, and the value for its message."""

    def __init__(self, problem: TensorMemoryProblem, about: int = 0):
        super().__init__(problem.name)
        self.problem, self.about = problem, about


def spread(shape: str, registers: int, packed: bool, split: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Cells of register q of thread l, relative to the address.

    Packed registers hold a column and the next one. For 16x32bx2 the number of columns is that of one half.

    Returns:
        lanes [q][l], columns [q][l], and the number of columns.
    """
    q = np.arange(registers)[:, None]
    match shape:
        case "32x32b":
            lane, column, count = _LANE + 0 * q, q + 0 * _LANE, registers
        case "16x64b":
            lane, column, count = (_LANE >> 2) + 8 * (_LANE & 1) + 0 * q, 2 * q + (_LANE >> 1 & 1), 2 * registers
        case "16x128b":
            lane, column, count = (_LANE >> 2) + 8 * (q & 1), 4 * (q >> 1) + (_LANE & 3), 2 * registers
        case "16x256b":
            lane, column, count = (
                (_LANE >> 2) + 8 * (q >> 1 & 1),
                8 * (q >> 2) + 2 * (_LANE & 3) + (q & 1),
                2 * registers,
            )
        case _:
            lane, column, count = (_LANE & 15) + 0 * q, q + 0 * _LANE, registers
    scale = 2 if packed else 1
    second = split * (_LANE >= 16) if shape == "16x32bx2" else 0
    return lane, column * scale + second, count * scale


def copy_size(shape: str) -> tuple[int, int]:
    """Return the rows of tcgen05.cp in shared memory, and the chunks of 16 bytes (four columns) per row."""
    rows, bits = shape.split(".")[0].rstrip("b").split("x")
    return int(rows), int(bits) // 128


def copy_lanes(shape: str) -> np.ndarray:
    """Lanes [row][copy], relative to the address, that receive a row."""
    row = np.arange(copy_size(shape)[0])[:, None]
    match shape:
        case "4x256b":
            return 32 * row
        case "64x128b.warpx2::02_13":
            return row + [0, 64]
        case "64x128b.warpx2::01_23":
            return row % 32 + 64 * (row // 32) + [0, 32]
        case "32x128b.warpx4":
            return row + [0, 32, 64, 96]
    return row


# products ------------------------------------------------------------------------------------------------------------

_K = {"f16": 16, "tf32": 8, "f8f6f4": 32, "i8": 32, "mxf8f6f4": 32, "mxf4": 64, "mxf4nvf4": 64}
_NARROW = {0: "e4m3", 1: "e5m2", 3: "e2m3", 4: "e3m2", 5: "e2m1"}
_RESERVED = {"i8": (6, 23, 29), "mxf8f6f4": (0, 1, 3, 6, 24, 25, 26, 31), "mxf4": (0, 1, 3, 6, 12, 24, 25, 26)}


@dataclass(frozen=True)
class Geometry:
    """Product that an instruction descriptor describes.

    Attributes:
        m, n, k: sizes of the whole product, k of dense A.
        a, b, d: formats.
        ctas: CTAs it works on.
        rows: rows of D in each CTA.
        groups: groups of lanes, with `columns` of N each.
        half: D uses 16 of each 32 lanes.
        saturate, negate, mn_a, mn_b, selector: fields of the descriptor.
        shift: maximum column shift of .ws.
        scale_type, id_a, id_b: type and ids of block scales.
    """

    m: int
    n: int
    k: int
    a: str
    b: str
    d: str
    ctas: int
    rows: int
    groups: int
    columns: int
    half: bool
    saturate: bool
    negate: bool
    mn_a: bool
    mn_b: bool
    selector: int
    shift: int
    scale_type: str
    id_a: int
    id_b: int

    def lanes(self, base: int, group: int) -> np.ndarray:
        """Return the lane of each row of D in a group of columns."""
        row = np.arange(self.rows)
        return base + row % 16 + 32 * (row // 16) if self.half else row + LANES // self.groups * group


def _types(kind: str, a: int, b: int, d: int) -> tuple[str, str, str] | None:
    match kind:
        case "f16":
            if a > 1 or b > 1 or d > 1 or (d == 0 and (a or b)):
                return None
            return ("f16", "bf16")[a], ("f16", "bf16")[b], ("f16", "f32")[d]
        case "tf32":
            return ("tf32", "tf32", "f32") if (a, b, d) == (2, 2, 1) else None
        case "i8":
            return (("u8", "s8")[a], ("u8", "s8")[b], "s32") if a < 2 and b < 2 and d == 2 else None
        case "f8f6f4" | "mxf8f6f4":
            if a not in _NARROW or b not in _NARROW or (kind == "f8f6f4" and d > 1):
                return None
            return _NARROW[a], _NARROW[b], "f16" if kind == "f8f6f4" and d == 0 else "f32"
    return ("e2m1x8", "e2m1x8", "f32") if a == b == 1 else None


def _has_shape(kind: str, ctas: int, ws: bool, sparse: bool, m: int, n: int) -> bool:
    if ws:
        return m in (32, 64, 128) and n in ((64, 128) if sparse else (64, 128, 256))
    step = 8 * ctas
    if kind == "i8" and (ctas == 2 or n > 32):
        step *= 2
    if not 8 <= n <= 256 or n % step:
        return False
    if kind.startswith("mx"):
        return (m == 128 and not (sparse and ctas == 2)) or (m == 256 and ctas == 2)
    return m in (64 * ctas, 128 * ctas)


def geometry(
    descriptor: int, kind: str, group: int, *, ws: bool, sparse: bool, in_tmem: bool, ashift: bool, vector: int
) -> Geometry:
    """Decode an instruction descriptor and check it against the instruction.

    Raises:
        TmemProblem: they contradict each other.
    """

    def bits(low: int, count: int = 1) -> int:
        return descriptor >> low & (1 << count) - 1

    def require(holds: bool, problem: TensorMemoryProblem) -> None:
        if not holds:
            raise TmemProblem(problem, descriptor)

    scaled, fp4 = kind.startswith("mx"), kind in ("mxf4", "mxf4nvf4")
    require(bits(2) == sparse, TensorMemoryProblem.SPARSE)
    require(scaled or not bits(0, 2) or (sparse and kind in ("f16", "tf32")), TensorMemoryProblem.SELECTOR)
    reserved = _RESERVED.get("mxf4" if fp4 else kind, (3, 6, 23, 29))
    require(not any(bits(k) for k in reserved), TensorMemoryProblem.RESERVED)
    require(not (fp4 and bits(31)), TensorMemoryProblem.K96)
    types = _types(kind, bits(7, 3), bits(10, 2 if fp4 else 3), bits(4, 2))
    require(types is not None, TensorMemoryProblem.TYPE)
    require(kind != "i8" or not bits(13, 2), TensorMemoryProblem.NEGATE)
    a, b, d = types or ("", "", "")
    m, n, k = (bits(27, 2) << 7 if fp4 else bits(24, 5) << 4), bits(17, 6) << 3, _K[kind] << sparse
    require(_has_shape(kind, group, ws, sparse, m, n), TensorMemoryProblem.SHAPE)
    mn_a, mn_b = bool(bits(15)), bool(bits(16))
    small = ("e2m3", "e3m2", "e2m1")
    require(
        not (fp4 and (mn_a or mn_b)) and not (mn_a and (a in small or in_tmem)) and not (mn_b and b in small),
        TensorMemoryProblem.TRANSPOSE,
    )
    require(not (mn_b and b in ("e4m3", "e5m2", "s8", "u8")) or n % (16 * group) == 0, TensorMemoryProblem.SHAPE)
    require(not ashift or m >= 128, TensorMemoryProblem.ASHIFT)
    if scaled:
        require(bool(bits(23)) or (kind == "mxf4nvf4" and vector == 4), TensorMemoryProblem.TYPE)
        require(vector == 1 or not (bits(29, 2) | bits(4, 2)) & (1 if vector == 2 else 3), TensorMemoryProblem.SCALE_ID)
    rows = m // group
    half = rows == 64 and (sparse if group == 2 else not ws)
    groups = 1 if half else LANES // rows
    return Geometry(
        m,
        n,
        k,
        a,
        b,
        d,
        group,
        rows,
        groups,
        n // groups,
        half,
        bool(bits(3)) and kind == "i8",
        bits(13) != bits(14),
        mn_a,
        mn_b,
        0 if scaled else bits(0, 2),
        (0, 8, 16, 32)[bits(30, 2)],
        "" if not scaled else "ue8m0" if bits(23) else "ue4m3",
        bits(29, 2),
        bits(4, 2),
    )


def metadata(g: Geometry, lanes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Location of the four metadata bits of each chunk of A's columns: lane, column and shift, arrays [row][chunk].

    A chunk is the columns that a pair of indices describes: two columns of tf32, eight of dense fp4, four of others. f16 and tf32
    have 8 chunks, half of them in the lane itself or 8 below, for rows of which bit 3 is set in the upper 16 bits; the
    selector names the column. The others have 16 chunks, in two columns of the lane.
    """
    chunks = g.k // {"tf32": 2, "e2m1x8": 8}.get(g.a, 4)
    lane, chunk = lanes[:, None], np.arange(chunks)[None, :]
    if g.a in ("f16", "bf16", "tf32"):
        return (
            (lane & ~15) + (lane & 7) + 8 * (chunk // 4),
            g.selector + 0 * lane + 0 * chunk,
            16 * (lane >> 3 & 1) + 4 * (chunk & 3),
        )
    return lane + 0 * chunk, chunk // 8 + 0 * lane, 4 * (chunk & 7) + 0 * lane


def zero_columns(g: Geometry, descriptor: int) -> np.ndarray:
    """Columns of B that a zero-column mask descriptor sets to zero.

    The table in the PTX ISA swaps the names of the spans; this follows its examples: the skip span counts zeros.
    """
    columns = np.arange(g.n)
    if not descriptor >> 39 & 1:
        return np.zeros(g.n, bool)
    zeros, used = (descriptor >> 40 & 255) + 1, (descriptor >> 48 & 255) + 1
    part = columns // g.columns
    start = np.array([descriptor >> 8 * k & 255 for k in range(4)])[part]
    first = np.array([descriptor >> 32 + k & 1 for k in range(4)])[part]
    at = (columns % g.columns + start) % (zeros + used)
    return np.where(first == 1, at < zeros, at >= used)
