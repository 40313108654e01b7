"""The child process with a GPU, on a substitute driver: checks, guards around outputs, cold times."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from tune.fake_gpu import FakeGpu
from tune.kernels import double

from pyptx.errors import DeviceError
from pyptx.runtime.cuda import CudaBackend
from pyptx.tune.correctness import Tolerance
from pyptx.tune.device import DeviceTimer
from pyptx.tune.job import Job
from pyptx.tune.nvml import Conditions
from pyptx.tune.problem import Problem

X = np.arange(256, dtype=np.float32)


def on(driver: FakeGpu) -> tuple[DeviceTimer, Job]:
    gpu = DeviceTimer(0, backend=CudaBackend(driver))
    gpu.arrays([X], [2 * X], Tolerance())
    return gpu, Job.of("a", Problem(double(), X).launch({}))


def test_right_results_pass_and_wrong_ones_are_named():
    gpu, job = on(FakeGpu(256))
    assert gpu.check(job) == {"reason": None, "error": 0.0}
    gpu, job = on(FakeGpu(256, factor=3.0))
    assert gpu.check(job)["reason"] == "255 of 256 values are wrong; the first is [1]: 3, expected 2"


def test_a_write_beside_an_output_is_seen():
    gpu, job = on(FakeGpu(256, beside=12))
    assert gpu.check(job)["reason"] == "it writes 12 bytes outside output 0"


def test_long_kernels_are_timed_by_events_each_behind_a_write_over_the_l2():
    driver = FakeGpu(256, seconds=1e-3)
    gpu, job = on(driver)
    gpu.check(job)
    assert gpu.sample(job, 2) == pytest.approx([1e-3] * 2)
    before = driver.flushed
    assert gpu.sample("a", 5) == pytest.approx([1e-3] * 5)
    assert driver.flushed - before >= 5 and gpu.mode("a") == "events"


def test_short_kernels_are_timed_in_a_graph_less_the_writes():
    driver = FakeGpu(256, seconds=4e-6)
    gpu, job = on(driver)
    assert gpu.sample(job, 3) == pytest.approx([4e-6] * 3)
    assert gpu.mode("a") == "graph"
    assert driver.graphs == pytest.approx([20 * 14e-6, 20 * 10e-6]), "made once, with and without the kernel"


def test_what_the_driver_reports_is_raised_with_its_number():
    driver = FakeGpu(256)
    gpu, job = on(driver)
    driver.failing["cuStreamSynchronize"] = driver.CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
    with pytest.raises(DeviceError, match="running double: CUDA_ERROR_ILLEGAL_ADDRESS") as caught:
        gpu.check(job)
    assert caught.value.code == 700


def test_it_says_what_it_is():
    gpu, _ = on(FakeGpu(256))
    about = gpu.about()
    assert (about["gpu"], about["driver"], about["l2_bytes"]) == ("Fake GPU", "13010", 4 << 20)


class Library:
    """libnvidia-ml of a GPU at 1500 MHz that its power cap slows down."""

    def __init__(self, status: int = 0):
        self.status, self.name = status, None

    def nvmlInit_v2(self):
        return self.status

    def nvmlDeviceGetHandleByUUID(self, name, handle):
        self.name = name
        return 0

    def nvmlDeviceGetClockInfo(self, handle, kind, value):
        return self._give(value, ctypes.c_uint, 1500)

    def nvmlDeviceGetTemperature(self, handle, kind, value):
        return self._give(value, ctypes.c_uint, 61)

    def nvmlDeviceGetPowerUsage(self, handle, value):
        return 3  # not supported

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, handle, value):
        return self._give(value, ctypes.c_ulonglong, 0x4)

    def _give(self, value, kind, number):
        ctypes.cast(value, ctypes.POINTER(kind))[0] = number
        return 0


def test_the_management_library_is_asked_by_uuid_and_what_it_does_not_tell_is_left_out():
    library = Library()
    found = Conditions(bytes(range(16)), library).now()
    assert library.name == b"GPU-00010203-0405-0607-0809-0a0b0c0d0e0f"
    assert found == {"clock_hz": 1_500_000_000, "temperature": 61, "throttled": True}
    assert Conditions(bytes(16), Library(status=9)).now() == {}
