"""Kernels placed on a roofline: their work counted, their time modelled, and measured where there is a GPU."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from pyptx import history
from pyptx.analysis.gpus import Gpu, gpu
from pyptx.analysis.model.estimate import predict
from pyptx.analysis.model.prediction import Prediction
from pyptx.analysis.work.calls import Call, call_of
from pyptx.analysis.work.count import Work, work_of
from pyptx.errors import LaunchError, ShapeError
from pyptx.isa import targets
from pyptx.kernel import Kernel
from pyptx.program import Entry
from pyptx.runtime.arrays import arrays_of
from pyptx.runtime.cuda import BACKEND
from pyptx.tune.timing import time_call
from pyptx.views.rooflines.parts import Point
from pyptx.views.rooflines.roofline import Roofline

__all__ = ["device_of", "levels_of", "of_study", "place", "point_of", "roofline"]

_LAUNCH = {"grid", "block", "cluster", "smem_bytes"}
SIZES = 8                                               # of a kernel's parameters, at most, told on the chart


def roofline(kernel: Kernel | Entry, *args: Any, device: str | Gpu | None = None, level: str = "dram",
             **params: Any) -> Roofline:
    """A call of a kernel on the roofline of a GPU; nothing of the caller's is written.

    Work and bytes are counted on the simulator, the time is modelled. A call with arrays on a GPU is timed there too,
    on copies of them, and has a second point.

    Args:
        kernel, args, params: a kernel's input arrays, or with `grid` and `block` all arguments of an entry, as for
            `pyptx.analysis.work.calls.call_of`. For the counting, zeros stand for arrays on a GPU.
        device: a GPU of the table, "h200", or one with measured roofs; default: the GPU the arrays are on, else the
            usual one of the kernel's target. Nothing is timed for another GPU than the arrays'.
        level: "dram", "l2" or "shared": whose bytes lie on the x axis.
    Raises:
        LaunchError, TypeError: it could not be called like that, or cannot run on that GPU.
        ShapeError: there is no such GPU or level.
        CompileError, SimulationError: it cannot be assembled, or traps.
    """
    call, here = call_of(kernel, *args, **params), _gpu_of(args)
    if here is None or not isinstance(kernel, Kernel) or params.keys() & _LAUNCH:
        return place(call, device=device, level=level)
    name, ordinal = here
    if device is None:
        device = _known(name) or call.variant.module.target.targets[0]
    chart = place(call, device=device, level=level)
    if (_known(name) or chart.gpu).name != chart.gpu.name.removesuffix(", measured"):
        return chart
    timing = time_call(kernel, args, {key: value for key, value in params.items() if key not in ("out", "options")},
                       ordinal=ordinal)
    seconds, low, high = timing.seconds
    point, = chart.points
    measured = replace(point, seconds=seconds, low=low, high=high, kind="measured", bound="",
                       how=f"{point.how}; {timing.how} on {timing.gpu}")
    return replace(chart, points=(measured, point))


def _gpu_of(args: Iterable[Any]) -> tuple[str, int] | None:
    """Name and number of the GPU that arrays are on; None where they are not on one."""
    for arg in args:
        package = arrays_of(arg)
        if package is not None and (device := str(package.device(arg))).startswith("cuda"):
            ordinal = int(device.partition(":")[2] or 0)
            return BACKEND.driver.device(ordinal).name, ordinal
    return None


def _known(name: str) -> Gpu | None:
    """The GPU of the table that the driver calls so; None where it is not in the table."""
    try:
        return gpu(name)
    except ShapeError:
        return None


def place(call: Call, *, device: str | Gpu | None = None, level: str = "dram", name: str = "",
          note: str | None = None) -> Roofline:
    """The same of a call that is bound already, called otherwise than by the kernel's name and its sizes. A kernel that
    the history keeps is called by its version, so that later ones can be told from it."""
    on = device_of(call, device)
    chart = Roofline(on, level=level)                   # a level that does not exist is refused before the work
    compiled = call.variant.compile(call.options, arch=_target(call, on))
    work = work_of(call)
    prediction = predict(compiled, call.plan, work, on)
    kept = history.version_of(compiled)
    point = point_of(name or call.name, work, prediction, note=_sizes(call.variant.params) if note is None else note,
                     view="code", version=kept.ref if kept else "")
    view = call.variant.view(compiled, block=call.plan.block, dynamic_bytes=call.plan.smem_bytes)
    return Roofline(chart.gpu, (point,), level, point.name, {"code": view})


def point_of(name: str, work: Work, prediction: Prediction, **more: Any) -> Point:
    """A point with counted work and modelled time.

    Args:
        more: other fields of Point: version, note, view.
    Raises:
        LaunchError: the model says that it cannot run there.
    """
    if prediction.seconds == float("inf"):
        raise LaunchError(f"{name} cannot run on {prediction.gpu}: {prediction.words}")
    return Point(name, dict(work.flops), levels_of(work.bytes), prediction.seconds, prediction.kind,
                 waves=prediction.waves, ctas=work.ctas, bound=prediction.words, how=work.how, **more)


def levels_of(counted: Mapping[str, int]) -> dict[str, int]:
    """ "dram", "l2", "shared" -> bytes, of those a Work has counted."""
    levels = {"dram": counted["dram_read"] + counted["dram_write"], "l2": counted["l2"], "shared": counted["shared"]}
    return {level: moved for level, moved in levels.items() if moved}


def of_study(study: Any, *, device: str | Gpu | None = None, level: str | None = None) -> Roofline:
    """The trials of a `pyptx.tune.Study` that have a time, on the roofline of the GPU it is for.

    A point's `view` is "point 12" for the trial of that number, as `pyptx.views.sweeps.studies` counts them; a
    duplicate of another trial is no point.

    Args:
        level: default: "dram", or "l2" where all trials move the same bytes of DRAM, as tilings of one product do.
    Raises:
        ShapeError: the GPU that was measured is not in the table; `device` names one whose roofs will do.
    """
    points = []
    for number, trial in enumerate(study.trials):
        said = trial.prediction
        told = said.get if isinstance(said, Mapping) else lambda name, said=said: getattr(said, name, None)
        if not trial.usable or said is None or not told("flops"):
            continue
        low, high = trial.interval or (None, None)
        points.append(Point(study.kernel.name, dict(told("flops")), levels_of(told("bytes")), trial.seconds, trial.kind,
                            low=low, high=high, waves=told("waves"), ctas=told("ctas"), bound=told("words") or "",
                            note=trial.label, view=f"point {number}"))
    if level is None:
        moved = {point.bytes.get("dram") for point in points}
        level = "l2" if len(points) > 1 and len(moved) == 1 and all("l2" in point.bytes for point in points) else "dram"
    return Roofline(gpu(device or study.place.get("gpu") or study.target), tuple(points), level,
                    f"{study.kernel.name}, {len(points)} configurations")


def device_of(call: Call, device: str | Gpu | None = None) -> Gpu:
    """The GPU meant, or the usual one of the kernel's target.

    Raises:
        LaunchError: code for the kernel's target does not run on it.
        ShapeError: there is no such GPU in the table.
    """
    target = targets.parse(call.variant.module.target.targets[0])
    on = gpu(device or target.name)
    if not target.runs_on(targets.parse(on.target)):
        raise LaunchError(f"{call.name} is for {target}, which does not run on {on}; leave the device out for "
                          f"{gpu(target.name).name}, or compile the kernel for {on.target}")
    return on


def _target(call: Call, on: Gpu) -> str:
    """What the kernel is assembled for: the GPU's own target, unless its text already names one for that chip."""
    own = targets.parse(call.variant.module.target.targets[0])
    return own.name if own.number == targets.parse(on.target).number else on.target


def _sizes(params: Mapping[str, Any]) -> str:
    """ "M=4096 N=4096": the numbers and words among the parameters."""
    told = [f"{name}={value}" for name, value in params.items() if isinstance(value, int | float | str)]
    return " ".join(told[:SIZES])
