"""What the fast kernels for Hopper share: the ring of stages, the order of tiles, and results on their way out."""

from __future__ import annotations

from collections.abc import Sequence

from pyptx import ptx, reg, smem
from pyptx.ptx.mbarrier import Slot
from pyptx.reg import Reg, RegArray
from pyptx.types import PtxType, b8, b32, f32, u32, u64

__all__ = ["BOX", "LINE", "MOST_BYTES", "WGMMA_BYTES", "WGMMA_K", "WGMMA_ROWS", "Boxes", "Ring",
           "grouped", "meet"]

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


def meet(cluster: int = 1) -> None:
    """Wait for all threads of the cluster."""
    if cluster > 1:
        ptx.cluster.sync()
    else:
        ptx.bar.sync(0)


def wide(count: Reg, scale: int) -> Reg:
    """count * scale in 64 bits."""
    result = reg.scalar(u64)
    ptx.inst.mul.wide.u32(result, count, scale)
    return result


class Ring:
    """A ring of stages that one thread fills by TMA and `readers` warps read, in each CTA of a cluster.

    Two mbarriers a stage: `filled` counts the bytes that arrive, `freed` the warps that are done with it, those of all
    CTAs of the cluster, since each CTA may write to the stages of all. Every role has its own position. gemm.py has the
    same written out.
    """

    def __init__(self, stages: int, stage_bytes: int, readers: int, cluster: int = 1):
        self.stage_bytes, self.readers, self.cluster = stage_bytes, readers, cluster
        memory = smem.alloc(b8, (stages, stage_bytes), align=1024)
        self.filled, self.freed = (ptx.mbarrier.array(reg.from_(smem.mbarrier(stages).name, u32), 0, stages)
                                   for _ in range(2))
        self.start = reg.from_(memory.name, u32)
        self.position = ptx.pipeline(stages)

    def set_up(self) -> None:
        """Initialise the mbarriers; by one thread, before the CTAs meet."""
        self.filled.init_all(1)                         # who fills, and the bytes it announces
        self.freed.init_all(self.readers * self.cluster)

    def to_fill(self, bytes_: int) -> tuple[Reg, Slot]:
        """The address of the next stage once it is free, and the mbarrier that now expects so many bytes."""
        stage, phase = self.position.advance()
        self.freed.at(stage).wait(phase ^ 1)            # passes at once in the first round
        ready = self.filled.at(stage)
        ready.arrive_expect_tx(bytes_)
        return self.start + stage * self.stage_bytes, ready

    def to_read(self) -> Reg:
        """The next stage once it is there."""
        stage, phase = self.position.advance()
        self.filled.at(stage).wait(phase)
        return stage

    def at(self, descriptor: Reg, stage: Reg) -> Reg:
        """A descriptor of something in stage 0 as one of the same in another stage."""
        return descriptor + stage * (self.stage_bytes // 16)

    def give_back(self, stage: Reg, lane: Reg) -> None:
        """Say to every CTA that may write to this stage that this warp is done with it: lane i to CTA i."""
        if self.cluster > 1:
            self.freed.at(stage).arrive_remote(lane, pred=lane < self.cluster)
        else:
            self.freed.at(stage).arrive(pred=lane == 0)


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
        pairs = reg.array(b32, 4)
        for pair, low, high in zip(pairs, values[::2], values[1::2], strict=True):
            getattr(ptx.inst.cvt.rn, f"{self.dtype.name}x2").f32(pair, high, low)
        ptx.stmatrix(smem=target + offset, regs=pairs)
