"""Elements of a roofline: points, and the slopes, roofs and ceilings derived from a GPU and the points' work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil

from pyptx.analysis.gpu_table import SOURCES
from pyptx.analysis.gpus import LEVELS, PIPES, Gpu, rate_name
from pyptx.errors import OptionError, ShapeError
from pyptx.views.rooflines.units import percent, quantity

__all__ = [
    "KINDS",
    "LEVEL_NAMES",
    "Ceiling",
    "Placed",
    "Point",
    "Roof",
    "Slope",
    "ceilings_of",
    "count_of",
    "levels_of",
    "roof_of",
    "roofs_of",
    "slopes_of",
    "work_text",
]

KINDS = ("modeled", "measured")
LEVEL_NAMES = {"dram": "DRAM", "l2": "L2", "shared": "Shared memory"}
_TENSOR = ("mma", "wgmma", "tcgen05")
_BESIDE = {"core.mufu": ("mufu", "special functions"), "core.s32": ("i32.mul", "integer operations")}  # rate, words


@dataclass(frozen=True, slots=True)
class Point:
    """A kernel, a version of one, or one configuration of a sweep.

    Attributes:
        name: what it is called on the chart.
        work: "wgmma.bf16", "core.f32" -> operations, an FMA counted as two: pipe ("core", "mma", "wgmma", "tcgen05")
            and PTX type. "core.mufu" (special functions) and "core.s32" (integers) are not FLOPs, but have ceilings.
        bytes: "dram", "l2", "shared" -> bytes moved; without levels that were not counted.
        seconds: of one call.
        kind: "modeled" or "measured", the source of `seconds`.
        version: of the kernel, such as "softmax@3".
        low, high: ends of the interval of the seconds.
        waves: CTAs of the grid over CTAs that run at a time; None if unknown.
        bound: the bottleneck, as text.
        note: the configuration, or the sizes.
        how: how work and time were determined.
        view: key of `Roofline.views`, or a version of the history, which a click opens.
        ctas: of the grid; None if unknown.
    """

    name: str
    work: Mapping[str, float] = field(hash=False)
    bytes: Mapping[str, float] = field(hash=False)
    seconds: float
    kind: str = "modeled"
    version: str = ""
    low: float | None = None
    high: float | None = None
    waves: float | None = None
    bound: str = ""
    note: str = ""
    how: str = ""
    view: str = ""
    ctas: int | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise OptionError(f"{self.name}: kind={self.kind!r}; expected {' or '.join(KINDS)}")
        if not self.seconds > 0:
            raise ShapeError(f"{self.name}: seconds={self.seconds!r}; expected the time of a call, more than 0")
        for what in self.work:
            if what.partition(".")[0] not in PIPES or not what.partition(".")[2]:
                raise ShapeError(
                    f"{self.name}: work {what!r}; expected a pipe and a type, such as 'wgmma.bf16'; "
                    f"pipes are {', '.join(PIPES)}"
                )
        for level in self.bytes:
            if level not in LEVELS:
                raise OptionError(f"{self.name}: bytes of {level!r}; expected {', '.join(LEVELS)}")

    @property
    def tensor(self) -> bool:
        """True if tensor cores do work; the chart then shows theirs alone."""
        return any(count for what, count in self.work.items() if what.partition(".")[0] in _TENSOR)

    @property
    def counted(self) -> dict[str, float]:
        """The work that the chart counts, without special functions and integer operations of CUDA cores."""
        return {what: count for what, count in self.work.items() if count and what not in _BESIDE}

    @property
    def flops(self) -> float:
        """Operations of the tensor cores, or of the CUDA cores if there are none."""
        return sum(count for what, count in self.counted.items() if (what.partition(".")[0] in _TENSOR) == self.tensor)

    @property
    def rate(self) -> float:
        """Operations per second."""
        return self.flops / self.seconds

    @property
    def title(self) -> str:
        """Name and version: "softmax@3", "gemm (tuned)"."""
        if not self.version or self.version.partition("@")[0] == self.name:
            return self.version or self.name
        return f"{self.name} ({self.version})"


@dataclass(frozen=True, slots=True)
class Slope:
    """The bandwidth of a memory level: the "peak", or the one "reached" by measured reads."""

    level: str
    label: str
    bytes_per_s: float
    kind: str = "peak"
    source: str = ""


@dataclass(frozen=True, slots=True)
class Roof:
    """The peak rate of a pipe. `name` is pipe and rate, "wgmma.f16"; `kind` is "tensor" or "core"."""

    name: str
    label: str
    flops_per_s: float
    kind: str
    used: bool = True  # False: shown for comparison, no point uses it
    source: str = ""


@dataclass(frozen=True, slots=True)
class Ceiling:
    """A lower limit with its reason; `point` is the index of the point it applies to, -1 for all."""

    label: str
    flops_per_s: float
    point: int = -1
    why: str = ""


@dataclass(frozen=True, slots=True)
class Placed:
    """The position of a point for one memory level.

    Attributes:
        intensity: operations per byte of that level.
        rate: operations per second.
        attainable: operations per second that the roofs and the level's slope allow.
        share: rate over attainable.
        limit: label of the limiting roof or slope.
        formula: the derivation of the numbers, one line each.
    """

    intensity: float
    rate: float
    attainable: float
    share: float
    limit: str
    formula: tuple[str, ...]


def count_of(points: Iterable[Point]) -> str:
    """Return "FLOP", or "OP" if all operations are on integers."""
    types = {what.partition(".")[2] for point in points for what in point.counted}
    return "OP" if types and all(kind[0] in "sub" and not kind.startswith("bf") for kind in types) else "FLOP"


def work_text(point: Point, count: str) -> str:
    """Return the work as text: "1.1 TFLOP wgmma bf16, 76.5 M special functions"."""
    parts = [f"{quantity(number, count)} {what.replace('.', ' ')}" for what, number in point.counted.items()]
    parts += [
        f"{quantity(number, '').strip()} {_BESIDE[what][1]}"
        for what, number in point.work.items()
        if number and what in _BESIDE
    ]
    return ", ".join(parts)


def slopes_of(gpu: Gpu) -> tuple[Slope, ...]:
    """Return the slopes of DRAM, L2 and shared memory, slowest first, and the measured DRAM bandwidth if known."""
    found = [
        Slope(
            level,
            f"{LEVEL_NAMES[level]} {quantity(gpu.bytes_per_s(level), 'B/s')}",
            gpu.bytes_per_s(level),
            source=_source(gpu, "dram_bytes_per_s" if level == "dram" else f"{level}_bytes_per_clock"),
        )
        for level in LEVELS
    ]
    if reached := gpu.dram_reached_bytes_per_s:
        found.insert(
            0,
            Slope(
                "dram",
                f"DRAM as reached {quantity(reached, 'B/s')}",
                reached,
                "reached",
                _source(gpu, "dram_reached_bytes_per_s"),
            ),
        )
    return tuple(found)


def roofs_of(gpu: Gpu, points: Sequence[Point]) -> tuple[Roof, ...]:
    """Return the roofs, highest first.

    These are the pipes that the points use, the same types on the GPU's other tensor pipes, and f32 on the CUDA cores.
    Types of a pipe with the same rate share a roof.
    """
    used: dict[str, dict[str, None]] = {}  # "wgmma.f16" -> the types, in order
    for what in (what for point in points for what in point.counted):
        pipe, _, kind = what.partition(".")
        used.setdefault(f"{pipe}.{rate_name(kind)}", {})[kind] = None
    wanted = dict.fromkeys([*used, "core.f32"])
    for name in used:
        pipe, _, rate = name.partition(".")
        wanted |= dict.fromkeys(f"{other}.{rate}" for other in _TENSOR if pipe in _TENSOR)
    same: dict[tuple[str, float], list[str]] = {}
    for name in wanted:
        pipe, _, rate = name.partition(".")
        if flops := gpu.flops_per_s(pipe, rate):
            same.setdefault((pipe, flops), []).append(name)
    found, unit = [], f"{count_of(points)}/s"
    for (pipe, flops), names in same.items():
        rates = {name.partition(".")[2] for name in names}
        types = (
            {kind for name in names for kind in used.get(name, ())}
            or {kind for name, kinds in used.items() for kind in kinds if name.partition(".")[2] in rates}
            or rates
        )
        found.append(
            Roof(
                names[0],
                f"{PIPES[pipe]} {'/'.join(sorted(types))} {quantity(flops, unit)}",
                flops,
                "core" if pipe == "core" else "tensor",
                any(name in used for name in names),
                _source(gpu, names[0] if pipe == "core" else f"tensor.{names[0]}"),
            )
        )
    return tuple(sorted(found, key=lambda roof: -roof.flops_per_s))


def roof_of(gpu: Gpu, point: Point) -> tuple[float, str]:
    """Return the rate that the pipes allow when they run in parallel, and the work that takes longest, "wgmma.bf16".

    They are 0 and "" if the GPU has none of the pipes.
    """
    times = {
        what: count / peak for what, count in point.counted.items() if (peak := gpu.flops_per_s(*what.split(".", 1)))
    }
    if not times:
        return 0.0, ""
    longest = max(times, key=times.__getitem__)
    return point.flops / times[longest], longest


def ceilings_of(gpu: Gpu, points: Sequence[Point]) -> tuple[Ceiling, ...]:
    """Return the ceilings: non-FMA operations; for each point its last wave, launch overhead, special functions and
    integer operations."""
    found, unit = [], f"{count_of(points)}/s"
    plain = gpu.flops_per_s("core", "f32") / 2
    if any(point.work.get("core.f32") and not point.tensor for point in points):
        found.append(
            Ceiling(
                f"non-FMA: {quantity(plain, unit)}",
                plain,
                why="additions and multiplications alone: one operation per instruction, an FMA does two",
            )
        )
    for number, point in enumerate(points):
        top, _ = roof_of(gpu, point)
        if not top or not point.flops:
            continue
        share, why = _last_wave(gpu, point)
        if share < 0.995:
            found.append(
                Ceiling(
                    f"last wave: {quantity(share * top, unit)}",
                    share * top,
                    number,
                    f"{why}: {percent(share)} of the roof",
                )
            )
        if (floor := point.flops / gpu.launch_seconds) < top:
            launch = quantity(gpu.launch_seconds, "s")
            found.append(
                Ceiling(
                    f"launch: {quantity(floor, unit)}",
                    floor,
                    number,
                    f"a launch takes at least {launch}: {quantity(point.flops, count_of(points))} in {launch}",
                )
            )
        for what, (rate, words) in _BESIDE.items():
            if (operations := point.work.get(what, 0)) and rate in gpu.core:
                seconds = operations / (gpu.core[rate] * gpu.sms * gpu.clock_hz)
                if (allowed := point.flops / seconds) < top:
                    found.append(
                        Ceiling(
                            f"{words}: {quantity(allowed, unit)}",
                            allowed,
                            number,
                            f"{quantity(operations, '').strip()} {words} take {quantity(seconds, 's')}",
                        )
                    )
    return tuple(found)


def _last_wave(gpu: Gpu, point: Point) -> tuple[float, str]:
    """Return the share of the roof attainable with CTAs that do not fill all SMs equally, and the reason.

    Given the number of CTAs it is a bound: some SM has at least the average, rounded up. Otherwise it is an estimate
    from the number of waves.
    """
    if point.ctas:
        most, average = ceil(point.ctas / gpu.sms), point.ctas / gpu.sms
        return average / most, f"{point.ctas} CTAs on {gpu.sms} SMs: one has {most}, the average {average:.3g}"
    if point.waves:
        waves = f"{point.waves:.2f}".rstrip("0").rstrip(".")
        return point.waves / ceil(point.waves), f"{waves} waves of CTAs take the time of {ceil(point.waves)}"
    return 1.0, ""


def _source(gpu: Gpu, what: str) -> str:
    return SOURCES.get(gpu.sources.get(what, ""), "")


def levels_of(counted: Mapping[str, int]) -> dict[str, int]:
    """ "dram", "l2", "shared" -> bytes, of those a Work has counted."""
    levels = {"dram": counted["dram_read"] + counted["dram_write"], "l2": counted["l2"], "shared": counted["shared"]}
    return {level: moved for level, moved in levels.items() if moved}
