"""RMS norm, backward: the gradients of rows and weight, and of the norm that rms_norm_fp8.py quantizes.

    python examples/rms_norm_backward.py
    pyptx view examples/rms_norm_backward.py:rms_norm_backward -p M=512 N=4096 PARTS=132

With r = 1 / sqrt(mean(x**2) + eps), n = x * r and g = d_y * weight: d_x = r * (g - n * mean(g * n)), and d_weight is the sum of d_y * n
over the rows (Zhang and Sennrich, "Root Mean Square Layer Normalization"). Techniques and their sources:

- A row stays in registers: x and d_y are read once. Both sums, of x**2 and of g * x, take place at the same time, with one barrier.
- PARTS CTAs process every PARTS-th row each, and keep their part of d_weight in registers: no atomics, the same result each time. The
  parts are added by the caller.
- Quantization to fp8 has no gradient of its own: `with_gradients` passes that of the dequantized rows through it (Bengio et al.,
  "Estimating or Propagating Gradients Through Stochastic Neurons", the straight-through estimator).

Cost with 4096 columns of bf16: 96 registers per thread: two CTAs per SM.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

import pyptx
from examples.rms_norm_fp8 import THREADS, check_sizes, rms_norm_fp8_of
from pyptx import Tile, kernel, ptx, reg, smem
from pyptx.kernel import Kernel
from pyptx.testing import compare
from pyptx.types import PtxType, bf16, f32, s32, u32

PARTS = 132  # CTAs, the SMs of an H100 or H200
SPACE = {"THREADS": (128, 256, 512)}  # tuning space


def rows(x, weight, d_y, d_x, d_weights, *, eps=1e-6, THREADS=THREADS):
    """Compute d_x (M x N), and the parts of d_weight (PARTS x N, f32), for x, d_y (M x N) and weight (N)."""
    (M, N), each, parts = x.shape, 128 // x.dtype.bits, d_weights.shape[0]
    check_sizes(N, x.dtype, THREADS)
    tid = reg.from_(ptx.tid.x, u32)
    places = range(0, N, THREADS * each)
    guards = [None if first + THREADS * each <= N else tid * each < N - first for first in places]

    def load(array, *row):
        """Load this thread's part of a row, zeros beyond its end."""
        return [
            array.load(*row, tid * each, vec=each, offset=(0,) * len(row) + (first,), pred=inside, other=0).to(f32)
            for first, inside in zip(places, guards, strict=True)
        ]

    factors = load(weight)
    own = [ptx.vector([reg.scalar(f32, 0.0) for _ in range(each)]) for _ in places]  # d_weight of this CTA's rows
    for row in ptx.range_(reg.from_(ptx.ctaid.x, s32), M, parts):
        values, gradients = load(x, row), load(d_y, row)
        squares, dots = reg.scalar(f32, 0.0), reg.scalar(f32, 0.0)
        products = [gradient * factor for gradient, factor in zip(gradients, factors, strict=True)]
        for value, product in zip(values, products, strict=True):
            for v, p in zip(value, product, strict=True):
                ptx.inst.fma.rn.f32(squares, v, v, squares)
                ptx.inst.fma.rn.f32(dots, v, p, dots)
        squares, dots = sums_of(squares, dots, tid, THREADS)
        norm = ptx.rsqrt(ptx.fma(squares, 1 / N, eps))
        along = dots * norm * norm * norm * (1 / N)  # of x, what d_x loses
        for i, (value, product, first, inside) in enumerate(zip(values, products, places, guards, strict=True)):
            result = product * norm - value * along
            d_x.store(row, tid * each, result if x.dtype == f32 else result.to(x.dtype), offset=(0, first), pred=inside)
            own[i] += gradients[i] * value * norm
    for part, first, inside in zip(own, places, guards, strict=True):
        for i in range(0, each, 4):
            four = ptx.vector(list(part)[i : i + 4])
            d_weights.store(ptx.ctaid.x, tid * each, four, offset=(0, first + i), pred=inside)


def sums_of(one, two, tid, threads: int):
    """Return two sums over all threads; one barrier before, so that the memory can be written again, and one between."""
    warps = threads // 32
    one, two = ptx.warp_reduce(one), ptx.warp_reduce(two)
    parts = smem.alloc(f32, (2, warps))
    ptx.bar.sync()
    with ptx.if_((tid & 31) == 0):
        parts[0, tid >> 5], parts[1, tid >> 5] = one, two
    ptx.bar.sync()
    of_warp = tid & (warps - 1)
    return tuple(ptx.warp_reduce(parts[i, of_warp], width=warps) for i in range(2))


def rms_norm_backward_of(dtype: PtxType) -> Kernel:
    """Return the kernel for arrays of `dtype` (f32, bf16 or f16)."""
    return kernel(
        rows,
        name="rms_norm_backward",
        arch="sm_80",
        in_specs=[Tile("M", "N", dtype, align=16), Tile("N", dtype, align=16), Tile("M", "N", dtype, align=16)],
        out_specs=[Tile("M", "N", dtype, align=16), Tile("PARTS", "N", f32, align=16)],
        grid=lambda PARTS: PARTS,
        block=lambda THREADS: (THREADS, 1, 1),
    )


rms_norm_backward = rms_norm_backward_of(bf16)


def with_gradients(dtype: PtxType = bf16):
    """Return RMS norm rounded to fp8 for torch tensors, y = f(x, weight), with support for torch.autograd and torch.compile.

    y (M x N, f32) are the dequantized rows, elements of e4m3 times the scale of their row. The gradients are those of the norm without
    quantization, at the exact x (straight-through estimator).
    """
    first, second = rms_norm_fp8_of(dtype), rms_norm_backward_of(dtype)

    def run(x, weight, **params):
        y, scales = first(x, weight, **params)
        return y.float() * scales[:, None]

    def gradients(x, weight, d_y, **params):
        d_x, parts = second(x, weight, d_y.to(x.dtype).contiguous(), PARTS=max(1, min(PARTS, x.shape[0])), **params)
        return d_x, parts.sum(0).to(weight.dtype)

    return pyptx.differentiable_kernel(run, gradients)


def reference(x: np.ndarray, weight: np.ndarray, d_y: np.ndarray, eps: float = 1e-6) -> tuple[np.ndarray, np.ndarray]:
    """Return the gradients of rows and weight in NumPy, in f64."""
    x, weight, d_y = (array.astype(np.float64) for array in (x, weight, d_y))
    norm = 1 / np.sqrt(np.mean(x * x, axis=1, keepdims=True) + eps)
    g, n = d_y * weight, x * norm
    return norm * (g - n * np.mean(g * n, axis=1, keepdims=True)), (d_y * n).sum(0)


def main() -> None:
    random = np.random.default_rng(0)
    x, weight, d_y = (
        random.standard_normal(shape).astype(ml_dtypes.bfloat16) for shape in ((64, 1000), 1000, (64, 1000))
    )

    def run(*given):
        d_x, parts = rms_norm_backward(*given, PARTS=5)
        return d_x, parts.sum(0)

    compare(rms_norm_backward, [x, weight, d_y], reference(x, weight, d_y), rtol=2e-2, atol=2e-2, call=run)


if __name__ == "__main__":
    main()
