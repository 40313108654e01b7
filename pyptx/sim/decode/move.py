"""mov: copies, addresses, special registers, packing and unpacking."""

from __future__ import annotations

from pyptx.ir.nodes import LabelOperand, Operand, RegisterOperand, VectorOperand
from pyptx.sim.actions import Action, Apply, Clock, Compute, Const, Leaf, Move, Special
from pyptx.sim.decode._registry import decodes, type_words
from pyptx.sim.symbols.literals import integer
from pyptx.sim.symbols.operands import CLOCKS, Operands
from pyptx.sim.value_types import width


@decodes("mov")
def move(o: Operands) -> Action | None:
    if len(o.instruction.operands) != 2:
        return None
    to, source = o.instruction.operands
    type_name = type_words(o.instruction.modifiers)[-1]
    match to, source:
        case VectorOperand(elements), (RegisterOperand(name) | LabelOperand(name)) if ".v4" in o.instruction.modifiers:
            parts = tuple(Special(f"{name}.{axis}", width(type_name)) for axis in "xyzw")
            return Move(tuple(map(o.as_target, elements)), parts)
        case VectorOperand(elements), VectorOperand(sources):
            return Compute(
                tuple(
                    (o.as_target(t), Leaf(o.as_value(s, type_name), type_name))
                    for t, s in zip(elements, sources, strict=True)
                )
            )
        case VectorOperand(elements), _:
            return Move(tuple(map(o.as_target, elements)), (o.as_value(source, type_name),))
        case _, VectorOperand(elements):
            part = width(type_name) // len(elements)
            return Move((o.as_target(to),), tuple(o.as_value(e, f"b{part}") for e in elements))
    if (moved := _in_frame(o, to, source, type_name)) is not None:
        return moved
    data, clock = o.as_target(to), CLOCKS.get(getattr(source, "name", ""))
    if data is None:
        return None
    if clock is not None:
        return Clock(data, clock)
    value = o.as_value(source, type_name)
    if isinstance(value, Const) and value.width != width(type_name):
        value = Const(value.bits & ((1 << width(type_name)) - 1), width(type_name))
    if width(type_name) == 128:
        return Move((data,), (value,))
    return Compute(((data, Leaf(value, type_name)),))


def _in_frame(o: Operands, to: Operand, source: Operand, type_name: str) -> Compute | None:
    """Compute the address of a variable whose frame is at the stack pointer."""
    variable = o.in_frame(source)
    if variable is None or variable.stack is None or not isinstance(source, LabelOperand | RegisterOperand):
        return None
    offset = Leaf(Const(o.address_of(variable) + integer(source.name.partition("+")[2] or "0"), 64), "u64")
    return Compute(((o.as_target(to), Apply.of("add", Leaf(variable.stack, type_name), offset, type=type_name)),))


@decodes("createpolicy")
def createpolicy(o: Operands) -> Action | None:
    data = o.target("d")
    return Compute(((data, Leaf(Const(0, 64), "u64")),)) if data is not None else None
