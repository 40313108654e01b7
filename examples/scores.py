"""What attention of all generations shares: masks and softmax of rows of scores in registers, sizes, the reference."""

from __future__ import annotations

import math

import numpy as np

from examples.exponentials import exponential
from pyptx import ptx, reg
from pyptx.kernel import Kernel
from pyptx.reg import Reg
from pyptx.testing import compare
from pyptx.types import f32, s32

__all__ = ["LOG2_E", "check_heads", "compare_attention", "hide", "raise_largest", "reference", "scale_of",
           "softmax_step", "visible", "weigh"]

LOG2_E = math.log2(math.e)


def visible(row: Reg, T: int, causal: bool) -> Reg:
    """The last key that a query may see."""
    last = reg.scalar(s32, T - 1)
    if causal:
        ptx.inst.min.s32(last, last, row)
    return last


def hide(scores: list[Reg], room: Reg) -> None:
    """Set scores of a row to -infinity in columns beyond `room`, counted from this thread's first one."""
    for i, score in enumerate(scores):
        ptx.inst.selp.f32(score, score, -math.inf, room >= i // 2 * 8 + i % 2)


def softmax_step(scores: list[Reg], largest: Reg, total: Reg, scale: float, lanes: int = 4) -> Reg:
    """Turn scores of a row into weights; the factor by which what was summed before shrinks.

    A row lies over so many lanes. `largest` is the whole row's, `total` this lane's share of the sum of weights.
    """
    shrinks = raise_largest(scores, largest, scale, lanes)
    weigh(scores, largest, total, scale, shrinks)
    return shrinks


def raise_largest(scores: list[Reg], largest: Reg, scale: float, lanes: int = 4, slack: float = 0.0) -> Reg:
    """Take in the largest of a row's scores; the factor by which what was summed before shrinks.

    With slack, `largest` stays until a score is so many powers of two above it: weights are at most 2 ** slack then,
    and what was summed before shrinks seldom.
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
    """Turn scores of a row into weights, and add them to their sum, which shrinks before.

    Of `every` exponentials one is computed by multiply-adds; 0: none.
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
    """Raise ValueError for heads that no kernel here takes."""
    if D not in (64, 128):
        raise ValueError(f"{name}: head dimension D={D}; expected 64 or 128")
    if T < 1:
        raise ValueError(f"{name}: T={T}; queries need a key at least")
    if causal and S != T:
        raise ValueError(f"{name}: causal masks need as many keys as queries (S={S}, T={T})")


def scale_of(name: str, D: int, scale: float | None) -> float:
    """The factor of scores, 1 / sqrt(D) unless given; ValueError for one that the largest score is not largest with."""
    if scale is None:
        return 1 / math.sqrt(D)
    if not 0 < scale < math.inf:
        raise ValueError(f"{name}: SCALE={scale}; expected a positive number")
    return scale


def reference(q: np.ndarray, k: np.ndarray, v: np.ndarray, causal: bool = False,
              scale: float | None = None) -> np.ndarray:
    """Attention in NumPy, in f32."""
    q, k, v = (x.astype(np.float32) for x in (q, k, v))
    scores = q @ k.swapaxes(2, 3) * np.float32(scale_of("reference", q.shape[3], scale))
    if causal:
        scores = np.where(np.tri(*scores.shape[2:], dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=3, keepdims=True))
    return weights / weights.sum(axis=3, keepdims=True) @ v


def compare_attention(attention: Kernel) -> None:
    """Compare a kernel for f16 with the reference, causal, on arrays of every package that is installed."""
    random = np.random.default_rng(0)
    q, k, v = (random.standard_normal((1, 2, 200, 64)).astype(np.float16) for _ in range(3))
    compare(attention, [q, k, v], reference(q, k, v, causal=True), rtol=5e-3, atol=5e-3, CAUSAL=True)
