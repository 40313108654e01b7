"""Actions of warp collectives (shfl, vote, match, redux, elect, bar.warp.sync) and CTA barriers."""

from __future__ import annotations

from pyptx._frozen import frozen
from pyptx.sim.actions.operands import Collective, Reg, Value

__all__ = ["ActiveMask", "CtaBarrier", "Elect", "Match", "Redux", "Shuffle", "Vote", "WarpBarrier"]


@frozen
class Shuffle(Collective):
    """shfl.sync."""

    mode: str  # up, down, bfly, idx
    data: Reg
    inside: Reg | None
    value: Value
    lane: Value
    segment: Value
    members: Value


@frozen
class Vote(Collective):
    """vote.sync."""

    mode: str  # all, any, uni, ballot
    data: Reg
    value: Value
    negated: bool
    members: Value


@frozen
class Match(Collective):
    """match.sync."""

    mode: str  # any, all
    data: Reg | None
    equal: Reg | None
    value: Value
    members: Value


@frozen
class Redux(Collective):
    """redux.sync."""

    operation: str  # add, min, max, and, or, xor
    type: str
    absolute: bool
    nan: bool
    data: Reg
    value: Value
    members: Value


@frozen
class Elect(Collective):
    """elect.sync."""

    data: Reg | None
    leader: Reg | None
    members: Value


@frozen
class WarpBarrier(Collective):
    """bar.warp.sync."""

    members: Value


@frozen
class ActiveMask:
    """activemask."""

    data: Reg


@frozen
class CtaBarrier:
    """bar and barrier of a CTA; `mode` is sync, arrive, popc, and, or. `aligned`: all lanes of a warp execute it together."""

    mode: str
    aligned: bool
    barrier: Value
    count: Value | None
    value: Value | None = None
    negated: bool = False
    data: Reg | None = None
