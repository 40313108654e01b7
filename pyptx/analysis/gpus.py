"""GPUs for the roofline and the performance model: rates, sizes and clocks with their sources."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType

from pyptx._frozen import frozen
from pyptx.analysis.gpu_table import CORES, LATENCY_CLOCKS, ROWS, SOURCES, Number, Row
from pyptx.errors import ShapeError
from pyptx.isa import targets

__all__ = ["GPUS", "LEVELS", "PIPES", "Gpu", "gpu", "rate_name"]

LEVELS = ("dram", "l2", "shared")
PIPES = {"core": "CUDA cores", "mma": "mma", "wgmma": "wgmma", "tcgen05": "tcgen05"}

_RATES = {  # PTX type -> type with the same rate
    "bf16": "f16",
    "f16x2": "f16",
    "bf16x2": "f16",
    "e4m3": "f8",
    "e5m2": "f8",
    "e3m2": "f8",
    "e2m3": "f8",
    "fp8": "f8",
    "e2m1": "f4",
    "fp4": "f4",
    "u8": "s8",
    "u4": "s4",
    "f32x2": "f32",
}
_GIB, _MIB, _GIGA = 2**30, 2**20, 10**9


def rate_name(type_name: str) -> str:
    """Return the rate of a type: "f16" for bf16, "f8" for e4m3, the type itself if it has its own rate."""
    name = type_name.lstrip(".")
    return _RATES.get(name, name)


@frozen
class Gpu:
    """One GPU.

    Attributes:
        name: "H200 SXM".
        target: "sm_90a".
        sms: streaming multiprocessors.
        clock_hz: clock of the published peaks of the CUDA cores, also used for L2 and shared memory.
        tensor_clock_hz: clock of the published tensor peaks (f64 uses `clock_hz`).
        dram_bytes_per_s, dram_bytes: rate and size of DRAM.
        dram_reached_bytes_per_s: measured rate of reading all of it, or None.
        dram_written_bytes_per_s: measured rate of writing it, or None: that of reading. GDDR6 with ECC is slower at writing.
        l2_bytes, l2_bytes_per_clock: size, and bytes per cycle read by all SMs together.
        l2_fast_bytes: size of data that all SMs read over and over of which half misses L2, or None.
        shared_bytes_per_clock: rate of one SM.
        tensor: "wgmma.f16" -> dense operations per cycle of one SM, an FMA counted as two. Keys are rates, not types:
            bf16 has the rate of f16 (`rate_name`).
        core: "f32", "f16", "f64", "i32.add", "i32.mul", "f32.minmax", "mufu", "cvt.pack", "cvt", "shuffle", "redux" ->
            results per cycle of one SM; an FMA is one result.
        latency_cycles: "l1", "l2", "l2_far", "dram" -> cycles of one load; empty without a measurement.
        latency_clock_hz: clock at which they were measured; 0 without a measurement.
        launch_seconds: interval between launches in a stream.
        watts: power limit of the board.
        max_clock_hz: highest clock, where it exceeds the rated one; None: `clock_hz`.
        sources: field, "tensor.wgmma.f16" or "core.f32" -> class of the number, a key of `gpu_table.SOURCES`.
    """

    name: str
    target: str
    sms: int
    clock_hz: float
    tensor_clock_hz: float
    dram_bytes_per_s: float
    dram_bytes: int
    l2_bytes: int
    l2_bytes_per_clock: float
    shared_bytes_per_clock: float
    tensor: Mapping[str, float] = field(hash=False)
    core: Mapping[str, float] = field(hash=False)
    dram_reached_bytes_per_s: float | None = None
    dram_written_bytes_per_s: float | None = None
    l2_fast_bytes: int | None = None
    latency_cycles: Mapping[str, int] = field(default_factory=dict, hash=False)
    latency_clock_hz: float = 0.0
    launch_seconds: float = 2.5e-6
    watts: float = 0.0
    max_clock_hz: float | None = None
    sources: Mapping[str, str] = field(default_factory=dict, hash=False, repr=False)

    @property
    def limits(self) -> targets.Limits:
        """Registers, shared memory, warps and blocks of an SM."""
        return targets.parse(self.target).limits

    @property
    def l2_bytes_per_s(self) -> float:
        """L2 rate of the whole GPU."""
        return self.l2_bytes_per_clock * self.clock_hz

    @property
    def shared_bytes_per_s(self) -> float:
        """Shared memory rate of all SMs together."""
        return self.sms * self.shared_bytes_per_clock * self.clock_hz

    def bytes_per_s(self, level: str) -> float:
        """Return the rate of "dram", "l2" or "shared" memory.

        Raises:
            ShapeError: another level.
        """
        if level not in LEVELS:
            raise ShapeError(f"there is no memory level {level!r}; expected {', '.join(LEVELS)}")
        return getattr(self, f"{level}_bytes_per_s")

    def flops_per_clock(self, pipe: str, type_name: str) -> float:
        """Return operations per cycle of one SM, an FMA counted as two; 0 if this GPU has no such rate.

        Args:
            pipe: "core", "mma", "wgmma" or "tcgen05".
            type_name: type of the multiplied elements, "f16", "bf16", "e4m3", ...; for "core" of the result.
        Raises:
            ShapeError: another pipe.
        """
        if pipe not in PIPES:
            raise ShapeError(f"there is no pipe {pipe!r}; expected {', '.join(PIPES)}")
        rate = rate_name(type_name)
        return 2 * self.core.get(rate, 0) if pipe == "core" else self.tensor.get(f"{pipe}.{rate}", 0)

    def flops_per_s(self, pipe: str, type_name: str) -> float:
        """Return operations per second of the GPU at the clock of the published peak; 0 if it has no such rate."""
        tensor = pipe != "core" and rate_name(type_name) != "f64"
        return self.sms * self.flops_per_clock(pipe, type_name) * (self.tensor_clock_hz if tensor else self.clock_hz)

    def source(self, what: str) -> str:
        """Return the source of a number, a key of `sources`: "read in an NVIDIA source"."""
        return SOURCES[self.sources[what]]

    def __str__(self) -> str:
        return f"{self.name} ({self.target})"


def _gpu_of_row(row: Row) -> Gpu:
    number = int(re.sub(r"\D", "", row.target))
    cores = CORES[number]
    numbers = {
        "sms": row.sms,
        "clock_hz": row.clock,
        "tensor_clock_hz": row.tensor_clock or row.clock,
        "dram_bytes_per_s": row.dram,
        "dram_bytes": row.dram_gib,
        "l2_bytes": row.l2_mib,
        "l2_bytes_per_clock": row.l2,
        "watts": row.watts,
        "shared_bytes_per_clock": Number(128, "O"),
    }
    sources = {name: number.source for name, number in numbers.items()}
    sources |= {f"tensor.{name}": number.source for name, number in row.tensor.items()}
    sources |= {f"core.{name}": number.source for name, number in cores.items()}
    sources |= {"launch_seconds": "M"}
    if row.reached:
        sources["dram_reached_bytes_per_s"] = row.reached.source
    if row.written:
        sources["dram_written_bytes_per_s"] = row.written.source
    if row.max_clock:
        sources["max_clock_hz"] = row.max_clock.source
    if row.l2_fast_mib:
        sources["l2_fast_bytes"] = row.l2_fast_mib.source
    if row.latency:
        sources["latency_cycles"] = "A" if row.measured_on else "M"
        sources["latency_clock_hz"] = "A" if row.measured_on else LATENCY_CLOCKS[row.name].source
    value = {name: number.value for name, number in numbers.items()}
    return Gpu(
        row.name,
        row.target,
        int(value["sms"]),
        value["clock_hz"] * _GIGA,
        value["tensor_clock_hz"] * _GIGA,
        value["dram_bytes_per_s"] * _GIGA,
        int(value["dram_bytes"] * _GIB),
        int(value["l2_bytes"] * _MIB),
        value["l2_bytes_per_clock"],
        value["shared_bytes_per_clock"],
        MappingProxyType({name: number.value for name, number in row.tensor.items()}),
        MappingProxyType({name: number.value for name, number in cores.items()}),
        dram_reached_bytes_per_s=row.reached.value * _GIGA if row.reached else None,
        dram_written_bytes_per_s=row.written.value * _GIGA if row.written else None,
        l2_fast_bytes=int(row.l2_fast_mib.value * _MIB) if row.l2_fast_mib else None,
        latency_cycles=MappingProxyType(
            dict(zip(("l1", "l2", "l2_far", "dram"), row.latency, strict=True)) if row.latency else {}
        ),
        latency_clock_hz=LATENCY_CLOCKS[row.measured_on or row.name].value * _GIGA if row.latency else 0.0,
        watts=value["watts"],
        max_clock_hz=row.max_clock.value * _GIGA if row.max_clock else None,
        sources=MappingProxyType(sources),
    )


GPUS: Mapping[str, Gpu] = MappingProxyType({row.name: _gpu_of_row(row) for row in ROWS})

_FIRST_CHOICE = {"sm_80": "A100 SXM 80GB", "sm_89": "RTX 4090", "sm_90": "H200 SXM", "sm_120": "RTX 5090"}
_DEFAULT = "H200 SXM"


def gpu(name: str | Gpu | None = None) -> Gpu:
    """Return a GPU of the table.

    Args:
        name: a name in any spelling ("H200", "h200-sxm", the driver's "NVIDIA H200"); a target ("sm_90a"): the A100 80GB,
            RTX 4090, H200 or RTX 5090 if several GPUs have it, and the nearest later GPU that runs its code if none
            has; None: the H200; a Gpu: itself.
    Raises:
        ShapeError: the name is unknown or ambiguous; the message lists the known ones, nearest first.
    Examples:
        >>> gpu("h200").name, gpu("sm_80").name
        ('H200 SXM', 'A100 SXM 80GB')
    """
    if isinstance(name, Gpu):
        return name
    if name is None:
        return GPUS[_DEFAULT]
    if name.startswith("sm_"):
        return _by_target(name)
    wanted = _words(name)
    found = [one for one in GPUS.values() if wanted and _fits(wanted, _words(one.name))]
    if len(found) > 1:
        found = [one for one in found if one.name in _PREFERRED] or found
    if len(found) == 1:
        return found[0]
    if found:
        raise ShapeError(f"{name!r} may be {' or '.join(one.name for one in found)}; name one of them")
    from difflib import get_close_matches  # late: for an error only

    near = get_close_matches(name.lower(), known := {one.lower(): one for one in GPUS}, 3, 0.4)
    first = f"did you mean {' or '.join(known[one] for one in near)}? " if near else ""
    raise ShapeError(
        f"no GPU called {name!r} is in the table; {first}known: {', '.join(GPUS)}, and targets such as sm_90a"
    )


_PREFERRED = {*_FIRST_CHOICE.values(), "H100 SXM"}
_NOISE = {"nvidia", "geforce", "tesla", "blackwell", "workstation", "server", "edition", "hbm3", "hbm3e", "gpu"}


def _words(name: str) -> set[str]:
    """Return the distinctive words of a name; "sxm4" counts as "sxm"."""
    words = re.findall(r"[a-z]+\d+[a-z]*|\d+gb|[a-z]+|\d+", name.lower())
    return {re.sub(r"^sxm\d$", "sxm", word) for word in words} - _NOISE


def _fits(wanted: set[str], own: set[str]) -> bool:
    """Return True when all words occur in the GPU's name; a size counts only where it distinguishes GPUs."""
    sizes = {word for word in wanted if word.endswith("gb")}
    return (
        wanted - sizes <= own
        and bool(wanted - sizes)
        and (sizes <= own or not any(word.endswith("gb") for word in own))
    )


def _by_target(name: str) -> Gpu:
    try:
        target = targets.parse(name)
    except ValueError as error:
        raise ShapeError(str(error)) from None
    same = [one for one in GPUS.values() if targets.parse(one.target).number == target.number]
    if same:
        first = _FIRST_CHOICE.get(f"sm_{target.number}", same[0].name)
        return GPUS[first]
    later = [one for one in GPUS.values() if target.runs_on(targets.parse(one.target))]
    if later:
        number = min(targets.parse(one.target).number for one in later)
        return _by_target(f"sm_{number}")
    distance = {one.name: abs(targets.parse(one.target).number - target.number) for one in GPUS.values()}
    near = sorted(GPUS, key=lambda one: distance[one])[:3]
    raise ShapeError(
        f"no GPU of {name} is in the table, and its code runs on no other; nearest: "
        f"{', '.join(str(GPUS[one]) for one in near)}; name the GPU that is meant"
    )
