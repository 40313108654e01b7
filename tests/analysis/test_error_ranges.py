"""Error ranges, confidence, and the configurations that the performance model does not distinguish."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from math import exp
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import pyptx
from pyptx.analysis.model.confidence import busy_notes
from pyptx.analysis.model.error_ranges import DATA, SHARE
from pyptx.analysis.model.estimate import estimate
from pyptx.tune.points import resolution_note
from pyptx.tune.trial import Trial
from pyptx.workbench.roofline import point_of

SLEEPER = """
.version 8.5
.target sm_90
.address_size 64
.visible .entry sleeper(.param .u64 out)
{
    .reg .u64 %rd<2>;
    .reg .u32 %r<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, 20;
    nanosleep.u32 %r1;
    st.global.u32 [%rd1], %r1;
    ret;
}
"""


def launch(text: str, name: str):
    return estimate(pyptx.load(text)[name], np.zeros(32, np.uint32), grid=(8,), block=(32,), device="H200")


@pytest.fixture(scope="module")
def ranges():
    """tests/benchmarks/error_ranges.py, which derives the ranges."""
    path = Path(__file__).parents[1] / "benchmarks" / "error_ranges.py"
    spec = importlib.util.spec_from_file_location("benchmark_of_error_ranges", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_stored_ranges_follow_from_the_recorded_errors(ranges):
    """When this fails: python tests/benchmarks/error_ranges.py --write"""
    _, errors = ranges.recorded_errors()
    data = json.loads(DATA.read_text(encoding="utf-8"))
    assert data["share"] == SHARE and data["ranges"] == ranges.ranges_to_json(ranges.derive_ranges(errors))


@pytest.mark.parametrize("key", ["half", "source", "ladder"])
def test_ranges_hold_the_claimed_share_of_times_that_take_no_part(ranges, key):
    groups = ranges.inside_left_out(ranges.recorded_errors()[1], key)
    inside = [each for group in groups.values() for each in group]
    assert len(inside) > 500 and sum(inside) >= (SHARE - 0.01) * len(inside)


def ladder_of(ranges, name: str, random: np.random.Generator, rungs: int, bound: str = "dram", shared: float = 0.2):
    """Rungs of one kernel: they share most of their error."""
    error = random.normal(0, shared)
    ratios = np.exp(error + random.normal(0, 0.05, rungs))
    return [
        ranges.UnseenError("half", "source", name, str(k), "H200", bound, "normal", float(ratio))
        for k, ratio in enumerate(ratios)
    ]


def test_a_range_holds_the_claimed_share_of_new_ladders(ranges):
    """Also when one ladder has most of the rungs: its rungs are not independent."""
    random, inside, width = np.random.default_rng(0), [], []
    for _ in range(100):
        known = [
            ladder_of(ranges, f"ladder {k}", random, rungs)
            for k, rungs in enumerate((40, 4, 4, 5, 5, 6, 6, 8, 3, 3, 4, 5))
        ]
        found = ranges.derive_ranges([error for errors in known for error in errors])["all"]
        width.append(found.high / found.low)
        inside += [
            found.low <= 1 / one.ratio <= found.high for _ in range(20) for one in ladder_of(ranges, "", random, 3)
        ]
    assert SHARE - 0.02 <= np.mean(inside) <= 0.92
    assert np.median(width) < exp(2 * 2 * 0.2), "two standard deviations on either side"
    assert found.resolution == pytest.approx(exp(1.2816 * 2**0.5 * 0.05), rel=0.1)  # 80 % of |N(0, 2 * 0.05**2)|


def test_a_class_moves_away_from_the_common_range_with_its_ladders(ranges):
    """A class without ladders has the range of all or, since fewer count, a wider one; one of many ladders has its own."""
    random = np.random.default_rng(0)
    others = [one for k in range(60) for one in ladder_of(ranges, f"dram {k}", random, 3)]

    def high(ladders: int) -> float:
        exact = [one for k in range(ladders) for one in ladder_of(ranges, f"issue {k}", random, 3, "issue", 0.01)]
        return ranges.derive_ranges([*others, *exact])["issue and pipes"].high

    assert high(0) >= ranges.derive_ranges(others)["all"].high
    assert high(0) > high(30) > high(400) and high(400) < exp(0.3)


def test_an_unfamiliar_instruction_lowers_the_confidence_and_widens_the_range():
    found = launch(SLEEPER, "sleeper")
    assert found.confidence == "low" and found.notes == ("the cost of NANOSLEEP is not known",)
    plain = launch(SLEEPER.replace("nanosleep.u32 %r1;", ""), "sleeper")
    assert plain.confidence == "normal"
    low, high = found.interval
    assert low < found.seconds < high
    assert replace(found, notes=()).interval[0] >= low and replace(found, notes=()).interval[1] <= high
    assert "low confidence: the cost of NANOSLEEP is not known" in str(found)
    assert found.to_json()["interval"] == [low, high] and found.to_json()["resolution"] > 1
    work = SimpleNamespace(
        flops={"core.f32": 1}, bytes={"dram_read": 1, "dram_write": 1, "l2": 2, "shared": 0}, ctas=8, how=""
    )
    assert (point_of("sleeper", work, found).low, point_of("sleeper", work, found).high) == (low, high)


def test_tensor_cores_beside_busy_arithmetic_lower_the_confidence():
    assert busy_notes({"tensor": 0.8, "mufu": 0.7, "issue": 0.6}, 1.0) == (
        "tensor pipe 80 % and special functions 70 % busy: their overlap is uncertain",
    )
    assert busy_notes({"tensor": 0.9, "mufu": 0.3}, 1.0) == () == busy_notes({"mufu": 0.9, "issue": 0.9}, 1.0)


def test_configurations_near_the_best_are_counted():
    def trial(seconds: float, kind: str = "modeled") -> Trial:
        return Trial({}, state=kind, seconds=seconds, kind=kind, prediction={"resolution": 1.2})

    best = trial(1.0)
    assert resolution_note([best, trial(1.1), trial(1.19), trial(1.3)], best) == (
        "2 other configurations within 20 % of the best time: the model does not distinguish them"
    )
    assert resolution_note([best, trial(1.3)], best) == "" == resolution_note([], None)
    measured = trial(1.0, "measured")
    assert resolution_note([measured, trial(1.1)], measured) == ""
