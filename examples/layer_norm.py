"""Layer norm: y = (x - mean(x)) / sqrt(var(x) + eps) * weight + bias, one warp per row, one CTA per long row.

    python examples/layer_norm.py
    pyptx view examples/layer_norm.py:layer_norm -p M=512 N=1024

Techniques and their sources:

- Accesses of 16 bytes where the row length allows (CUDA C++ Best Practices Guide, "Coalesced Access to
  Global Memory"); arithmetic in f32 for every type.
- The variance from deviations from the mean, in a second pass: sums of squares suffer from cancellation (Chan, Golub
  and LeVeque, "Algorithms for computing the sample variance"). Rows that fit in registers are still read once, also in
  those of a cluster of CTAs: `layer_norm_of(bf16, "sm_90")`.

Cost with 8192 columns of f32: 58 registers per thread: four CTAs per SM.
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


def rows(x, weight, bias, y, eps, KEPT, CLUSTER):
    """Normalize the rows of x (M x N), any N; scale and shift the columns by weight and bias (N). CLUSTER CTAs share a row."""
    M, N = x.shape
    team = place(M, N, CLUSTER)
    x_row, weight_row, bias_row, y_row = ptx.global_ptrs(x, weight, bias, y)
    x_row, y_row = (moved(start, team.row, N * x.dtype.bits // 8) for start in (x_row, y_row))
    numbers = Row(x_row, x.dtype, team, N, KEPT)
    weights, biases, to = *map(numbers.columns_of, (weight_row, bias_row)), numbers.first_of(y_row)

    mean = reg.scalar(f32, 0.0)

    def add(values: list[Reg], guard: Reg | None, beside: Callable) -> None:
        for value in values:  # zeros out of bounds
            ptx.inst.add.f32(mean, mean, value)

    numbers.each(add)
    over_row(team, mean, ptx.warp.reduce_sum, ptx.inst.add.f32)
    ptx.inst.mul.f32(mean, mean, 1 / max(1, N))

    squares = reg.scalar(f32, 0.0)

    def add_square(values: list[Reg], guard: Reg | None, beside: Callable) -> None:
        for value in values:
            difference = reg.scalar(f32)
            ptx.inst.sub.f32(difference, value, mean)
            ptx.inst.fma.rn.f32(squares, difference, difference, squares, pred=guard)

    numbers.each(add_square)
    over_row(team, squares, ptx.warp.reduce_sum, ptx.inst.add.f32)
    scale = reg.scalar(f32)
    ptx.inst.fma.rn.f32(scale, squares, 1 / max(1, N), eps)
    ptx.inst.rsqrt.approx.f32(scale, scale)

    def write(values: list[Reg], guard: Reg | None, beside: Callable) -> None:
        factors, shifts = (numbers.along(columns, len(values), guard, beside) for columns in (weights, biases))
        results = []
        for value, factor, shift in zip(values, factors, shifts, strict=True):
            result = reg.scalar(f32)
            ptx.inst.sub.f32(result, value, mean)
            ptx.inst.mul.f32(result, result, scale)
            ptx.inst.fma.rn.f32(result, result, factor, shift)
            results.append(result)
        store(beside(to), results, y.dtype, guard)

    numbers.each(write)


def layer_norm_of(dtype: PtxType, arch: str = "sm_80") -> Kernel:
    """Return the kernel for arrays of `dtype` (f32, bf16 or f16); from "sm_90" on, a cluster of CTAs shares long rows."""

    def of_rows(x, weight, bias, y, *, eps=1e-5, KEPT=8, CLUSTER=0):
        rows(x, weight, bias, y, eps, KEPT, CLUSTER or cluster_for(x.shape[1], arch))

    tile, columns = Tile("M", "N", dtype, align=16), Tile("N", dtype, align=16)
    return row_kernel(of_rows, "layer_norm", arch, [tile, columns, columns], [tile])


layer_norm = layer_norm_of(f32)


def reference(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, eps: float = 1e-5) -> np.ndarray:
    """Return the reference result in NumPy, in f32."""
    x, weight, bias = (array.astype(np.float32) for array in (x, weight, bias))
    scale = 1 / np.sqrt(x.var(axis=1, keepdims=True) + np.float32(eps))
    return (x - x.mean(axis=1, keepdims=True)) * scale * weight + bias


def main() -> None:
    random = np.random.default_rng(0)
    x, weight, bias = (random.standard_normal(shape, dtype=np.float32) for shape in ((512, 1000), 1000, 1000))
    compare(layer_norm, (x, weight, bias), reference(x, weight, bias), rtol=1e-4, atol=1e-5)


if __name__ == "__main__":
    main()
