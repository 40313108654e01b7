"""Results of the fast kernels for Hopper on their way out: through shared memory, in boxes, by TMA."""

from __future__ import annotations

from collections.abc import Sequence

from examples.hopper.tiles import LINE
from examples.vectors import rounded, wide
from pyptx import ptx, reg, smem
from pyptx.reg import Reg, RegArray
from pyptx.types import PtxType, b8, b32, f32, u32

__all__ = ["Boxes"]


class Boxes:
    """Shared memory through which warps write their results by TMA: for each two boxes, used in turn.

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

    def write(self, sums: RegArray | Sequence[Reg], to: object, row: int | Reg, column: int | Reg, warp: Reg,
              lane: Reg, end: Reg | None = None) -> None:
        """Write a warp's 16 rows of a wgmma accumulator to the array `to`; `row` is the warpgroup's first one. Rows
        from `end` on are not written, where it is given.

        Whatever the type, four groups of registers fill a box: 16 columns each by stmatrix, or 8 of f32 by vectors of
        two (rows 2i and 2i + 1 then share their banks: two passes for each store).
        """
        size = 4 if self.dtype == f32 else 8            # registers of a group
        own = self.start + warp * (2 * self.ROWS * LINE)
        if self.dtype == f32:
            place = ((lane >> 2) << 7) + ((lane & 3) << 3)
        else:
            place = ((lane & 15) << 7) + ((lane >> 4) << 4)
        place = own + smem.apply_swizzle(place, "128B")
        row = row + (warp & 3) * self.ROWS
        sums = list(sums)
        count = len(sums) // (4 * size)
        for i, box in enumerate(range(0, len(sums), 4 * size)):
            offset = i % 2 * self.ROWS * LINE
            pending = 0 if i == 0 and count % 2 else 1  # an odd number of boxes ends with the one it begins with
            ptx.cp.async_bulk.wait_group(pending, read=True)            # what this box held has left
            ptx.inst.bar.warp.sync(-1)
            for part in range(4):
                values = sums[box + part * size:box + (part + 1) * size]
                self.fill(place ^ (part * 32), offset, values)
            ptx.fence.proxy_async_shared_cta()
            ptx.inst.bar.warp.sync(-1)
            first = column + i * (LINE * 8 // self.dtype.bits)
            whole = lane == 0
            if end is not None:
                limit = reg.scalar(u32)                 # lane 0, where all rows of the box are to be written
                ptx.inst.selp.u32(limit, 1, 0, row + self.ROWS <= end)
                whole = lane < limit
            with ptx.if_(whole):
                ptx.cp.async_bulk.tensor_2d.store(dst=to.tma_desc(), src=own + offset, coord=(first, row))
            ptx.cp.async_bulk.commit_group()            # of no store too: the waits count groups
            if end is not None:
                with ptx.if_(row + self.ROWS > end):
                    self.write_rows(own + offset, to, row, first, lane, end)

    def write_rows(self, box: Reg, to: object, row: Reg, column: Reg, lane: Reg, end: Reg) -> None:
        """Write those rows of a box that lie before `end`: a lane four pieces of 16 bytes, four rows apart."""
        numbers = 128 // self.dtype.bits                # of a piece
        (place,) = ptx.global_ptrs(to)
        column = column + (lane & 7) * numbers
        place += wide(row + (lane >> 3), to.shape[1] * self.dtype.bits // 8) + wide(column, self.dtype.bits // 8)
        inside = reg.scalar(u32)
        ptx.inst.selp.u32(inside, end, 0, column < to.shape[1])
        for i in range(0, self.ROWS, 4):
            words = reg.array(b32, 4)
            source = box + smem.apply_swizzle((lane << 4) + i * LINE, "128B")
            ptx.inst.ld.shared.v4.b32(words, ptx.addr(source))
            ptx.inst.st.global_.v4.b32(ptx.addr(place, i * to.shape[1] * self.dtype.bits // 8), words,
                                       pred=row + ((lane >> 3) + i) < inside)

    def fill(self, target: Reg, offset: int, values: Sequence[Reg]) -> None:
        if self.dtype == f32:
            ptx.inst.st.shared.v2.f32(ptx.addr(target, offset), values[:2])
            ptx.inst.st.shared.v2.f32(ptx.addr(target, offset + 8 * LINE), values[2:])
            return
        ptx.stmatrix(smem=target + offset, regs=rounded(values, self.dtype))
