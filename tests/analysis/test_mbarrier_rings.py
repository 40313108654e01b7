"""The mbarriers that the model groups into one ring, and into a ring for each warpgroup."""

from __future__ import annotations

import numpy as np

from pyptx.analysis.model.mbarrier_rings import find_rings

FIRST, SECOND, THIRD = (0, 1, 2, 3), (4, 5, 6, 7), (8,)


def rings(*instructions: tuple[set[int], set[tuple[int, ...]]]):
    """Return instructions, each with its mbarriers and the slices that execute it."""
    executes = {
        team: np.array([team in slices for _, slices in instructions], float) for team in (FIRST, SECOND, THIRD)
    }
    barriers = [frozenset(own) for own, _ in instructions]
    return find_rings([object()] * len(instructions), barriers, frozenset(), executes)


def test_stages_that_a_producer_fills_in_turns_are_one_ring():
    found = rings(({8, 16}, {THIRD}), ({8, 16}, {FIRST, SECOND}))
    assert found[0][THIRD] is found[1][FIRST] is found[1][SECOND]
    assert found[0][THIRD].stages == 2


def test_mbarriers_that_teams_have_each_for_itself_are_rings_of_their_own():
    """A thread starts the products of two tiles; the warps of both wait by the same instruction, each for its own."""
    found = rings(({8}, {THIRD}), ({16}, {THIRD}), ({8, 16}, {FIRST, SECOND}))
    assert found[0][THIRD] is found[2][FIRST]
    assert found[1][THIRD] is found[2][SECOND]
    assert found[2][FIRST] is not found[2][SECOND]
    assert found[2][FIRST].stages == 1


def test_a_ring_that_one_team_uses_alone_stays_one():
    found = rings(({8}, {THIRD}), ({8, 16}, {FIRST}))
    assert found[0][THIRD] is found[1][FIRST]
