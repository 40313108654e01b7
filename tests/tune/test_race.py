"""The race on timers with known times: noise, drift, throttling, and failing configurations."""

from __future__ import annotations

import random
from statistics import mean

import pytest

from pyptx.tune.race import Race, RaceSettings, screen
from pyptx.tune.statistics import median_interval, sign_test


class Noisy:
    """Seconds with multiplicative noise, and a drift that grows with every run."""

    def __init__(self, truth: dict[str, float], noise: float = 0.01, drift: float = 0.0, seed: int = 0):
        self.truth, self.noise, self.drift, self.runs = truth, noise, drift, []
        self._rng = random.Random(seed)

    def sample(self, name: str, count: int) -> list[float]:
        values = []
        for _ in range(count):
            self.runs.append(name)
            truth = self.truth[name] * (1 + self.drift * len(self.runs))
            values.append(truth * self._rng.lognormvariate(0, self.noise))
        return values

    def conditions(self) -> dict:
        return {}


def race(timer: Noisy, reference: str, **rules) -> list:
    return Race(timer, RaceSettings(pause_s=0, **rules), sleep=lambda s: None).run(list(timer.truth), reference)


def test_the_faster_one_wins_through_noise_larger_than_the_difference():
    wins = 0
    for seed in range(40):
        timer = Noisy({"a": 1.00, "b": 1.01, "c": 1.02, "d": 1.05}, noise=0.015, seed=seed)
        wins += race(timer, "b")[0].name == "a"
    assert wins >= 38


def test_drift_hits_all_alike_because_rounds_are_shuffled_and_divided_by_the_reference():
    found = []
    for seed in range(20):
        timer = Noisy({"a": 1.00, "b": 1.02}, noise=0.002, drift=0.002, seed=seed)  # 2 % in ten runs
        standings = race(timer, "a", drift=1.0)
        found.append(standings[0].name)
    assert found == ["a"] * 20


def test_what_is_surely_slower_is_dropped_and_the_leader_ends_the_race():
    timer = Noisy({"a": 1.0, "b": 1.08, "c": 1.09}, noise=0.003)
    standings = race(timer, "a")
    assert standings[0].name == "a"
    assert all(s.slower is not None and s.slower < 0.01 for s in standings[1:])
    assert standings[0].rounds <= 10
    assert standings[0].seconds.low <= 1.0 <= standings[0].seconds.high * 1.01


def test_equal_ones_end_at_the_precision_wanted_or_after_the_last_round():
    assert race(Noisy({"a": 1.0, "b": 1.0}, noise=0.002), "a")[0].rounds < 20
    assert race(Noisy({"a": 1.0, "b": 1.0}, noise=0.10), "a", drift=1.0)[0].rounds == 50


def test_a_round_in_which_the_reference_drifts_is_run_again():
    class Jumps(Noisy):
        def sample(self, name, count):
            scale = 1.5 if 20 <= len(self.runs) < 23 else 1.0  # somebody else used the GPU
            return [scale * v for v in super().sample(name, count)]

    timer = Jumps({"a": 1.0, "b": 1.01}, noise=0.001)
    run = Race(timer, RaceSettings(), sleep=lambda s: None)
    assert run.run(["a", "b"], "a")[0].name == "a"
    disturbed = [entry for entry in run.log if entry["disturbed"]]
    assert disturbed and "the reference drifted by" in disturbed[0]["disturbed"]
    assert {entry["round"] for entry in run.log} == set(range(max(e["round"] for e in run.log) + 1))


@pytest.mark.parametrize(
    "conditions, why",
    [
        ({"throttled": True}, "the GPU throttles"),
        ({"clock_hz": 1.0e9}, "the clock fell by 50.0%"),
    ],
    ids=["throttled", "clock"],
)
def test_a_gpu_that_slows_down_is_waited_for(conditions: dict, why: str):
    class Hot(Noisy):
        asked = 0

        def conditions(self):
            self.asked += 1
            return conditions if self.asked == 2 else {"clock_hz": 2.0e9}

    waits: list[float] = []
    run = Race(Hot({"a": 1.0, "b": 1.5}, noise=0.001), RaceSettings(), sleep=waits.append)
    run.run(["a", "b"], "a")
    assert why in run.log[0]["disturbed"] and waits == [0.5]


def test_a_configuration_that_fails_in_the_race_leaves_it():
    class Breaks(Noisy):
        def sample(self, name, count):
            if name == "b" and self.runs.count("b") == 3:
                raise TimeoutError("it hangs")
            return super().sample(name, count)

    told = []
    run = Race(
        Breaks({"a": 1.0, "b": 0.9, "c": 1.2}, noise=0.001),
        RaceSettings(),
        errors=(TimeoutError,),
        failed=lambda name, error: told.append((name, str(error))),
    )
    assert [s.name for s in run.run(["a", "b", "c"], "a")] == ["a", "c"]
    assert told == [("b", "it hangs")]


def test_screening_drops_what_is_clearly_slow_after_few_runs():
    timer = Noisy({"slow": 2.0, "near": 1.05}, noise=0.01)
    assert not screen(timer, "slow", best=1.0).stays
    assert timer.runs.count("slow") == 6
    found = screen(timer, "near", best=1.0)
    assert found.stays and len(found.seconds) == 9
    assert screen(timer, "slow", best=None).stays


def test_the_interval_of_a_median_holds_the_truth_as_often_as_it_says():
    rng = random.Random(1)
    for count in (9, 20, 50):
        inside = mean(
            found.low <= 0 <= found.high
            for found in (median_interval([rng.gauss(0, 1) for _ in range(count)]) for _ in range(400))
        )
        assert inside >= 0.93, count


def test_the_sign_test_equals_the_table():
    assert sign_test([1] * 8) == pytest.approx(2 / 256)
    assert sign_test([1, -1, 1, -1]) == 1.0
    assert sign_test([1] * 9 + [-1]) == pytest.approx(2 * 11 / 1024)
    assert sign_test([0, 0]) == 1.0
