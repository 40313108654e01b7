"""Control flow: bra, brx, exit, trap; nanosleep and other instructions that only take time."""

from __future__ import annotations

from pyptx.ir.nodes import LabelOperand, RegisterOperand
from pyptx.sim.actions import Action, Branch, Exit, Jump, Nop, Trap
from pyptx.sim.decode._registry import decodes
from pyptx.sim.symbols.operands import Operands


def _target(o: Operands, name: str) -> int:
    target = o.scope.label(name)
    if target is None:
        raise o.refuse(f"label {name} is not declared")
    return target


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
            table = o.scope.table(name)
            if table is None:
                raise o.refuse(f"{name} is not a .branchtargets list")
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
    return Nop()  # griddepcontrol: launches run one after the other, so the previous grid has completed
