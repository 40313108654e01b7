"""Traversal of the IR."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from pyptx._loc import SourceLocation
from pyptx.ir.nodes import (
    AddressOperand,
    Alias,
    Block,
    CompoundExpr,
    FieldOperand,
    Function,
    ImmediateOperand,
    Instruction,
    IntrinsicScope,
    Label,
    LabelOperand,
    Module,
    NegatedOperand,
    NegativeOperand,
    Operand,
    ParenthesizedOperand,
    PipeOperand,
    RegisterOperand,
    Statement,
    SubscriptOperand,
    VectorOperand,
)

__all__ = ["DRIVER_FUNCTIONS", "instructions", "leaves", "statements", "undefined_functions", "with_places"]

DRIVER_FUNCTIONS = frozenset({"vprintf", "malloc", "free", "__assertfail"})
"""Functions that the driver provides to every kernel."""


def statements(body: Iterable[Statement]) -> Iterator[Statement]:
    """Yield every statement in source order; a node that contains statements comes before them."""
    for statement in body:
        yield statement
        if isinstance(statement, (Block, IntrinsicScope, CompoundExpr)):
            yield from statements(statement.body)


def instructions(function: Function) -> Iterator[Instruction]:
    """Iterate over the instructions of a function in source order, the order of instruction numbers."""
    return (s for s in statements(function.body) if isinstance(s, Instruction))


def leaves(
    operand: Operand,
) -> Iterator[RegisterOperand | LabelOperand | ImmediateOperand | AddressOperand | SubscriptOperand]:
    """Yield the innermost operands: elements of vectors and pairs, negated operands, field values."""
    match operand:
        case VectorOperand(elements) | ParenthesizedOperand(elements):
            for element in elements:
                if type(element) is RegisterOperand:  # most elements: without another generator
                    yield element
                else:
                    yield from leaves(element)
        case PipeOperand(left, right):
            yield from leaves(left)
            yield from leaves(right)
        case NegatedOperand(inner) | NegativeOperand(inner) | FieldOperand(_, inner):
            yield from leaves(inner)
        case _:
            yield operand


def undefined_functions(module: Module) -> tuple[str, ...]:
    """Return the names of the functions that are called, and neither defined in the module nor provided by the driver."""
    defined = {f.name for f in module.functions if not f.declaration} | DRIVER_FUNCTIONS
    defined |= {node.name for node in module.directives if isinstance(node, Alias)}
    declared = {f.name for f in module.functions} - defined
    if not declared:
        return ()
    called = {
        operand.name
        for function in module.functions
        for instruction in instructions(function)
        if instruction.opcode == "call"
        for operand in instruction.operands
        if not isinstance(operand, ParenthesizedOperand) and isinstance(operand, LabelOperand)
    }
    return tuple(sorted(declared & called))


def with_places(module: Module, places: Iterable[SourceLocation | None]) -> Module:
    """Return a module whose instructions and labels have these source locations, in textual order."""
    return replace(module, directives=tuple(_placed(module.directives, iter(places))))


def _placed(body: Iterable[Any], places: Iterator[SourceLocation | None]) -> Iterator[Any]:
    for statement in body:
        if isinstance(statement, Instruction | Label):
            yield replace(statement, place=next(places))
        elif isinstance(statement, (Function, Block, IntrinsicScope)) and statement.body:
            yield replace(statement, body=tuple(_placed(statement.body, places)))
        else:
            yield statement
