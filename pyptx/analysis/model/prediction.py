"""Result of the performance model for a launch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyptx.analysis.model.attribution import Attribution
from pyptx.analysis.model.error_ranges import SHARE, error_range
from pyptx.analysis.occupancy import Occupancy

__all__ = ["Prediction", "Repetition"]

BURST = 0.97  # relative duration at the boost clock, or of repeated launches, below which the text mentions it


class Repetition:
    """The duration of repeated launches, modeled when it is first asked for: that takes half as long as the prediction.

    Args:
        model: returns it, in seconds; kept until then.
    """

    def __init__(self, model: Callable[[], float]):
        self._model: Callable[[], float] | None = model
        self._seconds = 0.0

    @property
    def seconds(self) -> float:
        model = self._model
        if model is not None:
            self._seconds = model()
            self._model = None
        return self._seconds

    def __reduce__(self) -> tuple[Callable[..., Repetition], tuple[float]]:
        return _repetition, (self.seconds,)


def _repetition(seconds: float) -> Repetition:
    """Return a repetition whose duration is known."""
    return Repetition(lambda: seconds)


@dataclass(frozen=True)
class Prediction:
    """Modeled time of a launch, never a measurement.

    Attributes:
        seconds: duration in a long series of launches; infinite when the launch cannot run, with the reason in `summary`.
        terms: time each resource would need alone, in seconds: "issue", "fma", "alu", "mufu", "shared", "tensor", "tma",
            "l2", "dram", "atomics" (in one slice of L2), "ctas" (the start of one after the other), "pipeline" (an SM including its stalls) and "launch". They
            overlap; `seconds` is not their sum.
        bound: name of the limiting term.
        summary: the bottleneck as a phrase: "tensor pipe 71 %, waits for TMA, 4 stages".
        occupancy: resident blocks and warps of an SM.
        waves: blocks relative to the blocks resident on the GPU.
        gpu: name of the GPU.
        flops, bytes, ctas: work of the launch, as in `pyptx.analysis.work.count.Work`.
        notes: reasons for low confidence: modeled work that differs from the simulated work, clusters that do not predict
            each other, machine instructions whose cost is not known, scattered accesses, units whose overlap is uncertain.
        clock_hz: clock at which the board meets its power limit, or the boost clock.
        watts: power of the board at that clock.
        burst_seconds: duration at the boost clock: of a few launches, before power limits the clock.
        isolated_seconds: duration of a single launch between two events, as `do_bench` and nvbench measure it after they
            have overwritten L2: `seconds` and the latency of a launch that follows other work.
        repetition: what models `repeated_seconds`; None where `attribution` is.
        extrapolated: fraction of the cycles that stand for skipped iterations of loops and for skipped CTAs, 0..1.
        attribution: the time by machine instruction, PTX line and Python line; None from `predict` without
            `attribute_lines`, and when the launch cannot run.
        kind: "modeled".
    """

    seconds: float
    terms: Mapping[str, float]
    bound: str
    summary: str
    occupancy: Occupancy
    waves: float
    gpu: str
    flops: Mapping[str, int] = field(default_factory=dict)
    bytes: Mapping[str, int] = field(default_factory=dict)
    ctas: int = 0
    notes: tuple[str, ...] = ()
    clock_hz: float = 0.0
    watts: float = 0.0
    burst_seconds: float = 0.0
    isolated_seconds: float = 0.0
    repetition: Repetition | None = field(default=None, repr=False, compare=False)
    extrapolated: float = 0.0
    attribution: Attribution | None = field(default=None, repr=False, compare=False)
    kind: str = field(default="modeled", init=False)

    @property
    def repeated_seconds(self) -> float | None:
        """Seconds in a series of launches on the same data, of which L2 keeps what fits: as benchmarks that repeat a launch
        measure it. `seconds` is that of a launch whose data is not in L2. None where `attribution` is.
        """
        return None if self.repetition is None else self.repetition.seconds

    @property
    def confidence(self) -> str:
        """ "normal", or "low" with reasons in `notes`."""
        return "low" if self.notes else "normal"

    @property
    def interval(self) -> tuple[float, float]:
        """Seconds between which 80 % of the measured times of such launches are expected.

        It follows from the errors of ladders of published times, as the model was before it had seen them; with low
        confidence, it is the range of 90 % of them or wider. Source: `error_ranges`.
        """
        errors = error_range(self.bound)
        low, high = (errors.least, errors.most) if self.notes else (errors.low, errors.high)
        return self.seconds * low, self.seconds * high

    @property
    def resolution(self) -> float:
        """Factor between the modeled times of two variants of a kernel up to which their order is uncertain."""
        return error_range(self.bound).resolution

    def share(self, term: str) -> float:
        """Return the utilization of a resource, 0..1."""
        return self.terms.get(term, 0.0) / self.seconds if self.seconds else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return plain values; seconds are None when the launch cannot run."""
        return {
            "kind": self.kind,
            "gpu": self.gpu,
            "seconds": self.seconds if self.seconds < float("inf") else None,
            "interval": list(self.interval) if self.seconds < float("inf") else None,
            "interval_share": SHARE,
            "resolution": self.resolution,
            "terms": dict(self.terms),
            "bound": self.bound,
            "summary": self.summary,
            "waves": self.waves,
            "flops": dict(self.flops),
            "bytes": dict(self.bytes),
            "ctas": self.ctas,
            "confidence": self.confidence,
            "notes": list(self.notes),
            "clock_hz": self.clock_hz,
            "watts": self.watts,
            "burst_seconds": self.burst_seconds,
            "isolated_seconds": self.isolated_seconds,
            "repeated_seconds": self.repeated_seconds,
            "extrapolated": self.extrapolated,
            "occupancy": {
                "blocks": self.occupancy.blocks,
                "warps": self.occupancy.warps,
                "fraction": self.occupancy.fraction,
                "why": self.occupancy.why,
            },
        }

    def __str__(self) -> str:
        if self.seconds == float("inf"):
            return f"cannot run on {self.gpu}: {self.summary}"
        confidence = f" (low confidence: {'; '.join(self.notes)})" if self.notes else ""
        low, high = map(_time, self.interval)
        throttled = self.burst_seconds and self.burst_seconds < BURST * self.seconds
        burst = f"; {_time(self.burst_seconds)} before power limits the clock" if throttled else ""
        kept = self.repeated_seconds or self.seconds
        repeated = f"; {_time(kept)} repeated on data in L2" if kept < BURST * self.seconds else ""
        return f"{_time(self.seconds)} modeled on {self.gpu} ({low} to {high}{burst}{repeated}): {self.summary}{confidence}"


def _time(seconds: float) -> str:
    for unit, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds * 1e9:.3g} ns"
