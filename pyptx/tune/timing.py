"""One call of a kernel, timed on a GPU in this process as a race times its configurations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyptx.kernel import Kernel
from pyptx.runtime.cuda import BACKEND, Cuda
from pyptx.tune.comparing import Tolerance
from pyptx.tune.gpu import Gpu
from pyptx.tune.job import Job
from pyptx.tune.problem import Problem
from pyptx.tune.statistics import Median, median_of

__all__ = ["Timing", "time_call"]


@dataclass(frozen=True, slots=True)
class Timing:
    """Attributes:
        seconds: the median with its 95 % confidence interval, (value, low, high).
        gpu: what the driver calls the GPU.
        how: "median of 15 runs with a cold L2, by events".
    """

    seconds: Median
    gpu: str
    how: str


def time_call(kernel: Kernel, args: Sequence[Any], params: Mapping[str, Any], *, ordinal: int = 0, runs: int = 15,
              backend: Cuda = BACKEND) -> Timing:
    """Time a call on copies of its arrays, the L2 overwritten before each run.

    Args:
        args: the input arrays; those on a GPU are copied to the host first.
        params: template parameters.
    Raises:
        LaunchError: it cannot be called like that, or there is no GPU.
        DeviceError: it faulted.
    """
    problem = Problem(kernel, args, params).host()
    gpu = Gpu(ordinal, backend=backend)
    gpu.arrays(problem.host_inputs(), None, Tolerance())
    job = Job.of("call", problem.launch({}))
    seconds = median_of(gpu.sample(job, runs))
    by = {"events": "by events", "graph": "in graphs"}[gpu.mode("call")]
    return Timing(seconds, gpu.about()["gpu"], f"median of {runs} runs with a cold L2, {by}")
