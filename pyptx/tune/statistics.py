"""Medians with their intervals, and the sign test: what a race decides by. No distribution is assumed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import comb
from statistics import median

__all__ = ["Median", "median_of", "sign_test"]


class Median(tuple):
    """(value, low, high): a median and its 95 % confidence interval."""

    __slots__ = ()
    value = property(lambda self: self[0])
    low = property(lambda self: self[1])
    high = property(lambda self: self[2])

    @property
    def half_width(self) -> float:
        """Half of the interval, as a share of the median."""
        return (self.high - self.low) / 2 / self.value if self.value else float("inf")


def median_of(values: Sequence[float]) -> Median:
    """The median, with the order statistics that enclose it in 95 % of all samples; of few values, all of them.

    Source: the binomial distribution of how many values lie below the median, "distribution-free confidence interval".
    """
    ordered = sorted(values)
    outside = _outside(len(ordered))
    return Median((median(ordered), ordered[outside], ordered[-1 - outside]))


@lru_cache(maxsize=1024)
def _outside(count: int) -> int:
    """How many of the least, and of the greatest values the 95 % interval of a median of so many leaves out."""
    outside, missed = 0, 1 + count                      # missed / 2 ** count: at most so many values lie below
    while outside + 1 < (count + 1) // 2 and 2 * missed / 2 ** count <= 0.05:
        outside += 1
        missed += comb(count, outside + 1)
    return outside


def sign_test(differences: Sequence[float]) -> float:
    """How probable so uneven signs are, when neither of a pair is faster (two-sided); zeros do not count."""
    plus, minus = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    count = plus + minus
    if not count:
        return 1.0
    return min(1.0, 2 * sum(comb(count, i) for i in range(min(plus, minus) + 1)) / 2 ** count)
