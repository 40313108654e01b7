"""The roofs of the GPU that is there, measured: what memory and pipes reach under load, at their clocks then."""

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
from pyptx.runtime.cuda import BACKEND, Cuda
from pyptx.tune.comparing import Tolerance
from pyptx.tune.gpu import Gpu
from pyptx.tune.job import Array, Job, Place
from pyptx.tune.roofkernels import KERNELS, LOADS, THREADS, RoofKernel
from pyptx.tune.statistics import median_of

__all__ = ["measured_roofs"]

TARGET_S = 4e-3                 # of one launch
SAMPLES = 9
_TOO_FAST = 1.25                # times the published peak: then it is the timing that is wrong
_BLOCKS_PER_SM = {"dram": 4, "l2": 2, "shared": 4, "core.f32": 8, "mma.f16": 4, "wgmma.f16": 1}
_NUMBERS = 1 << 14              # words of the operands of products
_DRAM_BYTES = 1 << 31


def measured_roofs(ordinal: int = 0, *, backend: Cuda = BACKEND) -> Specs:
    """The GPU of this machine, as the table has it but for what was measured now.

    Measured are DRAM, L2 and shared memory by reading, f32 FMAs, and f16 products by mma.sync and by wgmma; other types
    of a tensor pipe are taken to reach the same share of their peaks. `sources` says "H" of what was measured, "D" of
    those.

    Raises:
        LaunchError: there is no GPU, driver, or cuda-python.
        ShapeError: the GPU is not in the table, so that its peaks are not known.
        DeviceError: a kernel faulted, or was faster than the hardware can be.
    """
    device = Gpu(ordinal, cold=False, backend=backend)
    base = gpu(device.about()["gpu"])
    numbers = _operands()
    device.arrays([numbers], None, Tolerance())
    capability = targets.parse(base.target).number
    rates = {one.name: _rate(device, base, one) for one in KERNELS if one.suits(capability)}
    for name, rate in rates.items():
        if rate > _TOO_FAST * _peak(base, name):
            raise DeviceError(f"{name} of {base.name} was timed at {rate:.3g} a second, and its peak is "
                              f"{_peak(base, name):.3g}; the timing cannot be right")
    return _with(base, rates)


def _operands() -> np.ndarray:
    """Two normally distributed bf16 numbers in each word."""
    values = np.random.default_rng(0).standard_normal(2 * _NUMBERS).astype(np.float32)
    return (values.view(np.uint32) >> 16).astype(np.uint16).view(np.uint32)


def _peak(base: Specs, name: str) -> float:
    """Bytes or operations a second, as published."""
    return base.flops_per_s(*name.split(".")) if "." in name else base.bytes_per_s(name)


def _rate(device: Gpu, base: Specs, one: RoofKernel) -> float:
    """Bytes or operations a second that a kernel reaches."""
    blocks = _BLOCKS_PER_SM[one.name] * base.sms
    threads = blocks * THREADS
    whole = threads * 4 * LOADS                         # words that all threads read in one step
    size = {"dram": min(_DRAM_BYTES, base.dram_bytes // 8), "l2": base.l2_bytes // 4}.get(one.name, 0)
    words = max(1, size // (4 * whole)) * whole if size else _NUMBERS
    steps = max(1, round(TARGET_S * _peak(base, one.name) / one.amount(threads, words, 1)))
    seconds = median_of(device.sample(_job(one, blocks, words, steps, base), SAMPLES)).value
    return one.amount(threads, words, steps) / seconds


def _job(one: RoofKernel, blocks: int, words: int, steps: int, base: Specs) -> Job:
    """Its launch: products read the numbers, memory is read where it lies, whatever is in it."""
    text = one.kernel.ptx(N=words, BLOCKS=blocks, STEPS=steps)
    numbers, result = Array((_NUMBERS,), np.dtype(np.uint32)), Array((1,), np.dtype(np.uint32))
    arrays: tuple[Array, ...] = (numbers, result)
    args: tuple[Any, ...] = (Place(0), Place(1))
    if words != _NUMBERS:
        arrays, args = (numbers, Array((words,), np.dtype(np.uint32)), result), (Place(1), Place(2))
    return Job(one.name, text, one.kernel.name, base.target, (blocks, 1, 1), (THREADS, 1, 1), (1, 1, 1), 0, args,
               arrays, 1)


def _with(base: Specs, rates: Mapping[str, float]) -> Specs:
    """The GPU with these rates in place of those of the table."""
    core, tensor, sources = dict(base.core), dict(base.tensor), dict(base.sources)
    core["f32"] = rates["core.f32"] / (2 * base.sms * base.clock_hz)
    sources |= dict.fromkeys(("dram_bytes_per_s", "l2_bytes_per_clock", "shared_bytes_per_clock", "core.f32"), "H")
    for name in rates.keys() & tensor.keys():
        pipe, share = name.partition(".")[0], rates[name] / _peak(base, name)
        for other in tensor:
            if other.startswith(f"{pipe}.") and other != "mma.f64":
                tensor[other] *= share
                sources[f"tensor.{other}"] = "H" if other == name else "D"
    sources.pop("dram_reached_bytes_per_s", None)
    return replace(
        base, name=f"{base.name}, measured", dram_bytes_per_s=rates["dram"], dram_reached_bytes_per_s=None,
        l2_bytes_per_clock=rates["l2"] / base.clock_hz,
        shared_bytes_per_clock=rates["shared"] / (base.sms * base.clock_hz), core=MappingProxyType(core),
        tensor=MappingProxyType(tensor), sources=MappingProxyType(sources))
