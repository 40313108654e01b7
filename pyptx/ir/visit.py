"""Walking the tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pyptx.ir.nodes import (
    AddressOperand,
    Block,
    CompoundExpr,
    FieldOperand,
    Function,
    ImmediateOperand,
    Instruction,
    IntrinsicScope,
    LabelOperand,
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

__all__ = ["instructions", "leaves", "statements"]


def statements(body: Iterable[Statement]) -> Iterator[Statement]:
    """Every statement in order of text; blocks, intrinsic scopes and compounds come before what they hold."""
    for statement in body:
        yield statement
        if isinstance(statement, (Block, IntrinsicScope, CompoundExpr)):
            yield from statements(statement.body)


def instructions(function: Function) -> Iterator[Instruction]:
    """The instructions of a function in order of text: the order that numbers them everywhere."""
    return (s for s in statements(function.body) if isinstance(s, Instruction))


def leaves(operand: Operand) -> Iterator[
        RegisterOperand | LabelOperand | ImmediateOperand | AddressOperand | SubscriptOperand]:
    """The operands inside an operand: elements of vectors, halves of pairs, what is negated."""
    match operand:
        case VectorOperand(elements) | ParenthesizedOperand(elements):
            for element in elements:
                yield from leaves(element)
        case PipeOperand(left, right):
            yield from leaves(left)
            yield from leaves(right)
        case NegatedOperand(inner) | NegativeOperand(inner) | FieldOperand(_, inner):
            yield from leaves(inner)
        case _:
            yield operand
