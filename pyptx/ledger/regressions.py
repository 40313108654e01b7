"""Regressions: times that are significantly above earlier ones of the same series, and what brought them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pyptx.ledger.git import commits_between
from pyptx.ledger.measurement import Measurement
from pyptx.views.rooflines.units import quantity

__all__ = ["TOLERANCE", "Regression", "baseline_of", "cause_of", "find_regressions"]

TOLERANCE = 0.02
"""Relative difference between days, of temperature, driver and neighbors, that the intervals of single runs do not contain."""
_CLOCK = 0.03  # relative change of the clock that can be a cause


@dataclass(frozen=True, slots=True)
class Regression:
    """A kernel that got slower.

    Attributes:
        best: the fastest earlier measurement.
        last_good: the last measurement before `first_bad`.
        first_bad: the first one that is slower than `best`.
        latest: the newest measurement of the series.
        fixed: the newest one is not slower than `best` any more.
    """

    best: Measurement
    last_good: Measurement
    first_bad: Measurement
    latest: Measurement
    fixed: bool

    @property
    def factor(self) -> float:
        """Time of the first slow measurement relative to the best one."""
        return self.first_bad.seconds / self.best.seconds

    def text(self) -> str:
        """Return what got slower, by how much, and what brought it."""
        bad, best = self.first_bad, self.best
        state = " (fixed since)" if self.fixed else ""
        return (
            f"{bad.title} on {bad.gpu}, {bad.kind}: {quantity(best.seconds, 's')} -> {quantity(bad.seconds, 's')} "
            f"({self.factor - 1:+.1%}) on {bad.date}{state}\n  {cause_of(self.last_good, bad)}"
        )

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "best": self.best.to_json(),
            "last_good": self.last_good.to_json(),
            "first_bad": self.first_bad.to_json(),
            "latest": self.latest.to_json(),
            "fixed": self.fixed,
            "factor": self.factor,
            "cause": cause_of(self.last_good, self.first_bad),
        }

    def __repr__(self) -> str:
        return self.text()


def find_regressions(measurements: Iterable[Measurement], tolerance: float = TOLERANCE) -> list[Regression]:
    """Return the regressions in measurements of any series, oldest first within each."""
    series: dict[tuple[str, ...], list[Measurement]] = {}
    for one in sorted(measurements, key=lambda one: (one.at, one.number)):
        series.setdefault(one.series, []).append(one)
    return [found for ordered in series.values() for found in _of_series(ordered, tolerance)]


def _of_series(ordered: Sequence[Measurement], tolerance: float) -> list[Regression]:
    found: list[tuple[Measurement, Measurement, Measurement]] = []
    best, slow = None, False
    previous = None
    for one in ordered:
        if best is None or one.accepted:
            best, slow = one, False
        elif one.slower_than(best, tolerance):
            if previous is not None and (not slow or one.slower_than(found[-1][2], tolerance)):
                found.append((best, previous, one))
            slow = True
        else:
            slow = False
            best = one if one.high < best.high else best
        previous = one
    latest = ordered[-1]
    return [Regression(*one, latest, not latest.slower_than(one[0], tolerance)) for one in found]


def baseline_of(new: Measurement, earlier: Iterable[Measurement]) -> Measurement | None:
    """Return the fastest comparable measurement since the last accepted one; None if there is none."""
    same = sorted((one for one in earlier if one.series == new.series), key=lambda one: (one.at, one.number))
    accepted = [k for k, one in enumerate(same) if one.accepted]
    return min(same[accepted[-1] if accepted else 0 :], key=lambda one: one.high, default=None)


def cause_of(before: Measurement, after: Measurement) -> str:
    """Return what changed between two measurements, most likely cause first, as a sentence."""
    if before.cubin and before.cubin == after.cubin:
        parts = []
        if before.driver != after.driver:
            parts.append(f"the driver changed from {before.driver} to {after.driver}")
        clocks = [max(one.conditions.get("clock_hz", [0])) for one in (before, after)]
        if all(clocks) and abs(clocks[1] / clocks[0] - 1) > _CLOCK:
            parts.append(f"the clock changed from {clocks[0] / 1e6:.0f} to {clocks[1] / 1e6:.0f} MHz")
        if after.conditions.get("throttled"):
            parts.append("the GPU throttled")
        return "The machine code is the same; " + (", ".join(parts) or "no recorded condition changed") + "."
    old, new = before.origin, after.origin
    code = "The machine code changed" if before.cubin and after.cubin else "The machine code is unknown"
    if new.commit and old.commit != new.commit and not new.dirty:
        listed = commits_between(old.commit, new.commit, new.file) if old.commit else []
        between = f", between {old.commit[:10]} and it: {'; '.join(listed)}" if listed else f" (was {old})"
        return f"{code} with commit {new.commit[:10]}{between}."
    if new.version and old.version != new.version:
        return f"{code} with version {new.version} (was {old})."
    if new.commit and new.dirty:
        return f"{code} with changes that are not committed, on commit {new.commit[:10]} (was {old})."
    return f"{code} within {new}."
