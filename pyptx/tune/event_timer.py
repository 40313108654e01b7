"""Cold times of work on a CUDA stream: each run is queued behind L2 flushes, between two events."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from pyptx.runtime.cuda.arrays import DeviceArray
from pyptx.runtime.cuda.driver import Device, Driver

__all__ = ["EventTimer"]

_AHEAD = 3  # flushes before the first run: the host gets ahead of the GPU
_MAX_FLUSHES = 64  # before one run
_PROBES = 4  # runs whose submission is timed


class EventTimer:
    """Times work that the host submits to a stream.

    Args:
        driver: the CUDA driver.
        device: the GPU, whose context must be current.
        stream: the driver's handle of the stream.
        cold: flush the L2 before each run by writing as many bytes as it holds.
    """

    l2_bytes: int
    stream: Any

    def __init__(self, driver: Driver, device: Device, stream: Any, *, cold: bool = True):
        self.driver, self.stream, self.cold = driver, stream, cold
        attribute = driver.api.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE
        self.l2_bytes = max(1 << 20, int(driver.call("cuDeviceGetAttribute", attribute, device.handle)))
        self._written = DeviceArray(driver, device.ordinal, (self.l2_bytes,), np.dtype(np.uint8))

    def flush(self, count: int | None = None, stream: Any = None) -> None:
        """Write over the L2, or over `count` bytes, on `stream` (None: the timer's)."""
        size = self.l2_bytes if count is None else count
        self.driver.call("cuMemsetD8Async", self._written.address, 0, size, self.stream if stream is None else stream)

    def wait(self, doing: str) -> None:
        """Wait for the stream; `doing` is part of the message of an error."""
        self.driver.call("cuStreamSynchronize", self.stream, doing=doing)

    def times(self, run: Callable[[], object], count: int, *, flushes: int = 1, doing: str = "timing") -> list[float]:
        """Return the times in seconds of `count` runs.

        Args:
            run: submits the work to the stream.
            count: number of runs.
            flushes: flushes before each run, if times are cold; see `flushes_for`.
            doing: part of the message of an error.
        """
        call = self.driver.call
        events = [(call("cuEventCreate", 0), call("cuEventCreate", 0)) for _ in range(count)]
        try:
            for _ in range(_AHEAD):
                self.flush()
            for before, after in events:
                for _ in range(flushes if self.cold else 0):
                    self.flush()
                call("cuEventRecord", before, self.stream)
                run()
                call("cuEventRecord", after, self.stream)
            self.wait(doing)
            return [call("cuEventElapsedTime", before, after) / 1000 for before, after in events]
        finally:
            for pair in events:
                for event in pair:
                    call("cuEventDestroy", event)

    def flushes_for(self, run: Callable[[], object], doing: str = "timing") -> int:
        """Return the number of flushes that take the GPU longer than the host needs to submit a run.

        With fewer, the GPU waits for the host between the two events, and the time of a short kernel is that of its launch.
        """
        (flush,) = self.times(self.flush, 1)
        host: list[float] = []
        for _ in range(_PROBES):
            start = time.perf_counter()
            run()
            host.append(time.perf_counter() - start)
            self.wait(doing)
        return _enough(min(host[1:]), flush)


def _enough(host_s: float, flush_s: float) -> int:
    return max(1, min(_MAX_FLUSHES, 1 + int(host_s / max(flush_s, 1e-7))))
