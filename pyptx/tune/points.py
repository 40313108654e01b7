"""The result of a trial as a point of a sweep's view, which all tables and exports read; and how far points differ."""

from __future__ import annotations

from collections.abc import Iterable

from pyptx.tune.trial import Trial
from pyptx.views.rooflines.elements import Point as RoofPoint
from pyptx.views.sweeps.sweep import Point

__all__ = ["point_of", "resolution_note"]


def point_of(trial: Trial, config: tuple[int, ...] = (), twin: int = -1) -> Point:
    """Return the result of a trial.

    Args:
        trial: the trial.
        config: indices of its values in a grid.
        twin: for a duplicate, the index of the point with the same machine code.
    """
    used, (low, high) = trial.resources, trial.interval or (None, None)
    return Point(
        config,
        trial.state,
        trial.reason or "",
        trial.seconds,
        low,
        high,
        trial.kind or "",
        _bottleneck(trial),
        registers=used.registers if used else None,
        spill_bytes=used.spill_stores + used.spill_loads if used else None,
        shared_bytes=trial.shared_bytes,
        occupancy=trial.occupancy,
        confidence=trial.predicted("confidence"),
        rate=_rate(trial),
        twin=twin,
    )


def _bottleneck(trial: Trial) -> str:
    """Return the bottleneck, with the reasons for low confidence in a modeled time."""
    summary, notes = trial.predicted("summary") or "", trial.predicted("notes")
    return f"{summary} (low confidence: {'; '.join(notes)})" if notes and trial.kind == "modeled" else summary


def _rate(trial: Trial) -> float | None:
    """Return operations per second, as the roofline counts them; None when the work was not counted."""
    work = trial.predicted("flops")
    if not work or not trial.seconds or trial.kind is None:
        return None
    return RoofPoint("", dict(work), {}, trial.seconds, trial.kind).rate or None


def resolution_note(trials: Iterable[Trial], best: Trial | None) -> str:
    """Return how many configurations the performance model cannot distinguish from the best one; "" if none.

    Args:
        trials: all trials.
        best: the trial with the lowest time.
    """
    resolution = None if best is None or best.kind != "modeled" else best.predicted("resolution")
    if best is None or best.seconds is None or resolution is None:
        return ""
    limit = resolution * best.seconds
    near = sum(
        one.state == "modeled" and one is not best and one.seconds is not None and one.seconds < limit for one in trials
    )
    if not near:
        return ""
    return (
        f"{near} other configuration{'s' * (near > 1)} within {resolution - 1:.0%} of the best time: "
        "the model does not distinguish them"
    ).replace("%", " %")
