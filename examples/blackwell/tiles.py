"""Helpers of the Blackwell matrix products: synchronization between the roles of a CTA, and the epilogue."""

from __future__ import annotations

from pyptx import lib, ptx, reg, smem
from pyptx.ptx.mbarrier import MbarrierRing, Slot
from pyptx.reg import Reg
from pyptx.tensor import TensorSpec
from pyptx.types import PtxType, b8, b16, b32, u32

__all__ = [
    "BOX",
    "COPIES",
    "LINE",
    "MMA_K",
    "MOST_BYTES",
    "MULTIPLIES",
    "ROWS",
    "SETS",
    "THREADS",
    "WRITERS",
    "Roles",
    "barriers",
]

ROWS = 128  # of a tile that a CTA has: lanes of tensor memory
WRITERS = 4  # warps; each reads 32 of the lanes
COPIES, MULTIPLIES = 32 * WRITERS, 32 * WRITERS + 32  # threads with a role of their own
THREADS = 32 * (WRITERS + 2)
MMA_K = 16  # of one tcgen05.mma with 16-bit operands
LINE, BOX = 128, 64  # bytes and 16-bit columns of a row of a box in shared memory
SETS = 2  # of sums in tensor memory
MOST_BYTES = 226 * 1024  # bytes of shared memory per CTA, less 1 KiB for mbarriers


def barriers(count: int) -> MbarrierRing:
    """Allocate a ring of mbarriers."""
    return ptx.mbarrier.array(reg.from_(smem.mbarrier(count).name, u32), 0, count)


class Roles:
    """Buffers and mbarriers between the copying thread, the multiplying thread and the writers of a BM x BN tile.

    A ring of stages of A and B: `filled` counts the bytes of a stage that arrive, `freed` says that the products which
    read it are done. Two sets of ROWS x BN sums in tensor memory: `summed` says that one is complete, `read` that the
    writers have it. Every role counts stages and sets for itself.

    A tile of one block of rows has the sets in turn: one is read while the next tile's sums go to the other. One of two
    blocks has both, and its second block is multiplied some stages behind the first one: while it is finished the
    writers read the sums of the first, and while the next tile's first block goes ahead those of the second.

    With two CTAs (cta_group::2) each has BM rows of A and of the sums, and half of the columns of B. The first one, the
    leader, starts the products of both; its mbarriers count the bytes and the writers of both, and its commits arrive
    at both.
    """

    def __init__(self, stages: int, BM: int, BN: int, BK: int, c: PtxType, ctas: int = 1):
        self.count, self.BM, self.BN, self.BK, self.ctas = stages, BM, BN, BK, ctas
        self.behind = stages // 2 if BM > ROWS else 0  # stages that the second block follows behind
        self.a_bytes, self.b_bytes = BM * BK * 2, BK * (BN // ctas) * 2
        self.stage_bytes = self.a_bytes + self.b_bytes
        ring = smem.alloc(b8, (stages, self.stage_bytes), align=1024)
        self.memory = lib.TensorMemory(SETS * BN, ctas=ctas)
        self.start = reg.from_(ring.name, u32)
        self.filled, self.freed = barriers(stages), barriers(stages)
        self.summed, self.read = barriers(SETS), barriers(SETS)
        self.tid = reg.from_(ptx.special.tid.x(), u32)
        self.warp, self.lane = self.tid >> 5, self.tid & 31
        self.rank = reg.from_(ptx.special.cluster_ctarank(), u32) if ctas > 1 else 0
        self.boxes = lib.StoreBoxes(WRITERS, c, rows=32)
        self.stages, self.following, self.sets = ptx.pipeline(stages), ptx.pipeline(stages), ptx.pipeline(SETS)

    @staticmethod
    def bytes_of(stages: int, BM: int, BN: int, BK: int, ctas: int = 1) -> int:
        """Bytes of shared memory without the mbarriers."""
        return stages * (BM + BN // ctas) * BK * 2 + lib.StoreBoxes.bytes_of(WRITERS, 32)

    def begin(self) -> None:
        """Initialize mbarriers and allocate tensor memory; called by all threads."""
        with ptx.if_(self.tid == COPIES):
            for ring in (self.filled, self.freed, self.summed):
                ring.init_all(1)
            self.read.init_all(self.ctas * WRITERS)
            ptx.fence.mbarrier_init()
        self.memory.set_up(self.tid)
        self.sums = self.memory.start

    def end(self) -> None:
        """Free tensor memory once it is no longer used; called by all threads."""
        self.memory.free(self.tid)

    def copy(self, a: TensorSpec, b: TensorSpec, row: Reg, column: Reg, k: Reg) -> None:
        """Copy BK columns of A and rows of B into the next stage, once it is free."""
        stage, phase = self.stages.advance()
        self.freed.at(stage).wait(phase ^ 1)  # returns immediately in the first round
        ready: Slot | Reg = self.filled.at(stage)
        if self.ctas == 1:
            ready.arrive_expect_tx(self.stage_bytes)
        else:
            with ptx.if_(self.rank == 0):
                ready.arrive_expect_tx(self.ctas * self.stage_bytes)
            ready = ptx.cluster.map_shared_u32(ready, 0)  # the leader's
        to_a = self.start + stage * self.stage_bytes
        to_b = to_a + self.a_bytes
        for i in range(0, self.BK, BOX):
            ptx.cp.async_bulk.tensor_2d(
                dst=to_a + i * self.BM * 2, src=a.tma_desc(), coord=(k + i, row), mbar=ready, cta_group=self.ctas
            )
        for j in range(0, self.BN // self.ctas, BOX):
            ptx.cp.async_bulk.tensor_2d(
                dst=to_b + j * self.BK * 2, src=b.tma_desc(), coord=(column + j, k), mbar=ready, cta_group=self.ctas
            )

    def finish_copies(self) -> None:
        """Wait until every stage is free again; by the thread that copies. An arrival that is still on its way, from
        the other CTA perhaps, needs this CTA's mbarriers.
        """
        for _ in range(self.count):
            stage, phase = self.stages.advance()
            self.freed.at(stage).wait(phase ^ 1)

    def descriptors(self, dtype: PtxType) -> tuple[Reg, Reg, Reg]:
        """Return the descriptors of the instruction and of A and B in the first stage.

        Boxes have 64 columns, eight rows are 1 KiB; the next columns of B (MN-major) are in the next box.
        """
        kind = ptx.tcgen05.make_instr_desc_f16bf16_f32(m=self.ctas * ROWS, n=self.BN, ab_dtype=dtype, b_major="MN")
        return (
            reg.scalar(b32, kind),
            ptx.tcgen05.descriptor(self.start, stride_bytes=8 * LINE),
            ptx.tcgen05.descriptor(self.start + self.a_bytes, stride_bytes=8 * LINE, leading_bytes=self.BK * LINE),
        )

    def multiply(self, steps: int, kind: Reg, from_a: Reg, from_b: Reg) -> None:
        """Start the products of a tile over a number of stages, into the next accumulators once those have been read."""

        def products(block: int, stage: Reg, into: Reg, more: Reg | bool) -> None:
            """Start the products of a block of rows and a stage; accumulate if `more`."""
            this_a, this_b = (descriptor + stage * (self.stage_bytes // 16) for descriptor in (from_a, from_b))
            for k in range(0, self.BK, MMA_K):
                a_offset = k // BOX * self.BM * LINE + block * ROWS * LINE + k % BOX * 2
                ptx.tcgen05.mma(
                    into,
                    this_a + a_offset // 16,
                    this_b + k * LINE // 16,
                    kind,
                    cta_group=self.ctas,
                    pred_operand=True if k else more,
                )

        def lead(step: Reg) -> Reg:
            """Start the first block's products of the next stage once it is filled; return the stage."""
            stage, phase = self.stages.advance()
            self.filled.at(stage).wait(phase)
            ptx.tcgen05.fence_after_thread_sync()
            products(0, stage, first, step != 0)
            return stage

        def follow(step: Reg) -> None:
            """Start the second block's products of a stage that the first one has read."""
            stage, _ = self.following.advance()
            products(1, stage, second, step != 0)
            self.commit(self.freed.at(stage))

        behind = min(self.behind, steps)
        which, first = self.next_sums()
        for step in ptx.range_(0, behind):
            lead(step)
        if self.BM > ROWS:
            also, second = self.next_sums()
        for step in ptx.range_(behind, steps):
            stage = lead(step)
            if self.BM > ROWS:
                follow(step - behind)
            else:
                self.commit(self.freed.at(stage))
        self.commit(self.summed.at(which))
        if self.BM > ROWS:
            for step in ptx.range_(steps - behind, steps):
                follow(step)
            self.commit(self.summed.at(also))

    def next_sums(self) -> tuple[Reg, Reg]:
        """Wait until the next accumulator has been read; return its index and tensor memory address."""
        which, turn = self.sets.advance()
        self.read.at(which).wait(turn ^ 1)
        ptx.tcgen05.fence_after_thread_sync()
        return which, self.sums + which * self.BN

    def commit(self, mbar: Slot) -> None:
        """Arrive at an mbarrier, of both CTAs of a pair, when the products started so far have completed."""
        if self.ctas == 1:
            ptx.tcgen05.commit(mbar)
        else:
            ptx.tcgen05.commit(mbar, cta_group=2, multicast_mask=reg.scalar(b16, 0b11))

    def write(self, c: TensorSpec, row: Reg, column: Reg) -> None:
        """Store the next tile's sums to C as they complete; called by the writers."""
        for block in ptx.range_(0, self.BM // ROWS):
            which, turn = self.sets.advance()
            self.summed.at(which).wait(turn)
            ptx.tcgen05.fence_after_thread_sync()
            sums, size = self.sums + which * self.BN, self.boxes.columns
            for j in range(0, self.BN, size):
                box = j // size % 2 if self.BN > size else None  # boxes in turns, if there are several
                fragment = lib.TensorFragment(sums + j, size, self.tid)
                fragment.store_tma(c, row + block * ROWS, column + j, self.boxes, box=box)
            ptx.tcgen05.fence_before_thread_sync()
            ptx.inst.bar.warp.sync(-1)
            if self.ctas == 1:
                self.read.at(which).arrive(pred=self.lane == 0)
            else:
                self.read.at(which).arrive_remote(0, pred=self.lane == 0)  # at the leader
