"""Sum of a vector of any length, f32, bf16 or f16, accumulated in f32: one partial sum per CTA, then their sum.

    python examples/reduce_sum.py
    pyptx view examples/reduce_sum.py:reduce_sum -p N=1000000 CTAS=264

The same kernel is launched twice (see `total`). The order of the additions depends on the sizes only, so that results
are bitwise reproducible, unlike those of atomics. Techniques and their sources:

- Each thread adds ROUNDS vectors of 16 bytes at a time, a grid stride apart, into one sum per vector element; sums are
  combined by shuffles, then through shared memory (Harris, "Optimizing Parallel Reduction in CUDA").
- As many CTAs as fill the GPU, for any length (Harris, "CUDA Pro Tip: Write Flexible Kernels with Grid-Stride
  Loops").

Cost: 32 registers per thread: eight CTAs per SM.
"""

from __future__ import annotations

import numpy as np

from examples.rows import THREADS, Team, over_row
from examples.vectors import load, moved
from pyptx import Tile, kernel, ptx, reg
from pyptx.kernel import Kernel
from pyptx.testing import compare
from pyptx.types import PtxType, f32, u32

MOST_CTAS = 264  # two per SM of an H200
SPACE = {"ROUNDS": (1, 2, 4, 8), "CTAS": (132, 264, 528, 1056)}  # tuning space


def sums(x, partial, *, ROUNDS=4):
    """Write to partial[i] the sum of the elements of x (N) that CTA i reads."""
    (N,), (CTAS,), dtype = x.shape, partial.shape, x.dtype
    vector, threads = 128 // dtype.bits, CTAS * THREADS
    vectors, tail = divmod(N, vector)
    block, tid = reg.from_(ptx.special.ctaid.x(), u32), reg.from_(ptx.special.tid.x(), u32)
    thread = block * THREADS + tid
    (x_at,), (to,) = ptx.global_ptrs(x), ptx.global_ptrs(partial)
    totals = [reg.scalar(f32, 0.0) for _ in range(vector)]

    def take_in(numbers: list) -> None:
        for sum_, number in zip(totals, numbers, strict=False):
            ptx.inst.add.f32(sum_, sum_, number)

    place, step_bytes = moved(x_at, thread, 16), threads * 16
    whole = vectors // (threads * ROUNDS)  # rounds with work for every thread
    for _ in ptx.range_(0, whole):
        for numbers in [load(place, vector, dtype, offset=i * step_bytes) for i in range(ROUNDS)]:
            take_in(numbers)
        ptx.inst.add.s64(place, place, ROUNDS * step_bytes)
    left = vectors - whole * threads * ROUNDS
    for i in range(-(-left // threads)):
        take_in(load(place, vector, dtype, thread < left - i * threads, offset=i * step_bytes))
    if tail:
        take_in(load(moved(moved(x_at, vectors * 16), thread, dtype.bits // 8), 1, dtype, thread < tail))

    while len(totals) > 1:
        totals = [low + high for low, high in zip(totals[::2], totals[1::2], strict=True)]
    over_row(Team(block, tid, THREADS), totals[0], ptx.warp.reduce_sum, ptx.inst.add.f32)
    ptx.inst.st.global_.f32(ptx.addr(moved(to, block, 4)), totals[0], pred=tid == 0)


def reduce_sum_of(dtype: PtxType) -> Kernel:
    """Return the kernel for vectors of `dtype` (f32, bf16 or f16)."""
    return kernel(
        sums,
        name="reduce_sum",
        arch="sm_80",
        in_specs=[Tile("N", dtype, align=16)],
        out_specs=[Tile("CTAS", f32)],
        grid=lambda CTAS: CTAS,
        block=(THREADS, 1, 1),
        reqntid=(THREADS, 1, 1),
    )


reduce_sum, of_sums = reduce_sum_of(f32), reduce_sum_of(f32)


def total(x, first: Kernel = reduce_sum, **params):
    """Return the sum of x as an array of one f32; `first` is the kernel for its type."""
    CTAS = params.pop("CTAS", max(1, min(MOST_CTAS, -(-x.shape[0] // (16 * THREADS)))))
    partial = first(x, CTAS=CTAS, **params)
    return partial if CTAS == 1 else of_sums(partial, CTAS=1)


def reference(x: np.ndarray) -> np.ndarray:
    """Return the reference result in NumPy, summed in f64."""
    return x.astype(np.float64).sum(keepdims=True)


def main() -> None:
    x = np.random.default_rng(0).standard_normal(1_000_003, dtype=np.float32)
    compare(reduce_sum, [x], reference(x), rtol=1e-5, atol=1e-2, call=total)


if __name__ == "__main__":
    main()
