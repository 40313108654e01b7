"""Kernels that behave the same in every schedule unless they have a race, so that one watched run stands for all."""

from __future__ import annotations

from pyptx import sim
from pyptx.sim import actions
from pyptx.sim.abi import ORDERINGS
from pyptx.sim.actions import Action
from pyptx.sim.sanitizer import access_flags

__all__ = ["is_deterministic_without_races"]

_SAFE = (
    actions.AsyncGroup,
    actions.Branch,
    actions.Call,
    actions.Compute,
    actions.CpAsync,
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
    actions.Mma,
    actions.Move,
    actions.MoveMatrix,
    actions.Nop,
    actions.Query,
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


def is_deterministic_without_races(program: sim.Program) -> bool:
    """Return True if all runs on the same arrays are equal once one of them has no race.

    That holds if threads synchronize only where the schedule cannot choose who meets whom: at barriers of the whole CTA, in
    warp instructions with a membermask, and when they wait for groups of their own copies. Then accesses that do not
    race read the same values in every schedule, so each thread executes the same instructions, and accesses and their
    order are the same. It does not hold with atomics, ordered and volatile accesses, mbarriers, barriers of some threads,
    clocks, activemask, and calls of the host.

    Source: S. V. Adve and M. D. Hill, "Weak Ordering - A New Definition", ISCA 1990; for kernels with barriers, A. Betts et
    al., "GPUVerify: A Verifier for GPU Kernels", OOPSLA 2012.
    """
    orderings = access_flags(program) & 15
    return not orderings.any() and all(map(_is_safe, program.kinds))


def _is_safe(action: Action) -> bool:
    if isinstance(action, actions.CtaBarrier):
        return action.mode != "arrive" and action.count is None
    return isinstance(action, _SAFE)


assert ORDERINGS[0] == "weak", "the ordering of accesses without one"
