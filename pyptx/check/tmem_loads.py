"""Loads from tensor memory without a wait.

On hardware, the registers of `tcgen05.ld` may be read before `tcgen05.wait::ld`: a thread's own registers stay in order,
and compilers move such reads up, even past CTA barriers. Other threads need the wait: after the loading thread arrives at
an mbarrier, frees the columns, issues an MMA, or exits, others may overwrite the memory that the load still reads. So
`tcgen05.wait::ld` is required on every path from a load to one of these.

The PTX ISA ("tcgen05.ld") also requires the wait before the registers are used. This is checked in kernels that contain a
`tcgen05.fence`, which compilers do not emit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pyptx.sim import Program
from pyptx.sim.actions import (
    Branch,
    ClusterArrive,
    Exit,
    Jump,
    MbarrierArrive,
    Tcgen05Mma,
    TmemFree,
    TmemLoad,
    TmemStore,
    TmemWait,
)
from pyptx.sim.actions.dataflow import sources, targets

__all__ = ["loads_used_early", "tcgen05_fences", "unwaited_loads"]

_SIGNALS = (ClusterArrive, MbarrierArrive, TmemFree, TmemStore, Tcgen05Mma, Exit)


def tcgen05_fences(program: Program) -> set[str]:
    """Return which fences the program contains: "before", "after", or both."""
    names = {node.mnemonic for node in program.instructions if node.opcode == "tcgen05"}
    return {when for when in ("before", "after") if f"tcgen05.fence::{when}_thread_sync" in names}


def unwaited_loads(program: Program) -> Iterator[tuple[int, int]]:
    """Yield each tcgen05.ld with the first instruction that signals other threads while it may be in progress."""
    for load in _loads(program):
        if (
            signal := _first_without_wait(program, load, lambda at: isinstance(program.kinds[at], _SIGNALS))
        ) is not None:
            yield load, signal


def loads_used_early(program: Program) -> Iterator[tuple[int, int]]:
    """Yield each tcgen05.ld with the first instruction that uses its registers before a wait.

    Copies do not count as uses, but uses of the copies do. Programs without a tcgen05.fence yield nothing, as compilers
    may move uses before the wait.
    """
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

        if (use := _first_without_wait(program, load, uses)) is not None:
            yield load, use


def _loads(program: Program) -> list[int]:
    return [i for i, kind in enumerate(program.kinds) if isinstance(kind, TmemLoad)]


def _first_without_wait(program: Program, load: int, matches: Callable[[int], bool]) -> int | None:
    """Return an instruction that matches, on any path from a load without tcgen05.wait::ld."""
    kinds, seen, work = program.kinds, set(), [load + 1]
    while work:
        at = work.pop()
        if at in seen or at >= len(kinds):
            continue
        seen.add(at)
        kind, guarded = kinds[at], program.guards[at] is not None
        if isinstance(kind, TmemWait) and kind.direction == "ld":
            continue
        if matches(at):
            return at
        if guarded or not isinstance(kind, Branch | Jump):
            work.append(at + 1)
        if isinstance(kind, Branch):
            work.append(kind.target)
        elif isinstance(kind, Jump):
            work += kind.targets
    return None
