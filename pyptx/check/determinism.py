"""Kernels of which one watched run stands for others: for those that synchronized alike, or for all."""

from __future__ import annotations

from pyptx import sim
from pyptx.sim import actions
from pyptx.sim.abi import ORDERINGS
from pyptx.sim.actions import Action
from pyptx.sim.program.per_program import per_program
from pyptx.sim.sanitizer import access_flags

__all__ = ["is_decided_by_synchronization", "synchronizes_in_one_way"]

_SAFE = (
    actions.AsyncGroup,
    actions.Branch,
    actions.Call,
    actions.ClusterArrive,
    actions.ClusterWait,
    actions.Compute,
    actions.CpAsync,
    actions.CpAsyncArrive,
    actions.CtaBarrier,
    actions.Elect,
    actions.Exit,
    actions.Fetch,
    actions.IsSpace,
    actions.IsType,
    actions.Jump,
    actions.Load,
    actions.LoadFragment,
    actions.LoadMatrix,
    actions.Match,
    actions.MbarrierArrive,
    actions.MbarrierInit,
    actions.MbarrierInval,
    actions.MbarrierLayout,
    actions.MbarrierTest,
    actions.MbarrierWait,
    actions.Mma,
    actions.Move,
    actions.MoveMatrix,
    actions.Nop,
    actions.Query,
    actions.Redux,
    actions.Return,
    actions.SetMaxRegisters,
    actions.Shuffle,
    actions.StBulk,
    actions.Store,
    actions.StoreFragment,
    actions.StoreMatrix,
    actions.Tcgen05Commit,
    actions.Tcgen05Mma,
    actions.TensormapCopy,
    actions.TensormapFence,
    actions.TensormapReplace,
    actions.TmemAlloc,
    actions.TmemCopy,
    actions.TmemFree,
    actions.TmemLoad,
    actions.TmemRelinquish,
    actions.TmemShift,
    actions.TmemStore,
    actions.TmemWait,
    actions.Trap,
    actions.Vote,
    actions.WarpBarrier,
    actions.Wgmma,
    actions.WgmmaGroup,
)

# Actions of threads that take effect at once, and meet other threads at barriers of a CTA or of a warp only.
_SYNCHRONOUS = (
    actions.Branch,
    actions.Call,
    actions.Compute,
    actions.CtaBarrier,
    actions.Exit,
    actions.IsSpace,
    actions.Jump,
    actions.Load,
    actions.LoadFragment,
    actions.LoadMatrix,
    actions.Match,
    actions.Mma,
    actions.Move,
    actions.MoveMatrix,
    actions.Nop,
    actions.Redux,
    actions.Return,
    actions.Shuffle,
    actions.Store,
    actions.StoreFragment,
    actions.StoreMatrix,
    actions.Trap,
    actions.Vote,
    actions.WarpBarrier,
)


@per_program
def is_decided_by_synchronization(program: sim.Program) -> bool:
    """Return True if two runs on the same arrays are equal once their threads synchronized alike and one has no race.

    Threads then synchronize only where the simulator records who meets whom (`synchronizations` of `sim.launch`): at
    barriers, and in phases of mbarriers. If two runs agree in this, each thread reads the same values in both, unless
    accesses race, so it executes the same instructions, and accesses are ordered by the same synchronization: what the
    sanitizer finds in one it finds in the other. It does not hold with atomics and reductions, ordered and volatile
    accesses, clocks, activemask, work that CTAs take from each other, and calls of the host.

    Source: S. V. Adve and M. D. Hill, "Weak Ordering - A New Definition", ISCA 1990; for kernels with barriers, A. Betts et
    al., "GPUVerify: A Verifier for GPU Kernels", OOPSLA 2012.
    """
    orderings = access_flags(program) & 15
    accesses = (k for k, kind in enumerate(program.kinds) if isinstance(kind, actions.Load | actions.Store))
    return not any(orderings[k] for k in accesses) and all(map(_is_safe, program.kinds))


def _is_safe(action: Action) -> bool:
    if isinstance(action, actions.AsyncStore | actions.BulkCopy | actions.TensorCopy):
        return action.reduction is None
    return isinstance(action, _SAFE)


def synchronizes_in_one_way(program: sim.Program, warps: int) -> bool:
    """Return True if all runs on the same arrays are equal once a watched run of them has proven that it has no race.

    This holds for kernels without asynchronous operations whose threads synchronize only at barriers of all threads of a CTA
    and at operations of a warp with a membermask. The threads that meet in the n-th phase of such a barrier are the same in
    every schedule, so the watched run orders the same accesses as any other. Take the first read, in another run, of a value
    that the same read had not in the watched run. All writes of these bytes are ordered before or after this read, by
    operations that its thread and those before it have executed alike in both runs. So the latest write before it is the same
    one and wrote the same value: there is no such read. It follows that all threads execute the same instructions on the same
    values, and that no run ends in a fault or a deadlock that the watched run does not have.

    Args:
        warps: warps of a CTA.
    """
    counts = _barrier_counts(program)
    return counts is not None and counts <= {None, 32 * warps} and is_decided_by_synchronization(program)


@per_program
def _barrier_counts(program: sim.Program) -> frozenset[int | None] | None:
    """Return the thread counts of the barriers, None for all threads.

    None if other operations may synchronize, or complete later than at issue, and if a count is not a constant.
    """
    clusters = any(directive.name == "reqnctapercluster" for directive in program.entry.directives)
    if clusters or not all(isinstance(kind, _SYNCHRONOUS) for kind in program.kinds):
        return None
    counts: set[int | None] = set()
    for k, kind in enumerate(program.kinds):
        if not isinstance(kind, actions.CtaBarrier):
            continue
        barrier = program.actions[k]
        assert isinstance(barrier, actions.CtaBarrier), "the kind of an action is its class"
        if barrier.mode == "arrive" or not isinstance(barrier.count, actions.Const | None):
            return None
        counts.add(None if barrier.count is None else barrier.count.bits)
    return frozenset(counts)


assert ORDERINGS[0] == "weak", "the ordering of accesses without one"
