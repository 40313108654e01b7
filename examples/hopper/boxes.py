"""Epilogue of the persistent Hopper kernels: results through shared memory, in boxes, by TMA."""

from __future__ import annotations

from collections.abc import Sequence

from examples.hopper.tiles import LINE
from examples.vectors import rounded, wide
from pyptx import ptx, reg, smem
from pyptx.reg import Reg, RegArray
from pyptx.tensor import TensorSpec
from pyptx.types import PtxType, b8, b32, f32, u32

__all__ = ["Boxes", "box_place", "fill_box"]


def box_place(lane: Reg, dtype: PtxType) -> Reg:
    """Return the byte offset at which a lane starts to write a warp's 16 rows of a swizzled box; see `fill_box`."""
    if dtype == f32:
        place = smem.apply_swizzle(((lane >> 2) << 7) + ((lane & 3) << 3), "128B")
        return place ^ ((lane & 4) << 4)  # odd rows begin 64 bytes on
    return smem.apply_swizzle(((lane & 15) << 7) + ((lane >> 4) << 4), "128B")


def fill_box(place: Reg, offset: int, sums: Sequence[Reg], lane: Reg, dtype: PtxType) -> None:
    """Write a warp's 16 rows of a wgmma accumulator as `dtype`, 128 bytes of each, `offset` bytes behind box_place.

    A quarter of the registers fills 32 bytes of a row: 16 columns by stmatrix, or 8 of f32 by vectors of two. With
    those, rows 2i and 2i + 1 would share their banks: so odd rows write their quarters in the order 2, 3, 0, 1.
    """
    size = len(sums) // 4
    quarters = [sums[i * size : (i + 1) * size] for i in range(4)]
    if dtype != f32:
        for i, values in enumerate(quarters):
            ptx.stmatrix(smem=(place ^ (i * 32)) + offset, regs=rounded(values, dtype))
        return
    odd = lane & 4 != 0
    for i, (of_even, of_odd) in enumerate(zip(quarters, quarters[2:] + quarters[:2], strict=True)):
        values = [reg.scalar(f32) for _ in range(size)]
        for value, one, two in zip(values, of_odd, of_even, strict=True):
            ptx.inst.selp.f32(value, one, two, odd)
        target = (place ^ (i * 32)) + offset
        ptx.inst.st.shared.v2.f32(ptx.addr(target), values[:2])
        ptx.inst.st.shared.v2.f32(ptx.addr(target, 8 * LINE), values[2:])


class Boxes:
    """Shared memory through which warps store their results by TMA: two boxes per warp, used alternately.

    A box holds 16 rows of 128 bytes, swizzled. A store is waited for when its box is needed again.
    """

    ROWS = 16

    def __init__(self, warps: int, dtype: PtxType):
        self.dtype = dtype
        self.memory = smem.alloc(b8, self.bytes_of(warps), align=1024)
        self.start = reg.from_(self.memory.name, u32)

    @classmethod
    def bytes_of(cls, warps: int) -> int:
        return warps * 2 * cls.ROWS * LINE

    def write(
        self,
        sums: RegArray | Sequence[Reg],
        to: TensorSpec,
        row: int | Reg,
        column: int | Reg,
        warp: Reg,
        lane: Reg,
        end: Reg | None = None,
    ) -> None:
        """Write a warp's 16 rows of a wgmma accumulator to the array `to`; `row` is the warpgroup's first one. Rows
        from `end` on are not written, where it is given.
        """
        own = self.start + warp * (2 * self.ROWS * LINE)
        place = own + box_place(lane, self.dtype)
        row = row + (warp & 3) * self.ROWS
        sums = list(sums)
        size = LINE * 8 // self.dtype.bits // 2  # registers of a box
        count = len(sums) // size
        for i, box in enumerate(range(0, len(sums), size)):
            offset = i % 2 * self.ROWS * LINE
            pending = 0 if i == 0 and count % 2 else 1  # an odd number of boxes ends with the one it begins with
            ptx.cp.async_bulk.wait_group(pending, read=True)  # what this box held has left
            ptx.inst.bar.warp.sync(-1)
            fill_box(place, offset, sums[box : box + size], lane, self.dtype)
            ptx.fence.proxy_async_shared_cta()
            ptx.inst.bar.warp.sync(-1)
            first = column + i * (LINE * 8 // self.dtype.bits)
            whole = lane == 0
            if end is not None:
                limit = reg.scalar(u32)  # lane 0, where all rows of the box are to be written
                ptx.inst.selp.u32(limit, 1, 0, row + self.ROWS <= end)
                whole = lane < limit
            with ptx.if_(whole):
                ptx.cp.async_bulk.tensor_2d.store(dst=to.tma_desc(), src=own + offset, coord=(first, row))
            ptx.cp.async_bulk.commit_group()  # of no store too: the waits count groups
            if end is not None:
                with ptx.if_(row + self.ROWS > end):
                    self.write_rows(own + offset, to, row, first, lane, end)

    def write_rows(self, box: Reg, to: TensorSpec, row: Reg, column: int | Reg, lane: Reg, end: Reg) -> None:
        """Write those rows of a box that lie before `end`: a lane four pieces of 16 bytes, four rows apart."""
        assert to.shape is not None
        columns, numbers = to.shape[1], 128 // self.dtype.bits  # numbers of a piece
        (place,) = ptx.global_ptrs(to)
        column = column + (lane & 7) * numbers
        place += wide(row + (lane >> 3), columns * self.dtype.bits // 8) + wide(column, self.dtype.bits // 8)
        inside = reg.scalar(u32)
        ptx.inst.selp.u32(inside, end, 0, column < columns)
        for i in range(0, self.ROWS, 4):
            words = reg.array(b32, 4)
            source = box + smem.apply_swizzle((lane << 4) + i * LINE, "128B")
            ptx.inst.ld.shared.v4.b32(words, ptx.addr(source))
            ptx.inst.st.global_.v4.b32(
                ptx.addr(place, i * columns * self.dtype.bits // 8), words, pred=row + ((lane >> 3) + i) < inside
            )
