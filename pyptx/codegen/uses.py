"""Which names the parts of a body hold, how often each register is named, and where groups are rolled up."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pyptx.codegen.flow import If, Item, Loop, Region
from pyptx.codegen.helpers import Helper
from pyptx.codegen.idioms import Range, Wait
from pyptx.codegen.kinds import instructions_of
from pyptx.codegen.rolls import Roll
from pyptx.ir.nodes import (
    AddressOperand,
    ImmediateOperand,
    Instruction,
    LabelOperand,
    Operand,
    ParenthesizedOperand,
    PipeOperand,
    RegisterOperand,
    VectorOperand,
)

__all__ = ["WORDS", "all_names", "names_of", "operand_names", "rolls_among", "uses"]


def names_of(node: Instruction) -> Iterable[str]:
    """Every name in an instruction, in order of text, the guard last."""
    for operand in node.operands:
        yield from operand_names(operand)
    if node.predicate is not None:
        yield node.predicate.register


WORDS = re.compile(r"%?[A-Za-z_$][\w$]*")


def operand_names(o: Operand) -> Iterable[str]:
    match o:
        case RegisterOperand(name) | LabelOperand(name):
            if "." in name and name.partition(".")[2] not in "xyzw":
                yield from WORDS.findall(name)
            else:
                yield name
        case AddressOperand(base, offset):
            yield base
            if offset is not None:
                yield from WORDS.findall(offset)
        case VectorOperand(elements) | ParenthesizedOperand(elements):
            for element in elements:
                yield from operand_names(element)
        case PipeOperand(left, right):
            yield from operand_names(left)
            yield from operand_names(right)
        case ImmediateOperand():
            pass
        case _:
            inner = getattr(o, "operand", None)
            if inner is not None:
                yield from operand_names(inner)


def all_names(items: Iterable[Item]) -> Iterable[str]:
    """Every name in instructions and conditions."""
    for item in items:
        match item:
            case Loop(_, predicate, body):
                yield from all_names(body)
                if predicate is not None:
                    yield predicate.register
            case If(skip, then, otherwise):
                yield skip.register
                yield from all_names(then)
                yield from all_names(otherwise)
            case Region(body):
                yield from all_names(body)
            case Range(body=body, nodes=nodes):
                for node in nodes:
                    yield from names_of(node)
                yield from all_names(body)
            case _:
                for node in instructions_of([item]):
                    yield from names_of(node)


def uses(items: Iterable[Item], registers: dict[str, str]) -> dict[str, int]:
    """How often each register is named: in instructions, guards and conditions; in a rolled group more than twice."""
    found: dict[str, int] = {}

    def count(items: Iterable[Item]) -> None:
        for item in items:
            match item:
                case Instruction():
                    for name in names_of(item):
                        found[name] = found.get(name, 0) + 1
                case Wait() | Helper():
                    for node in instructions_of([item]):
                        for name in names_of(node):
                            found[name] = found.get(name, 0) + 1
                case Loop(_, predicate, body):
                    if predicate is not None:
                        found[predicate.register] = found.get(predicate.register, 0) + 9
                    count(body)
                case If(skip, then, otherwise):
                    found[skip.register] = found.get(skip.register, 0) + 1
                    count(then)
                    count(otherwise)
                case Region(body):
                    count(body)
                case Range(body=body, nodes=nodes):
                    for node in nodes:
                        for name in names_of(node):
                            found[name] = found.get(name, 0) + 9
                    count(body)
                case Roll(group=group):
                    for node in group:
                        for name in names_of(node):
                            found[name] = found.get(name, 0) + 9
    count(items)
    return found


def rolls_among(items: Iterable[Item]) -> Iterable[Roll]:
    for item in items:
        match item:
            case Roll():
                yield item
            case Loop(body=body) | Region(body=body) | Range(body=body):
                yield from rolls_among(body)
            case If(then=then, otherwise=otherwise):
                yield from rolls_among(then)
                yield from rolls_among(otherwise)
