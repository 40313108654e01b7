"""Helpers of attention of all generations: masks and softmax of scores in registers, size checks, reference."""

from __future__ import annotations

import math

import numpy as np

from examples.exponentials import exponential
from pyptx import ptx, reg
from pyptx.kernel import Kernel
from pyptx.reg import Reg
from pyptx.testing import compare
from pyptx.types import f32, s32

__all__ = [
    "LOG2_E",
    "check_heads",
    "compare_attention",
    "hide",
    "raise_largest",
    "reference",
    "scale_of",
    "softmax_step",
    "visible",
    "weigh",
]

LOG2_E = math.log2(math.e)


def visible(row: Reg, T: int, causal: bool) -> Reg:
    """Return the last key that a query attends to."""
    last = reg.scalar(s32, T - 1)
    if causal:
        ptx.inst.min.s32(last, last, row)
    return last


def hide(scores: list[Reg], room: Reg) -> None:
    """Set the scores of a row to -infinity in columns beyond `room`, counted from this thread's first one."""
    for i, score in enumerate(scores):
        ptx.inst.selp.f32(score, score, -math.inf, room >= i // 2 * 8 + i % 2)


def softmax_step(scores: list[Reg], largest: Reg, total: Reg, scale: float, lanes: int = 4) -> Reg:
    """Replace the scores of a row by weights; return the factor that rescales previous sums.

    A row is distributed over `lanes` lanes. `largest` is the row's maximum, `total` this lane's part of the sum of weights.
    """
    shrinks = raise_largest(scores, largest, scale, lanes)
    weigh(scores, largest, total, scale, shrinks)
    return shrinks


def raise_largest(scores: list[Reg], largest: Reg, scale: float, lanes: int = 4, slack: float = 0.0) -> Reg:
    """Update the running maximum of a row; return the factor that rescales previous sums.

    With slack, the maximum is kept until a score exceeds it by `slack` powers of two: weights are then at most 2**slack,
    and rescaling is rare.
    """
    before, shrinks = reg.from_(largest, f32), reg.scalar(f32)
    for score in scores:
        ptx.inst.max.f32(largest, largest, score)
    if lanes > 1:
        ptx.warp.reduce_max(largest, width=lanes)
    ptx.inst.sub.f32(shrinks, before, largest)
    ptx.inst.mul.f32(shrinks, shrinks, scale)
    if slack:
        keeps = shrinks >= -slack
        ptx.inst.selp.f32(largest, before, largest, keeps)
        ptx.inst.selp.f32(shrinks, 0.0, shrinks, keeps)
    ptx.inst.ex2.approx.ftz.f32(shrinks, shrinks)
    return shrinks


def weigh(scores: list[Reg], largest: Reg, total: Reg, scale: float, shrinks: Reg, every: int = 0) -> None:
    """Replace the scores of a row by weights, and add them to the rescaled sum.

    One of `every` exponentials is computed by FMAs; 0: none.
    """
    offset = reg.scalar(f32)
    ptx.inst.mul.f32(offset, largest, -scale)
    ptx.inst.mul.f32(total, total, shrinks)
    for i, score in enumerate(scores):
        ptx.inst.fma.rn.f32(score, score, scale, offset)
        if every and i % every == every - 1:
            exponential(score)
        else:
            ptx.inst.ex2.approx.ftz.f32(score, score)
        ptx.inst.add.f32(total, total, score)


def check_heads(name: str, S: int, T: int, D: int, causal: bool) -> None:
    """Raise ValueError for head sizes that the kernels do not support."""
    if D not in (64, 128):
        raise ValueError(f"{name}: head dimension D={D}; expected 64 or 128")
    if T < 1:
        raise ValueError(f"{name}: T={T}; queries need at least one key")
    if causal and S != T:
        raise ValueError(f"{name}: causal masks need as many keys as queries (S={S}, T={T})")


def scale_of(name: str, D: int, scale: float | None) -> float:
    """Return the scale of the scores, by default 1 / sqrt(D).

    Raises:
        ValueError: the scale is not positive.
    """
    if scale is None:
        return 1 / math.sqrt(D)
    if not 0 < scale < math.inf:
        raise ValueError(f"{name}: SCALE={scale}; expected a positive number")
    return scale


def reference(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, causal: bool = False, scale: float | None = None
) -> np.ndarray:
    """Return attention in NumPy, in f32."""
    q, k, v = (x.astype(np.float32) for x in (q, k, v))
    scores = q @ k.swapaxes(2, 3) * np.float32(scale_of("reference", q.shape[3], scale))
    if causal:
        scores = np.where(np.tri(*scores.shape[2:], dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=3, keepdims=True))
    return weights / weights.sum(axis=3, keepdims=True) @ v


def compare_attention(attention: Kernel) -> None:
    """Compare a kernel for f16 with the reference, causal, on arrays of every installed package."""
    random = np.random.default_rng(0)
    q, k, v = (random.standard_normal((1, 2, 200, 64)).astype(np.float16) for _ in range(3))
    compare(attention, [q, k, v], reference(q, k, v, causal=True), rtol=5e-3, atol=5e-3, CAUSAL=True)
