"""RMS norm and quantization to fp8 in one pass: y = x / sqrt(mean(x**2) + eps) * weight, as e4m3 with one scale per row.

    python examples/rms_norm_fp8.py
    pyptx view examples/rms_norm_fp8.py:rms_norm_fp8 -p M=512 N=4096

One CTA per row, which stays in registers: it is read once and written once, in a quarter to a half of the bytes that a norm followed by
a quantization move. Techniques and their sources:

- The scale of a row is its largest magnitude over 448, the largest of e4m3 (Micikevicius et al., "FP8 Formats for Deep
  Learning"). The norm of a row is a common factor of its elements: y / scale does not depend on it, so both reductions,
  the sum of squares and the largest magnitude, take place at the same time, with one barrier.
- Accesses of 16 bytes (CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory"), all loads before the first use.
- Two f32 are converted to a pair of e4m3 by one instruction (PTX ISA, "cvt").

Cost with 8192 columns of bf16: 48 registers per thread: five CTAs per SM.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

from pyptx import Tile, kernel, ptx, reg, smem
from pyptx.kernel import Kernel
from pyptx.testing import compare
from pyptx.types import PtxType, bf16, e4m3, f32, u32

THREADS = 256
LARGEST = 448.0  # of e4m3
MOST = 16  # vectors of a thread, which stay in registers
SPACE = {"THREADS": (128, 256, 512)}  # tuning space


def rows(x, weight, y, scales, *, eps=1e-6, THREADS=THREADS):
    """Normalize, scale and quantize the rows of x (M x N). See check_sizes for supported sizes."""
    N, each = x.shape[1], 128 // x.dtype.bits  # elements of an access
    check_sizes(N, x.dtype, THREADS)
    row, tid = ptx.ctaid.x + 0, reg.from_(ptx.tid.x, u32)
    places = range(0, N, THREADS * each)
    guards = [None if first + THREADS * each <= N else tid * each < N - first for first in places]

    def load(array, *row):
        """Load this thread's part of a row, zeros beyond its end."""
        return [
            array.load(*row, tid * each, vec=each, offset=(0,) * len(row) + (first,), pred=inside, other=0)
            for first, inside in zip(places, guards, strict=True)
        ]

    vectors, factors = load(x, row), load(weight)
    total, largest, products = reg.scalar(f32, 0.0), reg.scalar(f32, 0.0), []
    for vector, factor in zip(vectors, factors, strict=True):
        values = vector.to(f32)
        for value in values:
            ptx.inst.fma.rn.f32(total, value, value, total)
        products.append(values * factor.to(f32))
        for value in products[-1]:
            ptx.inst.max.f32(largest, largest, ptx.abs(value))

    total, largest = over_row(total, largest, tid, THREADS)
    norm = ptx.rsqrt(ptx.fma(total, 1 / N, eps))
    quantized = ptx.select(largest > 0.0, LARGEST / largest, 0.0)
    for product, first, inside in zip(products, places, guards, strict=True):
        y.store(row, tid * each, (product * quantized).to(e4m3), offset=(0, first), pred=inside)
    scales.store(row, ptx.select(largest > 0.0, largest * norm * (1 / LARGEST), 1.0), pred=tid == 0)


def over_row(total, largest, tid, threads: int):
    """Return the sum and the maximum over all threads, with one barrier."""
    warps = threads // 32
    total, largest = ptx.warp_reduce(total), ptx.warp_reduce(largest, "max")
    parts = smem.alloc(f32, (2, warps))
    with ptx.if_((tid & 31) == 0):
        parts[0, tid >> 5], parts[1, tid >> 5] = total, largest
    ptx.bar.sync()
    of_warp = tid & (warps - 1)
    total, largest = (
        ptx.warp_reduce(parts[0, of_warp], width=warps),
        ptx.warp_reduce(parts[1, of_warp], "max", width=warps),
    )
    return total, largest


def check_sizes(N: int, dtype: PtxType, threads: int) -> None:
    """Raise ValueError for rows that are not whole vectors, or do not fit in registers."""
    each = 128 // dtype.bits
    if N % each or not 0 < N <= MOST * threads * each or threads not in (64, 128, 256, 512, 1024):
        raise ValueError(
            f"rms_norm_fp8: N={N}, THREADS={threads}; expected a multiple of {each} up to {MOST} * {each} * THREADS"
        )


def rms_norm_fp8_of(dtype: PtxType) -> Kernel:
    """Return the kernel for arrays of `dtype` (f32, bf16 or f16)."""
    return kernel(
        rows,
        name="rms_norm_fp8",
        arch="sm_89",
        in_specs=[Tile("M", "N", dtype, align=16), Tile("N", dtype, align=16)],
        out_specs=[Tile("M", "N", e4m3, align=16), Tile("M", f32)],
        grid=lambda M: M,
        block=lambda THREADS: (THREADS, 1, 1),
    )


rms_norm_fp8 = rms_norm_fp8_of(bf16)


def reference(x: np.ndarray, weight: np.ndarray, eps: float = 1e-6) -> tuple[np.ndarray, np.ndarray]:
    """Return quantized rows and scales in NumPy, computed in f32."""
    x, weight = x.astype(np.float32), weight.astype(np.float32)
    y = x / np.sqrt(np.mean(x * x, axis=1, keepdims=True) + np.float32(eps)) * weight
    largest = np.abs(y).max(axis=1)
    scales = np.where(largest > 0, largest / LARGEST, 1).astype(np.float32)
    return (y / scales[:, None]).astype(ml_dtypes.float8_e4m3fn), scales


def main() -> None:
    random = np.random.default_rng(0)
    x, weight = (random.standard_normal(shape).astype(ml_dtypes.bfloat16) for shape in ((64, 1000), 1000))
    wanted, scales = reference(x, weight)
    compare(rms_norm_fp8, [x, weight], [wanted.astype(np.float64), scales], rtol=0.13, atol=1e-5)


if __name__ == "__main__":
    main()
