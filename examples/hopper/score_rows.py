"""What attention does with the rows of scores that a thread has in registers, forward and backward."""

from __future__ import annotations

import math

from pyptx import ptx, reg
from pyptx.reg import Reg
from pyptx.types import PtxType, f32, pred, s32

__all__ = ["both", "hide", "round_pair", "softmax_step", "visible"]


def both(p: Reg, q: Reg | bool) -> Reg:
    """The predicate that both hold; the second may be known already."""
    result = reg.scalar(pred)
    ptx.inst.and_.pred(result, p, q if isinstance(q, Reg) else int(q))
    return result


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


def softmax_step(scores: list[Reg], largest: Reg, total: Reg, scale: float) -> Reg:
    """Turn scores of a row into weights; the factor by which what was summed before shrinks.

    A row lies over four lanes. `largest` is the whole row's, `total` this lane's share of the sum of weights.
    """
    before, shrinks, offset = reg.from_(largest, f32), reg.scalar(f32), reg.scalar(f32)
    for score in scores:
        ptx.inst.max.f32(largest, largest, score)
    ptx.warp.reduce_max(largest, width=4)
    ptx.inst.mul.f32(offset, largest, -scale)
    ptx.inst.fma.rn.f32(shrinks, before, scale, offset)
    ptx.inst.ex2.approx.ftz.f32(shrinks, shrinks)
    ptx.inst.mul.f32(total, total, shrinks)
    for score in scores:
        ptx.inst.fma.rn.f32(score, score, scale, offset)
        ptx.inst.ex2.approx.ftz.f32(score, score)
        ptx.inst.add.f32(total, total, score)
    return shrinks


def round_pair(pair: Reg, low: Reg, high: Reg, dtype: PtxType) -> None:
    """Two f32 as a pair of 16-bit numbers."""
    getattr(ptx.inst.cvt.rn, f"{dtype.name}x2").f32(pair, high, low)
