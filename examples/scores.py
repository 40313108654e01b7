"""Helpers of attention of all generations: masks and softmax of scores in registers, size checks, reference."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from examples.exponentials import exponential
from pyptx import ptx, reg
from pyptx.kernel import Kernel
from pyptx.reg import Reg
from pyptx.testing import compare
from pyptx.types import s32

__all__ = [
    "LOG2_E",
    "check_heads",
    "compare_attention",
    "hide",
    "reference",
    "scale_of",
    "some_by_fma",
    "visible",
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


def some_by_fma(every: int) -> Callable[[int, Reg], bool] | None:
    """Return the function for `lib.OnlineSoftmax.weigh` that computes one of `every` exponentials by FMAs; None for 0."""

    def choose(i: int, score: Reg) -> bool:
        if i % every != every - 1:
            return False
        exponential(score)
        return True

    return choose if every else None


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
