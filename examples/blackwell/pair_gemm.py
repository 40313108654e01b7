"""Matrix product for Blackwell by pairs of SMs: C = A @ B by tcgen05 with cta_group::2, twice in tensor memory.

    python examples/blackwell/pair_gemm.py
    pyptx view examples/blackwell/pair_gemm.py:pair_gemm -p M=512 N=512 K=256 -o gemm.html

To read after gemm.py, which has the same roles in one CTA. Here the two CTAs of a cluster compute 256 x BN of C
together. Techniques, and where they are described:

- One product of 256 rows is started by one thread of the first CTA, the leader, and runs on the tensor cores of both:
  each CTA holds its 128 rows of A and of the sums, and half of the columns of B, which both read (PTX ISA, "tcgen05:
  CTA Pair"). So B takes half the shared memory and half the copies, and there is room for more stages.
- Both producers copy into their own CTA, and the bytes are counted by the leader's mbarrier (PTX ISA,
  "cp.async.bulk.tensor": .cta_group::2).
- tcgen05.commit says to both CTAs that a stage is free, and that a tile is done (.multicast::cluster); the writers of
  both say to the leader that they have read it (mbarrier.arrive at a shared::cluster address).
- Two sets of sums in tensor memory: while one tile is written out the next one is multiplied.

Cost: 87 registers a thread, 225 KiB of shared memory, all of tensor memory: one CTA on an SM.
"""

from __future__ import annotations

import numpy as np
from blackwell_tiles import (
    BOX,
    COPIES,
    LINE,
    MMA_K,
    MOST_BYTES,
    MULTIPLIES,
    SETS,
    THREADS,
    WRITERS,
    Boxes,
    place,
)

from pyptx import Layout, Tile, kernel, ptx, reg, smem
from pyptx.kernel import Kernel
from pyptx.testing import compare
from pyptx.types import PtxType, b8, b16, b32, bf16, f16, f32, u32

PAIR, BOTH = 2, 0b11            # CTAs that work together, and the mask of them
ROWS = 128                      # of a tile that a CTA has: lanes of tensor memory
SPACE = {"BN": (128, 256), "BK": (64, 128), "STAGES": (2, 3, 4, 5, 6)}         # values worth trying


def product(a, b, c, *, BN=256, BK=64, STAGES=6, CTAS=148):
    """C (M x N) = A (M x K) @ B (K x N), all row-major; sums in f32. See check_sizes for the sizes that are taken."""
    (M, K), N = a.shape, b.shape[1]
    check_sizes(N, K, BN, BK, STAGES)
    a_bytes, b_bytes = ROWS * BK * 2, BK * (BN // PAIR) * 2             # of a CTA
    stage_bytes = a_bytes + b_bytes
    steps, tiles_down = -(-K // BK), -(-M // (PAIR * ROWS))
    tiles, pairs = tiles_down * -(-N // BN), grid(M, N, BN, CTAS) // PAIR

    ring = smem.alloc(b8, (STAGES, stage_bytes), align=1024)
    full, empty = smem.mbarrier(STAGES), smem.mbarrier(STAGES)
    done, taken = smem.mbarrier(SETS), smem.mbarrier(SETS)
    slot = smem.alloc(b32, 1, align=16)
    start = reg.from_(ring.name, u32)
    filled, freed, summed, read = (ptx.mbarrier.array(reg.from_(bars.name, u32), 0, len(bars))
                                   for bars in (full, empty, done, taken))
    tid, rank = reg.from_(ptx.special.tid.x(), u32), reg.from_(ptx.special.cluster_ctarank(), u32)
    warp, lane, first_tile = tid >> 5, tid & 31, reg.from_(ptx.special.ctaid.x(), u32) >> 1
    boxes = Boxes(c.dtype, warp, lane)

    with ptx.if_(warp == 0):
        ptx.tcgen05.alloc(slot, SETS * BN, cta_group=2)
        ptx.tcgen05.relinquish_alloc_permit(cta_group=2)
    with ptx.if_(tid == COPIES):
        filled.init_all(1)
        freed.init_all(1)
        summed.init_all(1)
        read.init_all(PAIR * WRITERS)
        ptx.fence.mbarrier_init()
    ptx.tcgen05.fence_before_thread_sync()
    ptx.cluster.sync()
    ptx.tcgen05.fence_after_thread_sync()
    sums = smem.load(b32, slot)
    stages, sets = ptx.pipeline(STAGES), ptx.pipeline(SETS)             # every role counts for itself

    with ptx.if_(tid == COPIES):
        for tile in ptx.range_(first_tile, tiles, pairs):
            row, column = place(tile, tiles_down, PAIR * ROWS, BN)
            row, column = row + rank * ROWS, column + rank * (BN // PAIR)
            for step in ptx.range_(0, steps):
                stage, phase = stages.advance()
                freed.at(stage).wait(phase ^ 1)                         # passes at once in the first round
                ready = filled.at(stage)
                with ptx.if_(rank == 0):
                    ready.arrive_expect_tx(PAIR * (min(ROWS, M) * BK * 2 + b_bytes))
                counts = ptx.cluster.map_shared_u32(ready, 0)           # the leader's
                to_a, k = start + stage * stage_bytes, step * BK
                for i in range(0, BK, BOX):
                    ptx.cp.async_bulk.tensor_2d(dst=to_a + i * ROWS * 2, src=a.tma_desc(), coord=(k + i, row),
                                                mbar=counts, cta_group=2)
                to_b = to_a + a_bytes
                for j in range(0, BN // PAIR, BOX):
                    ptx.cp.async_bulk.tensor_2d(dst=to_b + j * BK * 2, src=b.tma_desc(), coord=(column + j, k),
                                                mbar=counts, cta_group=2)

    leader = reg.scalar(u32)
    ptx.inst.selp.u32(leader, tid, 0, rank == 0)                        # the thread that starts products
    with ptx.if_(leader == MULTIPLIES):
        kind = reg.scalar(b32, ptx.tcgen05.make_instr_desc_f16bf16_f32(m=PAIR * ROWS, n=BN, ab_dtype=a.dtype,
                                                                       b_major="MN"))
        # Boxes of A and B: rows of 64 columns, eight rows are 1 KiB. The next columns of B are in the next box.
        from_a = ptx.tcgen05.descriptor(start, stride_bytes=1024)
        from_b = ptx.tcgen05.descriptor(start + a_bytes, stride_bytes=1024, leading_bytes=BK * LINE)
        for _ in ptx.range_(first_tile, tiles, pairs):
            which, turn = sets.advance()
            read.at(which).wait(turn ^ 1)
            ptx.tcgen05.fence_after_thread_sync()
            into = sums + which * BN
            for step in ptx.range_(0, steps):
                stage, phase = stages.advance()
                filled.at(stage).wait(phase)
                ptx.tcgen05.fence_after_thread_sync()
                this_a, this_b = (descriptor + stage * (stage_bytes // 16) for descriptor in (from_a, from_b))
                for k in range(0, BK, MMA_K):
                    a_offset = k // BOX * ROWS * LINE + k % BOX * 2
                    ptx.tcgen05.mma(into, this_a + a_offset // 16, this_b + k * LINE // 16, kind, cta_group=2,
                                    pred_operand=True if k else step != 0)
                commit(freed.at(stage))
            commit(summed.at(which))

    with ptx.if_(warp < WRITERS):
        for tile in ptx.range_(first_tile, tiles, pairs):
            row, column = place(tile, tiles_down, PAIR * ROWS, BN)
            which, turn = sets.advance()
            summed.at(which).wait(turn)
            ptx.tcgen05.fence_after_thread_sync()
            boxes.write(sums + which * BN, BN, c, row + rank * ROWS, column)
            ptx.tcgen05.fence_before_thread_sync()
            ptx.inst.bar.warp.sync(-1)
            read.at(which).arrive_remote(0, pred=lane == 0)             # to the leader
        ptx.cp.async_bulk.wait_group(0, read=True)                      # memory must outlive the stores that read it

    ptx.tcgen05.fence_before_thread_sync()
    ptx.cluster.sync()                                                  # and the CTA what the other one reads of it
    ptx.tcgen05.fence_after_thread_sync()
    with ptx.if_(warp == 0):
        ptx.tcgen05.dealloc(sums, SETS * BN, cta_group=2)


def commit(mbar: object) -> None:
    """Arrive at an mbarrier of both CTAs once the products started so far are done."""
    mask = reg.scalar(b16, BOTH)
    ptx.tcgen05.commit(mbar, cta_group=2, multicast_mask=mask)


def grid(M: int, N: int, BN: int, CTAS: int) -> int:
    """How many CTAs: all that the GPU holds, or enough for the tiles; whole pairs."""
    return PAIR * min(CTAS // PAIR, -(-M // (PAIR * ROWS)) * -(-N // BN))


def check_sizes(N: int, K: int, BN: int, BK: int, STAGES: int) -> None:
    """Raise ValueError for sizes that TMA or the tiling does not take; see gemm.py."""
    for name, size, least in (("N", N, BOX), ("K", K, BK)):
        if size % 8 or size < least:
            raise ValueError(f"pair_gemm: {name}={size}; expected a multiple of 8 that is at least {least}")
    for name, tile, choices in (("BN", BN, (128, 256)), ("BK", BK, (64, 128))):
        if tile not in choices:
            raise ValueError(f"pair_gemm: {name}={tile}; expected one of {choices}")
    needed = STAGES * (ROWS + BN // PAIR) * BK * 2 + WRITERS * 2 * Boxes.BYTES
    if STAGES < 1 or needed >= MOST_BYTES:
        raise ValueError(f"pair_gemm: {STAGES} stages need {needed} bytes of shared memory; expected at least one "
                         f"stage and less than {MOST_BYTES} bytes")


def pair_gemm_of(dtype: PtxType, out: PtxType) -> Kernel:
    """The kernel for A and B of `dtype` (bf16 or f16) and C of `out` (f32, bf16 or f16)."""
    return kernel(product, name="pair_gemm", arch="sm_100a",
                  in_specs=[Tile("M", "K", dtype, Layout.TMA_128B, tma_box=(ROWS, BOX)),
                            Tile("K", "N", dtype, Layout.TMA_128B, tma_box=("BK", BOX))],
                  out_specs=[Tile("M", "N", out, Layout.TMA_128B, tma_box=(32, LINE * 8 // out.bits))],
                  grid=grid, cluster=PAIR, block=(THREADS, 1, 1), reqntid=(THREADS, 1, 1))


pair_gemm = pair_gemm_of(bf16, bf16)


def reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The same in NumPy, in f32."""
    return a.astype(np.float32) @ b.astype(np.float32)


def main() -> None:
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(shape).astype(np.float16) for shape in ((600, 264), (264, 328)))
    compare(pair_gemm_of(f16, f32), [a, b], reference(a, b), rtol=1e-3, atol=1e-3, CTAS=4)


if __name__ == "__main__":
    main()
