"""A substitute GPU: the driver's functions on host memory, one kernel that it can run, and its own clock."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from support.fake_cuda import FakeDriver, real


class FakeGpu(FakeDriver):
    """Runs `y = factor * x` for every launch with two pointers; a launch takes `seconds`.

    Attributes:
        beside: bytes it writes behind the output.
    """

    def __init__(self, count: int, seconds: float = 1e-3, factor: float = 2.0, beside: int = 0, **options: Any):
        super().__init__(**options)
        self.count, self.seconds, self.factor, self.beside = count, seconds, factor, beside
        self.clock, self.flushed, self.graphs = 0.0, 0, []
        self.sizes = {"double": [8, 8]}
        self._recording: list | None = None
        self._times: dict[int, float] = {}

    def _cuDeviceGetUuid(self, device: Any) -> tuple:
        return (real.CUuuid(),)

    def _cuDeviceGetAttribute(self, attribute: Any, device: Any) -> tuple:
        if attribute.name.endswith("L2_CACHE_SIZE"):
            return (4 << 20,)
        return super()._cuDeviceGetAttribute(attribute, device)

    def _cuMemsetD8Async(self, address: int, value: int, count: int, stream: Any) -> tuple:
        self.flushed += count >= 4 << 20
        if self._recording is None:
            np.frombuffer((np.ctypeslib.ctypes.c_uint8 * count).from_address(address), np.uint8)[:] = value
            self.clock += 1e-5
        else:
            self._recording.append(1e-5)
        return ()

    def _cuLaunchKernelEx(self, config: Any, kernel: Any, params: int, extra: int) -> tuple:
        super()._cuLaunchKernelEx(config, kernel, params, extra)
        if self._recording is not None:
            self._recording.append(self.seconds)
            return ()
        source, target = (struct.unpack("<Q", value)[0] for value in self.launches[-1].values)
        ctypes = np.ctypeslib.ctypes
        x = np.frombuffer((ctypes.c_float * self.count).from_address(source), np.float32)
        y = np.frombuffer((ctypes.c_float * self.count).from_address(target), np.float32)
        y[:] = self.factor * x
        if self.beside:
            ctypes.memset(target + y.nbytes, 1, self.beside)
        self.clock += self.seconds
        return ()

    def _cuEventRecord(self, event: Any, stream: Any) -> tuple:
        self._times[int(event)] = self.clock
        return super()._cuEventRecord(event, stream)

    def _cuEventElapsedTime(self, start: Any, end: Any) -> tuple:
        super()._cuEventElapsedTime(start, end)
        return ((self._times[int(end)] - self._times[int(start)]) * 1000,)

    def _cuStreamBeginCapture(self, stream: Any, mode: Any) -> tuple:
        self._recording = []
        self.capturing.add(int(stream))
        return ()

    def _cuStreamEndCapture(self, stream: Any) -> tuple:
        self.capturing.discard(int(stream))
        self.graphs.append(sum(self._recording))
        self._recording = None
        return (real.CUgraph(len(self.graphs)),)

    def _cuGraphInstantiate(self, graph: Any, flags: int) -> tuple:
        return (real.CUgraphExec(int(graph)),)

    def _cuGraphDestroy(self, graph: Any) -> tuple:
        return ()

    def _cuGraphLaunch(self, graph: Any, stream: Any) -> tuple:
        self.clock += self.graphs[int(graph) - 1]
        return ()
