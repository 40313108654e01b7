"""The result of a trial as a point of a sweep's view, which all tables and exports of results read."""

from __future__ import annotations

from pyptx.tune.trial import Trial
from pyptx.views.rooflines.elements import Point as RoofPoint
from pyptx.views.sweeps.sweep import Point

__all__ = ["point_of"]


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
        trial.predicted("summary") or "",
        registers=used.registers if used else None,
        spill_bytes=used.spill_stores + used.spill_loads if used else None,
        shared_bytes=trial.shared_bytes,
        occupancy=trial.occupancy,
        confidence=trial.predicted("confidence"),
        rate=_rate(trial),
        twin=twin,
    )


def _rate(trial: Trial) -> float | None:
    """Return operations per second, as the roofline counts them; None when the work was not counted."""
    work = trial.predicted("flops")
    if not work or not trial.seconds or trial.kind is None:
        return None
    return RoofPoint("", dict(work), {}, trial.seconds, trial.kind).rate or None
