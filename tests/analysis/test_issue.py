"""Modeled issue cycles."""

from __future__ import annotations

from pyptx.analysis.sass.issue import execution_counts, issue_cycles


def test_every_instruction_takes_a_cycle_at_least():
    assert issue_cycles([4, 1, 0, 13]) == 19


def test_what_was_executed_more_often_counts_more_often():
    assert issue_cycles([4, 1, 2], [1, 10, 0.5]) == 4 + 10 + 1


def test_an_instruction_ran_as_often_as_its_line_in_each_warp():
    """Rows 1 and 3 were issued 8 and 80 times by 8 warps; rows 0 and 2 are no instructions."""
    assert execution_counts([1, 3, 3, 1], [-1, 8, -1, 80]) == [1, 10, 10, 1]


def test_what_ptxas_added_ran_as_often_as_what_follows_it():
    assert execution_counts([-1, 0, -1, 1, -1], [4, 8]) == [1, 1, 2, 2, 2]


def test_nothing_counted_is_not_nothing_executed():
    assert execution_counts([0, 1], []) is None
    assert execution_counts([0, 1], [-1, 0]) is None
