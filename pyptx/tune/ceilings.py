"""Measured roofline ceilings of a GPU: the rates that memory and pipes reach under load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from pyptx.analysis.gpus import Gpu as Specs
from pyptx.analysis.gpus import gpu
from pyptx.errors import DeviceError
from pyptx.isa import targets
from pyptx.runtime.cuda import BACKEND, CudaBackend
from pyptx.tune.ceiling_kernels import KERNELS, LOADS, THREADS, CeilingKernel
from pyptx.tune.clusters import selected_machine
from pyptx.tune.correctness import Tolerance
from pyptx.tune.device import DeviceTimer
from pyptx.tune.far_timer import FarTimer, timer_on
from pyptx.tune.job import Array, ArrayRef, Job
from pyptx.tune.statistics import median_interval

__all__ = ["measure_ceilings"]

TARGET_S = 4e-3  # duration of one launch
SAMPLES = 9
_TOO_FAST = 1.25  # multiple of the published peak beyond which the timing must be wrong
_BLOCKS_PER_SM = {"dram": 4, "l2": 2, "shared": 4, "core.f32": 8, "mma.f16": 4, "wgmma.f16": 1}
_NUMBERS = 1 << 14  # words of operands for matrix products
_DRAM_BYTES = 1 << 31


def measure_ceilings(ordinal: int = 0, *, backend: CudaBackend = BACKEND) -> Specs:
    """Return the GPU of this machine, or of the one that `pyptx.use` selects, with measured rates in place of those of the table.

    Measured are reads of DRAM, L2 and shared memory, f32 FMAs, and f16 matrix products by mma.sync and wgmma. Other
    types of a tensor pipe are assumed to reach the same fraction of their peaks. In `sources`, "H" marks measured
    numbers and "D" derived ones.

    Args:
        ordinal: number of the GPU of this machine.
        backend: the CUDA backend.
    Raises:
        LaunchError: there is no GPU, driver, or cuda-bindings.
        ShapeError: the GPU is not in the table, so its peaks are unknown.
        DeviceError: a kernel faulted, or a measured rate is impossible.
    """
    machine = selected_machine() if backend is BACKEND else None
    if machine is None:
        return _measured(DeviceTimer(ordinal, cold=False, backend=backend))
    with timer_on(machine, cold=False) as timer:
        return _measured(timer)


def _measured(device: DeviceTimer | FarTimer) -> Specs:
    base = gpu(device.about()["gpu"])
    numbers = _operands()
    device.arrays([numbers], None, Tolerance())
    capability = targets.parse(base.target).number
    rates = {one.name: _rate(device, base, one) for one in KERNELS if one.suits(capability)}
    for name, rate in rates.items():
        if rate > _TOO_FAST * _peak(base, name):
            raise DeviceError(
                f"{name} of {base.name} was measured at {rate:.3g} per second, but its peak is "
                f"{_peak(base, name):.3g}; the timing is wrong"
            )
    return _with(base, rates)


def _operands() -> np.ndarray:
    """Return words of two normally distributed bf16 numbers."""
    values = np.random.default_rng(0).standard_normal(2 * _NUMBERS).astype(np.float32)
    return (values.view(np.uint32) >> 16).astype(np.uint16).view(np.uint32)


def _peak(base: Specs, name: str) -> float:
    """Return the published rate in bytes or operations per second."""
    return base.flops_per_s(*name.split(".")) if "." in name else base.bytes_per_s(name)


def _rate(device: DeviceTimer | FarTimer, base: Specs, one: CeilingKernel) -> float:
    """Return the measured rate of a kernel in bytes or operations per second."""
    blocks = _BLOCKS_PER_SM[one.name] * base.sms
    threads = blocks * THREADS
    whole = threads * 4 * LOADS  # words read by all threads in one step
    size = {"dram": min(_DRAM_BYTES, base.dram_bytes // 8), "l2": base.l2_bytes // 4}.get(one.name, 0)
    words = max(1, size // (4 * whole)) * whole if size else _NUMBERS
    steps = max(1, round(TARGET_S * _peak(base, one.name) / one.amount(threads, words, 1)))
    seconds = median_interval(device.sample(_job(one, blocks, words, steps, base), SAMPLES)).value
    return one.amount(threads, words, steps) / seconds


def _job(one: CeilingKernel, blocks: int, words: int, steps: int, base: Specs) -> Job:
    """Return the launch of a kernel; memory kernels read uninitialized words."""
    text = one.kernel.ptx(N=words, BLOCKS=blocks, STEPS=steps)
    numbers, result = Array((_NUMBERS,), np.dtype(np.uint32)), Array((1,), np.dtype(np.uint32))
    arrays: tuple[Array, ...] = (numbers, result)
    args: tuple[Any, ...] = (ArrayRef(0), ArrayRef(1))
    if words != _NUMBERS:
        arrays, args = (numbers, Array((words,), np.dtype(np.uint32)), result), (ArrayRef(1), ArrayRef(2))
    return Job(
        one.name, text, one.kernel.name, base.target, (blocks, 1, 1), (THREADS, 1, 1), (1, 1, 1), 0, args, arrays, 1
    )


def _with(base: Specs, rates: Mapping[str, float]) -> Specs:
    """Return the GPU with measured rates."""
    core, tensor, sources = dict(base.core), dict(base.tensor), dict(base.sources)
    core["f32"] = rates["core.f32"] / (2 * base.sms * base.clock_hz)
    sources |= dict.fromkeys(("dram_bytes_per_s", "l2_bytes_per_clock", "shared_bytes_per_clock", "core.f32"), "H")
    for name in rates.keys() & tensor.keys():
        pipe, share = name.partition(".")[0], rates[name] / _peak(base, name)
        for other in tensor:
            if other.startswith(f"{pipe}.") and other != "mma.f64":
                tensor[other] *= share
                sources[f"tensor.{other}"] = "H" if other == name else "D"
    for name in ("dram_reached_bytes_per_s", "dram_written_bytes_per_s"):
        sources.pop(name, None)
    return replace(
        base,
        name=f"{base.name}, measured",
        dram_bytes_per_s=rates["dram"],
        dram_reached_bytes_per_s=None,
        dram_written_bytes_per_s=None,
        l2_bytes_per_clock=rates["l2"] / base.clock_hz,
        shared_bytes_per_clock=rates["shared"] / (base.sms * base.clock_hz),
        core=MappingProxyType(core),
        tensor=MappingProxyType(tensor),
        sources=MappingProxyType(sources),
    )
