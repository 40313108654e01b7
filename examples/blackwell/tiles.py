"""Helpers of the Blackwell matrix products: synchronization between the roles of a CTA, and the epilogue."""

from __future__ import annotations

from pyptx import lib, ptx, reg, smem
from pyptx.ptx.mbarrier import MbarrierRing
from pyptx.reg import Reg
from pyptx.tensor import TensorSpec
from pyptx.types import PtxType, u32

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
AHEAD = 1  # stages; the model prefers it to 0 and 2 for K from 512 to 8192
MOST_BYTES = 226 * 1024  # bytes of shared memory per CTA, less 1 KiB for mbarriers


def barriers(count: int) -> MbarrierRing:
    """Allocate a ring of mbarriers."""
    return ptx.mbarrier.array(reg.from_(smem.mbarrier(count).name, u32), 0, count)


class Roles:
    """Buffers and mbarriers between the copying thread, the multiplying thread and the writers of a BM x BN tile.

    A ring of stages of A and B (`lib.TmaRing`). Two sets of ROWS x BN sums in tensor memory: `summed` says that one is complete,
    `read` that the writers have it. Every role counts stages and sets for itself.

    A tile of one block of rows has the sets in turn: one is read while the next tile's sums go to the other. One of two
    blocks has both. At both ends of the tile its first block is AHEAD stages before the second one: while the second is
    finished the writers read the sums of the first, and while the next tile's first block begins those of the second.
    In between each stage is multiplied with one block after the other and is free at once.

    With two CTAs (cta_group::2) each has BM rows of A and of the sums, and half of the columns of B. The first one, the
    leader, starts the products of both; its mbarriers count the bytes and the writers of both, and its commits arrive
    at both.
    """

    def __init__(self, stages: int, BM: int, BN: int, BK: int, dtype: PtxType, c: PtxType, ctas: int = 1):
        self.BM, self.BN, self.ctas = BM, BN, ctas
        tiles = {"a": lib.WgmmaTile(BM, BK, dtype), "b": lib.WgmmaTile(BK, BN // ctas, dtype, "MN")}
        self.ring = lib.TmaRing(stages, tiles, readers=1, pair=ctas > 1)
        self.memory = lib.TensorMemory(SETS * BN, ctas=ctas)
        self.summed, self.read = barriers(SETS), barriers(SETS)
        self.tid = reg.from_(ptx.tid.x, u32)
        self.warp, self.lane = self.tid >> 5, self.tid & 31
        self.boxes = lib.StoreBoxes(WRITERS, c, rows=32)
        self.following, self.sets = ptx.pipeline(stages), ptx.pipeline(SETS)

    @staticmethod
    def bytes_of(stages: int, BM: int, BN: int, BK: int, ctas: int = 1) -> int:
        """Bytes of shared memory without the mbarriers."""
        return stages * (BM + BN // ctas) * BK * 2 + lib.StoreBoxes.bytes_of(WRITERS, 32)

    def begin(self) -> None:
        """Initialize mbarriers and allocate tensor memory; called by all threads."""
        with ptx.if_(self.tid == COPIES):
            self.summed.init_all(1)
            self.read.init_all(self.ctas * WRITERS)
            self.ring.init()
        self.memory.set_up(self.tid)
        self.sums = self.memory.start
        self.ring.begin()

    def end(self) -> None:
        """Free tensor memory once it is no longer used; called by all threads."""
        self.memory.free(self.tid)

    def copy(self, a: TensorSpec, b: TensorSpec, row: Reg, column: Reg, k: Reg) -> None:
        """Copy BK columns of A and rows of B into the next stage, once it is free."""
        stage = self.ring.acquire()
        stage.load("a", a, (k, row))
        stage.load("b", b, (column, k))

    def multiply(self, steps: int, product: lib.TensorProduct) -> None:
        """Start the products of a tile over a number of stages, into the next accumulators once those have been read."""

        def lead(step: Reg) -> lib.Stage:
            """Start the first block's products of the next stage once it is filled; return the stage."""
            stage = self.ring.wait()
            product.start(stage, first, accumulate=step != 0)
            return stage

        def follow(step: Reg) -> None:
            """Start the second block's products of a stage that the first one has read."""
            index, _ = self.following.advance()
            stage = lib.Stage(self.ring, index, self.ring.full.at(index))
            product.start(stage, second, accumulate=step != 0, block=1)
            product.release(stage)

        ahead = min(AHEAD, steps // 2) if self.BM > ROWS else 0
        which, first = self.next_sums()
        for step in ptx.range_(0, ahead):
            lead(step)
        if self.BM > ROWS:
            also, second = self.next_sums()
            for step in ptx.range_(0, ahead):
                follow(step)
        for step in ptx.range_(ahead, steps - ahead):
            stage = lead(step)
            if self.BM > ROWS:
                follow(step)
            else:
                product.release(stage)
        for step in ptx.range_(steps - ahead, steps):
            lead(step)
        product.commit(self.summed.at(which))
        if self.BM > ROWS:
            for step in ptx.range_(steps - ahead, steps):
                follow(step)
            product.commit(self.summed.at(also))

    def next_sums(self) -> tuple[Reg, Reg]:
        """Wait until the next accumulator has been read; return its index and tensor memory address."""
        which, turn = self.sets.advance()
        self.read.at(which).wait(turn ^ 1)
        ptx.tcgen05.fence_after_thread_sync()
        return which, self.sums + which * self.BN

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
