"""What the matrix products for Blackwell share: where tiles lie, and results on their way from tensor memory."""

from __future__ import annotations

from pyptx import ptx, reg, smem
from pyptx.reg import Reg
from pyptx.types import PtxType, b8, b32, f32, u32

__all__ = ["BOX", "COPIES", "LINE", "MMA_K", "MOST_BYTES", "MULTIPLIES", "SETS", "THREADS", "WRITERS", "Boxes", "place"]

WRITERS = 4                     # warps; each reads 32 of the 128 lanes of tensor memory
COPIES, MULTIPLIES = 32 * WRITERS, 32 * WRITERS + 32                # threads with a role of their own
THREADS = 32 * (WRITERS + 2)
MMA_K = 16                      # of one tcgen05.mma with 16-bit operands
LINE, BOX = 128, 64             # bytes and 16-bit columns of a row of a box in shared memory
SETS = 2                        # of sums in tensor memory
MOST_BYTES = 227 * 1024


def place(tile: Reg, tiles_down: int, rows: int, columns: int) -> tuple[Reg, Reg]:
    """Row and column of the first element of a tile of rows x columns; tiles are counted downwards."""
    down, across = reg.scalar(u32), reg.scalar(u32)
    ptx.inst.rem.u32(down, tile, tiles_down)
    ptx.inst.div.u32(across, tile, tiles_down)
    return down * rows, across * columns


class Boxes:
    """Shared memory through which the writers' results leave by TMA: for each warp two boxes of 32 rows, in turn.

    A thread has a row; it writes 16 bytes at a time, where the swizzle has them (PTX ISA, "Swizzling Modes").
    """

    BYTES = 32 * LINE

    def __init__(self, dtype: PtxType, warp: Reg, lane: Reg):
        self.dtype, self.warp, self.lane = dtype, warp, lane
        memory = smem.alloc(b8, (WRITERS, 2, self.BYTES), align=1024)
        self.per_box = LINE * 8 // dtype.bits           # columns
        self.boxes = reg.from_(memory.name, u32) + warp * (2 * self.BYTES)
        self.own_row = self.boxes + smem.apply_swizzle(lane * LINE, "128B")

    def write(self, sums: Reg, columns: int, to: object, row: Reg, column: Reg) -> None:
        """Write `columns` columns of this warp's 32 lanes of tensor memory at `sums` to the array `to`."""
        lanes = sums + (self.warp << 21)                # the lane is in the upper half of an address
        values = reg.array(b32, self.per_box)
        for j in range(0, columns, self.per_box):
            box = j // self.per_box % 2 * self.BYTES
            ptx.tcgen05.ld(values, lanes + j, shape="32x32b", count=self.per_box)
            ptx.tcgen05.wait_ld()
            ptx.cp.async_bulk.wait_group(1 if columns > self.per_box else 0, read=True)     # what the box held has left
            ptx.inst.bar.warp.sync(-1)
            words = rounded(values.regs(), self.dtype)
            for i in range(0, len(words), 4):
                ptx.inst.st.shared.v4.b32(ptx.addr(self.own_row ^ (i * 4), box), words[i:i + 4])
            ptx.fence.proxy_async_shared_cta()
            ptx.inst.bar.warp.sync(-1)
            with ptx.if_(self.lane == 0):
                ptx.cp.async_bulk.tensor_2d.store(dst=to.tma_desc(), src=self.boxes + box,
                                                  coord=(column + j, row + (self.warp << 5)))
                ptx.cp.async_bulk.commit_group()


def rounded(values: list[Reg], dtype: PtxType) -> list[Reg]:
    """f32 sums as `dtype`, in 32-bit words."""
    if dtype == f32:
        return values
    floats, pairs = [reg.from_(value, f32) for value in values], [reg.scalar(b32) for _ in values[::2]]
    for pair, low, high in zip(pairs, floats[::2], floats[1::2], strict=True):
        getattr(ptx.inst.cvt.rn, f"{dtype.name}x2").f32(pair, high, low)
    return pairs
