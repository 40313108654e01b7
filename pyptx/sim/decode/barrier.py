"""bar and barrier of a CTA, fences."""

from __future__ import annotations

from pyptx.sim.actions.basic import Action, BarrierOp, Nop, WarpBarrier
from pyptx.sim.decode import decodes
from pyptx.sim.decode.tensor_copy import map_fence
from pyptx.sim.symbols.operands import Operands


@decodes("bar", "barrier")
def barrier(o: Operands) -> Action | None:
    modifiers = set(o.instruction.modifiers)
    if ".cluster" in modifiers:
        return None
    if ".warp" in modifiers:
        return WarpBarrier(o.value(next(iter(o.bound.operands))))
    count = o.value("b") if "b" in o else None
    if ".red" in modifiers:
        mode = next(m for m in ("popc", "and", "or") if f".{m}" in modifiers)
        target = o.target("d") if "d" in o else o.target("p")
        return BarrierOp(mode, o.value("a"), count, o.value("c"), o.negated("c"), target)
    return BarrierOp("arrive" if ".arrive" in modifiers else "sync", o.value("a"), count)


@decodes("membar", "fence")
def fence(o: Operands) -> Action | None:
    if ".tensormap::generic" in o.instruction.modifiers and ".acquire" in o.instruction.modifiers:
        return map_fence(o)
    return Nop()                    # lanes run in program order and see one memory
