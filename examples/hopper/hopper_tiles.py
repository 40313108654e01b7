"""What the fast matrix products for Hopper share: the order of tiles, and results on their way out."""

from __future__ import annotations

from collections.abc import Sequence

from pyptx import ptx, reg, smem
from pyptx.reg import Reg, RegArray
from pyptx.types import PtxType, b8, b32, f32, u32

__all__ = ["BOX", "LINE", "MOST_BYTES", "WGMMA_BYTES", "WGMMA_K", "WGMMA_ROWS", "Boxes", "grouped"]

LINE = 128                      # bytes of a row of a box in shared memory, and of the swizzle
BOX = LINE // 2                 # columns of a box of 16-bit numbers
WGMMA_ROWS, WGMMA_K = 64, 16    # of one wgmma with 16-bit operands
WGMMA_BYTES = WGMMA_ROWS * LINE                 # 64 rows of a box
MOST_BYTES = 227 * 1024         # of shared memory that a CTA can have, less what the mbarriers take


def grouped(tile: Reg, tiles_down: int, tiles_across: int, group: int) -> tuple[Reg, Reg]:
    """Row and column of tiles of a tile's number: `group` rows of tiles at a time, in them downwards first."""
    if group >= tiles_down:                             # one group
        return divided(tile, tiles_down)[::-1]
    within, number = divided(tile, group * tiles_across)[::-1]
    first, high = number * group, reg.scalar(u32)       # the last group may have fewer rows
    ptx.inst.min.u32(high, tiles_down - first, group)
    across, down = divided(within, high)
    return first + down, across


def divided(number: Reg, by: int | Reg) -> tuple[Reg, Reg]:
    """Quotient and remainder."""
    quotient, rest = reg.scalar(u32), reg.scalar(u32)
    ptx.inst.div.u32(quotient, number, by)
    ptx.inst.rem.u32(rest, number, by)
    return quotient, rest


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
              lane: Reg) -> None:
        """Write a warp's 16 rows of a wgmma accumulator to the array `to`; `row` is the warpgroup's first one.

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
            with ptx.if_(lane == 0):
                ptx.cp.async_bulk.tensor_2d.store(dst=to.tma_desc(), src=own + offset,
                                                  coord=(column + i * (LINE * 8 // self.dtype.bits), row))
                ptx.cp.async_bulk.commit_group()

    def fill(self, target: Reg, offset: int, values: Sequence[Reg]) -> None:
        if self.dtype == f32:
            ptx.inst.st.shared.v2.f32(ptx.addr(target, offset), values[:2])
            ptx.inst.st.shared.v2.f32(ptx.addr(target, offset + 8 * LINE), values[2:])
            return
        pairs = reg.array(b32, 4)
        for pair, low, high in zip(pairs, values[::2], values[1::2], strict=True):
            getattr(ptx.inst.cvt.rn, f"{self.dtype.name}x2").f32(pair, high, low)
        ptx.stmatrix(smem=target + offset, regs=pairs)
