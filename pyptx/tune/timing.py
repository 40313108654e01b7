"""Timing of one kernel call on a GPU, in this process, with the method of the race."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyptx.jit import JitKernel
from pyptx.runtime.cuda import BACKEND, CudaBackend
from pyptx.tune.correctness import Tolerance
from pyptx.tune.device import DeviceTimer
from pyptx.tune.far_timer import FarTimer
from pyptx.tune.job import Job
from pyptx.tune.problem import Problem
from pyptx.tune.statistics import Median, median_interval

__all__ = ["Timing", "time_call"]


@dataclass(frozen=True, slots=True)
class Timing:
    """Result of timing a call.

    Attributes:
        seconds: the median with its 95 % confidence interval, (value, low, high).
        gpu: the driver's name of the GPU.
        how: the method: "median of 15 runs with a cold L2, by events".
        mode: "events" or "graph".
        driver: version of the driver.
        runs: number of timed runs.
        conditions: clock, power and temperature as far as known, each as [value].
    """

    seconds: Median
    gpu: str
    how: str
    mode: str = "events"
    driver: str = ""
    runs: int = 0
    conditions: Mapping[str, Any] = field(default_factory=dict)


def time_call(
    kernel: JitKernel,
    args: Sequence[Any],
    params: Mapping[str, Any],
    *,
    ordinal: int = 0,
    runs: int = 15,
    backend: CudaBackend = BACKEND,
    timer: DeviceTimer | FarTimer | None = None,
) -> Timing:
    """Time a call on copies of its arrays; the L2 is flushed before each run.

    Args:
        kernel: the kernel.
        args: the input arrays; those on a GPU are copied to the host first.
        params: template parameters.
        ordinal: number of the GPU.
        runs: number of timed runs.
        backend: the CUDA backend.
        timer: the timer of a GPU, in place of `ordinal` and `backend`; for example of another machine.
    Raises:
        LaunchError: the arguments do not fit the kernel, or there is no GPU.
        DeviceError: the kernel faulted.
    """
    problem = Problem(kernel, args, params).host()
    gpu = timer or DeviceTimer(ordinal, backend=backend)
    gpu.arrays(problem.host_inputs(), None, Tolerance())
    job = Job.of("call", problem.launch({}))
    seconds = median_interval(gpu.sample(job, runs))
    mode, about = gpu.mode("call"), gpu.about()
    by = {"events": "by events", "graph": "in graphs"}[mode]
    now = {name: [about[name]] for name in ("clock_hz", "watts", "temperature") if name in about}
    how = f"median of {runs} runs with a cold L2, {by}"
    return Timing(seconds, about["gpu"], how, mode, about["driver"], runs, now)
