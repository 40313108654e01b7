"""The detection rate of a check: correct kernels with each wait, barrier, fence, and count weakened in turn."""

from __future__ import annotations

import json

import pytest
from check.detection_rate import ALL, EQUIVALENT, RESULTS, keyed, missed, numbers
from check.example_kernels import EXAMPLES
from check.kernels import CLEAN

EVERY = 48  # without `slow`, one of this many mutants of the larger kernels is tested


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ALL)
def test_a_correct_kernel_has_no_findings(name):
    clean = ALL[name]
    assert (report := clean.check()).ok, report.text()
    assert (report := clean.check(clean.text())).ok, report.text()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", CLEAN)
def test_all_mutants_of_small_kernels_are_found_except_equivalent_ones(name):
    assert {key for key, _ in missed(name)} == {key for key in EQUIVALENT if key.kernel == name}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", EXAMPLES)
def test_sampled_mutants_of_larger_kernels_are_found(name):
    """One may be missed, so that an example can change before the list of equivalent mutants does."""
    assert sum(1 for _ in missed(name, EVERY, skip=EQUIVALENT)) <= 1


def test_the_recorded_detection_rate_is_at_least_98_percent():
    results = json.loads(RESULTS.read_text())
    assert results["total"] == numbers(results["kernels"])
    assert results["total"]["share_less_equivalent"] >= 0.98
    assert results["kernels"].keys() == {name for name in ALL if any(True for _ in keyed(name))}


@pytest.mark.slow
def test_the_detection_rate_of_a_sixth_is_at_least_98_percent():
    """detection_rate.py tries all mutants, lists the missed ones and updates the numbers."""
    tried = [key for name in ALL for k, (key, _) in enumerate(keyed(name)) if k % 6 == 0 and key not in EQUIVALENT]
    lost = [key for name in ALL for key, _ in missed(name, every=6, skip=EQUIVALENT)]
    assert len(lost) <= 0.02 * len(tried), lost
