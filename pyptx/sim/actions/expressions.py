"""Expressions: trees of primitives over typed values.

A primitive has a fixed meaning on the bits of a type. Modifiers are in `flags`: a rounding ("rn", "rz", "rm", "rp",
"rna"), "ftz", "sat", "relu", "nan", "xorsign", "abs", "satfinite", and flags of single primitives.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyptx._frozen import frozen
from pyptx.sim.actions.operands import Value

__all__ = ["Apply", "Leaf", "Node", "walk"]


@frozen
class Leaf:
    """A value as `type`; a predicate may be negated."""

    value: Value
    type: str
    negated: bool = False


@frozen
class Apply:
    """Primitive `op`, computed in `type`, with a result of type `result`."""

    op: str
    args: tuple[Node, ...]
    type: str
    result: str
    flags: frozenset[str] = frozenset()
    number: int = 0  # lookup table of lop3, relation of a comparison, lane

    @classmethod
    def of(
        cls, op: str, *args: Node, type: str, result: str = "", flags: frozenset[str] = frozenset(), number: int = 0
    ) -> Apply:
        """Make a node whose result type defaults to `type`."""
        return cls(op, args, type, result or type, flags, number)


Node = Leaf | Apply


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and all nodes below it."""
    yield node
    if isinstance(node, Apply):
        for argument in node.args:
            yield from walk(argument)
