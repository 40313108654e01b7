"""Published measurements as ladders of rungs: a kernel and a launch on a GPU with its published time, and its modeled one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import pyptx
from pyptx.analysis.gpus import Gpu, gpu
from pyptx.analysis.model.estimate import estimate
from pyptx.analysis.model.prediction import Prediction
from pyptx.isa import targets
from pyptx.kernel import Kernel

HERE = Path(__file__).parent / "foreign"

# GPUs near one of the table: base, SMs, clock (Hz), DRAM (bytes per second), L2 (MiB), power limit (W) of the published
# specifications; for the GTX 1650 and RTX 3060 Ti of the log of the measurement, for the Max-Q the clock of a log.
RELATIVES = {
    "GTX 1650": ("T4", 14, 1.62e9, 192e9, 1, 90),
    "RTX 2080 Ti": ("T4", 68, 1.545e9, 616e9, 5.5, 250),
    "RTX 3060 Ti": ("RTX 3090", 38, 1.695e9, 448e9, 3, 200),
    "RTX A6000": ("RTX 3090", 84, 1.80e9, 768e9, 6, 300),
    "A40": ("RTX 3090", 84, 1.74e9, 696e9, 6, 300),
    "L40": ("L40S", 142, 2.49e9, 864e9, 96, 300),
    "GH200": ("H100 SXM", 132, 1.98e9, 4000e9, 50, 900),
    "RTX 5080": ("RTX 5090", 84, 2.617e9, 960e9, 64, 360),
    "RTX PRO 6000 Max-Q": ("RTX PRO 6000", 188, 2.317e9, 1792e9, 128, 300),
    "B300": ("B200 SXM", 148, 2.032e9, 8000e9, 126, 1100),
}


@dataclass(frozen=True)
class Rung:
    """One published measurement of a kernel of foreign/: a launch on a GPU, and its seconds."""

    name: str
    gpu: str
    seconds: float
    file: str
    entry: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    args: Callable[[], Sequence[Any]]
    smem_bytes: int = 0

    def predicted(self) -> Prediction:
        on = device(self.gpu)
        entry = program(self.file, on.target)[self.entry]
        return estimate(entry, *self.args(), grid=self.grid, block=self.block, smem_bytes=self.smem_bytes, device=on)


@dataclass(frozen=True)
class ExampleRung:
    """One published measurement, modeled with an example of this repository.

    `isolated`: each launch was timed by itself, between two events, and not in a long series.
    """

    name: str
    gpu: str
    seconds: float
    kernel: Kernel
    args: Callable[[], Sequence[Any]]
    params: Mapping[str, Any] = field(default_factory=dict)
    isolated: bool = True

    def predicted(self) -> Prediction:
        found = estimate(self.kernel, *self.args(), device=device(self.gpu), **self.params)
        return replace(found, seconds=found.isolated_seconds) if self.isolated else found


@dataclass(frozen=True)
class Ladder:
    """Rungs of one source; `held` ones are only reported."""

    name: str
    source: str
    rungs: tuple[Rung | ExampleRung, ...]
    held: bool = False


@cache
def device(name: str) -> Gpu:
    """Return a GPU of the table, or a relative of one."""
    if name not in RELATIVES:
        return gpu(name)
    base, sms, clock, dram, l2_mib, watts = RELATIVES[name]
    near = gpu(base)
    return replace(
        near,
        name=name,
        sms=sms,
        clock_hz=clock,
        tensor_clock_hz=min(clock, near.tensor_clock_hz),
        dram_bytes_per_s=dram,
        dram_reached_bytes_per_s=None,
        l2_bytes=int(l2_mib * 2**20),
        l2_bytes_per_clock=near.l2_bytes_per_clock * min(1, sms / near.sms),
        watts=watts,
    )


@cache
def program(file: str, target: str) -> pyptx.Program:
    """Return the kernels of a file for a target; nvcc emits the same instructions for all from the one it names on."""
    number = targets.parse(target).number
    text = (HERE / file).read_text(encoding="utf-8")
    return pyptx.load(re.sub(r"^\.target sm_(?:75|80)$", f".target sm_{number}", text, flags=re.MULTILINE))


def zeros(*sizes: int | tuple[int, ...], dtype: Any = "float32") -> Callable[[], list[np.ndarray]]:
    """Return a maker of arrays that take no memory until they are written."""
    return lambda: [np.zeros(size, dtype) for size in sizes]
