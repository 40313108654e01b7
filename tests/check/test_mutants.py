"""The share of mutants that a check finds: right kernels with each wait, barrier, fence and count weakened in turn."""

from __future__ import annotations

import json

import pytest
from check.kernels import CLEAN
from check.of_examples import EXAMPLES
from check.soundness import ALL, EQUIVALENT, RESULTS, counted, keyed, missed, numbers

EVERY = 14                                      # of the mutants of the larger kernels, one in so many without `slow`


@pytest.mark.parametrize("name", ALL)
def test_nothing_is_found_in_a_kernel_that_is_right(name):
    clean = ALL[name]
    assert (report := clean.check()).ok, report.text()
    assert (report := clean.check(clean.text())).ok, report.text()


@pytest.mark.parametrize("name", CLEAN)
def test_mutants_of_small_kernels_are_found_but_for_those_listed(name):
    assert {key for key, _ in missed(name)} == {key for key in EQUIVALENT if key.kernel == name}


@pytest.mark.parametrize("name", EXAMPLES)
def test_one_in_so_many_of_the_others_is_found(name):
    """One more may be missed: an example that changes need not wait for the list of those that are equivalent."""
    assert len({key for key, _ in missed(name, EVERY)} - EQUIVALENT) <= 1


def test_at_least_98_of_100_were_found():
    results = json.loads(RESULTS.read_text())
    assert results["total"] == numbers(results["kernels"])
    assert results["total"]["share_less_equivalent"] >= 0.98
    assert results["kernels"].keys() == {name for name in ALL if any(True for _ in keyed(name))}


@pytest.mark.slow
def test_at_least_98_of_100_are_found():
    """What is missed and not listed, and what changed in the numbers: run soundness.py."""
    assert numbers(counted(ALL))["share_less_equivalent"] >= 0.98
