"""Barriers as they stand: mbarriers with their phase and what is to come, barriers of CTAs and of the cluster."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyptx.debug.looking import names as meanings
from pyptx.sim.actions.asynchronous import ClusterWait
from pyptx.sim.core.stopped import Happened, Resident
from pyptx.sim.faults.waits import MOST, is_mbarrier
from pyptx.sim.memory.spaces import SHARED_START

__all__ = ["Barrier", "barriers_of", "mbarrier_names", "named"]

_MBARRIER = re.compile(r"the mbarrier (?:\S+ )?\(0x([0-9a-f]+)(?: of rank (\d+))?\)")


@dataclass(frozen=True, slots=True)
class Barrier:
    """One barrier; counts of an mbarrier are arrivals (threads), of others warps.

    Attributes:
        address: in shared memory; None of others.
        tx: bytes of transactions that are expected and have not come; None of others.
        waiters: (CTA, warp) that wait there.
    """

    kind: str                       # mbarrier, named, cluster
    cta: int
    name: str
    address: int | None
    phase: int | None
    pending: int
    expected: int
    tx: int | None
    waiters: tuple[tuple[int, int], ...]


def barriers_of(session: Any, resident: Resident) -> list[Barrier]:
    """The barriers of a CTA that somebody has used."""
    groups = [(warp, g) for warp in range(session.run.plan.warps) for g in resident.groups(warp)]
    return [*_mbarriers(session, resident), *_named(resident, groups), *_cluster(session, resident)]


def mbarrier_names(session: Any) -> dict[int, str]:
    """Names of mbarriers by their address in shared memory: those of Python, else of PTX's variables."""
    found: dict[int, str] = {}
    names, program = session.names, session.run.program
    variables = {v.name: v for v in program.shared_variables if v.address is not None}
    for name, memory in names.memories.items() if names is not None else ():
        if isinstance(memory, meanings.Memory) and memory.type == "mbarrier" and memory.symbol in variables:
            start, count = variables[memory.symbol].address + memory.offset, memory.shape[0]
            for k in range(count):
                found.setdefault(start + 8 * k, f"{name}[{k}]" if count > 1 else name)
    for name, address, count in _rings(session):
        for k in range(count):
            found.setdefault(address + 8 * k, f"{name}[{k}]" if count > 1 else name)
    return found


def _rings(session: Any) -> Iterator[tuple[str, int, int]]:
    """Rings of mbarriers that the focused warp knows by name: name, address, how many."""
    if session.names is None or session.resident(session.focus.cta) is None:
        return
    state = session.state()

    def inside(name: str, meaning: Any) -> Iterator[tuple[str, Any]]:
        if isinstance(meaning, meanings.Parts):
            for part, value in meaning.attributes.items():
                yield from inside(f"{name}.{part}", value)
        elif isinstance(meaning, meanings.Ring):
            yield name, meaning
    for name, meaning in session.names.at(state.instruction).items():
        for path, ring in inside(name, meaning):
            address = state.ring_address(ring) & 0xFFFFFF
            if address - ring.offset >= SHARED_START:                  # else its register is not set yet
                yield path, address, ring.count


def named(session: Any, text: str) -> str:
    """A text of the simulator with the names of mbarriers for their addresses."""
    known = mbarrier_names(session)

    def name(found: re.Match) -> str:
        rank = f" of rank {found[2]}" if found[2] else ""
        return f"{name_of(session, int(found[1], 16), known)}{rank}"
    return _MBARRIER.sub(name, text)


def name_of(session: Any, address: int, known: dict[int, str]) -> str:
    """What the mbarrier at an address is called."""
    if address in known:
        return known[address]
    below = [v for v in session.run.program.shared_variables if v.address is not None and v.address <= address
             and (address - v.address < v.size or not v.size)]
    if below:
        nearest = max(below, key=lambda v: v.address)
        offset = address - nearest.address
        return f"{nearest.name}+{offset}" if offset else nearest.name
    return f"0x{address:x}"


def _mbarriers(session: Any, resident: Resident) -> list[Barrier]:
    known = mbarrier_names(session)
    events, _ = session.run.machine.events()
    told = events[np.isin(events["kind"], (Happened.WAITED, Happened.PHASE))]["a"].tolist()
    flights = [f.barrier for f in resident.flights() if f.barrier is not None]
    places = {address for address in known} | {a & 0xFFFFFFFF for a in told if a >> 32 == resident.id} \
        | {at for cta, at in flights if cta == resident.id}
    waiting: dict[int, list[tuple[int, int]]] = {}
    for other in session.run.machine.residents():
        if other.cluster != resident.cluster:
            continue
        for warp in range(session.run.plan.warps):
            for group in other.groups(warp):
                if group.state == "waiting" and group.address >> 24 == resident.rank and group.address & 0xFFFFFF:
                    waiting.setdefault(group.address & 0xFFFFFF, []).append((other.id, warp))
    memory, found = resident.shared, []
    for address in sorted(places | waiting.keys()):
        offset = address - SHARED_START
        if not 0 <= offset <= memory.size - 8:
            continue
        word = int(memory[offset:offset + 8].view(np.uint64)[0])
        if not is_mbarrier(word):
            continue                                            # not initialised, or no longer
        tx = (word >> 40 & 0x1FFFFF) - (1 << 21 if word >> 60 & 1 else 0)
        found.append(Barrier("mbarrier", resident.id, name_of(session, address, known), address, word >> 61 & 1,
                             word & MOST, word >> 20 & MOST, tx, tuple(waiting.get(address, ()))))
    return found


def _named(resident: Resident, groups: list) -> list[Barrier]:
    found = []
    for number, arrived, expected, _ in resident.barriers():
        waiters = tuple(dict.fromkeys((resident.id, warp) for warp, g in groups
                                      if g.state == "barrier" and g.barrier == number))
        found.append(Barrier("named", resident.id, f"barrier {number}", None, None, max(0, expected - arrived),
                             expected, None, waiters))
    return found


def _cluster(session: Any, resident: Resident) -> list[Barrier]:
    """The barrier of the cluster, told for its first CTA, while somebody waits there."""
    if resident.rank:
        return []
    kinds = session.run.program.kinds
    members = [r for r in session.run.machine.residents() if r.cluster == resident.cluster]
    groups = [(r.id, warp, g) for r in members for warp in range(session.run.plan.warps) for g in r.groups(warp)]
    waiters = tuple(dict.fromkeys((cta, warp) for cta, warp, g in groups if g.state == "waiting"
                                  and g.instruction < len(kinds)
                                  and isinstance(kinds[g.instruction], ClusterWait)))
    if not waiters:
        return []
    alive = {(cta, warp) for cta, warp, _ in groups}
    late = {(cta, warp) for cta, warp, g in groups if g.missing}
    return [Barrier("cluster", resident.id, "cluster barrier", None, None, len(late), len(alive), None, waiters)]
