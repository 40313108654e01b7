"""Epilogue to fp4: e2m1 elements, two in a byte, with a scale for each block of a row (NVFP4, MXFP4)."""

from __future__ import annotations

from collections.abc import Sequence

from pyptx import reg
from pyptx._loc import user_place
from pyptx.elements import Elements, Vector
from pyptx.errors import ShapeError
from pyptx.lib.fragment import Fragment
from pyptx.ptx import math
from pyptx.reg import Reg
from pyptx.tracing.trace import emit
from pyptx.types import b8, b16, b32, f16, f16x2, f32, u8, u32

__all__ = ["store_fp4"]

_LARGEST = 6.0  # of e2m1
_BLOCKS = {"ue4m3": 16, "ue8m0": 32}  # elements with one scale


def store_fp4(
    fragment: Fragment, to: Elements, scales: Elements, row: int | Reg, column: int | Reg, *, scale: str = "ue4m3",
    end: int | Reg | None = None,
) -> None:  # fmt: skip
    """Quantize the rows of a fragment to e2m1 and store them, with the scale of each block of 16 or 32 columns (sm_100a, sm_120a).

    ::

        columns    0 .............. 15   16 ............. 31
        elements  | 8 bytes of e2m1    | 8 bytes of e2m1    |      byte j: columns 2j (lower bits) and 2j + 1
        scales    | 1 byte             | 1 byte             |      scale = largest magnitude / 6, rounded

    An element is the quotient by the rounded scale, and 0 in a block whose scale is 0. For NVFP4, divide by the scale of the
    whole matrix first: `frag.apply(lib.scaled(1 / whole))`. Emits for each block the maximum, the conversion of its scale and
    back, `rcp.rn`, and for each pair two `mul` and `cvt.rn.satfinite.e2m1x2.f32`; stores of 8 or 16 bytes, and of the scales
    of the row.

    Args:
        fragment: one whose rows each lie in a thread, a `TensorFragment`; its columns are whole blocks, two or more.
        to: bytes (u8) of the elements, rows x columns / 2.
        scales: bytes (u8) of the scales, rows x blocks.
        row, column: of the first element of the tile in the matrix; the column a multiple of two blocks.
        scale: "ue4m3" for blocks of 16 (NVFP4), "ue8m0", a power of two rounded up, for blocks of 32 (MXFP4).
        end: rows of the matrix, where the tile may reach beyond them.
    Raises:
        ShapeError: an unknown scale, another fragment, or arrays of another type.
    Source: PTX ISA, "cvt", "Block Scaling"; OCP Microscaling Formats specification.
    """
    values = [value for value, _, _ in fragment.coords()]
    block = _BLOCKS.get(scale)
    if block is None or fragment.lanes != 1 or len(fragment.rows()) != 1 or len(values) % (2 * (block or 1)):
        raise ShapeError(
            f"store_fp4 of a {type(fragment).__name__} of {len(values)} elements of a thread with scale={scale!r}; expected "
            "'ue4m3' or 'ue8m0', and whole rows of two or more blocks in a thread: a TensorFragment",
            at=user_place(),
        )
    if to.dtype != u8 or scales.dtype != u8:
        raise ShapeError(
            f"store_fp4 to {to.name} ({to.dtype}) and {scales.name} ({scales.dtype}); expected bytes, u8",
            at=user_place(),
        )
    at = fragment.row + row
    guard = None if end is None else at < end
    blocks = [values[i : i + block] for i in range(0, len(values), block)]
    found: list[Reg] = []  # pairs of scales
    bytes_: list[Reg] = []
    for low, high in zip(blocks[::2], blocks[1::2], strict=True):
        pair, inverse = _scales_of(low, high, scale)
        found.append(pair)
        for part, factor in zip((low, high), inverse, strict=True):
            bytes_ += [_pair(x * factor, y * factor) for x, y in zip(part[::2], part[1::2], strict=True)]
    _store(to, at, column, 2, bytes_, guard)
    _store(scales, at, column, block, _halves(found), guard)


def _scales_of(low: Sequence[Reg], high: Sequence[Reg], scale: str) -> tuple[Reg, list[Reg]]:
    """Return the scales of two blocks, packed in 16 bits, and their reciprocals in f32, 0 for 0."""
    most = [math.max(*(math.abs(value) for value in part)) * (1 / _LARGEST) for part in (low, high)]
    pair = reg.scalar(b16)
    if scale == "ue4m3":
        emit("cvt", "rn.satfinite.e4m3x2.f32", pair, most[1], most[0])
        wide, parts = reg.scalar(f16x2), [reg.scalar(f16), reg.scalar(f16)]
        emit("cvt", "rn.f16x2.e4m3x2", wide, pair)
        emit("mov", "b32", parts, wide)
        rounded = [part.to(f32) for part in parts]
    else:
        emit("cvt", "rp.satfinite.ue8m0x2.f32", pair, most[1], most[0])
        rounded = [reg.scalar(f32), reg.scalar(f32)]
        for value, byte in zip(rounded, _halves([pair]), strict=True):
            wide = reg.scalar(b32)
            emit("cvt", "u32.u8", wide, byte)
            emit("shl", "b32", wide, wide, 23)  # the exponent of an f32
            emit("mov", "b32", value, wide)
    inverse = []
    for value in rounded:
        one = reg.scalar(f32)
        emit("rcp", "rn.f32", one, value)
        inverse.append(math.select(value > 0.0, one, 0.0))
    return pair, inverse


def _pair(low: Reg, high: Reg) -> Reg:
    byte = reg.scalar(b8)
    emit("cvt", "rn.satfinite.e2m1x2.f32", byte, high, low)
    return byte


def _halves(pairs: Sequence[Reg]) -> list[Reg]:
    found: list[Reg] = []
    for pair in pairs:
        parts = [reg.scalar(b8), reg.scalar(b8)]
        emit("mov", "b16", parts, pair)
        found += parts
    return found


def _store(to: Elements, row: Reg, column: int | Reg, each: int, bytes_: Sequence[Reg], guard: Reg | None) -> None:
    """Store bytes of a row, `each` columns for one, 16 at a time, or as many as the row and the column have aligned."""
    first = column // each if isinstance(column, int) else column >> (each.bit_length() - 1)
    size = 16
    while to.shape[-1] % size or len(bytes_) % size or (isinstance(first, int) and first % size):
        size //= 2
    for i in range(0, len(bytes_), size):
        part = bytes_[i : i + size]
        if size == 1:
            wide = reg.scalar(u32)
            emit("cvt", "u32.u8", wide, part[0])
            to.store(row, first, wide, offset=(0, i), pred=guard)
            continue
        width = min(4, size)
        words = [_word(part[j : j + width], 8 * width) for j in range(0, size, width)]
        to.store(row, first, Vector(u8, size, words), offset=(0, i), pred=guard)


def _word(parts: Sequence[Reg], bits: int) -> Reg:
    word = reg.scalar(b32 if bits == 32 else b16)
    emit("mov", f"b{bits}", word, list(parts))
    return word
