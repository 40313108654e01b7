"""Racing: find the fastest of several configurations with as few runs as the noise permits.

Screening runs each configuration a few times and drops those that are clearly slower. In the race, the rest run in
rounds, once per round in a new random order, so that drift of clock and temperature affects all equally. A reference
runs at both ends of a round, and every time is divided by the reference's time of that round. Times of the same round
are compared in pairs by the sign test. Times come from a Timer.

Statistics are medians, never minima, which have the least regret on noisy measurements.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Protocol

from pyptx.tune.statistics import Median, median_interval, sign_test

__all__ = ["Race", "RaceSettings", "Screening", "RaceResult", "Timer", "screen"]


class Timer(Protocol):
    """Runs configurations and times them."""

    def sample(self, name: str, count: int) -> Sequence[float]:
        """Return the times in seconds of `count` consecutive runs."""
        ...

    def conditions(self) -> Mapping[str, Any]:
        """Return current clock, power and temperature as far as known; {"throttled": True} while the GPU throttles."""
        ...


@dataclass(frozen=True, slots=True)
class RaceSettings:
    """Parameters of screening and race; ratios are relative to the best time so far.

    Attributes:
        warmup: discarded runs of the screening.
        first: runs after which slow configurations are dropped.
        more: further runs of the others.
        slow: ratio above which a configuration is dropped in the screening.
        near: ratio up to which a configuration takes part in the race.
        min_rounds, max_rounds: rounds before the first decision, and in total.
        significance: p-value of the sign test below which a configuration counts as slower.
        precision: relative half-width of the leader's interval at which the race may end.
        drift: relative change of the reference within a round that invalidates the round.
        clock_drop: relative change of the clock that invalidates a round.
        retries: repetitions of an invalid round.
        pause_s: pause before a repetition in seconds.
        eliminate: drop configurations that are significantly slower; otherwise all run until every interval has the
            precision.
    """

    warmup: int = 3
    first: int = 3
    more: int = 6
    slow: float = 1.3
    near: float = 1.1
    min_rounds: int = 9
    max_rounds: int = 50
    significance: float = 0.01
    precision: float = 0.005
    drift: float = 0.02
    clock_drop: float = 0.03
    retries: int = 3
    pause_s: float = 0.5
    eliminate: bool = True


@dataclass(frozen=True, slots=True)
class Screening:
    """Times of one configuration; `stays` is False when it was dropped."""

    seconds: tuple[float, ...]
    stays: bool

    @property
    def median(self) -> Median:
        return median_interval(self.seconds)


def screen(timer: Timer, name: str, best: float | None, settings: RaceSettings = RaceSettings()) -> Screening:
    """Run a configuration a few times.

    Args:
        timer: runs the configurations.
        name: the configuration.
        best: median time of the best one so far in seconds.
        settings: numbers of runs and ratios.
    """
    timer.sample(name, settings.warmup)
    seconds = list(timer.sample(name, settings.first))
    if best is not None and median(seconds) > settings.slow * best:
        return Screening(tuple(seconds), False)
    seconds += timer.sample(name, settings.more)
    return Screening(tuple(seconds), True)


@dataclass(slots=True)
class RaceResult:
    """Result of one configuration.

    Attributes:
        name: the configuration.
        seconds: median and interval, scaled by the reference's median.
        rounds: rounds in which it ran.
        slower: p-value with which it was dropped; None when it finished.
        ratios: its time relative to the reference's, by number of the round.
    """

    name: str
    seconds: Median
    rounds: int
    slower: float | None = None
    ratios: Mapping[int, float] = field(default_factory=dict)


@dataclass
class Race:
    """A race of configurations.

    Args:
        timer: runs the configurations.
        settings: rounds and criteria.
        seed: seed of the random orders.
        step: called before each run; may raise to end the race.
        failed: called with the name and the error when a run raises one of `errors`; the configuration drops out.
        errors: exceptions that fail a configuration.
        sleep: waits before a repeated round.
    Attributes:
        log: one entry for each attempt of a round: reference times, disturbance, conditions.
    """

    timer: Timer
    settings: RaceSettings = field(default_factory=RaceSettings)
    seed: int = 0
    step: Callable[[], None] = lambda: None
    failed: Callable[[str, Exception], None] | None = None
    errors: tuple[type[Exception], ...] = ()
    sleep: Callable[[float], None] = time.sleep
    log: list[dict[str, Any]] = field(default_factory=list)

    def run(self, names: Sequence[str], reference: str) -> list[RaceResult]:
        """Race until the leader is known precisely enough; return the results, fastest first.

        Args:
            names: the configurations.
            reference: a configuration that runs at both ends of every round, usually the best so far.
        """
        rng = random.Random(self.seed)
        ratios: dict[str, dict[int, float]] = {name: {} for name in names}
        out: dict[str, float] = {}
        references: list[float] = []
        for number in range(self.settings.max_rounds):
            running = [name for name in names if name not in out]
            if not running:
                break
            found = self._round(number, running, reference, rng)
            if found is None:
                break
            scale, seconds, gone = found
            references.append(scale)
            for name, value in seconds.items():
                ratios[name][number] = value / scale
            for name in gone:
                out[name] = 0.0
                del ratios[name]
            if number + 1 >= self.settings.min_rounds and self._decided(ratios, out):
                break
        return self._results(ratios, out, references)

    def _round(
        self, number: int, running: list[str], reference: str, rng: random.Random
    ) -> tuple[float, dict[str, float], list[str]] | None:
        """Return (time of the reference, times by name, names that failed); None when the reference fails."""
        gone: list[str] = []
        for attempt in range(self.settings.retries + 1):
            before = self.timer.conditions()
            start = self._one(reference, gone)
            if start is None:
                return None
            seconds = {}
            for name in rng.sample(running, len(running)):
                if name not in gone and (value := self._one(name, gone)) is not None:
                    seconds[name] = value
            end = self._one(reference, gone)
            if end is None:
                return None
            after = self.timer.conditions()
            disturbance = self._disturbance(start, end, before, after)
            self.log.append(
                {"round": number, "attempt": attempt, "reference": [start, end], "disturbed": disturbance, **after}
            )
            if disturbance is None or attempt == self.settings.retries:  # no quiet round: accepted, and logged
                return (start + end) / 2, seconds, gone
            self.sleep(self.settings.pause_s)
        raise AssertionError("the last attempt of a round returns")

    def _one(self, name: str, gone: list[str]) -> float | None:
        self.step()
        try:
            return self.timer.sample(name, 1)[0]
        except self.errors as error:
            gone.append(name)
            if self.failed is not None:
                self.failed(name, error)
            return None

    def _disturbance(self, start: float, end: float, before: Mapping[str, Any], after: Mapping[str, Any]) -> str | None:
        if abs(end / start - 1) > self.settings.drift:
            return f"the reference drifted by {end / start - 1:+.1%}"
        if after.get("throttled"):
            return "the GPU throttles"
        first, last = before.get("clock_hz"), after.get("clock_hz")
        if first and last and last < first * (1 - self.settings.clock_drop):
            return f"the clock fell by {1 - last / first:.1%}"
        return None

    def _decided(self, ratios: dict[str, dict[int, float]], out: dict[str, float]) -> bool:
        """Drop configurations that are significantly slower than the leader; return True when the race may end."""
        medians = {
            name: median_interval(list(values.values()))
            for name, values in ratios.items()
            if name not in out and values
        }
        if not medians:
            return True
        if not self.settings.eliminate:
            return all(one.half_width < self.settings.precision for one in medians.values())
        leader = min(medians, key=lambda name: medians[name].value)
        for name in medians:
            if name == leader:
                continue
            pairs = [ratios[name][r] - ratios[leader][r] for r in ratios[name].keys() & ratios[leader].keys()]
            probability = sign_test(pairs)
            if probability < self.settings.significance and median(pairs) > 0:
                out[name] = probability
        return all(name in out for name in medians if name != leader) or (
            medians[leader].half_width < self.settings.precision
        )

    def _results(
        self, ratios: dict[str, dict[int, float]], out: dict[str, float], references: list[float]
    ) -> list[RaceResult]:
        scale = median(references) if references else 0.0
        found = []
        for name, values in ratios.items():
            if values:
                one = median_interval(list(values.values()))
                seconds = Median(part * scale for part in one)
                found.append(RaceResult(name, seconds, len(values), out.get(name), values))
        return sorted(found, key=lambda s: (s.slower is not None, s.seconds.value))
