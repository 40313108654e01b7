"""Modeled duration of a kernel, from its counters: the busiest unit of the GPU, and the cost of a launch.

A lower bound, for kernels that the performance model (modeled_time.py) cannot take. Caches are not modeled.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, prod

from pyptx.analysis.gpus import Gpu
from pyptx.sim.counters import Counters

__all__ = ["kernel_seconds"]

_ISSUES_PER_CLOCK = 4  # of an SM
_SECTOR = 32  # bytes


def kernel_seconds(counters: Counters, grid: Sequence[int], gpu: Gpu) -> float:
    """Return the modeled duration in seconds.

    Args:
        grid: in CTAs; a small grid uses as many SMs.
    """
    sms = min(gpu.sms, prod(grid))
    uneven = ceil(prod(grid) / gpu.sms) * gpu.sms / max(gpu.sms, prod(grid))  # the last wave is not full
    cycles = counters.warp_instructions / (_ISSUES_PER_CLOCK * sms) * uneven
    flops = float(counters.tensor_flops.sum())
    peak = max(gpu.tensor.values(), default=0.0)
    traffic = _SECTOR * float(counters.global_sectors.sum()) + float(counters.tma_bytes.sum())
    return gpu.launch_seconds + max(
        cycles / gpu.clock_hz,
        flops / (peak * sms * gpu.tensor_clock_hz) if peak else 0.0,
        traffic / gpu.l2_bytes_per_s,
    )
