"""Time of a repeated call of a small kernel on the simulator:  python tests/benchmarks/sim_calls.py [rounds]

The vector addition of the examples over 1,024 and 16,384 numbers, one and 4 CTAs, called with `out=` and with a new output.
CPU time of a call in microseconds: the least and the median of the rounds; and of the least, what the C core takes.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from examples.vector_add import vector_add
from pyptx.sim.core.library import core

CALLS = 20  # of a round


def rounds_of(call: Callable[[], object], rounds: int) -> list[float]:
    """Return microseconds of CPU time of a call, one for each round."""
    call()
    times = []
    for _ in range(rounds):
        started = time.process_time_ns()
        for _ in range(CALLS):
            call()
        times.append((time.process_time_ns() - started) / CALLS / 1e3)
    return times


def main(rounds: int = 300) -> None:
    library, inside = core(), [0]
    plain = library.core_run

    def timed(*arguments: int) -> int:
        started = time.perf_counter_ns()
        status = plain(*arguments)
        inside[0] = time.perf_counter_ns() - started
        return status

    random = np.random.default_rng(0)
    print(f"microseconds of CPU time of a call{'':26}     least   median   of the least, core_run")
    for size in (1024, 16384):
        a, b = (random.standard_normal(size, dtype=np.float32) for _ in range(2))
        out = np.empty_like(a)
        for name, call in (
            ("out=", lambda a=a, b=b, out=out: vector_add(a, b, out=out)),
            ("new output", lambda a=a, b=b: vector_add(a, b)),
        ):
            times = rounds_of(call, rounds)
            core_times = []
            with patch.object(library, "core_run", timed):
                for _ in range(rounds):
                    call()
                    core_times.append(inside[0] / 1e3)
            label = f"vector_add of {size:,}, {name}"
            print(f"{label:60}{min(times):10.1f}{statistics.median(times):9.1f}{min(core_times):12.1f}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
