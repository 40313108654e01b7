"""RMS norm: y = x / sqrt(mean(x**2) + eps) * weight, one warp per row, one CTA per long row.

    python examples/rms_norm.py
    pyptx sass examples/rms_norm.py:rms_norm -p M=512 N=1024

The first example to read. Python's own `for` and `if` run while the kernel is traced: they unroll loops and select
variants; the GPU executes the instructions that the calls of `ptx` emit. Techniques and their sources:

- Accesses of 16 bytes where the row length allows (CUDA C++ Best Practices Guide, "Coalesced Access to
  Global Memory"); arithmetic in f32 for every type.
- Rows of up to KEPT vectors per thread stay in registers between the two passes; longer ones are read twice, or shared
  by the CTAs of a cluster: `rms_norm_of(bf16, "sm_90")`.
- Sums are combined by shuffles in a warp and through shared memory across warps (Harris, "Optimizing Parallel Reduction in CUDA"): rows.py.

Source of the function: Zhang and Sennrich, "Root Mean Square Layer Normalization".

Cost with 8192 columns of f32: 56 registers per thread: four CTAs per SM.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from examples.rows import Row, cluster_for, over_row, place, row_kernel
from examples.vectors import moved, store
from pyptx import Tile, ptx, reg
from pyptx.kernel import Kernel
from pyptx.reg import Reg
from pyptx.testing import compare
from pyptx.types import PtxType, f32

SPACE = {"KEPT": (0, 2, 4, 8)}  # tuning space


def rows(x, weight, y, eps, KEPT, CLUSTER):
    """Normalize the rows of x (M x N), any N, and scale its columns by weight (N). CLUSTER CTAs share a row."""
    M, N = x.shape
    team = place(M, N, CLUSTER)
    x_row, weight_row, y_row = ptx.global_ptrs(x, weight, y)
    x_row, y_row = (moved(start, team.row, N * x.dtype.bits // 8) for start in (x_row, y_row))
    numbers = Row(x_row, x.dtype, team, N, KEPT)
    weights, to = numbers.columns_of(weight_row), numbers.first_of(y_row)

    total = reg.scalar(f32, 0.0)

    def add_squares(values: list[Reg], guard: Reg | None, beside: Callable) -> None:
        for value in values:  # zeros out of bounds
            ptx.inst.fma.rn.f32(total, value, value, total)

    numbers.each(add_squares)
    over_row(team, total, ptx.warp.reduce_sum, ptx.inst.add.f32)

    scale = reg.scalar(f32)
    ptx.inst.fma.rn.f32(scale, total, 1 / max(1, N), eps)
    ptx.inst.rsqrt.approx.f32(scale, scale)

    def write(values: list[Reg], guard: Reg | None, beside: Callable) -> None:
        results = []
        for value, factor in zip(values, numbers.along(weights, len(values), guard, beside), strict=True):
            result = reg.scalar(f32)
            ptx.inst.mul.f32(result, value, scale)
            ptx.inst.mul.f32(result, result, factor)
            results.append(result)
        store(beside(to), results, y.dtype, guard)

    numbers.each(write)


def rms_norm_of(dtype: PtxType, arch: str = "sm_80") -> Kernel:
    """Return the kernel for arrays of `dtype` (f32, bf16 or f16); from "sm_90" on, a cluster of CTAs shares long rows."""

    def of_rows(x, weight, y, *, eps=1e-6, KEPT=8, CLUSTER=0):
        rows(x, weight, y, eps, KEPT, CLUSTER or cluster_for(x.shape[1], arch))

    tile = Tile("M", "N", dtype, align=16)
    return row_kernel(of_rows, "rms_norm", arch, [tile, Tile("N", dtype, align=16)], [tile])


rms_norm = rms_norm_of(f32)


def reference(x: np.ndarray, weight: np.ndarray, eps: float = 1e-6) -> np.ndarray:
    """Return the reference result in NumPy, in f32."""
    x, weight = x.astype(np.float32), weight.astype(np.float32)
    return x / np.sqrt(np.mean(x * x, axis=1, keepdims=True) + np.float32(eps)) * weight


def main() -> None:
    random = np.random.default_rng(0)
    x, weight = (random.standard_normal(shape, dtype=np.float32) for shape in ((512, 1000), 1000))
    compare(rms_norm, (x, weight), reference(x, weight), rtol=1e-5, atol=1e-6)


if __name__ == "__main__":
    main()
