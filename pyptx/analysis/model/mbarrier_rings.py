"""Rings of mbarriers: the instructions that fill and empty the stages of a pipeline, as observed by the simulator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pyptx.sim.actions import (
    Action,
    BulkCopy,
    CpAsyncArrive,
    MbarrierInit,
    MbarrierTest,
    MbarrierWait,
    Tcgen05Commit,
    TensorCopy,
)

__all__ = ["Ring", "find_rings"]

Warps = tuple[int, ...]  # warps of a slice


@dataclass(frozen=True, slots=True)
class Ring:
    """mbarriers used in rotation.

    Attributes:
        number: number of the ring.
        stages: number of its mbarriers.
        filled_by: agent that completes its phases: "TMA", "tensor cores", "cp.async" or "warps".
        starts_free: the first wait for each stage passes at once: waits are for free stages, not for data.
    """

    number: int
    stages: int
    filled_by: str
    starts_free: bool


def find_rings(
    actions: Sequence[Action],
    barriers: Sequence[frozenset[int]],
    initially_free: frozenset[int],
    executes: Mapping[Warps, np.ndarray],
) -> dict[int, dict[Warps, Ring]]:
    """Return instruction -> warps of a slice -> ring.

    Args:
        actions: decoded instructions.
        barriers: the mbarriers each instruction operated on.
        initially_free: instructions whose first wait passed before any arrival.
        executes: warps of a slice -> executions of each instruction.
    """
    group: dict[int, int] = {}

    def root(address: int) -> int:
        while group.setdefault(address, address) != address:
            address = group[address]
        return address

    for own in barriers:
        for address in own:
            group[root(address)] = root(min(own))
    members: dict[int, list[int]] = {}
    for number, own in enumerate(barriers):
        if own:
            members.setdefault(root(min(own)), []).append(number)
    found: dict[int, dict[Warps, Ring]] = {}
    number = 0
    for own in (own for _, own in sorted(members.items())):
        starts_free = any(k in initially_free for k in own if isinstance(actions[k], MbarrierWait | MbarrierTest))
        of = {k: tuple(warp_slice for warp_slice, counts in executes.items() if counts[k]) for k in own}
        parts = _apart([k for k in own if not isinstance(actions[k], MbarrierInit)], barriers, of)
        for warp_slice, addresses in parts.items():
            ring = Ring(number, len(addresses), _filler([actions[k] for k in own]), starts_free)
            number += 1
            for k in own:
                if barriers[k] <= addresses:
                    found[k] = dict.fromkeys(executes, ring)
                elif warp_slice in of[k]:
                    found.setdefault(k, {})[warp_slice] = ring
    return found


def _apart(
    own: Sequence[int], barriers: Sequence[frozenset[int]], of: Mapping[int, tuple[Warps, ...]]
) -> dict[Warps, frozenset[int]]:
    """Split the mbarriers of a ring by slice, when slices use separate mbarriers through the same instructions."""
    addresses = sorted(frozenset().union(*(barriers[k] for k in own)))
    slices = sorted({warp_slice for k in own if len(of[k]) > 1 for warp_slice in of[k]})
    size, rest = divmod(len(addresses), max(1, len(slices)))
    parts = {warp_slice: frozenset(addresses[i * size : (i + 1) * size]) for i, warp_slice in enumerate(slices)}
    alone = [barriers[k] for k in own if len(of[k]) == 1]
    apart = alone and all(any(one <= part for part in parts.values()) for one in alone)
    return parts if len(slices) > 1 and size and not rest and apart else {(): frozenset(addresses)}


def _filler(actions: Sequence[Action]) -> str:
    if any(isinstance(action, TensorCopy | BulkCopy) for action in actions):
        return "TMA"
    if any(isinstance(action, Tcgen05Commit) for action in actions):
        return "tensor cores"
    return "cp.async" if any(isinstance(action, CpAsyncArrive) for action in actions) else "warps"
