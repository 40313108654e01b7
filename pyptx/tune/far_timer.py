"""The timer of a GPU in another process, with the methods of `device.DeviceTimer` that time launches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from pyptx.errors import BackendError, DeviceError
from pyptx.tune.clusters import OtherMachine
from pyptx.tune.correctness import Tolerance
from pyptx.tune.dask_cluster import AnyChild
from pyptx.tune.isolation import ChildError, TrialFault
from pyptx.tune.job import Job

__all__ = ["FarTimer", "timer_on"]

_LIMIT_S = 300.0


class FarTimer:
    """A GPU of another process.

    Args:
        child: the process.
        cold: flush the L2 before each run.
    """

    def __init__(self, child: AnyChild, *, cold: bool = True):
        self._child, self._gpu = child, ("gpu", getattr(child, "ordinal", 0), {"cold": cold})
        child.prepare(self._gpu)

    def about(self) -> Mapping[str, Any]:
        """Return GPU, driver and conditions; see `DeviceTimer.about`."""
        return self._ask("about")

    def arrays(self, inputs: Sequence[np.ndarray], wanted: Sequence[np.ndarray] | None, tolerance: Tolerance) -> None:
        """Set the inputs of all jobs, and their expected outputs."""
        known = None if wanted is None else list(wanted)
        self._child.prepare(("arrays", list(inputs), known, tolerance), self._gpu)

    def sample(self, job: Job | str, count: int) -> Sequence[float]:
        """Return the times in seconds of `count` runs of a job.

        Raises:
            DeviceError: the kernel faulted, or the process was lost.
        """
        return self._ask("sample", job, count)

    def mode(self, key: str) -> str:
        """Return the timing method of a job: "events" or "graph"."""
        return self._ask("mode", key)

    def _ask(self, *request: Any) -> Any:
        try:
            return self._child.ask("on_gpu", *request, limit_s=_LIMIT_S)
        except TrialFault as fault:
            raise DeviceError(str(fault), code=fault.more.get("code", 0)) from fault
        except ChildError as error:
            raise DeviceError(str(error)) from error


@contextmanager
def timer_on(machine: OtherMachine, *, cold: bool = True) -> Iterator[FarTimer]:
    """Reserve the GPU of another machine and yield its timer.

    Raises:
        BackendError: it has no GPU.
    """
    if not machine.measures:
        raise BackendError(
            f"{machine.name} has no GPU, only the simulator, whose times are not measurements",
            hint="pyptx.use('ssh://host') of a machine with a GPU",
        )
    with machine.children(1, measuring=True) as (child, *_):
        yield FarTimer(child, cold=cold)
