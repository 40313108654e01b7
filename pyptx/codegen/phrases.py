"""Calls and expressions of the Python: operands written, with what is pending inlined where that keeps the order.

An instruction is inlined into the next one when nothing else uses its result and Python evaluates it at the same place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from pyptx.codegen.expressions import Find, expression, guard
from pyptx.codegen.operators import ATOM, Term, number
from pyptx.codegen.uses import operand_names
from pyptx.codegen.variables import Variables
from pyptx.ir.nodes import (
    AddressOperand,
    ImmediateOperand,
    LabelOperand,
    NegatedOperand,
    Operand,
    PipeOperand,
    Predicate,
    RegisterOperand,
)

__all__ = ["Phrases"]

_LONGEST = 84                                           # characters of an expression that others are inlined into


class Phrases:
    """Of one function, over its variables."""

    def __init__(self, variables: Variables):
        self.variables = variables

    def terms(self, operands: Iterable[Operand], join: Callable[[list[Term]], str], *, binds: int = ATOM,
               kind: str = "pred", numbers: str | None = None, head: str = "") -> Term:
        """An expression of operands, with what is pending inlined where that keeps the order."""
        operands = list(operands)
        order = [o.name for o in operands if isinstance(o, (RegisterOperand, LabelOperand))]
        inlined = self._inlinable(order)
        inside = dict(inlined)

        def term(o: Operand) -> Term:
            if isinstance(o, ImmediateOperand) and numbers is not None:
                told = number(o.text, numbers)
                return Term(told, ATOM if told[0] != "-" else 8, numbers)
            if isinstance(o, (RegisterOperand, LabelOperand)) and o.name in inside:
                return inside[o.name]
            return Term(self.variables.checked(expression(o, self.variables.find)), ATOM, "")
        text = join([term(o) for o in operands])
        if inlined and len(text) + len(head) > _LONGEST:
            self.variables.flush()
            return self.terms(operands, join, binds=binds, kind=kind, numbers=numbers, head=head)
        del self.variables.pending[len(self.variables.pending) - len(inlined):]
        if head:
            self.variables.flush()
        return Term(text, binds, kind)

    def _inlinable(self, order: list[str]) -> list[tuple[str, Term]]:
        """The pending instructions that the names stand for, if they are the last ones and in this order; else none
        are pending any more."""
        waiting = {name for name, _ in self.variables.pending}
        wanted = [name for name in order if name in waiting]
        if not wanted:
            return []
        last = self.variables.pending[-len(wanted):]
        if [name for name, _ in last] == wanted and self.variables.take("inline"):
            return last
        self.variables.flush()
        return []

    def call(self, head: str, first: list[str], operands: Iterable[Operand], predicate: Predicate | None, kind: str, *,
             last: Sequence[str] = (), unwrap: bool = False) -> Term:
        """A call that gives a register: operands between the arguments told first and last."""
        told = self._arguments(head, operands, predicate, first=first, last=last, unwrap=unwrap)
        return Term(f"{head}({', '.join(told)})", ATOM, kind)

    def statement(self, head: str, operands: Iterable[Operand], predicate: Predicate | None, *,
                  unwrap: bool = False) -> None:
        """Write a call whose result nobody takes; what it names is declared before."""
        for operand in operands:
            for name in operand_names(operand):
                self.variables.define(name)
        if predicate is not None:
            self.variables.define(predicate.register)
        told = self._arguments(head, operands, predicate, unwrap=unwrap)
        self.variables.flush()
        self.variables.lines.call(f"{head}(", told)

    def _arguments(self, head: str, operands: Iterable[Operand], predicate: Predicate | None, *,
                   first: Sequence[str] = (), last: Sequence[str] = (), unwrap: bool = False) -> list[str]:
        """The arguments of a call, what is pending inlined."""
        operands = list(operands)
        order = [n for o in operands for n in operand_names(o)] + ([predicate.register] if predicate else [])
        inlined = self._inlinable(order)
        inside = dict(inlined)

        def find(name: str, binds: int = 0) -> tuple[str, str] | None:
            if name in inside:
                return inside[name].inside(binds), inside[name].kind
            return self.variables.find(name)

        def bound(name: str) -> tuple[str, str] | None:
            return find(name, ATOM)
        floats = head[head.rfind(".") + 1:]
        arguments = [*first, *(self._argument(o, find, bound, unwrap, floats) for o in operands), *last]
        if predicate is not None:
            arguments.append(f"pred={guard(predicate, bound if predicate.negated else find)}")
        if inlined and len(head) + 2 + len(", ".join(arguments)) > _LONGEST:
            self.variables.flush()
            return self._arguments(head, operands, predicate, first=first, last=last, unwrap=unwrap)
        del self.variables.pending[len(self.variables.pending) - len(inlined):]
        return arguments

    def _argument(self, o: Operand, find: Find, bound: Find, unwrap: bool, floats: str) -> str:
        """One argument of a call.

        Args:
            find, bound: the expression of a register, as it is or so that an operator may stand before it.
            unwrap: an address that is a register is the register.
            floats: the type of the instruction.
        """
        if isinstance(o, AddressOperand):
            if unwrap and o.offset in (None, "0") and not o.suffix and (found := find(o.base)) is not None:
                return found[0]
            if o.offset == "0":
                o = AddressOperand(o.base, suffix=o.suffix)
        if isinstance(o, ImmediateOperand) and floats in ("f32", "f64"):
            told = number(o.text, floats)
            if told is not None:
                return told
        return self.variables.checked(expression(o, bound if isinstance(o, (NegatedOperand, PipeOperand)) else find))
