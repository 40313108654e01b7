"""A debugged run with stops gives the arrays and counters of the plain run, bit for bit, for the example kernels."""

from __future__ import annotations

import pytest

from tests.debug.both import CASES, Both


@pytest.mark.parametrize(
    "schedule, seed",
    [("late", 0), pytest.param("eager", 0, marks=pytest.mark.slow), pytest.param("random", 5, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("case", CASES)
def test_stops_change_no_bit(case: str, schedule: str, seed: int):
    both = Both(case, schedule, seed)
    run = both.run
    stops = 0
    while run.run(until=run.machine.step + (1, 7, 1, 61, 509)[stops % 5]):
        stops += 1
    assert run.machine.ended and run.machine.error is None and stops > 3
    both.require_same()
