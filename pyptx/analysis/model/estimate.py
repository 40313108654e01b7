"""The performance model: predicted duration of a launch.

    prediction = estimate(gemm, a, b, BM=128)           # assemble, count, predict
    prediction = predict(compiled, plan, work, "H200")  # the last of the three steps

`LaunchModel` describes the third step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import Any

from pyptx.analysis.gpus import Gpu, gpu
from pyptx.analysis.model.launch_model import LaunchModel
from pyptx.analysis.model.prediction import Prediction
from pyptx.analysis.model.replay_state import ReplayResult, Span
from pyptx.analysis.occupancy import Occupancy, occupancy
from pyptx.analysis.work.call import Call, bind_call
from pyptx.analysis.work.count import Work, work_of
from pyptx.assembly import Assembly
from pyptx.errors import ArgumentValueError
from pyptx.jit import Launchable
from pyptx.runtime import LaunchPlan

__all__ = ["ReplayTrace", "estimate", "estimate_call", "predict", "replay_call"]


def estimate(kernel: Launchable, *args: Any, device: str | Gpu | None = None, **params: Any) -> Prediction:
    """Assemble a call, count its work, and predict its time.

    Args:
        kernel, args, params: as for `bind_call`.
        device: a GPU of the table; default: the usual one of the kernel's target.
    Raises:
        CompileError: the kernel cannot be assembled.
        LaunchError: the arguments do not fit the kernel.
        SimulationError: the kernel traps, or cannot be simulated.
    """
    return estimate_call(bind_call(kernel, *args, **params), device)


def estimate_call(call: Call, device: str | Gpu | None = None) -> Prediction:
    """Assemble a bound call, count its work, and predict its time."""
    compiled = call.compiled()
    return predict(compiled, call.plan, work_of(call), device or compiled.target, attribute_lines=True)


def replay_call(call: Call, device: str | Gpu | None = None) -> ReplayTrace:
    """Replay the first CTA (or cluster) alone on its SM.

    Args:
        call: the call.
        device: a GPU of the table; default: the usual one of the kernel's target.
    Raises:
        LaunchError: the CTA does not fit on an SM.
    """
    compiled, work = call.compiled(), work_of(call)
    on = gpu(device or compiled.target)
    fits = _occupancy(compiled, call.plan, on)
    if not fits.blocks:
        raise ArgumentValueError(f"{call.plan.entry.name}: {fits.why}")
    model = LaunchModel(compiled, call.plan, work, on, fits)
    spans: list[Span] = []
    run = model.run_copies(1, spans)
    slices = [
        f"CTA {warp_slice.rank}, " * (model.cluster > 1) + _warps(warp_slice.warps) for warp_slice in model.slices
    ]
    return ReplayTrace(call.plan.entry.name, on, run, tuple(slices), tuple(spans))


def _warps(numbers: tuple[int, ...]) -> str:
    """Return the warps of a slice as text."""
    if len(numbers) == 1:
        return f"warp {numbers[0]}"
    return (
        f"warps {numbers[0]}-{numbers[-1]}"
        if numbers[-1] - numbers[0] + 1 == len(numbers)
        else f"warps {', '.join(map(str, numbers))}"
    )


def predict(
    compiled: Assembly,
    launch: LaunchPlan,
    work: Work,
    device: str | Gpu | None = None,
    *,
    attribute_lines: bool = False,
) -> Prediction:
    """Predict the time of a launch.

    Args:
        compiled: its machine code.
        launch: its launch plan.
        work: its work, counted at these sizes.
        device: a GPU of the table; default: the usual one of the target.
        attribute_lines: fill `Prediction.attribution`.
    Raises:
        ShapeError: there is no such GPU in the table.
    """
    on = gpu(device or compiled.target)
    fits = _occupancy(compiled, launch, on)
    if not fits.blocks:
        found = Prediction(float("inf"), {}, "resources", fits.why, fits, float("inf"), on.name)
    else:
        found = LaunchModel(compiled, launch, work, on, fits).prediction(attribute_lines)
    return replace(found, flops=work.flops, bytes=work.bytes, ctas=work.ctas)


def _occupancy(compiled: Assembly, launch: LaunchPlan, on: Gpu) -> Occupancy:
    """Return the occupancy of the launch."""
    used = compiled.resources[launch.entry.name]
    return occupancy(
        on.target,
        threads=prod(launch.block),
        registers=used.registers,
        shared_bytes=used.shared_bytes,
        dynamic_shared_bytes=launch.smem_bytes,
    )


@dataclass(frozen=True, slots=True)
class ReplayTrace:
    """Trace of one CTA (or cluster) alone on its SM.

    Attributes:
        name: the entry.
        gpu: the GPU.
        run: result of the replay.
        slices: names of the warp slices.
        spans: intervals of waits and of busy units.
    """

    name: str
    gpu: Gpu
    run: ReplayResult
    slices: tuple[str, ...]
    spans: tuple[Span, ...]
