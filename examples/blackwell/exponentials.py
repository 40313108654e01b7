"""Exponentials of a row of scores with Blackwell's packed f32x2 arithmetic; some by FMAs.

A Blackwell SM computes 16 exponentials and 8,192 matrix operations per clock. Attention has 4 D operations per
exponential: for D = 128 both take equally long, for D = 64 exponentials take twice as long. So some of them are computed
by FMAs (Dao et al., "FlashAttention-4"): 2**x is 2**n for the nearest integer n, added to the exponent, times a
polynomial in x - n.

Source: PTX ISA, "fma" and "add" (.f32x2), "ex2"; ../exponentials.py has the polynomial and a scalar version.
"""

from __future__ import annotations

from examples.exponentials import LEAST, POLYNOMIAL, ROUNDS
from pyptx import ptx, reg
from pyptx.reg import Reg
from pyptx.types import b32, b64, f32

__all__ = ["Pairs"]


def both(value: Reg | float) -> Reg:
    """Return a pair of twice the same value."""
    if not isinstance(value, Reg):
        value = reg.scalar(f32, value)
    pair = reg.scalar(b64)
    ptx.inst.mov.b64(pair, [value, value])
    return pair


class Pairs:
    """Exponentials of a row's scores and their sum. One of `every` pairs is computed by FMAs; 0: none."""

    def __init__(self, scale: float, every: int):
        self.every = every
        self.scale, self.total = both(scale), both(0.0)
        if every:
            self.rounds, self.unrounds = both(ROUNDS), both(-ROUNDS)
            self.factors = [both(factor) for factor in POLYNOMIAL]

    def weigh(self, scores: list[Reg], offset: Reg, shrinks: Reg, late: bool = False) -> None:
        """Replace scores by 2**(scale * score + offset); rescale the total and, unless `late`, add them."""
        offsets = both(offset)
        ptx.inst.mul.rn.f32x2(self.total, self.total, both(shrinks))
        for i in range(0, len(scores), 2):
            own, pair = scores[i : i + 2], reg.scalar(b64)
            ptx.inst.mov.b64(pair, own)
            ptx.inst.fma.rn.f32x2(pair, pair, self.scale, offsets)
            if self.every and i // 2 % self.every == self.every - 1:
                self.by_polynomial(own, pair)
            else:
                ptx.inst.mov.b64(own, pair)
                for score in own:
                    ptx.inst.ex2.approx.ftz.f32(score, score)
            if not late:
                self.add(own)

    def add(self, weights: list[Reg]) -> None:
        """Add weights to the total."""
        for i in range(0, len(weights), 2):
            pair = reg.scalar(b64)
            ptx.inst.mov.b64(pair, weights[i : i + 2])
            ptx.inst.add.rn.f32x2(self.total, self.total, pair)

    def by_polynomial(self, to: list[Reg], pair: Reg) -> None:
        """Return 2**x for a pair of numbers up to 126."""
        nearest, rest, power = (reg.scalar(b64) for _ in range(3))
        ptx.inst.mov.b64(to, pair)
        for value in to:
            ptx.inst.max.NaN.f32(value, value, LEAST)
        ptx.inst.mov.b64(pair, to)
        ptx.inst.add.rn.f32x2(nearest, pair, self.rounds)
        ptx.inst.add.rn.f32x2(rest, nearest, self.unrounds)
        ptx.inst.sub.rn.f32x2(rest, pair, rest)
        ptx.inst.mov.b64(power, self.factors[0])
        for factor in self.factors[1:]:
            ptx.inst.fma.rn.f32x2(power, power, rest, factor)
        exponents = [reg.scalar(b32) for _ in range(2)]
        ptx.inst.mov.b64(exponents, nearest)
        ptx.inst.mov.b64(to, power)
        for value, exponent in zip(to, exponents, strict=True):
            word = reg.scalar(b32)
            ptx.inst.mov.b32(word, value)
            ptx.inst.shl.b32(exponent, exponent, 23)
            ptx.inst.add.s32(word, word, exponent)
            ptx.inst.mov.b32(value, word)

    def sum(self) -> Reg:
        """Return the total of both halves."""
        low, high = reg.scalar(f32), reg.scalar(f32)
        ptx.inst.mov.b64([low, high], self.total)
        ptx.inst.add.f32(low, low, high)
        return low
