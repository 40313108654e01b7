"""Rows of fragments in shared memory, 128 bytes wide with the 128-byte swizzle, as TMA stores them."""

from __future__ import annotations

from collections.abc import Sequence

from pyptx import reg, smem
from pyptx.elements import Vector
from pyptx.ptx.matrix import stmatrix
from pyptx.reg import Reg
from pyptx.tracing.operand import address, shifted
from pyptx.tracing.trace import emit
from pyptx.types import PtxType, f32

__all__ = ["LINE", "fill_pairs", "fill_row", "pairs_place", "row_place"]

LINE = 128  # bytes of a row of a box


def _rounded(values: Sequence[Reg], dtype: PtxType) -> list[Reg]:
    """Convert f32 values; return the words that hold them."""
    return list(values) if dtype == f32 else Vector.of(values).to(dtype).words


def row_place(lane: Reg) -> Reg:
    """Return the byte offset of the first 16 bytes of a lane's row."""
    return smem.apply_swizzle(lane * LINE, "128B")


def fill_row(place: Reg, offset: int, values: Sequence[Reg], dtype: PtxType) -> None:
    """Write 128 bytes of a row, 16 at a time, `offset` bytes behind `row_place`."""
    words = _rounded(values, dtype)
    for i in range(0, len(words), 4):
        emit("st", "shared.v4.b32", shifted(address(place ^ (i * 4)), offset), words[i : i + 4])


def pairs_place(lane: Reg, dtype: PtxType) -> Reg:
    """Return the byte offset at which a lane starts to write a warp's 16 rows of a wgmma accumulator; see `fill_pairs`."""
    if dtype.bits == 16:  # stmatrix: an address of each row
        return smem.apply_swizzle(((lane & 15) << 7) + ((lane >> 4) << 4), "128B")
    if dtype.bits == 8:
        return smem.apply_swizzle(((lane >> 2) << 7), "128B") + ((lane & 3) << 1)
    place = smem.apply_swizzle(((lane >> 2) << 7) + ((lane & 3) << 3), "128B")
    return place ^ ((lane & 4) << 4)  # odd rows begin 64 bytes on


def fill_pairs(place: Reg, offset: int, sums: Sequence[Reg], lane: Reg, dtype: PtxType) -> None:
    """Write 128 bytes of a warp's 16 rows of a wgmma accumulator, `offset` bytes behind `pairs_place`.

    A quarter of the registers fills 32 bytes of a row: for 16-bit types 16 columns by `stmatrix`, for f32 eight by vectors of
    two, for 8-bit types 32 by pairs. With the vectors, rows 2i and 2i + 1 would share their banks: odd rows write their
    quarters in the order 2, 3, 0, 1.
    """
    size = len(sums) // 4
    quarters = [sums[i * size : (i + 1) * size] for i in range(4)]
    if dtype.bits == 16:
        for i, values in enumerate(quarters):
            stmatrix(smem=(place ^ (i * 32)) + offset, regs=_rounded(values, dtype))
        return
    if dtype.bits == 8:
        for j in range(0, len(sums), 4):  # eight columns
            at = address(place ^ (j // 8 * 16))
            for below in (0, 1):
                (pair,) = _rounded(sums[j + 2 * below : j + 2 * below + 2], dtype)
                emit("st", "shared.b16", shifted(at, offset + j // 4 % 2 * 8 + below * 8 * LINE), pair)
        return
    odd = lane & 4 != 0
    for i, (of_even, of_odd) in enumerate(zip(quarters, quarters[2:] + quarters[:2], strict=True)):
        values = [reg.scalar(f32) for _ in range(size)]
        for value, one, two in zip(values, of_odd, of_even, strict=True):
            emit("selp", "f32", value, one, two, odd)
        target = address((place ^ (i * 32)) + offset)
        emit("st", "shared.v2.f32", target, values[:2])
        emit("st", "shared.v2.f32", shifted(target, 8 * LINE), values[2:])
