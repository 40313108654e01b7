"""Cross entropy of rows: loss = log(sum(exp(x))) - x[target], without storing the softmax.

    python examples/cross_entropy.py
    pyptx view examples/cross_entropy.py:cross_entropy -p M=512 N=1024

One warp per row, one CTA per long row, and from Hopper on a cluster per very long row: not to keep it in registers, but
to balance the load. Techniques, and where they are
described:

- Accesses of 16 bytes where the row length allows (CUDA C++ Best Practices Guide, "Coalesced Access to
  Global Memory"); arithmetic in f32 for every type.
- Maximum and sum in one pass, so that a row of any length is read once (Milakov and Gimelshein, "Online normalizer
  calculation for softmax"), AHEAD vectors per thread at a time: few registers, high occupancy.
- The loads of the target and of its logit are issued before those of the row.

Cost with 8192 columns of f32: 32 registers per thread: eight CTAs per SM.
"""

from __future__ import annotations

import math

import numpy as np

from examples.rows import LOG2_E, Row, cluster_for, online, place, row_kernel
from examples.vectors import load, moved
from pyptx import Tile, ptx, reg
from pyptx.kernel import Kernel
from pyptx.testing import compare
from pyptx.types import PtxType, f32, s32, u32

EACH = 64  # elements per thread from which a row is split over more CTAs: fewer do not pay for the exchange
IGNORED = -100  # target of rows with zero loss, as in torch
SPACE = {"AHEAD": (1, 2, 4, 8)}  # tuning space


def rows(x, targets, loss, AHEAD, CLUSTER):
    """Compute the losses (M, f32) of the rows of x (M x N), any N, for targets (M, s32).

    The loss is 0 for the target IGNORED and NaN for any other target outside 0..N-1. CLUSTER CTAs share a row.
    """
    M, N = x.shape
    team = place(M, N, CLUSTER)
    x_row, target_at, to = ptx.global_ptrs(x, targets, loss)
    x_row = moved(x_row, team.row, N * x.dtype.bits // 8)
    target_at, to = moved(target_at, team.row, 4), moved(to, team.row, 4)
    target, first = reg.scalar(u32, N), team.at == 0  # issued before the loads of the row
    ptx.inst.ld.global_.u32(target, ptx.addr(target_at), pred=first)
    known = target < N  # unsigned: a negative target is a large number
    (chosen,) = load(moved(x_row, target, x.dtype.bits // 8), 1, x.dtype, known)
    numbers = Row(x_row, x.dtype, team, N, kept=0, ahead=AHEAD)

    largest, total = online(team, numbers)
    result = reg.scalar(f32)
    ptx.inst.lg2.approx.f32(result, total)
    ptx.inst.fma.rn.f32(result, result, 1 / LOG2_E, largest)
    ptx.inst.sub.f32(result, result, chosen)
    for otherwise, holds in ((math.nan, known), (0.0, target != IGNORED)):
        ptx.inst.selp.f32(result, result, otherwise, holds)
    ptx.inst.st.global_.f32(ptx.addr(to), result, pred=first)


def cross_entropy_of(dtype: PtxType, arch: str = "sm_80") -> Kernel:
    """Return the kernel for rows of `dtype` (f32, bf16 or f16); from "sm_90" on, a cluster of CTAs shares long rows."""

    def of_rows(x, targets, loss, *, AHEAD=2, CLUSTER=0):
        rows(x, targets, loss, AHEAD, CLUSTER or cluster_for(x.shape[1], arch, EACH))

    return row_kernel(
        of_rows, "cross_entropy", arch, [Tile("M", "N", dtype, align=16), Tile("M", s32)], [Tile("M", f32)], EACH
    )


cross_entropy = cross_entropy_of(f32)


def reference(x: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the reference result in NumPy, in f32."""
    x, known = x.astype(np.float32), (0 <= targets) & (targets < x.shape[1])
    most = x.max(axis=1)
    chosen = x[np.arange(len(x)), np.where(known, targets, 0)]
    loss = np.log(np.exp(x - most[:, None]).sum(axis=1)) + most - chosen
    return np.where(known, loss, np.where(targets == IGNORED, 0, np.nan)).astype(np.float32)


def main() -> None:
    random = np.random.default_rng(0)
    x, targets = random.standard_normal((512, 1000), dtype=np.float32), random.integers(0, 1000, 512, np.int32)
    compare(cross_entropy, [x, targets], reference(x, targets), rtol=1e-5, atol=1e-5)


if __name__ == "__main__":
    main()
