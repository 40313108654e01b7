"""Measured times: candidates race on a CUDA stream, in rounds of random order, each run with a cold L2."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from pyptx.benchmarking.candidates import Candidate
from pyptx.benchmarking.result import BenchmarkRow
from pyptx.errors import BackendError, DeviceError
from pyptx.runtime.cuda.driver import Device, Driver
from pyptx.tune.event_timer import EventTimer
from pyptx.tune.race import Race, RaceResult, RaceSettings, Timer
from pyptx.tune.statistics import Median, median_interval, signed_rank_test

__all__ = ["CallTimer", "race", "summary"]

_SHORT_S = 5e-6  # below, the resolution of events, about half a microsecond, matters


@dataclass
class CallTimer:
    """Times callables on a stream; the Timer of a race.

    Args:
        driver, device: the CUDA driver and the GPU, whose context is current.
        stream: handle of the stream that the callables use.
        calls: the callables by name.
        now: returns the operating conditions.
    """

    driver: Driver
    device: Device
    stream: Any
    calls: Mapping[str, Callable[[], object]]
    now: Callable[[], dict[str, Any]]
    _flushes: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.events = EventTimer(self.driver, self.device, self.stream)

    def sample(self, name: str, count: int) -> Sequence[float]:
        """Return the times in seconds of `count` consecutive runs, each with a cold L2.

        Raises:
            BackendError: it submits no work to the stream.
        """
        if name not in self._flushes:
            self._flushes[name] = self.events.flushes_for(self.calls[name], f"timing {name}")
        times = self.events.times(self.calls[name], count, flushes=self._flushes[name], doing=f"timing {name}")
        if not any(times):
            raise BackendError(f"{name} submits no work to the GPU", hint="its arrays must be on the GPU")
        return times

    def conditions(self) -> Mapping[str, Any]:
        """Return clock, temperature, power and throttling as far as known."""
        return self.now()


def race(
    timer: Timer, candidates: Sequence[Candidate], baseline: str, settings: RaceSettings, seed: int = 0
) -> tuple[dict[str, BenchmarkRow], list[dict[str, Any]]]:
    """Race the candidates; return a row for each, and the log of the race.

    Every candidate runs once in each round, between two runs of the baseline; the race ends when all intervals are as
    narrow as the precision, or after the last round.

    Raises:
        DeviceError: a kernel faulted, which ends the CUDA context.
    """
    failures: dict[str, str] = {}

    def failed(name: str, error: Exception) -> None:
        if isinstance(error, DeviceError):
            raise error
        failures[name] = f"{type(error).__name__}: {error}".split("\n")[0]

    running = []
    for one in candidates:
        try:
            timer.sample(one.name, settings.warmup)
            running.append(one.name)
        except Exception as error:  # of a callable of the user; faults of the GPU are raised
            failed(one.name, error)
    reference = baseline if baseline in running else next(iter(running), None)
    run = Race(timer, settings, seed=seed, failed=failed, errors=(Exception,))
    results = {} if reference is None else {one.name: one for one in run.run(running, reference)}
    base = results.get(baseline)
    rows = {}
    for one in candidates:
        result = results.get(one.name)
        if result is None or one.name in failures:
            problem = failures.get(one.name, "it was not timed: the baseline failed")
            rows[one.name] = BenchmarkRow(one.name, one.against, problem=problem)
        else:
            rows[one.name] = _row(one, result, base)
    return rows, run.log


def _row(candidate: Candidate, result: RaceResult, base: RaceResult | None) -> BenchmarkRow:
    speedup, p_value = None, None
    if base is not None and base is not result:
        shared = sorted(result.ratios.keys() & base.ratios.keys())
        speedup = median_interval([base.ratios[k] / result.ratios[k] for k in shared])
        p_value = signed_rank_test([result.ratios[k] - base.ratios[k] for k in shared])
    elif base is result:
        speedup = Median((1.0, 1.0, 1.0))
    short = "short: the resolution of events is about 0.5 us" if result.seconds.value < _SHORT_S else ""
    return BenchmarkRow(
        candidate.name,
        candidate.against,
        "measured",
        result.seconds,
        speedup,
        p_value,
        result.rounds,
        note=short,
    )


def summary(log: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the operating conditions over a race: numbers of rounds, ranges of clock, power and temperature."""
    found: dict[str, Any] = {
        "rounds": len({entry["round"] for entry in log}),
        "repeated": sum(entry["disturbed"] is not None for entry in log),
        "throttled": sum(bool(entry.get("throttled")) for entry in log),
    }
    for name in ("clock_hz", "temperature", "watts"):
        if values := [entry[name] for entry in log if name in entry]:
            found[name] = [min(values), max(values)]
            found[f"{name}_median"] = median(values)
    return found
