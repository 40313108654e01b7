"""Softmax of rows: y = exp(x - max(x)) / sum(exp(x - max(x))), a warp for every row, a block for a long one.

    python examples/softmax.py
    pyptx view examples/softmax.py:softmax -p M=512 N=1024

Techniques, and where they are described:

- Accesses of 16 bytes wherever the length of a row allows them (CUDA C++ Best Practices Guide, "Coalesced Access to
  Global Memory"); arithmetic in f32 whatever the type.
- A row that fits in registers is read once, and each of its values is raised once. Of longer rows the largest value and
  the sum are found in one pass, so that they are read twice and not three times (Milakov and Gimelshein, "Online
  normalizer calculation for softmax"). On Hopper and newer a long row fits in the registers of a cluster of CTAs:
  `softmax_of(bf16, "sm_90")`.
- exp as 2 to the power of scaled differences, by ex2 (PTX ISA, "ex2").

Cost with 8192 columns of f32: 48 registers a thread: five CTAs on an SM.
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

SPACE = {"KEPT": (0, 2, 4, 8)}  # values worth trying


def rows(x, y, KEPT, CLUSTER):
    """Softmax of the rows of x (M x N), any N; up to KEPT vectors of a thread stay in registers, CLUSTER CTAs share a
    row."""
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
    """The kernel for arrays of `dtype` (f32, bf16 or f16); for "sm_90" and newer the CTAs of a cluster share long rows.
    """
    def of_rows(x, y, *, KEPT=8, CLUSTER=0):
        rows(x, y, KEPT, CLUSTER or cluster_for(x.shape[1], arch))
    tile = Tile("M", "N", dtype, align=16)
    return row_kernel(of_rows, "softmax", arch, [tile], [tile])


softmax = softmax_of(f32)


def reference(x: np.ndarray) -> np.ndarray:
    """The same in NumPy, in f32."""
    x = x.astype(np.float32)
    weights = np.exp(x - x.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def main() -> None:
    x = np.random.default_rng(0).standard_normal((512, 1000), dtype=np.float32)
    compare(softmax, [x], reference(x), rtol=1e-5, atol=1e-7)


if __name__ == "__main__":
    main()
