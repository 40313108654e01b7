"""Published measurements as ladders of rungs: a kernel and a launch on a GPU with its published time, and its modeled one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import pyptx
from pyptx.analysis.gpus import Gpu, gpu
from pyptx.analysis.model.estimate import estimate, predict
from pyptx.analysis.model.prediction import Prediction
from pyptx.analysis.work.call import bind_call
from pyptx.analysis.work.count import Work, work_of
from pyptx.assembly import Assembly
from pyptx.isa import targets
from pyptx.kernel import Kernel
from pyptx.runtime import LaunchPlan

HERE = Path(__file__).parent / "foreign"
DATA = Path(__file__).parent / "ladder_data"

# GPUs near one of the table: base, SMs, clock (Hz), DRAM (bytes per second), L2 (MiB), power limit (W) of the published
# specifications; for the GTX 1650, those of the RTX 30 series and the RTX 4060 Laptop of the log of the measurement (but the power
# of the latter), for the Max-Q the clock of a log. The RTX 4070 Ti SUPER, an RTX 3090 and an RTX 4060 Ti were measured at the base
# clock, which a profiler sets, an H200 at the clock that follows from the instructions of its profile (busy issue slots x seconds x
# clock), an RTX 4090 at a locked one, an RTX 5090 at a lower power limit. An RTX 3060 Laptop was measured at the clock of its profiles,
# and that of the RTX 3500 Ada Laptop follows from a measured peak of f32; the RTX 3060 of 1.78 GHz has the rated one of the series.
RELATIVES = {
    "A100 PCIe 40GB": ("A100 SXM 40GB", 108, 1.41e9, 1555e9, 40, 250),
    "A100 PCIe 80GB": ("A100 SXM 80GB", 108, 1.41e9, 1935e9, 40, 300),
    "GTX 1650": ("T4", 14, 1.62e9, 192e9, 1, 90),
    "RTX 2080": ("T4", 46, 1.71e9, 448e9, 4, 215),
    "RTX 2080 Ti": ("T4", 68, 1.545e9, 616e9, 5.5, 250),
    "RTX 2060 SUPER": ("T4", 34, 1.65e9, 448e9, 4, 175),
    "RTX 2070 SUPER": ("T4", 40, 1.77e9, 448e9, 4, 215),
    "RTX 3060": ("RTX 3090", 28, 1.882e9, 360e9, 2.25, 170),
    "RTX 3060 of 1.78 GHz": ("RTX 3090", 28, 1.777e9, 360e9, 2.25, 170),
    "RTX 3060 Laptop": ("RTX 3090", 30, 1.282e9, 288e9, 3, 80),
    "RTX 3060 Laptop at 1.42 GHz": ("RTX 3090", 30, 1.42e9, 336e9, 3, 115),
    "RTX 3060 Ti": ("RTX 3090", 38, 1.695e9, 448e9, 3, 200),
    "RTX 3070": ("RTX 3090", 46, 1.725e9, 448e9, 4, 220),
    "RTX 3070 Ti": ("RTX 3090", 48, 1.8e9, 608e9, 4, 290),
    "RTX 3090 at 1.39 GHz": ("RTX 3090", 82, 1.39e9, 936e9, 6, 350),
    "RTX 3080": ("RTX 3090", 68, 1.725e9, 760e9, 5, 320),
    "RTX A6000": ("RTX 3090", 84, 1.80e9, 768e9, 6, 300),
    "RTX A5000": ("RTX 3090", 64, 1.695e9, 768e9, 6, 230),
    "A40": ("RTX 3090", 84, 1.74e9, 696e9, 6, 300),
    "A40 with ECC": ("RTX 3090", 84, 1.74e9, 696e9, 6, 300),
    "L40": ("L40S", 142, 2.49e9, 864e9, 96, 300),
    "L40 with ECC": ("L40S", 142, 2.49e9, 864e9, 96, 300),
    "L40S without ECC": ("L40S", 142, 2.52e9, 864e9, 96, 350),
    "RTX 3500 Ada Laptop": ("RTX 4090", 40, 1.9e9, 432e9, 48, 140),
    "RTX 4060 Laptop": ("RTX 4090", 24, 2.25e9, 256e9, 32, 115),
    "RTX 4060 Ti": ("RTX 4090", 34, 2.535e9, 288e9, 32, 160),
    "RTX 4060 Ti at 2.31 GHz": ("RTX 4090", 34, 2.31e9, 288e9, 32, 160),
    "RTX 4070": ("RTX 4090", 46, 2.475e9, 504e9, 36, 200),
    "RTX 4070 Laptop": ("RTX 4090", 36, 2.175e9, 256e9, 32, 115),
    "RTX 4070 Ti SUPER": ("RTX 4090", 66, 2.34e9, 672e9, 48, 285),
    "RTX 4080 SUPER": ("RTX 4090", 80, 2.55e9, 736e9, 64, 320),
    "RTX 4090 at 2.52 GHz": ("RTX 4090", 128, 2.524e9, 1008e9, 72, 450),
    "H100 NVL": ("H100 SXM", 132, 1.785e9, 3938e9, 50, 400),
    "H20": ("H100 SXM", 78, 1.81e9, 4000e9, 60, 500),
    "H200 SXM at 1.50 GHz": ("H200 SXM", 132, 1.5e9, 4800e9, 50, 700),
    "GH200": ("H100 SXM", 132, 1.98e9, 4000e9, 50, 900),
    "RTX 5070": ("RTX 5090", 48, 2.512e9, 672e9, 48, 250),
    "RTX 5070 Ti": ("RTX 5090", 70, 2.452e9, 896e9, 48, 300),
    "RTX 5080": ("RTX 5090", 84, 2.617e9, 960e9, 64, 360),
    "RTX 5090, 400 W": ("RTX 5090", 170, 2.407e9, 1792e9, 96, 400),
    "RTX PRO 6000 Max-Q": ("RTX PRO 6000", 188, 2.317e9, 1792e9, 128, 300),
    "B300": ("B200 SXM", 148, 2.032e9, 8000e9, 126, 1100),
}


# Bits of the memory bus of Ada GPUs. L2 has as many slices as go with the bus, and these limit its rate: L40, with 142 SMs and 384 bits,
# reads 3 % more bytes per cycle from L2 than RTX 4090, with 128 SMs and 384 bits.
BITS = {
    "RTX 3500 Ada Laptop": 192,
    "RTX 4060 Laptop": 128,
    "RTX 4060 Ti": 128,
    "RTX 4060 Ti at 2.31 GHz": 128,
    "RTX 4070": 192,
    "RTX 4070 Laptop": 128,
    "RTX 4070 Ti SUPER": 256,
    "RTX 4080 SUPER": 256,
}
ADA_BITS = 384  # of the RTX 4090, to which they are relatives

# GeForce GPUs among them, whose logs state the rated clock. GPU Boost exceeds it while power permits; by as much as on an RTX
# 4090 (2.82 of 2.52 GHz, see `gpu_table`) is an assumption.
BOOST = 1.12
BOOSTED = frozenset(
    (
        "GTX 1650",
        "RTX 2060 SUPER",
        "RTX 2070 SUPER",
        "RTX 2080",
        "RTX 2080 Ti",
        "RTX 3060",
        "RTX 3060 of 1.78 GHz",
        "RTX 3060 Laptop",
        "RTX 3060 Ti",
        "RTX 3070",
        "RTX 3070 Ti",
        "RTX 3080",
        "RTX 4060 Ti",
        "RTX 4070",
        "RTX 4080 SUPER",
        "RTX 5070",
        "RTX 5070 Ti",
        "RTX 5080",
    )
)

# Rates of GDDR6 with ECC over the nominal one, of reads and of writes: means of T4, L4 and L40S in `gpu_table`. GPU-benches reads
# 680 GB/s on A40 and 845 on L40, without ECC; lattices move 517 and 592 there, with it.
ECC = (0.81, 0.64)
# Bytes per second that logs reach at reading: GDDR6 of L40 without ECC, in the streams of GPU-benches that are a ladder, too.
REACHED = {"L40": 845e9, "L40S without ECC": 845e9}


@dataclass(frozen=True)
class Rung:
    """One published measurement of a kernel of foreign/: a launch on a GPU, and its seconds.

    `isolated`: each launch was timed by itself, between two events, and not in a long series. `repeated`: it was launched again
    and again on the same data, of which L2 keeps what fits. Both: again and again, each time between two events.
    """

    name: str
    gpu: str
    seconds: float
    file: str
    entry: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    args: Callable[[], Sequence[Any]]
    smem_bytes: int = 0
    isolated: bool = False
    repeated: bool = False

    def predicted(self) -> Prediction:
        on = device(self.gpu)
        compiled, plan, work = counted(
            self.file, on.target, self.entry, self.args, self.grid, self.block, self.smem_bytes
        )
        found = predict(compiled, plan, work, on, attribute_lines=self.repeated)
        seconds = found.seconds if not self.repeated or found.repeated_seconds is None else found.repeated_seconds
        alone = found.isolated_seconds - found.seconds if self.isolated else 0.0
        return replace(found, seconds=seconds + alone)


@dataclass(frozen=True)
class Launches:
    """One published measurement of kernels that are launched one after the other."""

    name: str
    gpu: str
    seconds: float
    parts: tuple[Rung, ...]

    def predicted(self) -> Prediction:
        once = {part: part.predicted() for part in dict.fromkeys(self.parts)}
        found = [once[part] for part in self.parts]
        longest = max(found, key=lambda one: one.seconds)
        return replace(longest, seconds=sum(one.seconds for one in found))


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
    rungs: tuple[Rung | ExampleRung | Launches, ...]
    held: bool = False


def data_of(name: str) -> dict[str, Any]:
    """Return the published times of a source, from ladder_data/."""
    return json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))


def source_ladder(
    name: str, data: Mapping[str, Any], rungs: Sequence[Rung | ExampleRung | Launches], held: bool = False
) -> Ladder:
    """Return a ladder of a source of ladder_data/ on the GPU of its rungs."""
    on = rungs[0].gpu
    url = data["url"] if isinstance(data["url"], str) else data["url"][on]
    return Ladder(f"{name}, {on}", f"{url} ({data['source']})", tuple(rungs), held)


@cache
def device(name: str) -> Gpu:
    """Return a GPU of the table, or a relative of one."""
    if name not in RELATIVES:
        return gpu(name)
    base, sms, clock, dram, l2_mib, watts = RELATIVES[name]
    near = gpu(base)
    slices = BITS[name] / ADA_BITS if name in BITS else min(sms / near.sms, max(1, l2_mib * 2**20 / near.l2_bytes))
    read, written = ECC if name.endswith("with ECC") else (REACHED.get(name, 0) / dram, None)
    return replace(
        near,
        name=name,
        sms=sms,
        clock_hz=clock,
        tensor_clock_hz=min(clock, near.tensor_clock_hz),
        dram_bytes_per_s=dram,
        dram_reached_bytes_per_s=read * dram or None,
        dram_written_bytes_per_s=written and written * dram,
        l2_bytes=int(l2_mib * 2**20),
        l2_bytes_per_clock=near.l2_bytes_per_clock * slices,
        watts=watts,
        max_clock_hz=BOOST * clock if name in BOOSTED else near.max_clock_hz if clock == near.clock_hz else None,
    )


@cache
def program(file: str, target: str) -> pyptx.Program:
    """Return the kernels of a file for a target; nvcc emits the same instructions for all from the one it names on."""
    number = targets.parse(target).number
    text = (HERE / file).read_text(encoding="utf-8")
    return pyptx.load(re.sub(r"^\.target sm_(?:75|80|90|100|120)$", f".target sm_{number}", text, flags=re.MULTILINE))


@lru_cache(maxsize=4)
def counted(
    file: str,
    target: str,
    entry: str,
    args: Callable[[], Sequence[Any]],
    grid: tuple[int, ...],
    block: tuple[int, ...],
    smem_bytes: int,
) -> tuple[Assembly, LaunchPlan, Work]:
    """Return the machine code, the launch and its work: the same for all GPUs of a target."""
    call = bind_call(program(file, target)[entry], *args(), grid=grid, block=block, smem_bytes=smem_bytes)
    return call.compiled(), call.plan, work_of(call)


def zeros(*sizes: int | tuple[int, ...], dtype: Any = "float32") -> Callable[[], list[np.ndarray]]:
    """Return a maker of arrays that take no memory until they are written."""
    return lambda: [np.zeros(size, dtype) for size in sizes]
