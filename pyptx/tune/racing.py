"""Which of several configurations is fastest, decided with as few runs as the noise allows.

Screening: a few runs each; what is clearly slower goes. Race: the rest run in rounds, each once a round in a new random
order, so that drift of clock and temperature hits all alike; a reference runs at both ends of a round, and every time
is divided by the reference's of that round. Pairs of one round are compared by the sign test. Nothing here knows a
clock: a Timer gives seconds.

Source: the method of the project's notes on timing (least regret among public measurements: medians, never minima).
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Protocol

from pyptx.tune.statistics import Median, median_of, sign_test

__all__ = ["Race", "Rules", "Screening", "Standing", "Timer", "screen"]


class Timer(Protocol):
    """What runs configurations."""

    def sample(self, name: Hashable, count: int) -> Sequence[float]:
        """Seconds of so many runs, one after another."""

    def conditions(self) -> Mapping[str, Any]:
        """Clock, power, temperature now, what is known of them; {"throttled": True} where the GPU slows itself down."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Attributes:
        warm, first, more: runs that are discarded, that decide about slow configurations, and for those that stay.
        slow: over this many times the best, a configuration is dropped after the first runs.
        near: within this many times the best, it is in the race.
        least, most: rounds before anything is decided, and in all.
        surely: probability of the sign test under which a configuration is slower.
        exact: half-width of the leader's interval at which the race may end.
        drift: change of the reference within a round that makes it be run again.
        cooler: change of the clock that does, and `pause_s`, seconds waited before.
    """

    warm: int = 3
    first: int = 3
    more: int = 6
    slow: float = 1.3
    near: float = 1.1
    least: int = 9
    most: int = 50
    surely: float = 0.01
    exact: float = 0.005
    drift: float = 0.02
    cooler: float = 0.03
    again: int = 3
    pause_s: float = 0.5


@dataclass(frozen=True, slots=True)
class Screening:
    """The runs of one configuration, and whether it stays."""

    seconds: tuple[float, ...]
    stays: bool

    @property
    def median(self) -> Median:
        return median_of(self.seconds)


def screen(timer: Timer, name: Hashable, best: float | None, rules: Rules = Rules()) -> Screening:
    """Run a configuration a few times.

    Args:
        best: median seconds of the best so far.
    """
    timer.sample(name, rules.warm)
    seconds = list(timer.sample(name, rules.first))
    if best is not None and median(seconds) > rules.slow * best:
        return Screening(tuple(seconds), False)
    seconds += timer.sample(name, rules.more)
    return Screening(tuple(seconds), True)


@dataclass(slots=True)
class Standing:
    """A configuration at the end of a race.

    Attributes:
        seconds: median and interval, at the reference's median speed.
        rounds: in which it ran.
        slower: the probability by which it was dropped, None for those that finished.
    """

    name: Hashable
    seconds: Median
    rounds: int
    slower: float | None = None


@dataclass
class Race:
    """Runs configurations against each other.

    Args:
        timer: what runs them.
        rules: when to stop.
        seed: of the orders.
        step: called before each run; may raise to end the race.
        failed: told when a run raises, with the name; that configuration leaves the race.
    """

    timer: Timer
    rules: Rules = field(default_factory=Rules)
    seed: int = 0
    step: Callable[[], None] = lambda: None
    failed: Callable[[Hashable, Exception], None] | None = None
    errors: tuple[type[Exception], ...] = ()
    sleep: Callable[[float], None] = time.sleep
    log: list[dict[str, Any]] = field(default_factory=list)

    def run(self, names: Sequence[Hashable], reference: Hashable) -> list[Standing]:
        """Race until the leader is known well enough; the standings, the fastest first.

        Args:
            reference: a configuration that runs at both ends of every round, usually the best so far.
        """
        rng = random.Random(self.seed)
        ratios: dict[Hashable, dict[int, float]] = {name: {} for name in names}
        out: dict[Hashable, float] = {}
        references: list[float] = []
        for number in range(self.rules.most):
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
            if number + 1 >= self.rules.least and self._decided(ratios, out):
                break
        return self._standings(ratios, out, references)

    def _round(self, number: int, running: list[Hashable], reference: Hashable, rng: random.Random
               ) -> tuple[float, dict[Hashable, float], list[Hashable]] | None:
        """(reference's seconds, seconds of each, those that failed); None when the reference itself fails."""
        gone: list[Hashable] = []
        for attempt in range(self.rules.again + 1):
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
            why = self._disturbed(start, end, before, after)
            self.log.append({"round": number, "attempt": attempt, "reference": [start, end], "disturbed": why, **after})
            if why is None or attempt == self.rules.again:      # it is never quiet here: taken as it is, and logged
                return (start + end) / 2, seconds, gone
            self.sleep(self.rules.pause_s)
        raise AssertionError("a round ends at its last attempt")

    def _one(self, name: Hashable, gone: list[Hashable]) -> float | None:
        self.step()
        try:
            return self.timer.sample(name, 1)[0]
        except self.errors as error:
            gone.append(name)
            if self.failed is not None:
                self.failed(name, error)
            return None

    def _disturbed(self, start: float, end: float, before: Mapping[str, Any], after: Mapping[str, Any]) -> str | None:
        if abs(end / start - 1) > self.rules.drift:
            return f"the reference drifted by {end / start - 1:+.1%}"
        if after.get("throttled"):
            return "the GPU slows itself down"
        clocks = before.get("clock_hz"), after.get("clock_hz")
        if all(clocks) and clocks[1] < clocks[0] * (1 - self.rules.cooler):
            return f"the clock fell by {1 - clocks[1] / clocks[0]:.1%}"
        return None

    def _decided(self, ratios: dict[Hashable, dict[int, float]], out: dict[Hashable, float]) -> bool:
        """Drop what is surely slower than the leader; whether the race may end."""
        medians = {name: median_of(list(values.values())) for name, values in ratios.items()
                   if name not in out and values}
        if not medians:
            return True
        leader = min(medians, key=lambda name: medians[name].value)
        for name in medians:
            if name == leader:
                continue
            pairs = [ratios[name][r] - ratios[leader][r] for r in ratios[name].keys() & ratios[leader].keys()]
            probability = sign_test(pairs)
            if probability < self.rules.surely and median(pairs) > 0:
                out[name] = probability
        return all(name in out for name in medians if name != leader) or (
            medians[leader].half_width < self.rules.exact)

    def _standings(self, ratios: dict[Hashable, dict[int, float]], out: dict[Hashable, float],
                   references: list[float]) -> list[Standing]:
        scale = median(references) if references else 0.0
        found = []
        for name, values in ratios.items():
            if values:
                one = median_of(list(values.values()))
                found.append(Standing(name, Median(part * scale for part in one), len(values), out.get(name)))
        return sorted(found, key=lambda s: (s.slower is not None, s.seconds.value))
