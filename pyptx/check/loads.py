"""Loads from tensor memory that nothing waits for.

The registers of `tcgen05.ld` may be read before `tcgen05.wait::ld`: the machine keeps the order of a thread's own
registers, and compilers move such reads up, also past barriers of the CTA. What needs the wait is everybody else: once
the thread has arrived at an mbarrier, freed the columns, started a product or ended, what the load still reads may be
overwritten. So `tcgen05.wait::ld` stands on every path from a load to one of these.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyptx.sim import Program
from pyptx.sim.actions import Branch, Exit, Jump
from pyptx.sim.asynchronous import ClusterArrive, MbarrierArrive
from pyptx.sim.tcgen05 import Product5, TmemFree, TmemLoad, TmemStore, TmemWait

__all__ = ["unwaited"]

_SIGNALS = (ClusterArrive, MbarrierArrive, TmemFree, TmemStore, Product5, Exit)


def unwaited(program: Program) -> Iterator[tuple[int, int]]:
    """Each tcgen05.ld, and the first instruction it may still be under way at that lets others go on."""
    kinds = program.kinds
    for i, kind in enumerate(kinds):
        if isinstance(kind, TmemLoad) and (signal := _signal(program, i)) is not None:
            yield i, signal


def _signal(program: Program, load: int) -> int | None:
    kinds, seen, waiting = program.kinds, set(), [load + 1]
    while waiting:
        at = waiting.pop()
        if at in seen or at >= len(kinds):
            continue
        seen.add(at)
        kind, guarded = kinds[at], program.guards[at] is not None
        if isinstance(kind, TmemWait) and kind.what == "ld":
            continue
        if isinstance(kind, _SIGNALS):
            return at
        if guarded or not isinstance(kind, Branch | Jump):
            waiting.append(at + 1)
        if isinstance(kind, Branch):
            waiting.append(kind.target)
        elif isinstance(kind, Jump):
            waiting += kind.targets
    return None
