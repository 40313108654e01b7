"""Rings of mbarriers: which instructions fill and empty the stages of a pipeline, as the simulator saw them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyptx.sim.actions.asynchronous import BulkCopy, CpArrive, MbarrierTest, MbarrierWait
from pyptx.sim.actions.basic import Action
from pyptx.sim.actions.tcgen05 import Commit
from pyptx.sim.actions.tensor_copies import TensorCopy

__all__ = ["Ring", "rings_of"]


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


def rings_of(actions: Sequence[Action], barriers: Sequence[frozenset[int]], free: frozenset[int]) -> dict[int, Ring]:
    """Instruction -> its ring.

    Args:
        barriers: the mbarriers each instruction worked on.
        free: instructions whose first wait passed before anybody had arrived.
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
    found: dict[int, Ring] = {}
    for number, (address, own) in enumerate(sorted(members.items())):
        stages = sum(root(other) == address for other in list(group))
        starts_free = any(k in free for k in own if isinstance(actions[k], MbarrierWait | MbarrierTest))
        ring = Ring(number, stages, _filler([actions[k] for k in own]), starts_free)
        found |= dict.fromkeys(own, ring)
    return found


def _filler(actions: Sequence[Action]) -> str:
    if any(isinstance(action, TensorCopy | BulkCopy) for action in actions):
        return "TMA"
    if any(isinstance(action, Commit) for action in actions):
        return "tensor cores"
    return "cp.async" if any(isinstance(action, CpArrive) for action in actions) else "warps"
