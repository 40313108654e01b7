"""Seconds of several candidates, side by side: rounds in which each runs once, in a new random order, cold.

Before each run the L2 is written over with twice its size; events stand around the launch, which waits in the stream
behind that write, so that the host's part does not count. A round whose reference drifts by more than 2 % from its
start to its end is run again. Medians with the order statistics that enclose them in 95 % of samples; never minima.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any, Protocol

from pyptx.tune.statistics import Median, median_interval

WARM, LEAST, DRIFT, EXACT = 3, 9, 0.02, 0.005
AHEAD = 3  # writes over the L2 before a run: the host gets ahead
LOAD_S, MOST_LOAD = 0.1, 500  # work while clock and power are read: seconds, launches


class Clock(Protocol):
    def seconds(self, work: Callable[[], Any]) -> float:
        """Of one run, cold."""

    def load(self, work: Callable[[], Any], seconds: float) -> dict[str, Any]:
        """Clock, power, temperature and whether it is throttled while work that takes so long runs over and over, and
        the seconds of one run then: warm, and as slow as the power allows."""


class Events:
    """A clock of torch's CUDA events.

    Args:
        state: what tells clock, power and temperature now.
    """

    def __init__(self, torch: Any, device: Any, state: Callable[[], dict[str, Any]]):
        self.torch, self.state = torch, state
        properties = torch.cuda.get_device_properties(device)
        self.flush = torch.empty(max(1 << 20, 2 * properties.L2_cache_size), dtype=torch.uint8, device=device)

    def seconds(self, work: Callable[[], Any]) -> float:
        begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        for _ in range(AHEAD):
            self.flush.zero_()
        begin.record()
        work()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / 1e3

    def load(self, work: Callable[[], Any], seconds: float) -> dict[str, Any]:
        runs = min(MOST_LOAD, 1 + int(LOAD_S / seconds))
        begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(runs):
            work()
        end.record()
        found = self.state()  # the GPU is still at it
        end.synchronize()
        return found | {"seconds": begin.elapsed_time(end) / 1e3 / runs}


@dataclass(frozen=True)
class Timed:
    """Seconds of a candidate, and the reference's seconds over its own, each a median with its interval."""

    seconds: Median
    ratio: Median
    rounds: int


def race(
    candidates: Mapping[str, Callable[[], Any]], reference: str, clock: Clock, most: int = 50, seed: int = 0
) -> dict[str, Timed]:
    """Time all candidates until the intervals of all medians are within 0.5 %, or `most` rounds are over."""
    order = random.Random(seed)
    times: dict[str, list[float]] = {name: [] for name in candidates}
    ratios: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(WARM):
        for work in candidates.values():
            clock.seconds(work)
    rounds = again = 0
    while rounds < most:
        found = {}
        before = clock.seconds(candidates[reference])
        for name in order.sample(list(candidates), len(candidates)):
            found[name] = clock.seconds(candidates[name])
        after = clock.seconds(candidates[reference])
        if abs(after - before) > DRIFT * before and again < most:
            again += 1
            continue
        rounds += 1
        base = median((before, found[reference], after))
        for name, seconds in found.items():
            times[name].append(seconds)
            ratios[name].append(base / seconds)
        if rounds >= LEAST and all(median_interval(values).half_width < EXACT for values in times.values()):
            break
    return {name: Timed(median_interval(times[name]), median_interval(ratios[name]), rounds) for name in candidates}
