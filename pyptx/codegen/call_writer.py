"""Calls and expressions: operands as Python, with pending results inlined where that keeps the order.

A result is inlined into the next instruction if nothing else uses it and Python evaluates it at the same point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from pyptx.codegen.expressions import Lookup, guard_expression, operand_expression
from pyptx.codegen.operators import ATOM, Term, python_number
from pyptx.codegen.register_uses import operand_names
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

__all__ = ["CallWriter"]

_MAX_WIDTH = 84  # characters of an expression with inlined operands


class CallWriter:
    """Writes calls and expressions of one function."""

    def __init__(self, variables: Variables):
        self.variables = variables

    def terms(
        self,
        operands: Iterable[Operand],
        join: Callable[[list[Term]], str],
        *,
        precedence: int = ATOM,
        dtype: str = "pred",
        numbers: str | None = None,
        head: str = "",
    ) -> Term:
        """Return an expression of operands.

        Args:
            operands: in order of evaluation.
            join: combines the operands' terms into text.
            precedence: of the result, see `Term`.
            dtype: type of the result.
            numbers: type of immediate operands.
            head: text of the statement that contains the expression, for its length.
        """
        operands = list(operands)
        order = [o.name for o in operands if isinstance(o, (RegisterOperand, LabelOperand))]
        inlined = self._inlinable(order)
        inside = dict(inlined)

        def term(o: Operand) -> Term:
            if isinstance(o, ImmediateOperand) and numbers is not None:
                rendered = python_number(o.text, numbers)
                assert rendered is not None, f"{o.text} is not a number of type {numbers}"
                return Term(rendered, ATOM if rendered[0] != "-" else 8, numbers)
            if isinstance(o, (RegisterOperand, LabelOperand)) and o.name in inside:
                return inside[o.name]
            return Term(self.variables.checked(operand_expression(o, self.variables.find)), ATOM, "")

        text = join([term(o) for o in operands])
        if inlined and len(text) + len(head) > _MAX_WIDTH:
            self.variables.flush()
            return self.terms(operands, join, precedence=precedence, dtype=dtype, numbers=numbers, head=head)
        del self.variables.pending[len(self.variables.pending) - len(inlined) :]
        if head:
            self.variables.flush()
        return Term(text, precedence, dtype)

    def _inlinable(self, order: list[str]) -> list[tuple[str, Term]]:
        """Return the pending results the names refer to if they are the last ones and in this order; else write all."""
        waiting = {name for name, _ in self.variables.pending}
        wanted = [name for name in order if name in waiting]
        if not wanted:
            return []
        last = self.variables.pending[-len(wanted) :]
        if [name for name, _ in last] == wanted and self.variables.allow("inline"):
            return last
        self.variables.flush()
        return []

    def call(
        self,
        head: str,
        first: list[str],
        operands: Iterable[Operand],
        predicate: Predicate | None,
        dtype: str,
        *,
        last: Sequence[str] = (),
        unwrap: bool = False,
    ) -> Term:
        """Return a call that evaluates to a register; arguments are `first`, the operands, `last` and the guard."""
        rendered = self._arguments(head, operands, predicate, first=first, last=last, unwrap=unwrap)
        return Term(f"{head}({', '.join(rendered)})", ATOM, dtype)

    def statement(
        self, head: str, operands: Iterable[Operand], predicate: Predicate | None, *, unwrap: bool = False
    ) -> None:
        """Write a call whose result is not used, after declarations of the registers it uses."""
        for operand in operands:
            for name in operand_names(operand):
                self.variables.define(name)
        if predicate is not None:
            self.variables.define(predicate.register)
        rendered = self._arguments(head, operands, predicate, unwrap=unwrap)
        self.variables.flush()
        self.variables.lines.call(f"{head}(", rendered)

    def _arguments(
        self,
        head: str,
        operands: Iterable[Operand],
        predicate: Predicate | None,
        *,
        first: Sequence[str] = (),
        last: Sequence[str] = (),
        unwrap: bool = False,
    ) -> list[str]:
        """Return the arguments of a call, pending results inlined."""
        operands = list(operands)
        order = [n for o in operands for n in operand_names(o)] + ([predicate.register] if predicate else [])
        inlined = self._inlinable(order)
        inside = dict(inlined)

        def find(name: str, precedence: int = 0) -> tuple[str, str] | None:
            if name in inside:
                return inside[name].inside(precedence), inside[name].dtype
            return self.variables.find(name)

        def bound(name: str) -> tuple[str, str] | None:
            return find(name, ATOM)

        floats = head[head.rfind(".") + 1 :]
        arguments = [*first, *(self._argument(o, find, bound, unwrap, floats) for o in operands), *last]
        if predicate is not None:
            arguments.append(f"pred={guard_expression(predicate, bound if predicate.negated else find)}")
        if inlined and len(head) + 2 + len(", ".join(arguments)) > _MAX_WIDTH:
            self.variables.flush()
            return self._arguments(head, operands, predicate, first=first, last=last, unwrap=unwrap)
        del self.variables.pending[len(self.variables.pending) - len(inlined) :]
        return arguments

    def _argument(self, o: Operand, find: Lookup, bound: Lookup, unwrap: bool, floats: str) -> str:
        """Return one argument of a call.

        Args:
            o: the operand.
            find, bound: expression of a register, as it is or parenthesized for a unary operator.
            unwrap: write the address `[register]` as the register.
            floats: type of the instruction.
        """
        if isinstance(o, AddressOperand):
            if unwrap and o.offset in (None, "0") and not o.suffix and (found := find(o.base)) is not None:
                return found[0]
            if o.offset == "0":
                o = AddressOperand(o.base, suffix=o.suffix)
        if isinstance(o, ImmediateOperand) and floats in ("f32", "f64"):
            rendered = python_number(o.text, floats)
            if rendered is not None:
                return rendered
        return self.variables.checked(
            operand_expression(o, bound if isinstance(o, (NegatedOperand, PipeOperand)) else find)
        )
