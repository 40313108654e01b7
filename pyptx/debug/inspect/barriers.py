"""Barriers of a stopped launch: mbarriers with phase and pending counts, CTA barriers, the cluster barrier."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyptx.debug.inspect import python_names
from pyptx.debug.inspect.launch import StoppedLaunch
from pyptx.sim.actions import ClusterWait
from pyptx.sim.core.debug_state import EventKind, ResidentCta
from pyptx.sim.faults.deadlocks import Group, activity
from pyptx.sim.faults.mbarriers import MOST, is_mbarrier
from pyptx.sim.memory.address_space import SHARED_START

__all__ = ["Barrier", "barriers_of", "mbarrier_names", "wait_reason", "with_barrier_names"]

_MBARRIER = re.compile(r"the mbarrier (?:\S+ )?\(0x([0-9a-f]+)(?: of rank (\d+))?\)")


@dataclass(frozen=True, slots=True)
class Barrier:
    """One barrier; an mbarrier counts arrivals of threads, other barriers count warps.

    Attributes:
        address: in shared memory; None except for mbarriers.
        tx: expected bytes of transactions that have not completed; None except for mbarriers.
        waiters: (CTA, warp) pairs that wait at it.
    """

    kind: str  # mbarrier, named, cluster
    cta: int
    name: str
    address: int | None
    phase: int | None
    pending: int
    expected: int
    tx: int | None
    waiters: tuple[tuple[int, int], ...]


def barriers_of(launch: StoppedLaunch, resident: ResidentCta) -> list[Barrier]:
    """Return the barriers of a CTA that were used so far."""
    groups = [(warp, g) for warp in range(launch.plan.warps) for g in resident.groups(warp)]
    return [*_mbarriers(launch, resident), *_named(resident, groups), *_cluster(launch, resident)]


def mbarrier_names(launch: StoppedLaunch) -> dict[int, str]:
    """Return names of mbarriers by their address in shared memory: Python names, else names of PTX variables."""
    found: dict[int, str] = {}
    names = launch.names
    variables = {v.name: v for v in launch.program.shared_variables if v.address is not None}
    for name, memory in names.memories.items() if names is not None else ():
        if memory.type == "mbarrier" and memory.symbol in variables:
            start, count = (variables[memory.symbol].address or 0) + memory.offset, memory.shape[0]
            for k in range(count):
                found.setdefault(start + 8 * k, f"{name}[{k}]" if count > 1 else name)
    for name, address, count in _rings(launch):
        for k in range(count):
            found.setdefault(address + 8 * k, f"{name}[{k}]" if count > 1 else name)
    return found


def _rings(launch: StoppedLaunch) -> Iterator[tuple[str, int, int]]:
    """Yield name, address, and count of the mbarrier rings that have a name in the focused warp."""
    if launch.names is None or launch.resident(launch.focus.cta) is None:
        return
    state = launch.warp_state()

    def rings(name: str, binding: Any) -> Iterator[tuple[str, python_names.Ring]]:
        if isinstance(binding, python_names.Parts):
            for part, value in binding.attributes.items():
                yield from rings(f"{name}.{part}", value)
        elif isinstance(binding, python_names.Ring):
            yield name, binding

    for name, binding in launch.names.at(state.instruction).items():
        for path, ring in rings(name, binding):
            address = state.ring_address(ring) & 0xFFFFFF
            if address - ring.offset >= SHARED_START:  # else its base register is not written yet
                yield path, address, ring.count


def with_barrier_names(launch: StoppedLaunch, text: str) -> str:
    """Return a message of the simulator with names of mbarriers in place of their addresses."""
    known = mbarrier_names(launch)

    def name(found: re.Match[str]) -> str:
        rank = f" of rank {found[2]}" if found[2] else ""
        return f"{_mbarrier_name(launch, int(found[1], 16), known)}{rank}"

    return _MBARRIER.sub(name, text)


def wait_reason(launch: StoppedLaunch, group: Group) -> str:
    """Return what lanes wait for, as a phrase that follows "waits for"."""
    if group.state == "barrier":
        return f"{group.expected} warps at barrier {group.barrier}, {group.arrived} arrived"
    text = with_barrier_names(launch, activity(launch.program, group)).removeprefix("waits").strip()
    return text.removeprefix("for ") or launch.lines.text(group.instruction)


def _mbarrier_name(launch: StoppedLaunch, address: int, known: dict[int, str]) -> str:
    if address in known:
        return known[address]
    containing = [
        (v.address, v.name)
        for v in launch.program.shared_variables
        if v.address is not None and v.address <= address and (address - v.address < v.size or not v.size)
    ]
    if containing:
        start, name = max(containing, key=lambda item: item[0])
        return f"{name}+{address - start}" if address > start else name
    return f"0x{address:x}"


def _mbarriers(launch: StoppedLaunch, resident: ResidentCta) -> list[Barrier]:
    known = mbarrier_names(launch)
    events, _ = launch.machine.events()
    used = events[np.isin(events["kind"], (EventKind.WAITED, EventKind.PHASE))]["a"].tolist()
    flights = [f.barrier for f in resident.async_operations() if f.barrier is not None]
    addresses = (
        {address for address in known}
        | {a & 0xFFFFFFFF for a in used if a >> 32 == resident.id}
        | {at for cta, at in flights if cta == resident.id}
    )
    waiting: dict[int, list[tuple[int, int]]] = {}
    for other in launch.machine.residents():
        if other.cluster != resident.cluster:
            continue
        for warp in range(launch.plan.warps):
            for group in other.groups(warp):
                if group.state == "waiting" and group.address >> 24 == resident.rank and group.address & 0xFFFFFF:
                    waiting.setdefault(group.address & 0xFFFFFF, []).append((other.id, warp))
    memory, found = resident.shared, []
    for address in sorted(addresses | waiting.keys()):
        offset = address - SHARED_START
        if not 0 <= offset <= memory.size - 8:
            continue
        word = int(memory[offset : offset + 8].view(np.uint64)[0])
        if not is_mbarrier(word):
            continue  # not initialized, or invalidated
        tx = (word >> 40 & 0x1FFFFF) - (1 << 21 if word >> 60 & 1 else 0)
        found.append(
            Barrier(
                "mbarrier",
                resident.id,
                _mbarrier_name(launch, address, known),
                address,
                word >> 61 & 1,
                word & MOST,
                word >> 20 & MOST,
                tx,
                tuple(waiting.get(address, ())),
            )
        )
    return found


def _named(resident: ResidentCta, groups: Sequence[tuple[int, Group]]) -> list[Barrier]:
    found = []
    for number, arrived, expected, _ in resident.barriers():
        waiters = tuple(
            dict.fromkeys((resident.id, warp) for warp, g in groups if g.state == "barrier" and g.barrier == number)
        )
        pending = max(0, expected - arrived)
        found.append(Barrier("named", resident.id, f"barrier {number}", None, None, pending, expected, None, waiters))
    return found


def _cluster(launch: StoppedLaunch, resident: ResidentCta) -> list[Barrier]:
    """Return the cluster barrier, listed with the cluster's first CTA, while a warp waits at it."""
    if resident.rank:
        return []
    kinds = launch.program.kinds
    members = [r for r in launch.machine.residents() if r.cluster == resident.cluster]
    groups = [(r.id, warp, g) for r in members for warp in range(launch.plan.warps) for g in r.groups(warp)]
    waiters = tuple(
        dict.fromkeys(
            (cta, warp)
            for cta, warp, g in groups
            if g.state == "waiting" and g.instruction < len(kinds) and isinstance(kinds[g.instruction], ClusterWait)
        )
    )
    if not waiters:
        return []
    alive = {(cta, warp) for cta, warp, _ in groups}
    late = {(cta, warp) for cta, warp, g in groups if g.missing}
    return [Barrier("cluster", resident.id, "cluster barrier", None, None, len(late), len(alive), None, waiters)]
