"""Rings of mbarriers: which instructions fill and empty the stages of a pipeline, as the simulator saw them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pyptx.sim.actions.asynchronous import BulkCopy, CpArrive, MbarrierInit, MbarrierTest, MbarrierWait
from pyptx.sim.actions.basic import Action
from pyptx.sim.actions.tcgen05 import Commit
from pyptx.sim.actions.tensor_copies import TensorCopy

__all__ = ["Ring", "rings_of"]

Warps = tuple[int, ...]         # of a team


@dataclass(frozen=True, slots=True)
class Ring:
    """mbarriers that take turns.

    Attributes:
        number: of the ring.
        stages: mbarriers of it.
        filled_by: what completes its phases: "TMA", "tensor cores", "cp.async" or "warps".
        starts_free: the first wait for each stage passes at once: who waits asks for room, not for data.
    """

    number: int
    stages: int
    filled_by: str
    starts_free: bool


def rings_of(actions: Sequence[Action], barriers: Sequence[frozenset[int]], free: frozenset[int],
             executes: Mapping[Warps, np.ndarray]) -> dict[int, dict[Warps, Ring]]:
    """Instruction -> team -> its ring.

    Args:
        barriers: the mbarriers each instruction worked on.
        free: instructions whose first wait passed before anybody had arrived.
        executes: team (its warps) -> how often it executed each instruction.
    """
    group: dict[int, int] = {}

    def root(address: int) -> int:
        while group.setdefault(address, address) != address:
            address = group[address]
        return address
    for own in barriers:
        first = min(own, default=None)
        for address in own:
            group[root(address)] = root(first)
    members: dict[int, list[int]] = {}
    for number, own in enumerate(barriers):
        if own:
            members.setdefault(root(min(own)), []).append(number)
    found: dict[int, dict[Warps, Ring]] = {}
    number = 0
    for own in (own for _, own in sorted(members.items())):
        starts_free = any(k in free for k in own if isinstance(actions[k], MbarrierWait | MbarrierTest))
        of = {k: tuple(team for team, counts in executes.items() if counts[k]) for k in own}
        parts = _apart([k for k in own if not isinstance(actions[k], MbarrierInit)], barriers, of)
        for team, addresses in parts.items():
            ring = Ring(number, len(addresses), _filler([actions[k] for k in own]), starts_free)
            number += 1
            for k in own:
                if barriers[k] <= addresses:
                    found[k] = dict.fromkeys(executes, ring)
                elif team in of[k]:
                    found.setdefault(k, {})[team] = ring
    return found


def _apart(own: Sequence[int], barriers: Sequence[frozenset[int]], of: Mapping[int, tuple[Warps, ...]]
           ) -> dict[Warps, frozenset[int]]:
    """The mbarriers of a ring; or of several, where each of some teams has its own through the same instructions, and
    no team goes from one to the other: then for each of the teams."""
    addresses = sorted(frozenset().union(*(barriers[k] for k in own)))
    teams = sorted({team for k in own if len(of[k]) > 1 for team in of[k]})
    size, rest = divmod(len(addresses), max(1, len(teams)))
    parts = {team: frozenset(addresses[i * size:(i + 1) * size]) for i, team in enumerate(teams)}
    alone = [barriers[k] for k in own if len(of[k]) == 1]
    apart = alone and all(any(one <= part for part in parts.values()) for one in alone)
    return parts if len(teams) > 1 and size and not rest and apart else {(): frozenset(addresses)}


def _filler(actions: Sequence[Action]) -> str:
    if any(isinstance(action, TensorCopy | BulkCopy) for action in actions):
        return "TMA"
    if any(isinstance(action, Commit) for action in actions):
        return "tensor cores"
    return "cp.async" if any(isinstance(action, CpArrive) for action in actions) else "warps"
