"""Measured times: candidates race on a CUDA stream, in rounds of random order, each run with a cold L2."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from pyptx.benchmarking.candidates import Candidate
from pyptx.benchmarking.result import BenchmarkRow
from pyptx.errors import BackendError, DeviceError
from pyptx.runtime.cuda.driver import Device, Driver
from pyptx.tune.event_timer import EventTimer
from pyptx.tune.graph_timer import GRAPH_BELOW_S, RUNS, GraphTimer
from pyptx.tune.race import Race, RaceResult, RaceSettings, Timer
from pyptx.tune.statistics import Median, median_interval, signed_rank_test

__all__ = ["IN_GRAPHS", "CallTimer", "Capture", "race", "summary"]

_SHORT = "short: the resolution of events is about 0.5 us"
IN_GRAPHS = f"short: timed in graphs of {RUNS} runs, without launches"
_CAPTURE_ERRORS = range(900, 920)  # CUDA_ERROR_STREAM_CAPTURE_*, CUDA_ERROR_CAPTURED_EVENT: the context stays usable


Capture = Callable[[list[Any]], AbstractContextManager[Any]]


@dataclass
class CallTimer:
    """Times callables on a stream; the Timer of a race. Short ones are timed in graphs.

    Args:
        driver, device: the CUDA driver and the GPU, whose context is current.
        stream: handle of the stream that the callables use.
        calls: the callables by name.
        now: returns the operating conditions.
        capture: returns a context in which the callables submit their work to a stream that can be captured, which it
            yields, and take memory that nothing else uses; what must live as long as the graphs is added to its argument.
            None: nothing is timed in graphs.
    """

    driver: Driver
    device: Device
    stream: Any
    calls: Mapping[str, Callable[[], object]]
    now: Callable[[], dict[str, Any]]
    capture: Capture | None = None
    notes: dict[str, str] = field(default_factory=dict)  # how short callables are timed
    _flushes: dict[str, int] = field(default_factory=dict)
    _kept: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.events = EventTimer(self.driver, self.device, self.stream)
        self.graphs = GraphTimer(self.events)

    def sample(self, name: str, count: int) -> Sequence[float]:
        """Return the times in seconds of `count` consecutive runs, each with a cold L2.

        Raises:
            BackendError: it submits no work to the stream.
        """
        if name not in self._flushes:
            self._flushes[name] = self.events.flushes_for(self.calls[name], f"timing {name}")
            times = self._by_events(name, 2)
            if not any(times):
                raise BackendError(f"{name} submits no work to the GPU", hint="its arrays must be on the GPU")
            if min(times) < GRAPH_BELOW_S:
                self._try_graph(name)
        return self.graphs.times(name, count) if name in self.graphs else self._by_events(name, count)

    def _by_events(self, name: str, count: int) -> list[float]:
        return self.events.times(self.calls[name], count, flushes=self._flushes[name], doing=f"timing {name}")

    def _try_graph(self, name: str) -> None:
        """Capture a short callable in a graph; a note says that it is, or why it is not."""
        self.notes[name] = _SHORT
        if self.capture is None:
            return
        try:
            with self.capture(self._kept) as stream:
                self.calls[name]()  # a library may allocate on the first run on a stream
                self.graphs.capture(name, self.calls[name], stream)
            self.notes[name] = IN_GRAPHS
        except Exception as error:  # synchronization, work on other streams, memory of the host
            if isinstance(error, DeviceError) and error.code not in _CAPTURE_ERRORS:
                raise
            self.notes[name] = f"{_SHORT}; it cannot be captured in a graph: {str(error).splitlines()[0]}"

    def conditions(self) -> Mapping[str, Any]:
        """Return clock, temperature, power and throttling as far as known."""
        return self.now()


def race(
    timer: Timer,
    candidates: Sequence[Candidate],
    baseline: str,
    settings: RaceSettings,
    seed: int = 0,
    note: Callable[[str], str] = lambda _: "",
) -> tuple[dict[str, BenchmarkRow], list[dict[str, Any]]]:
    """Race the candidates; return a row for each, and the log of the race.

    Every candidate runs once in each round, between two runs of the baseline; the race ends when all intervals are as
    narrow as the precision, or after the last round.

    Args:
        note: returns how the timer times a candidate, once it has.
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
            rows[one.name] = _row(one, result, base, note(one.name))
    return rows, run.log


def _row(candidate: Candidate, result: RaceResult, base: RaceResult | None, note: str) -> BenchmarkRow:
    speedup, p_value = None, None
    if base is not None and base is not result:
        shared = sorted(result.ratios.keys() & base.ratios.keys())
        speedup = median_interval([base.ratios[k] / result.ratios[k] for k in shared])
        p_value = signed_rank_test([result.ratios[k] - base.ratios[k] for k in shared])
    elif base is result:
        speedup = Median((1.0, 1.0, 1.0))
    return BenchmarkRow(
        candidate.name,
        candidate.against,
        "measured",
        result.seconds,
        speedup,
        p_value,
        result.rounds,
        note=note,
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
