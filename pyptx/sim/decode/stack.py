"""alloca, stacksave, stackrestore: local memory behind the frames of all functions.

The stack grows upwards; what a function takes is free again when it returns. A stack pointer is an address in local
memory, that of the next free byte.
"""

from __future__ import annotations

from pyptx.sim.actions.basic import Action, Compute, Const
from pyptx.sim.actions.means import Apply, Leaf, Node
from pyptx.sim.decode import decodes
from pyptx.sim.symbols.operands import Operands


def _number(value: int) -> Leaf:
    return Leaf(Const(value & (1 << 64) - 1, 64), "u64")


def _with(op: str, a: Node, b: Node | int) -> Node:
    return Apply.of(op, a, _number(b) if isinstance(b, int) else b, type="u64")


def _pointer(o: Operands) -> Node:
    return _with("add", Leaf(o.scope.names.stack_used(), "u64"), o.scope.names.stack_base)


def _narrowed(o: Operands, node: Node) -> Node:
    return Apply.of("resize", node, type="u64", result="u32") if ".u32" in o.instruction.modifiers else node


def _widened(o: Operands, name: str) -> Node:
    if ".u32" not in o.instruction.modifiers:
        return Leaf(o.value(name), "u64")
    return Apply.of("resize", Leaf(o.value(name), "u32"), type="u32", result="u64")


@decodes("alloca")
def alloca(o: Operands) -> Action | None:
    alignment = o.number("align") if "align" in o else 8
    if alignment < 1 or alignment & alignment - 1:
        raise o.refuse(f"an alignment of {alignment}; expected a power of two")
    start = _with("and", _with("add", _pointer(o), alignment - 1), -alignment)
    used = _with("sub", _with("add", start, _widened(o, "sz")), o.scope.names.stack_base)
    return Compute(((o.target("d"), _narrowed(o, start)), (o.scope.names.stack_used(), used)))


@decodes("stacksave")
def stacksave(o: Operands) -> Action | None:
    return Compute(((o.target("d"), _narrowed(o, _pointer(o))),))


@decodes("stackrestore")
def stackrestore(o: Operands) -> Action | None:
    return Compute(((o.scope.names.stack_used(), _with("sub", _widened(o, "a"), o.scope.names.stack_base)),))
