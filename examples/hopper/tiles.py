"""Helpers of the persistent Hopper kernels: tile order, ring of stages, and the product of a stage."""

from __future__ import annotations

from pyptx import lib, ptx, reg, smem
from pyptx.ptx.mbarrier import Slot
from pyptx.reg import Reg, RegArray
from pyptx.types import PtxType, b8, f32, u32

__all__ = [
    "BOX",
    "LINE",
    "MOST_BYTES",
    "SWIZZLED",
    "WGMMA_BYTES",
    "WGMMA_K",
    "WGMMA_ROWS",
    "Buffer",
    "Product",
    "Ring",
    "meet",
    "place",
    "set_registers",
]

LINE = 128  # bytes of a box row in shared memory, and of the swizzle
BOX = LINE // 2  # columns of a box of 16-bit elements
WGMMA_ROWS, WGMMA_K = 64, 16  # of one wgmma with 16-bit operands
WGMMA_BYTES = WGMMA_ROWS * LINE  # 64 rows of a box
MOST_BYTES = 226 * 1024  # bytes of shared memory per CTA, less 1 KiB for mbarriers
SWIZZLED = {"stride_byte_offset": 8 * LINE, "swizzle": ptx.wgmma.SWIZZLE_128B}  # of descriptors of boxes


def place(
    tile: Reg, down: int, across: int, group: int, rows: int, columns: int, cluster: int = 1, rank: Reg | int = 0
) -> tuple[Reg, Reg]:
    """Return first row and column of a CTA's part of a tile: a cluster's tile has `rows` rows per CTA."""
    row, column = lib.TileOrder(down, across, group=group).place(tile)
    return (row * cluster + rank if cluster > 1 else row) * rows, column * columns


def set_registers(registers: int, sums: int) -> None:
    """Change how many registers the threads of this warpgroup have, where a consumer's has more than 64 sums. For fewer
    the 168 that three warpgroups start with are enough, and ptxas ignores setmaxnreg.
    """
    if sums > 64:
        ptx.setmaxnreg(registers, inc=registers > 168)


def meet(cluster: int = 1) -> None:
    """Synchronize all threads of the cluster."""
    if cluster > 1:
        ptx.cluster.sync()
        ptx.inst.bar.warp.sync(-1)  # reconverge the warp
    else:
        ptx.bar.sync(0)


class Ring:
    """A ring of stages that one thread fills by TMA and `readers` warps read, in each CTA of a cluster.

    Two mbarriers per stage: `filled` tracks the bytes that arrive, `freed` counts the warps that have read it, in all CTAs
    of the cluster, since each CTA can write to the stages of all. Every role has its own position. gemm.py has the same
    written out.
    """

    def __init__(self, stages: int, stage_bytes: int, readers: int, cluster: int = 1):
        self.stage_bytes, self.readers, self.cluster = stage_bytes, readers, cluster
        memory = smem.alloc(b8, (stages, stage_bytes), align=1024)
        self.filled, self.freed = (
            ptx.mbarrier.array(reg.from_(smem.mbarrier(stages).name, u32), 0, stages) for _ in range(2)
        )
        self.start = reg.from_(memory.name, u32)
        self.position = ptx.pipeline(stages)

    def set_up(self) -> None:
        """Initialize the mbarriers; called by one thread before the CTAs synchronize."""
        self.filled.init_all(1)  # who fills, and the bytes it announces
        self.freed.init_all(self.readers * self.cluster)

    def to_fill(self, bytes_: int) -> tuple[Reg, Slot]:
        """Wait for the next stage to be free; return its address, and the mbarrier that expects its bytes."""
        stage, ready = self.next_to_fill(bytes_)
        return self.place(stage), ready

    def next_to_fill(self, bytes_: int) -> tuple[Reg, Slot]:
        """Wait for the next stage to be free; return the stage, and the mbarrier that expects its bytes."""
        stage, phase = self.position.advance()
        self.freed.at(stage).wait(phase ^ 1)  # returns immediately in the first round
        ready = self.filled.at(stage)
        ready.arrive_expect_tx(bytes_)
        return stage, ready

    def place(self, stage: Reg) -> Reg:
        """Return the address of a stage."""
        return self.start + stage * self.stage_bytes

    def to_read(self) -> Reg:
        """Wait for the next stage to be filled; return it."""
        stage, phase = self.position.advance()
        self.filled.at(stage).wait(phase)
        return stage

    def at(self, descriptor: Reg, stage: Reg) -> Reg:
        """Move a matrix descriptor from stage 0 to another stage."""
        return descriptor + stage * (self.stage_bytes // 16)

    def give_back(self, stage: Reg, lane: Reg) -> None:
        """Signal every CTA that writes to this stage that this warp has read it: lane i signals CTA i."""
        if self.cluster > 1:
            self.freed.at(stage).arrive_remote(lane, pred=lane < self.cluster)
        else:
            self.freed.at(stage).arrive(pred=lane == 0)


class Buffer:
    """A single-stage buffer of one CTA, filled by `writers` warps or by one thread through TMA; `turn` counts uses from 0."""

    def __init__(self, bytes_: int, readers: int, writers: int = 1):
        self.readers, self.writers = readers, writers
        memory = smem.alloc(b8, bytes_, align=1024)
        self.filled, self.freed = (ptx.mbarrier.array(reg.from_(smem.mbarrier(1).name, u32), 0, 1)[0] for _ in range(2))
        self.start = reg.from_(memory.name, u32)

    def set_up(self) -> None:
        """Initialize the mbarriers; called by one thread before the CTAs synchronize."""
        self.filled.init(self.writers)
        self.freed.init(self.readers)

    def to_write(self, turn: Reg) -> Slot:
        """Wait until the buffer is free; return the mbarrier that signals that it is full."""
        self.freed.wait((turn & 1) ^ 1)  # returns immediately in the first round
        return self.filled

    def to_read(self, turn: Reg) -> None:
        """Wait until the buffer is full."""
        self.filled.wait(turn & 1)

    def give_back(self, lane: Reg) -> None:
        """Signal that this warp has read the buffer."""
        self.freed.arrive(pred=lane == 0)


class Product:
    """A consumer's accumulators of a tile: `rows` rows of A times BN columns of B, from the stages of a ring.

    A stage holds boxes of BM rows of A, 64 columns each, then boxes of BK rows of B.
    """

    def __init__(self, ring: Ring, consumer: Reg, rows: int, BM: int, BN: int, BK: int, dtype: PtxType):
        self.ring, self.BM, self.BN, self.BK, self.dtype = ring, BM, BN, BK, dtype
        self.sums = [reg.wgmma_frag(m=WGMMA_ROWS, n=BN, dtype=f32) for _ in range(rows // WGMMA_ROWS)]
        # Of A eight rows are 1 KiB and the next columns of a row follow within its line; of B, which is read across its
        # rows, eight rows of K are 1 KiB and the next columns are in the next box.
        self.from_a = ptx.wgmma.make_descriptor(
            ring.start + consumer * (rows * LINE), leading_byte_offset=16, **SWIZZLED
        )
        self.from_b = ptx.wgmma.make_descriptor(ring.start + BM * BK * 2, leading_byte_offset=BK * LINE, **SWIZZLED)

    def start(self, first: bool) -> Reg:
        """Start the product of the next stage once it is filled; return the stage."""
        stage = self.ring.to_read()
        this_a, this_b = self.ring.at(self.from_a, stage), self.ring.at(self.from_b, stage)
        ptx.wgmma.fence()
        for k in range(0, self.BK, WGMMA_K):
            a_offset = k // BOX * self.BM * LINE + k % BOX * 2
            for i, part in enumerate(self.sums):
                ptx.wgmma.mma_async(
                    shape=(WGMMA_ROWS, self.BN, WGMMA_K),
                    dtype_d=f32,
                    dtype_a=self.dtype,
                    dtype_b=self.dtype,
                    d=part,
                    a=this_a + (a_offset + i * WGMMA_BYTES) // 16,
                    b=this_b + k * LINE // 16,
                    trans_b=1,
                    scale_d=not (first and k == 0),
                )
        ptx.wgmma.commit_group()
        return stage

    def of_steps(self, steps: int, lane: Reg) -> list[RegArray]:
        """Return the sums over a number of stages."""
        previous = self.start(first=True)
        for _ in ptx.range_(1, steps):
            stage = self.start(first=False)
            ptx.wgmma.wait_group(1)  # the product of the previous stage has completed
            self.ring.give_back(previous, lane)
            ptx.inst.mov.u32(previous, stage)
        ptx.wgmma.wait_group(0)
        self.ring.give_back(previous, lane)
        return self.sums
