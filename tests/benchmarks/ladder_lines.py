"""Modeled beside published times of ladders: rank, pairs in order, ratios, and the goals of a half, as lines of a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
from rung_pool import Modeled
from rungs import Ladder

from pyptx.analysis.model.error_ranges import SHARE

APART = 1.03  # factor from which the order of two published times is expected to repeat
RANK, RUNGS, MEANS, RATIOS = 0.9, 6, (0.85, 1.15), (0.6, 1.6)  # of the goals


def spearman(left: Sequence[float], right: Sequence[float]) -> float:
    """Rank correlation; equal values share the mean of their ranks."""
    a, b = (_ranks(np.asarray(values, float)) for values in (left, right))
    a, b = a - a.mean(), b - b.mean()
    size = np.sqrt((a * a).sum() * (b * b).sum())
    return float((a * b).sum() / size) if size else float("nan")


def _ranks(values: np.ndarray) -> np.ndarray:
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(count) - (count - 1) / 2)[place]


def geometric_mean(values: Sequence[float]) -> float:
    """Geometric mean of positive numbers."""
    return float(np.exp(np.mean(np.log(np.asarray(values, float)))))


def concordant(modeled: Sequence[float], measured: Sequence[float]) -> tuple[int, int]:
    """The pairs that are modeled in the measured order, and all pairs, of measurements that are `APART`."""
    pairs = [
        (one - other) * (modeled[i] - modeled[j]) > 0
        for (i, one), (j, other) in combinations(enumerate(measured), 2)
        if max(one, other) > APART * min(one, other)
    ]
    return sum(pairs), len(pairs)


def within(ladder: Ladder, times: Sequence[Modeled]) -> int:
    """The number of published times within the error ranges of their predictions."""
    return sum(low <= rung.seconds <= high for rung, (low, high) in zip(ladder.rungs, _intervals(times), strict=True))


def _intervals(times: Sequence[Modeled]) -> Iterator[tuple[float, float]]:
    return (found.interval for found in times)


def ratios_of(ladder: Ladder, times: Sequence[Modeled]) -> list[float]:
    """Modeled over published time of each rung."""
    return [found.seconds / rung.seconds for found, rung in zip(times, ladder.rungs, strict=True)]


def rank_of(ladder: Ladder, times: Sequence[Modeled]) -> float:
    """Rank correlation of modeled and published times."""
    return spearman([found.seconds for found in times], [rung.seconds for rung in ladder.rungs])


def pairs_of(ladder: Ladder, times: Sequence[Modeled]) -> tuple[int, int]:
    """`concordant` of a ladder."""
    return concordant([found.seconds for found in times], [rung.seconds for rung in ladder.rungs])


def ladder_line(ladder: Ladder, times: Sequence[Modeled]) -> str:
    """One line about a ladder, from the modeled times of its rungs."""
    ratios, (right, pairs) = ratios_of(ladder, times), pairs_of(ladder, times)
    half = "held" if ladder.held else "development"
    return (
        f"{ladder.name}: {half}, rungs {len(ratios)}, spearman {rank_of(ladder, times):.2f}, "
        f"{right} of {pairs} pairs in order, "
        f"ratio {geometric_mean(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}), "
        f"within the error range {within(ladder, times)}"
    )


def half_lines(own: Sequence[Ladder], found: Sequence[Sequence[Modeled]]) -> Iterator[str]:
    """Yield what the ladders of a half have in common, and how many reach the goals."""
    by_ladder = {ladder.name: ratios_of(ladder, times) for ladder, times in zip(own, found, strict=True)}
    ratios = [ratio for row in by_ladder.values() for ratio in row]
    inside = sum(within(ladder, times) for ladder, times in zip(own, found, strict=True))
    pairs = [pairs_of(ladder, times) for ladder, times in zip(own, found, strict=True)]
    ranks = [rank_of(one, times) for one, times in zip(own, found, strict=True) if len(one.rungs) >= RUNGS]
    means = [geometric_mean(row) for row in by_ladder.values()]
    yield f"{'held' if own[0].held else 'development'} half, {left_out(by_ladder)}"
    yield f"  {inside} of {len(ratios)} published times within the error range; claimed {SHARE:.0%}"
    yield (
        f"  geometric mean of all times {geometric_mean(ratios):.2f}; of {sum(MEANS[0] <= mean <= MEANS[1] for mean in means)} "
        f"of {len(means)} ladders within {MEANS[0]} to {MEANS[1]}"
    )
    yield (
        f"  {sum(not RATIOS[0] <= ratio <= RATIOS[1] for ratio in ratios)} of {len(ratios)} ratios beyond {RATIOS[0]} to {RATIOS[1]}"
    )
    yield (
        f"  rank correlation of {RANK} or more on {sum(rank >= RANK for rank in ranks)} of "
        f"{len(ranks)} ladders of {RUNGS} rungs or more"
    )
    yield (
        f"  {sum(right for right, _ in pairs)} of {sum(count for _, count in pairs)} pairs more than {APART - 1:.0%} apart in "
        "the published order"
    )


def left_out(ratios: Mapping[str, Sequence[float]]) -> str:
    """The geometric mean over ladders, and its range when one ladder is left out."""
    means = {name: geometric_mean(own) for name, own in ratios.items()}
    without = {name: geometric_mean([m for n, m in means.items() if n != name]) for name in means if len(means) > 1}
    text = f"all {len(means)} ladders: ratio {geometric_mean(list(means.values())):.2f}"
    if without:
        low, high = min(without, key=without.__getitem__), max(without, key=without.__getitem__)
        text += f"; without {low!r} {without[low]:.2f}, without {high!r} {without[high]:.2f}"
    return text


def rung_lines(ladder: Ladder, times: Sequence[Modeled]) -> Iterator[str]:
    """Yield a line about each rung: its times, their ratio, and what limits it."""
    for rung, found in zip(ladder.rungs, times, strict=True):
        low, high = found.interval
        yield (
            f"  {rung.name:32} published {rung.seconds * 1e6:11.1f} us, modeled {found.seconds * 1e6:11.1f} us, "
            f"ratio {found.seconds / rung.seconds:.2f}, {'inside' if low <= rung.seconds <= high else 'outside'} "
            f"its range, {found.bound}, confidence {found.confidence}"
        )
