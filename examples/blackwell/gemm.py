"""Matrix product for Blackwell: C = A @ B by TMA and tcgen05, with results in tensor memory, twice.

    python examples/blackwell/gemm.py
    pyptx view examples/blackwell/gemm.py:gemm -p M=512 N=512 K=256 -o gemm.html

Each CTA computes tiles of 128 x BN of C, one after the other. Of its six warps the first four write results, one thread
of the fifth copies and one thread of the sixth starts the products. Techniques, and where they are described:

- tcgen05.mma, started by one thread: operands in shared memory, sums in tensor memory (PTX ISA, "TensorCore 5th
  Generation Family Instructions").
- Two sets of sums in tensor memory: while one tile is written out the next one is multiplied. Two mbarriers for each
  say when it is full and when it is read (CUTLASS calls the scheme a "persistent, warp-specialized" kernel).
- A ring of STAGES stages of A and B filled by TMA; tcgen05.commit frees a stage when the products that read it are
  done.
- As many CTAs as there are multiprocessors (CTAS); tiles that run at the same time lie in the same columns of B.
- What lies outside an array is read as zero and not written, so that no size has to be a multiple of a tile (CUDA
  Driver API, "Tensor Map Object Management").
- Results leave by TMA through lines that are swizzled as the rows are written (PTX ISA, "Swizzling Modes").
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
from pyptx.types import PtxType, b8, b32, bf16, f16, f32, u32

BM = 128                        # rows of a tile: lanes of tensor memory
SPACE = {"BN": (64, 128, 256), "BK": (64, 128), "STAGES": (2, 3, 4, 5, 6)}      # values worth trying


def product(a, b, c, *, BN=256, BK=64, STAGES=4, CTAS=148):
    """C (M x N) = A (M x K) @ B (K x N), all row-major; sums in f32. See check_sizes for the sizes that are taken."""
    (M, K), N = a.shape, b.shape[1]
    check_sizes(N, K, BN, BK, STAGES)
    a_bytes, b_bytes = BM * BK * 2, BK * BN * 2
    stage_bytes = a_bytes + b_bytes
    steps, tiles_down, tiles = -(-K // BK), -(-M // BM), -(-M // BM) * -(-N // BN)

    ring = smem.alloc(b8, (STAGES, stage_bytes), align=1024)
    full, empty = smem.mbarrier(STAGES), smem.mbarrier(STAGES)
    done, taken = smem.mbarrier(SETS), smem.mbarrier(SETS)
    slot = smem.alloc(b32, 1, align=16)
    start = reg.from_(ring.name, u32)
    filled, freed, summed, read = (ptx.mbarrier.array(reg.from_(bars.name, u32), 0, len(bars))
                                   for bars in (full, empty, done, taken))
    tid = reg.from_(ptx.special.tid.x(), u32)
    warp, lane, first_tile = tid >> 5, tid & 31, reg.from_(ptx.special.ctaid.x(), u32)
    boxes = Boxes(c.dtype, warp, lane)

    with ptx.if_(warp == 0):
        ptx.tcgen05.alloc(slot, SETS * BN)
        ptx.tcgen05.relinquish_alloc_permit()
    with ptx.if_(tid == COPIES):
        filled.init_all(1)
        freed.init_all(1)
        summed.init_all(1)
        read.init_all(WRITERS)
        ptx.fence.mbarrier_init()
    ptx.tcgen05.fence_before_thread_sync()
    ptx.bar.sync(0)
    ptx.tcgen05.fence_after_thread_sync()
    sums = smem.load(b32, slot)
    stages, sets = ptx.pipeline(STAGES), ptx.pipeline(SETS)             # every role counts for itself

    with ptx.if_(tid == COPIES):
        for tile in ptx.range_(first_tile, tiles, CTAS):
            row, column = place(tile, tiles_down, BM, BN)
            for step in ptx.range_(0, steps):
                stage, phase = stages.advance()
                freed.at(stage).wait(phase ^ 1)                         # passes at once in the first round
                ready = filled.at(stage)
                ready.arrive_expect_tx(min(BM, M) * BK * 2 + b_bytes)
                to_a, k = start + stage * stage_bytes, step * BK
                for i in range(0, BK, BOX):
                    ptx.cp.async_bulk.tensor_2d(dst=to_a + i * BM * 2, src=a.tma_desc(), coord=(k + i, row), mbar=ready)
                to_b = to_a + a_bytes
                for j in range(0, BN, BOX):
                    ptx.cp.async_bulk.tensor_2d(dst=to_b + j * BK * 2, src=b.tma_desc(), coord=(column + j, k),
                                                mbar=ready)

    with ptx.if_(tid == MULTIPLIES):
        kind = reg.scalar(b32, ptx.tcgen05.make_instr_desc_f16bf16_f32(m=BM, n=BN, ab_dtype=a.dtype, b_major="MN"))
        # Boxes of A and B: rows of 64 columns, eight rows are 1 KiB. The next columns of B are in the next box.
        from_a = ptx.tcgen05.descriptor(start, stride_bytes=1024)
        from_b = ptx.tcgen05.descriptor(start + a_bytes, stride_bytes=1024, leading_bytes=BK * LINE)
        for _ in ptx.range_(first_tile, tiles, CTAS):
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
                    a_offset = k // BOX * BM * LINE + k % BOX * 2
                    ptx.tcgen05.mma(into, this_a + a_offset // 16, this_b + k * LINE // 16, kind,
                                    pred_operand=True if k else step != 0)
                ptx.tcgen05.commit(freed.at(stage))
            ptx.tcgen05.commit(summed.at(which))

    with ptx.if_(warp < WRITERS):
        for tile in ptx.range_(first_tile, tiles, CTAS):
            row, column = place(tile, tiles_down, BM, BN)
            which, turn = sets.advance()
            summed.at(which).wait(turn)
            ptx.tcgen05.fence_after_thread_sync()
            boxes.write(sums + which * BN, BN, c, row, column)
            ptx.tcgen05.fence_before_thread_sync()
            ptx.inst.bar.warp.sync(-1)
            read.at(which).arrive(pred=lane == 0)
        ptx.cp.async_bulk.wait_group(0, read=True)                      # memory must outlive the stores that read it

    ptx.tcgen05.fence_before_thread_sync()
    ptx.bar.sync(0)
    ptx.tcgen05.fence_after_thread_sync()
    with ptx.if_(warp == 0):
        ptx.tcgen05.dealloc(sums, SETS * BN)


def check_sizes(N: int, K: int, BN: int, BK: int, STAGES: int) -> None:
    """Raise ValueError for sizes that TMA or the tiling does not take.

    N and K are multiples of 8 (TMA: rows start at multiples of 16 bytes), N at least 64 and K at least BK (boxes do not
    get narrower than a tile); M is anything.
    """
    for name, size, least in (("N", N, BOX), ("K", K, BK)):
        if size % 8 or size < least:
            raise ValueError(f"gemm: {name}={size}; expected a multiple of 8 that is at least {least}")
    for name, tile, choices in (("BN", BN, (64, 128, 256)), ("BK", BK, (64, 128))):
        if tile not in choices:
            raise ValueError(f"gemm: {name}={tile}; expected one of {choices}")
    needed = STAGES * (BM + BN) * BK * 2 + WRITERS * 2 * Boxes.BYTES
    if STAGES < 1 or needed >= MOST_BYTES:
        raise ValueError(f"gemm: {STAGES} stages need {needed} bytes of shared memory; expected at least one stage and "
                         f"less than {MOST_BYTES} bytes")


def gemm_of(dtype: PtxType, out: PtxType) -> Kernel:
    """The kernel for A and B of `dtype` (bf16 or f16) and C of `out` (f32, bf16 or f16)."""
    return kernel(product, name="gemm", arch="sm_100a",
                  in_specs=[Tile("M", "K", dtype, Layout.TMA_128B, tma_box=(BM, BOX)),
                            Tile("K", "N", dtype, Layout.TMA_128B, tma_box=("BK", BOX))],
                  out_specs=[Tile("M", "N", out, Layout.TMA_128B, tma_box=(32, LINE * 8 // out.bits))],
                  grid=lambda M, N, BN, CTAS: min(CTAS, -(-M // BM) * -(-N // BN)), block=(THREADS, 1, 1),
                  reqntid=(THREADS, 1, 1))


gemm = gemm_of(bf16, bf16)


def reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The same in NumPy, in f32."""
    return a.astype(np.float32) @ b.astype(np.float32)


def main() -> None:
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(shape).astype(np.float16) for shape in ((200, 264), (264, 328)))
    compare(gemm_of(f16, f32), [a, b], reference(a, b), rtol=1e-3, atol=1e-3)


if __name__ == "__main__":
    main()
