"""Rooflines of studies: the timed trials on the roofline of their GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyptx.analysis.gpus import Gpu, gpu
from pyptx.views.rooflines.elements import Point, levels_of
from pyptx.views.rooflines.roofline import Roofline

if TYPE_CHECKING:
    from pyptx.tune.study import Study

__all__ = ["of_study"]


def of_study(study: Study, *, device: str | Gpu | None = None, level: str | None = None) -> Roofline:
    """Return the roofline of the trials of a study that have a time, for the GPU of the study.

    The `view` of a point is "point 12" for trial number 12, as in `pyptx.tune.sweeps`; duplicates are left out.

    Args:
        study: the study.
        device: GPU whose ceilings are drawn; default: the GPU of the study.
        level: memory level; default: "dram", or "l2" when all trials move the same bytes of DRAM, as tilings of one
            product do.
    Raises:
        ShapeError: the measured GPU is not in the table; `device` selects the ceilings of another one.
    """
    points = []
    for number, trial in enumerate(study.trials):
        flops, moved = trial.predicted("flops"), trial.predicted("bytes")
        if not trial.usable or trial.seconds is None or trial.kind is None or not flops or moved is None:
            continue
        low, high = trial.interval or (None, None)
        points.append(
            Point(
                study.kernel.name,
                dict(flops),
                levels_of(moved),
                trial.seconds,
                trial.kind,
                low=low,
                high=high,
                waves=trial.predicted("waves"),
                ctas=trial.predicted("ctas"),
                bound=trial.predicted("summary") or "",
                note=trial.label,
                view=f"point {number}",
            )
        )
    if level is None:
        dram = {point.bytes.get("dram") for point in points}
        level = "l2" if len(points) > 1 and len(dram) == 1 and all("l2" in point.bytes for point in points) else "dram"
    return Roofline(
        gpu(device or study.environment.get("gpu") or study.target),
        tuple(points),
        level,
        f"{study.kernel.name}, {len(points)} configurations",
    )
