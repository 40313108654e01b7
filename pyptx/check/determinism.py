"""Kernels whose runs are equal if their threads synchronized alike, so that one watched run stands for others."""

from __future__ import annotations

from pyptx import sim
from pyptx.sim import actions
from pyptx.sim.abi import ORDERINGS
from pyptx.sim.actions import Action
from pyptx.sim.program.per_program import per_program
from pyptx.sim.sanitizer import access_flags

__all__ = ["is_decided_by_synchronization"]

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


assert ORDERINGS[0] == "weak", "the ordering of accesses without one"
