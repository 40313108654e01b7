"""Roofline placement: counts the work of a call, models its time, and measures it on a GPU."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

from pyptx import history, ledger
from pyptx.analysis.gpus import Gpu, gpu
from pyptx.analysis.model.estimate import predict
from pyptx.analysis.model.prediction import Prediction
from pyptx.analysis.work.call import Call, bind_call
from pyptx.analysis.work.count import Work, work_of
from pyptx.errors import BackendError, ShapeError
from pyptx.isa import targets
from pyptx.jit import JitKernel, Launchable
from pyptx.launch_config import split_launch
from pyptx.ledger.origins import measurement_of
from pyptx.runtime.arrays import arrays_of
from pyptx.runtime.cuda import BACKEND
from pyptx.tune.build import code_hash
from pyptx.tune.clusters import selected_machine
from pyptx.tune.far_timer import timer_on
from pyptx.tune.timing import Timing, time_call
from pyptx.views.rooflines.elements import Point, levels_of
from pyptx.views.rooflines.roofline import Roofline
from pyptx.workbench.tools import linked_view

__all__ = ["device_of", "place", "point_of", "roofline"]

SIZES = 8  # parameters shown on the chart, at most


def roofline(
    kernel: Launchable, *args: Any, device: str | Gpu | None = None, level: str = "dram", **params: Any
) -> Roofline:
    """Place a call of a kernel, or a launch of an entry, on the roofline of a GPU. No array is written.

    Work and bytes are counted on the simulator, the time is modeled. A call on arrays of that GPU is also timed there, on
    copies of them, which adds a second point; so is a call while `pyptx.use` selects a machine with that GPU.

    Args:
        args, params: as for `pyptx.analysis.work.call.bind_call`. Work is counted on zeros for arrays on a GPU.
        device: a GPU of the table, "h200", or one with measured roofs; default: the GPU of the arrays, else the usual
            one of the kernel's target.
        level: "dram", "l2" or "shared": the memory whose bytes are on the x axis.
    Raises:
        LaunchError, TypeError: the arguments do not fit, or the kernel cannot run on that GPU.
        ShapeError: no such GPU or level.
        CompileError, SimulationError: it cannot be assembled, or traps.
    """
    call, machine = bind_call(kernel, *args, **params), selected_machine()
    is_call = "grid" not in params and split_launch(args)[0] is None
    here = _gpu_of(args) if machine is None else (machine.device()["name"], 0) if machine.measures else None
    if here is None or not isinstance(kernel, JitKernel) or not is_call:
        return place(call, device=device, level=level)
    name, ordinal = here
    if device is None:
        device = _known(name) or call.specialization.module.target.targets[0]
    chart = place(call, device=device, level=level)
    if (_known(name) or chart.gpu).name != chart.gpu.name.removesuffix(", measured"):
        return chart
    given = {key: value for key, value in params.items() if key not in ("out", "options")}
    with nullcontext() if machine is None else timer_on(machine) as timer:
        timing = time_call(kernel, args, given, ordinal=ordinal, timer=timer)
    seconds, low, high = timing.seconds
    simulated = machine is not None and machine.device()["simulated"]
    if not simulated:
        _record(kernel, call, timing)
    where = "" if machine is None else f" of {machine.name}" + (", a simulated GPU" if simulated else "")
    (point,) = chart.points
    measured = replace(
        point,
        seconds=seconds,
        low=low,
        high=high,
        kind="modeled" if simulated else "measured",
        bound="",
        how=f"{point.how}; {timing.how} on {timing.gpu}{where}",
    )
    return replace(chart, points=(measured, point))


def _record(kernel: JitKernel, call: Call, timing: Timing) -> None:
    """Keep a measured time in the ledger."""
    value, low, high = timing.seconds
    one = measurement_of(
        kernel,
        call,
        kind="measured",
        method=timing.mode,
        source="roofline",
        gpu=timing.gpu,
        seconds=value,
        low=low,
        high=high,
        driver=timing.driver,
        runs=timing.runs,
        cubin=code_hash(call.compiled().cubin),
        conditions=timing.conditions,
    )
    ledger.record(one)


def _gpu_of(args: Iterable[Any]) -> tuple[str, int] | None:
    """Return name and number of the GPU of the arrays; None if they are not on a GPU."""
    for arg in args:
        package = arrays_of(arg)
        if package is not None and (device := str(package.device(arg))).startswith("cuda"):
            ordinal = int(device.partition(":")[2] or 0)
            return BACKEND.driver.device(ordinal).name, ordinal
    return None


def _known(name: str) -> Gpu | None:
    """Return the GPU of the table with this driver name; None if it is not in the table."""
    try:
        return gpu(name)
    except ShapeError:
        return None


def place(
    call: Call, *, device: str | Gpu | None = None, level: str = "dram", name: str = "", note: str | None = None
) -> Roofline:
    """Place a bound call on the roofline of a GPU; it is not timed.

    Args:
        device, level: as for `roofline`.
        name, note: of the point; default: the name of the kernel, and its sizes. A kernel that is recorded in the
            history also has its version.
    """
    on = device_of(call, device)
    chart = Roofline(on, level=level)  # refuses an unknown level before the work is counted
    compiled = call.specialization.compile(call.options, arch=_target(call, on))
    work = work_of(call)
    prediction = predict(compiled, call.plan, work, on)
    kept = history.version_of(compiled)
    point = point_of(
        name or call.name,
        work,
        prediction,
        note=_sizes(call.specialization.params) if note is None else note,
        view="code",
        version=kept.ref if kept else "",
    )
    view = linked_view(call.specialization, compiled, block=call.plan.block, dynamic_bytes=call.plan.smem_bytes)
    return Roofline(chart.gpu, (point,), level, point.name, {"code": view})


def point_of(name: str, work: Work, prediction: Prediction, **more: Any) -> Point:
    """Return a point with counted work and modeled time.

    Args:
        more: other fields of Point: version, note, view.
    Raises:
        LaunchError: it does not fit on the GPU.
    """
    if prediction.seconds == float("inf"):
        raise BackendError(f"{name} cannot run on {prediction.gpu}: {prediction.summary}")
    low, high = prediction.interval
    return Point(
        name,
        dict(work.flops),
        levels_of(work.bytes),
        prediction.seconds,
        prediction.kind,
        low=low,
        high=high,
        waves=prediction.waves,
        ctas=work.ctas,
        bound=prediction.summary,
        how=work.how,
        **more,
    )


def device_of(call: Call, device: str | Gpu | None = None) -> Gpu:
    """Return the named GPU, or the usual one of the kernel's target.

    Raises:
        LaunchError: code for the kernel's target does not run on it.
        ShapeError: no such GPU in the table.
    """
    target = targets.parse(call.specialization.module.target.targets[0])
    on = gpu(device or target.name)
    if not target.runs_on(targets.parse(on.target)):
        raise BackendError(
            f"{call.name} is for {target}, which does not run on {on}; leave the device out for "
            f"{gpu(target.name).name}, or compile the kernel for {on.target}"
        )
    return on


def _target(call: Call, on: Gpu) -> str:
    """Return the target to assemble for: the kernel's own if it is for that chip, else the GPU's."""
    own = targets.parse(call.specialization.module.target.targets[0])
    return own.name if own.number == targets.parse(on.target).number else on.target


def _sizes(params: Mapping[str, Any]) -> str:
    """Return the numbers and strings among the parameters as "M=4096 N=4096"."""
    shown = [f"{name}={value}" for name, value in params.items() if isinstance(value, int | float | str)]
    return " ".join(shown[:SIZES])
