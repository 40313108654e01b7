"""Checking and timing of launches on a GPU, in a child process.

Times are cold: the L2 is flushed before each run by writing as many bytes as it holds. Long kernels are timed by events
around the launch, which is queued behind the flush so that host overhead does not count. Short ones are timed by a graph
of several runs minus a graph of the flushes alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from pyptx.jit.specialization import specializations
from pyptx.parser import parse
from pyptx.runtime.cuda import BACKEND, CudaBackend
from pyptx.runtime.cuda.arrays import DeviceArray
from pyptx.runtime.cuda.driver import Device, Driver
from pyptx.runtime.cuda.tensor_maps import RelocatedMap
from pyptx.runtime.plan import LaunchPlan
from pyptx.tensor_map import TensorMap
from pyptx.tune.correctness import Tolerance, compare
from pyptx.tune.event_timer import EventTimer
from pyptx.tune.graph_timer import GRAPH_BELOW_S, GraphTimer
from pyptx.tune.job import Array, Job
from pyptx.tune.nvml import Conditions

__all__ = ["GUARD_BYTES", "DeviceTimer"]

GUARD_BYTES = 4096  # before and after each output, to detect writes out of bounds
_GUARD, _UNWRITTEN = 0xA5, 0xFF


class _Part(DeviceArray):
    """An array inside a larger one that owns the memory."""

    def __init__(self, whole: DeviceArray, array: Array):
        self.whole, self.shape, self.dtype, self.device = whole, array.shape, array.dtype, whole.device
        self.nbytes = prod(array.shape) * array.dtype.itemsize
        self.address, self._driver = whole.address + GUARD_BYTES, whole._driver


class DeviceTimer:
    """Checks and times jobs on one GPU.

    Args:
        ordinal: number of the GPU, modulo the number of GPUs.
        cold: flush the L2 before each run.
        backend: the CUDA backend, or a substitute.
    Raises:
        LaunchError: there is no GPU, driver, or cuda-bindings.
    """

    backend: CudaBackend
    cold: bool
    driver: Driver
    device: Device
    stream: Any

    def __init__(self, ordinal: int = 0, *, cold: bool = True, backend: CudaBackend = BACKEND):
        self.backend, self.driver, self.cold = backend, backend.driver, cold
        self.device = self.driver.device(ordinal % max(1, self.driver.count))
        self.driver.call("cuCtxPushCurrent", self.device.context)
        api = self.driver.api
        self.stream = self.driver.call("cuStreamCreate", api.CUstream_flags.CU_STREAM_NON_BLOCKING.value)
        self._events = EventTimer(self.driver, self.device, self.stream, cold=cold)
        self._uuid = bytes(self.driver.call("cuDeviceGetUuid", self.device.handle).bytes)
        self._conditions = Conditions(self._uuid)
        self._inputs: list[DeviceArray] = []
        self._hosts: list[np.ndarray] = []
        self._wanted: list[np.ndarray] | None = None
        self._tolerance = Tolerance()
        self._outputs: dict[tuple, list[_Part]] = {}
        self._programs: dict[str, tuple[Job, Any, LaunchPlan]] = {}
        self._graphs = GraphTimer(self._events)
        self._modes: dict[str, str] = {}

    def about(self) -> dict[str, Any]:
        """Return {"gpu", "driver", "uuid", "l2_bytes"} and the current conditions."""
        return {
            "gpu": self.device.name,
            "driver": str(self.driver.version),
            "uuid": self._uuid.hex(),
            "l2_bytes": self._events.l2_bytes,
            **self._conditions.now(),
        }

    def arrays(self, inputs: Sequence[np.ndarray], wanted: Sequence[np.ndarray] | None, tolerance: Tolerance) -> None:
        """Set the inputs of all jobs, which are copied to the GPU, and their expected outputs."""
        self._hosts, self._tolerance = list(inputs), tolerance
        self._wanted = None if wanted is None else list(wanted)
        self._inputs = [DeviceArray.of(self.driver, self.device.ordinal, array) for array in inputs]

    def check(self, job: Job) -> dict[str, Any]:
        """Run a job once and check its outputs; return {"reason", "error"}, reason None for correct outputs.

        Raises:
            DeviceError: the kernel faulted; the context is unusable.
        """
        for array, host in zip(self._inputs, self._hosts, strict=True):  # an earlier job may have overwritten them
            array.set(host)
        outputs = self._outputs_of(job)
        for part, output in zip(outputs, job.outputs, strict=True):
            self._fill(part.whole.address, _GUARD, part.whole.nbytes)
            self._fill(part.address, 0 if output.zeroed else _UNWRITTEN, part.nbytes)
        self._launch(job)
        self._wait(f"running {job.entry}")
        found = []
        for number, part in enumerate(outputs):
            whole = part.whole.get()
            body = slice(GUARD_BYTES, GUARD_BYTES + part.nbytes)
            outside = np.delete(whole, np.s_[body]) != _GUARD
            if outside.any():
                return {"reason": f"it writes {int(outside.sum())} bytes outside output {number}", "error": None}
            found.append(whole[body].view(part.dtype).reshape(part.shape))
        if self._wanted is None:
            return {"reason": None, "error": None}
        verdict = compare(found, self._wanted, self._tolerance)
        return {"reason": verdict.reason, "error": verdict.error}

    def sample(self, job: Job | str, count: int) -> list[float]:
        """Return the times in seconds of `count` runs of a job, given in full or by the key of an earlier one."""
        key = job if isinstance(job, str) else job.key
        if not isinstance(job, str):
            self._program(job)
        job = self._programs[key][0]
        if key not in self._modes:
            self._by_events(job, 1)
            self._modes[key] = "graph" if min(self._by_events(job, 2)) < GRAPH_BELOW_S else "events"
        return self._by_events(job, count) if self._modes[key] == "events" else self._by_graph(job, count)

    def mode(self, key: str) -> str:
        """Return the timing method of a job: "events" or "graph"."""
        return self._modes[key]

    def conditions(self) -> dict[str, Any]:
        """Return clock, temperature, power and throttling as far as known."""
        return self._conditions.now()

    # launching --------------------------------------------------------------------------------------------------------

    def _program(self, job: Job) -> tuple[Job, Any, LaunchPlan]:
        if job.key not in self._programs:
            specialization = specializations(parse(job.ptx))[job.entry]
            plan = specialization.plan(job.grid, job.block, job.cluster, job.smem_bytes)
            program = self.backend.load(
                specialization.module, job.entry, lambda target: specialization.compile(job.options, arch=target)
            )
            self._programs[job.key] = job, program, plan
        return self._programs[job.key]

    def _launch(self, job: Job) -> None:
        _, program, plan = self._program(job)
        args = [
            RelocatedMap(arg, arg.source.address) if isinstance(arg, TensorMap) else arg
            for arg in job.arguments([*self._inputs, *self._outputs_of(job)])
        ]
        self.backend.launch(program, plan, args, {"stream": int(self.stream)})

    def _outputs_of(self, job: Job) -> list[_Part]:
        key = tuple((array.shape, array.dtype.str) for array in job.outputs)
        if key not in self._outputs:
            self._outputs[key] = [
                _Part(self._bytes(prod(array.shape) * array.dtype.itemsize + 2 * GUARD_BYTES), array)
                for array in job.outputs
            ]
        return self._outputs[key]

    def _bytes(self, count: int) -> DeviceArray:
        return DeviceArray(self.driver, self.device.ordinal, (count,), np.dtype(np.uint8))

    def _fill(self, address: int, value: int, count: int) -> None:
        if count:
            self.driver.call("cuMemsetD8Async", address, value, count, self.stream)

    def _wait(self, doing: str) -> None:
        self._events.wait(doing)

    # timing -----------------------------------------------------------------------------------------------------------

    def _by_events(self, job: Job, count: int) -> list[float]:
        """Time runs queued behind L2 flushes, each between two events."""
        return self._events.times(lambda: self._launch(job), count, doing=f"timing {job.entry}")

    def _by_graph(self, job: Job, count: int) -> list[float]:
        """Time runs in graphs; see `GraphTimer`."""
        if job.key not in self._graphs:
            self._graphs.capture(job.key, lambda: self._launch(job))
        return self._graphs.times(job.key, count)
