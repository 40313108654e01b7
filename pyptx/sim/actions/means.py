"""Expressions both engines compute: trees of primitives over typed values.

A primitive has a fixed meaning on bits of a type; modifiers that change it travel in `flags`: a rounding ("rn", "rz",
"rm", "rp", "rna"), "ftz", "sat", "relu", "nan", "xorsign", "abs", "satfinite", and what single primitives define.
"""

from __future__ import annotations

from pyptx._value import value
from pyptx.sim.actions.basic import Value

__all__ = ["Apply", "Leaf", "Node", "walk"]


@value
class Leaf:
    """A value seen as `type`; for predicates it may be negated."""

    value: Value
    type: str
    negated: bool = False


@value
class Apply:
    """`op` on arguments; it works in `type` and gives `result`."""

    op: str
    args: tuple[Node, ...]
    type: str
    result: str
    flags: frozenset[str] = frozenset()
    number: int = 0                     # lop3's table, a comparison's set

    @classmethod
    def of(cls, op: str, *args: Node, type: str, result: str = "", flags: frozenset[str] = frozenset(),
           number: int = 0) -> Apply:
        return cls(op, args, type, result or type, flags, number)


Node = Leaf | Apply


def walk(node: Node):
    """The node and everything under it."""
    yield node
    if isinstance(node, Apply):
        for argument in node.args:
            yield from walk(argument)
