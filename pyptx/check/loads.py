"""Loads from tensor memory that nothing waits for.

The registers of `tcgen05.ld` may be read before `tcgen05.wait::ld`: the machine keeps the order of a thread's own
registers, and compilers move such reads up, also past barriers of the CTA. What needs the wait is everybody else: once
the thread has arrived at an mbarrier, freed the columns, started a product or ended, what the load still reads may be
overwritten. So `tcgen05.wait::ld` stands on every path from a load to one of these.

A kernel that follows the manual and not what machines happen to do has a `tcgen05.fence`; compilers write none. In such
a kernel the wait also stands before the registers are used (PTX ISA, "tcgen05.ld").
"""

from __future__ import annotations

from collections.abc import Iterator

from pyptx.sim import Program
from pyptx.sim.actions.asynchronous import ClusterArrive, MbarrierArrive
from pyptx.sim.actions.basic import Branch, Exit, Jump
from pyptx.sim.actions.tcgen05 import Product5, TmemFree, TmemLoad, TmemStore, TmemWait
from pyptx.sim.actions.uses import sources, targets

__all__ = ["tcgen05_fences", "unwaited", "used_early"]

_SIGNALS = (ClusterArrive, MbarrierArrive, TmemFree, TmemStore, Product5, Exit)


def tcgen05_fences(program: Program) -> set[str]:
    """Which of "before" and "after" there are."""
    names = {node.mnemonic for node in program.instructions if node.opcode == "tcgen05"}
    return {when for when in ("before", "after") if f"tcgen05.fence::{when}_thread_sync" in names}


def unwaited(program: Program) -> Iterator[tuple[int, int]]:
    """Each tcgen05.ld, and the first instruction it may still be under way at that lets others go on."""
    for load in _loads(program):
        if (signal := _first(program, load, lambda at: isinstance(program.kinds[at], _SIGNALS))) is not None:
            yield load, signal


def used_early(program: Program) -> Iterator[tuple[int, int]]:
    """Each tcgen05.ld, and the first instruction that uses its registers before a wait; none where compilers may have
    moved it there. Copies are no use: what is made of them is."""
    if not tcgen05_fences(program):
        return
    actions = program.actions
    for load in _loads(program):
        held = {register.index for register in targets(actions[load])}

        def uses(at: int, held: set[int] = held) -> bool:
            if not any(register.index in held for register in sources(actions[at])):
                return False
            if program.instructions[at].opcode == "mov":
                held |= {register.index for register in targets(actions[at])}
                return False
            return True
        if (use := _first(program, load, uses)) is not None:
            yield load, use


def _loads(program: Program) -> list[int]:
    return [i for i, kind in enumerate(program.kinds) if isinstance(kind, TmemLoad)]


def _first(program: Program, load: int, wanted) -> int | None:
    """The first instruction behind a load that is wanted, on any path without tcgen05.wait::ld."""
    kinds, seen, waiting = program.kinds, set(), [load + 1]
    while waiting:
        at = waiting.pop()
        if at in seen or at >= len(kinds):
            continue
        seen.add(at)
        kind, guarded = kinds[at], program.guards[at] is not None
        if isinstance(kind, TmemWait) and kind.what == "ld":
            continue
        if wanted(at):
            return at
        if guarded or not isinstance(kind, Branch | Jump):
            waiting.append(at + 1)
        if isinstance(kind, Branch):
            waiting.append(kind.target)
        elif isinstance(kind, Jump):
            waiting += kind.targets
    return None
