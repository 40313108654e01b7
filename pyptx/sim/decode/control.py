"""Branches, ends, and what only costs time."""

from __future__ import annotations

from pyptx.ir.nodes import LabelOperand, RegisterOperand
from pyptx.sim.actions.basic import Action, Branch, Exit, Jump, Nop, Trap
from pyptx.sim.decode import decodes
from pyptx.sim.symbols.operands import Operands


def _target(o: Operands, name: str) -> int:
    place = o.scope.find("labels", name)
    if place is None:
        raise o.refuse(f"label {name} is not declared")
    return place


@decodes("bra")
def branch(o: Operands) -> Action | None:
    match o.instruction.operands:
        case (LabelOperand(name) | RegisterOperand(name),):
            return Branch(_target(o, name))
    return None


@decodes("brx")
def jump(o: Operands) -> Action | None:
    match o.instruction.operands:
        case (index, LabelOperand(name) | RegisterOperand(name)):
            table = o.scope.find("tables", name)
            if table is None:
                raise o.refuse(f"{name} is no .branchtargets list")
            return Jump(o.as_value(index, "u32"), tuple(_target(o, t) for t in table))
    return None


@decodes("exit")
def leave(o: Operands) -> Action | None:
    return Exit()


@decodes("trap")
def trap(o: Operands) -> Action | None:
    return Trap()


@decodes("nanosleep", "brkpt", "pmevent", "griddepcontrol")
def wait(o: Operands) -> Action | None:
    return Nop()                    # griddepcontrol: grids run one after the other, so those before have ended
