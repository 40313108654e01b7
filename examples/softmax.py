"""Softmax of rows: y = exp(x - max(x)) / sum(exp(x - max(x))), one warp per row, one CTA per long row.

    python examples/softmax.py
    pyptx view examples/softmax.py:softmax -p M=512 N=1024

Techniques and their sources:

- Accesses of 16 bytes where the row length allows (CUDA C++ Best Practices Guide, "Coalesced Access to
  Global Memory"); arithmetic in f32 for every type.
- A row that fits in registers is read once, with one exponential per element. For longer rows, maximum and sum are
  computed in one pass, so that they are read twice instead of three times (Milakov and Gimelshein, "Online normalizer
  calculation for softmax"). From Hopper on, a long row fits in the registers of a cluster: `softmax_of(bf16, "sm_90")`.
- exp(x) as 2**(x * log2(e)), by ex2 (PTX ISA, "ex2").

Cost with 8192 columns of f32: 48 registers per thread: five CTAs per SM.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from examples.rows import Row, cluster_for, exponential, in_place, online, place, row_kernel
from examples.vectors import moved, store
from pyptx import Tile, ptx, reg
from pyptx.kernel import Kernel
from pyptx.reg import Reg
from pyptx.testing import compare
from pyptx.types import PtxType, f32

SPACE = {"KEPT": (0, 2, 4, 8)}  # tuning space


def rows(x, y, KEPT, CLUSTER):
    """Compute the softmax of the rows of x (M x N), any N.

    Up to KEPT vectors per thread stay in registers; CLUSTER CTAs share a row.
    """
    M, N = x.shape
    team = place(M, N, CLUSTER)
    x_row, y_row = (moved(start, team.row, N * x.dtype.bits // 8) for start in ptx.global_ptrs(x, y))
    numbers = Row(x_row, x.dtype, team, N, KEPT)
    to = numbers.first_of(y_row)

    largest = None
    if numbers.stays:
        _, total = in_place(team, numbers)
    else:
        largest, total = online(team, numbers)
    factor = reg.scalar(f32)
    ptx.inst.rcp.rn.f32(factor, total)

    def write(values: list[Reg], guard: Reg | None, beside: Callable) -> None:
        results = values if largest is None else [exponential(value, largest) for value in values]
        for result in results:
            ptx.inst.mul.f32(result, result, factor)
        store(beside(to), results, y.dtype, guard)

    numbers.each(write)


def softmax_of(dtype: PtxType, arch: str = "sm_80") -> Kernel:
    """Return the kernel for arrays of `dtype` (f32, bf16 or f16); from "sm_90" on, a cluster of CTAs shares long rows."""

    def of_rows(x, y, *, KEPT=8, CLUSTER=0):
        rows(x, y, KEPT, CLUSTER or cluster_for(x.shape[1], arch))

    tile = Tile("M", "N", dtype, align=16)
    return row_kernel(of_rows, "softmax", arch, [tile], [tile])


softmax = softmax_of(f32)


def reference(x: np.ndarray) -> np.ndarray:
    """Return the reference result in NumPy, in f32."""
    x = x.astype(np.float32)
    weights = np.exp(x - x.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def main() -> None:
    x = np.random.default_rng(0).standard_normal((512, 1000), dtype=np.float32)
    compare(softmax, [x], reference(x), rtol=1e-5, atol=1e-7)


if __name__ == "__main__":
    main()
