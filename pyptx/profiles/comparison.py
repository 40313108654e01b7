"""Modeled numbers of a launch beside measured ones of a profile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from pyptx.profiles.matching import MatchedProfile
from pyptx.profiles.metrics import STALL_REASONS
from pyptx.profiles.report import KernelProfile

if TYPE_CHECKING:
    from pyptx.analysis.model.prediction import Prediction

__all__ = ["MetricComparison", "ProfileComparison", "compare_profile"]

_SECTOR = 32  # bytes
# Shares of peak in the report -> the resource of the performance model.
_THROUGHPUTS = {
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": "dram",
    "lts__throughput.avg.pct_of_peak_sustained_elapsed": "l2",
    "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active": "tensor",
    "smsp__issue_active.avg.pct_of_peak_sustained_active": "issue",
}


@dataclass(frozen=True, slots=True)
class MetricComparison:
    """A metric, modeled and measured.

    Attributes:
        name: what it is.
        unit: "s", "Hz", "B", "%" or "".
        modeled, measured: the numbers; None where one side does not have it.
        origin: the metrics of the report.
    """

    name: str
    unit: str
    modeled: float | None
    measured: float | None
    origin: str

    @property
    def ratio(self) -> float | None:
        """Modeled relative to measured; None where one is unknown or zero."""
        return self.modeled / self.measured if self.modeled is not None and self.measured else None


@dataclass(frozen=True, slots=True)
class ProfileComparison:
    """A table of metrics, modeled against measured.

    Attributes:
        kernel: name of the kernel.
        modeled_on, measured_on: the GPUs.
        rows: the metrics that at least one side has.
        notes: how far the profile matches the machine code.
    """

    kernel: str
    modeled_on: str
    measured_on: str
    rows: tuple[MetricComparison, ...]
    notes: tuple[str, ...] = ()

    def text(self) -> str:
        """Return the table as text."""
        head = ("metric", "modeled", "measured", "ratio", "from")
        cells = [
            (row.name, _text(row.modeled, row.unit), _text(row.measured, row.unit), _ratio(row.ratio), row.origin)
            for row in self.rows
        ]
        widths = [max(len(line[k]) for line in [head, *cells]) for k in range(len(head))]
        lines = [f"{self.kernel}: modeled on {self.modeled_on}, measured on {self.measured_on or 'an unknown GPU'}"]
        for line in [head, *cells]:
            first, *numbers, last = (
                cell.ljust(width) if k in (0, 4) else cell.rjust(width)
                for k, (cell, width) in enumerate(zip(line, widths, strict=True))
            )
            lines.append("  ".join([first, *numbers, last]).rstrip())
        return "\n".join([*lines, *self.notes])

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "schema": "pyptx-profile-comparison",
            "version": 1,
            "kernel": self.kernel,
            "modeled_on": self.modeled_on,
            "measured_on": self.measured_on,
            "rows": [{**asdict(row), "ratio": row.ratio} for row in self.rows],
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        return self.text()


def compare_profile(matched: MatchedProfile, prediction: Prediction) -> ProfileComparison:
    """Compare a prediction with a profile of the same launch.

    Args:
        matched: the profile.
        prediction: of `estimate`, with its attribution.
    """
    rows = tuple(row for row in _rows(matched, prediction) if not (row.modeled is None and row.measured is None))
    return ProfileComparison(
        matched.profile.name,
        prediction.gpu,
        matched.profile.gpu,
        rows,
        tuple(f"note: {note}" for note in matched.notes),
    )


def _rows(matched: MatchedProfile, prediction: Prediction) -> Iterator[MetricComparison]:
    profile = matched.profile
    time = _base(profile, "gpu__time_duration.sum", "gpu__time_duration.avg", "Duration")
    yield MetricComparison("duration", "s", prediction.seconds, time, "gpu__time_duration")
    clock = _base(profile, "smsp__cycles_elapsed.avg.per_second", "gpc__cycles_elapsed.avg.per_second", "SM Frequency")
    yield MetricComparison("SM clock", "Hz", prediction.clock_hz or None, clock, "smsp__cycles_elapsed")
    moved = [_base(profile, f"dram__bytes_{way}.sum") for way in ("read", "write")]
    for way, value in zip(("read", "write"), moved, strict=True):
        modeled = prediction.bytes.get(f"dram_{way}")
        yield MetricComparison(f"DRAM bytes, {way}", "B", modeled, value, f"dram__bytes_{way}.sum")
    sectors = _base(profile, "lts__t_sectors_srcunit_tex.sum")
    l2 = None if sectors is None else sectors * _SECTOR
    yield MetricComparison("L2 bytes of SMs", "B", prediction.bytes.get("l2"), l2, "lts__t_sectors_srcunit_tex.sum")
    warps = _base(profile, "sm__warps_active.avg.pct_of_peak_sustained_active", "Achieved Occupancy")
    occupancy = 100 * prediction.occupancy.fraction
    yield MetricComparison("occupancy", "%", occupancy, warps, "sm__warps_active")
    for name, term in _THROUGHPUTS.items():
        value = _base(profile, name)
        if value is not None:
            yield MetricComparison(f"{term} utilization", "%", 100 * prediction.share(term), value, name.split(".")[0])
    yield from _stalls(matched, prediction)


def _stalls(matched: MatchedProfile, prediction: Prediction) -> Iterator[MetricComparison]:
    """Yield the shares of the samples by reason of the model."""
    measured: dict[str, float] = {}
    origins: dict[str, list[str]] = {}
    for one in matched.profile.instructions:
        for reason, samples in one.stalls.items():
            name = STALL_REASONS.get(reason, ("", ""))[1] or reason
            measured[name] = measured.get(name, 0.0) + samples
            if reason not in origins.setdefault(name, []):
                origins[name].append(reason)
    total = sum(measured.values())
    modeled = _modeled_stalls(prediction)
    for name in sorted({*measured, *modeled}, key=lambda name: -measured.get(name, 0.0)):
        share = 100 * measured.get(name, 0.0) / total if total else None
        ours = modeled.get(name) if modeled else None
        if (share or 0) < 0.05 and (ours or 0) < 0.05:
            continue
        title = "issuing" if name == "issue" else f"stalled: {name}"
        yield MetricComparison(title, "%", ours, share, ", ".join(origins.get(name, ())))


def _modeled_stalls(prediction: Prediction) -> Mapping[str, float]:
    """Return the percentages of the warps' time by reason."""
    found: dict[str, float] = {}
    for one in prediction.attribution.instructions if prediction.attribution else ():
        found["issue"] = found.get("issue", 0.0) + one.issue
        for reason, seconds in one.stalls.items():
            name = "wgmma" if reason == "wgmma" else reason
            found[name] = found.get(name, 0.0) + seconds
    total = sum(found.values())
    return {name: 100 * seconds / total for name, seconds in found.items()} if total else {}


def _base(profile: KernelProfile, *names: str) -> float | None:
    """Return the first of several metrics that the report has, in base units."""
    return next((profile.metrics[name].base for name in names if name in profile.metrics), None)


def _text(value: float | None, unit: str) -> str:
    if value is None:
        return "-"
    if unit == "%":
        return f"{value:.1f} %"
    for scale, prefix in (
        (1e12, "T"),
        (1e9, "G"),
        (1e6, "M"),
        (1e3, "k"),
        (1, ""),
        (1e-3, "m"),
        (1e-6, "u"),
        (1e-9, "n"),
    ):
        if abs(value) >= scale:
            return f"{value / scale:.4g} {prefix}{unit}"
    return f"{value:g} {unit}"


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
