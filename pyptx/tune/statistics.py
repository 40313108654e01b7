"""Distribution-free statistics: medians with confidence intervals, the sign test, and the signed-rank test."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import comb, erfc, sqrt
from statistics import median

__all__ = ["Median", "median_interval", "sign_test", "signed_rank_test"]


class Median(tuple[float, float, float]):
    """(value, low, high): a median and its 95 % confidence interval."""

    __slots__ = ()

    @property
    def value(self) -> float:
        """The median."""
        return self[0]

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self[1]

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self[2]

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


_EXACT = 60  # differences up to which the distribution of the rank sum is computed exactly


def signed_rank_test(differences: Sequence[float]) -> float:
    """Return the two-sided p-value of the Wilcoxon signed-rank test of paired differences.

    Zeros do not count; equal magnitudes share their mean rank. Up to 60 differences the p-value is exact, above it
    follows from the normal approximation.

    Source: F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1 (1945).
    """
    ordered = sorted((abs(d), d > 0) for d in differences if d)
    count = len(ordered)
    if not count:
        return 1.0
    doubled: list[int] = []  # twice the rank, an integer also for the mean of two ranks
    start = 0
    while start < count:
        end = start
        while end < count and ordered[end][0] == ordered[start][0]:
            end += 1
        doubled += [start + 1 + end] * (end - start)
        start = end
    total = sum(doubled)
    plus = sum(rank for rank, (_, positive) in zip(doubled, ordered, strict=True) if positive)
    least = min(plus, total - plus)
    if count > _EXACT:
        return erfc((total / 2 - least) / sqrt(sum(rank * rank for rank in doubled) / 4) / sqrt(2))
    ways = [1] + [0] * least  # ways[s]: choices of signs whose positive ranks sum to s
    for rank in doubled:
        for value in range(least, rank - 1, -1):
            ways[value] += ways[value - rank]
    return min(1.0, 2 * sum(ways) / 2**count)
