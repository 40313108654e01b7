"""Tensor maps: decoded from 128 bytes, and the rows and units of a copy (core/src/tensor_map.c).

A row runs along dimension 0. A unit is what stays together: an element, a slice of interleaved channels, or the sixteen
elements of a padded type. Dimensions count from the innermost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from pyptx.sim.abi import TensorCopyProblem
from pyptx.tensor_map import ELEMENTS
from pyptx.tensor_map._layout import LAYOUT, MAGIC, VERSION

__all__ = ["Geometry", "Map", "Request", "TensorProblem", "geometry", "pixels", "rows", "swizzled"]

SPANS = (0, 32, 64, 128, 96)
TILE, GATHER4, SCATTER4, IM2COL, IM2COL_W, IM2COL_W128 = "tile", "gather4", "scatter4", "im2col", "w", "w128"
_MODES = {TILE: 0, GATHER4: 0, SCATTER4: 0, IM2COL: 1, IM2COL_W: 2, IM2COL_W128: 3}
_CORNER_BITS = {3: 16, 4: 8, 5: 5}
_REDUCIBLE = {
    "add": "u32 s32 u64 s64 f16 bf16 f32 f32.ftz f64",
    "min": "u32 s32 u64 s64 f16 bf16",
    "max": "u32 s32 u64 s64 f16 bf16",
    "inc": "u32",
    "dec": "u32",
    "and": "u32 s32 u64 s64",
    "or": "u32 s32 u64 s64",
    "xor": "u32 s32 u64 s64",
}


class TensorProblem(Exception):
    """Invalid tensor copy: the problem, the address or number it is about, and another number."""

    def __init__(self, problem: TensorCopyProblem, about: int, detail: int = 0):
        super().__init__(problem.name)
        self.problem, self.about, self.detail = problem, about & (1 << 64) - 1, detail


class Map(NamedTuple):
    """Fields of a map; sequences are innermost first, with `rank` entries."""

    rank: int
    element: int
    interleave: int
    swizzle: int
    atomicity: int
    fill: int
    address: int
    strides: tuple[int, ...]  # bytes, of dimension 1 on
    sizes: tuple[int, ...]
    box: tuple[int, ...]  # of all five dimensions
    lower: tuple[int, ...]
    upper: tuple[int, ...]
    steps: tuple[int, ...]
    mode: int

    @classmethod
    def read(cls, data: bytes, at: int) -> Map:
        """Decode the 128 bytes of a map.

        Raises:
            TensorProblem: these are not a map.
        """
        v = LAYOUT.unpack(data)
        if v[0] != MAGIC or v[1] != VERSION or not 1 <= v[2] <= 5 or v[3] >= len(ELEMENTS) or v[35] > 3:
            raise TensorProblem(TensorCopyProblem.MAP_MAGIC, at)
        rank, element, interleave, swizzle, atomicity, fill = v[2:8]
        return cls(
            rank,
            element,
            interleave,
            swizzle,
            atomicity,
            fill,
            v[9],
            v[10:14][: rank - 1],
            tuple(n + 1 for n in v[14:19])[:rank],
            v[19:24],
            v[24:27],
            v[27:30],
            v[30:35][:rank],
            v[35],
        )


class Request(NamedTuple):
    """Request of a tensor copy."""

    direction: str  # load, store, reduce, prefetch
    mode: str
    rank: int
    coordinates: tuple[int, ...]
    offsets: tuple[int, ...] = ()  # of im2col; (wHalo, wOffset) of the w modes
    operation: str = ""
    inside: bool = False  # im2col_no_offs::w: ends at the first pixel outside


@dataclass(frozen=True)
class Geometry:
    """Layout of a box in shared memory."""

    global_unit: int  # bytes of a unit
    shared_unit: int
    per_unit: int  # elements along dimension 0 that a unit stands for
    units: int  # in a row
    step: int  # from unit to unit, in units
    size: int  # of dimension 0, in units
    rows: int
    pitch: int  # bytes from row to row
    transaction: int  # bytes that complete on an mbarrier

    @property
    def footprint(self) -> int:
        return self.rows * self.pitch


def geometry(m: Map, request: Request, at: int) -> Geometry:
    """Compute the layout of a copy with the map at address `at`.

    Raises:
        TensorProblem: the copy cannot be done with this map.
    """
    element = ELEMENTS[m.element]
    if m.rank != request.rank:
        raise TensorProblem(TensorCopyProblem.RANK, at)
    flat = request.mode in (GATHER4, SCATTER4)
    if m.mode != _MODES[request.mode] or (flat and (m.rank != 2 or m.box[1] != 1 or m.interleave)):
        raise TensorProblem(TensorCopyProblem.MODE, at)
    if request.direction == "store" and element.name == "b4x16_p64":
        raise TensorProblem(TensorCopyProblem.ELEMENT, at)
    if request.direction == "reduce" and element.name not in _REDUCIBLE[request.operation].split():
        raise TensorProblem(TensorCopyProblem.ELEMENT, at)
    slice_bytes = (0, 16, 32)[m.interleave] if m.interleave < 3 else 0
    wide = m.mode >= 2
    _check_tensor(m, element, wide, at)
    _check_swizzle(m, element, request, wide, at)
    if slice_bytes:
        unit, shared, per = slice_bytes, slice_bytes, 1
        units = 1 if m.mode else -(-m.box[0] // m.steps[0])
    else:
        unit, shared, per = element.global_bytes, element.shared_bytes, element.group
        units = m.box[0] // per
        if m.box[0] * element.bits % 128 or (element.padded and m.box[0] != 128):
            raise TensorProblem(TensorCopyProblem.BOX, at)
        if m.swizzle and units * shared > SPANS[m.swizzle]:
            raise TensorProblem(TensorCopyProblem.BOX, at)
    if flat:
        count = 4
    elif m.mode == 0:
        count = prod(-(-b // s) for b, s in zip(m.box[1 : m.rank], m.steps[1:], strict=True))
    else:
        halo = request.offsets[0] if wide and request.offsets else 0
        count = 128 + 4 * halo if request.mode == IM2COL_W128 else m.box[1] + halo
    pitch = max(units * shared, SPANS[m.swizzle])
    return Geometry(
        unit,
        shared,
        per,
        units,
        m.steps[0] if slice_bytes else 1,
        m.sizes[0] // per,
        count,
        pitch,
        count * units * unit,
    )


def _check_tensor(m: Map, element, wide: bool, at: int) -> None:
    boxes = m.box[: m.rank] if m.mode == 0 else m.box[:1]
    if not all(1 <= b <= 256 for b in boxes) or (m.mode and not 1 <= m.box[1] <= 1024):
        raise TensorProblem(TensorCopyProblem.BOX, at)
    if not all(1 <= s <= 8 for s in m.steps):
        raise TensorProblem(TensorCopyProblem.STEP, at)
    unit = 32 if m.interleave == 2 or element.padded else 16
    if m.address % unit or any(s % unit for s in m.strides):
        raise TensorProblem(TensorCopyProblem.TENSOR, at)
    if m.interleave > 2 or m.rank < (3 if m.interleave or m.mode else 1) or (m.interleave and (wide or element.padded)):
        raise TensorProblem(TensorCopyProblem.MODE, at)


def _check_swizzle(m: Map, element, request: Request, wide: bool, at: int) -> None:
    wrong = m.swizzle > 4 or m.atomicity > 3 or (m.atomicity and m.swizzle != 3)
    wrong |= m.interleave == 2 and m.swizzle != 1
    wrong |= m.atomicity == 2 and request.direction in ("store", "reduce")
    wrong |= element.padded and m.swizzle not in (0, 3)
    wrong |= element.padded and m.atomicity == 3 and request.direction == "load"
    wrong |= wide and m.swizzle not in (2, 3, 4)
    wrong |= request.mode == IM2COL_W128 and m.swizzle == 4
    if wrong:
        raise TensorProblem(TensorCopyProblem.SWIZZLE, at)


def swizzled(m: Map, address: int) -> int:
    """Apply the swizzle to an absolute address in shared memory."""
    line = address >> 7
    if m.swizzle == 3 and m.atomicity in (1, 2):
        address ^= (line & 3) << 5
        return address ^ (line & 1) << 3 if m.atomicity == 2 else address
    if m.swizzle == 3 and m.atomicity == 3:
        return address ^ (line & 1) << 6
    return address ^ (line & (0, 1, 3, 7, 1)[m.swizzle]) << 4


def rows(m: Map, request: Request, g: Geometry) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the rows of a copy: number in shared memory, and start in the tensor, dimension 0 in elements.

    Raises:
        TensorProblem: a coordinate or offset out of range.
    """
    start = request.coordinates
    if not m.interleave and start[0] % (128 if g.per_unit == 16 else g.per_unit):
        raise TensorProblem(TensorCopyProblem.COORDINATE, start[0])
    if request.mode in (GATHER4, SCATTER4):
        yield from ((r, (start[0], start[1 + r])) for r in range(4))
    elif m.mode:
        yield from pixels(m, request)
    else:
        counts = [-(-b // s) for b, s in zip(m.box[1 : m.rank], m.steps[1:], strict=True)]
        for r in range(g.rows):
            at, rest = [start[0]], r
            for d, n in enumerate(counts, 1):
                at.append(start[d] + rest % n * m.steps[d])
                rest //= n
            yield r, tuple(at)


def pixels(m: Map, request: Request) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the pixels of an im2col copy: along w, h, d inside the bounding box, then image by image.

    The halo of `im2col::w` follows the last pixel; in `im2col::w::128` the halos of the four runs of 32 pixels lie
    behind the 128, the first pixel of each run, then the second.
    """
    wide = m.mode >= 2
    first = 0 if m.interleave else 1  # the dimension w
    spatial = range(first, first + (1 if wide else m.rank - 2))
    halo, shift, offsets = 0, 0, (0,) * len(spatial)
    if request.offsets and wide:
        halo, shift = request.offsets
        if halo >= (32 if request.mode == IM2COL_W128 else 512) or shift >= 32:
            raise TensorProblem(TensorCopyProblem.OFFSET, halo if shift < 32 else shift)
    elif request.offsets:
        offsets = request.offsets
        for offset in offsets:
            if offset >= 1 << _CORNER_BITS[m.rank]:
                raise TensorProblem(TensorCopyProblem.OFFSET, offset)
    lower = [m.lower[k] + shift for k in range(len(spatial))]
    upper = [m.sizes[d] + m.upper[k] + shift for k, d in enumerate(spatial)]
    at = list(request.coordinates)
    at[first] += shift
    for k, d in enumerate(spatial):
        if at[d] >= upper[k] or (not wide and at[d] < lower[k]) or (request.inside and at[d] < 0):
            raise TensorProblem(TensorCopyProblem.COORDINATE, at[d] - shift * (d == first))

    def advance(cursor: list[int]) -> None:
        for k, d in enumerate(spatial):
            cursor[d] += m.steps[d]
            if cursor[d] < upper[k]:
                return
            cursor[d] = lower[k]
        cursor[-1] += m.steps[-1]

    runs = 4 if request.mode == IM2COL_W128 else 1
    count = 128 if request.mode == IM2COL_W128 else m.box[1]
    for p in range(count):
        place = list(at)
        for k, d in enumerate(spatial):
            place[d] += offsets[k]
        yield p, tuple(place)
        advance(at)
        if (p + 1) % (count // runs) == 0 and halo:
            cursor, run = list(at), (p + 1) // (count // runs) - 1
            for h in range(halo):
                yield count + h * runs + run, tuple(cursor)
                advance(cursor)
