"""Distribution-free statistics: medians with confidence intervals, and the sign test."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import comb
from statistics import median

__all__ = ["Median", "median_interval", "sign_test"]


class Median(tuple):
    """(value, low, high): a median and its 95 % confidence interval."""

    __slots__ = ()
    value = property(lambda self: self[0])
    low = property(lambda self: self[1])
    high = property(lambda self: self[2])

    @property
    def half_width(self) -> float:
        """Half of the interval's width relative to the median."""
        return (self.high - self.low) / 2 / self.value if self.value else float("inf")


def median_interval(values: Sequence[float]) -> Median:
    """Return the median and its 95 % confidence interval from order statistics; for few values, their range.

    Source: the number of values below the median has a binomial distribution ("distribution-free confidence interval").
    """
    ordered = sorted(values)
    outside = _values_outside(len(ordered))
    return Median((median(ordered), ordered[outside], ordered[-1 - outside]))


@lru_cache(maxsize=1024)
def _values_outside(count: int) -> int:
    """Return the number of values on each side outside the 95 % interval of the median of `count` values."""
    outside, missed = 0, 1 + count  # missed / 2 ** count: probability that at most so many values are below
    while outside + 1 < (count + 1) // 2 and 2 * missed / 2**count <= 0.05:
        outside += 1
        missed += comb(count, outside + 1)
    return outside


def sign_test(differences: Sequence[float]) -> float:
    """Return the two-sided p-value of the signs of paired differences; zeros do not count."""
    plus, minus = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    count = plus + minus
    if not count:
        return 1.0
    return min(1.0, 2 * sum(comb(count, i) for i in range(min(plus, minus) + 1)) / 2**count)
