"""Names used in a body: per operand, per instruction, and how often each register occurs."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pyptx.codegen.items import DescriptorCall, If, Item, Loop, Range, Region, RolledLoop, Wait
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

__all__ = [
    "NAME_PATTERN",
    "all_names",
    "instruction_names",
    "instructions_of",
    "operand_names",
    "rolled_loops",
    "count_uses",
]


def instructions_of(items: Iterable[Item]) -> Iterable[Instruction]:
    """Yield every instruction in textual order; those of a rolled loop once."""
    for item in items:
        match item:
            case Instruction():
                yield item
            case Loop(body=body) | Region(body=body):
                yield from instructions_of(body)
            case If(then=then, otherwise=otherwise):
                yield from instructions_of(then)
                yield from instructions_of(otherwise)
            case RolledLoop(group=group):
                yield from group
            case Wait(node):
                yield node
            case Range(body=body, nodes=(mov, setp, bra, add)):
                yield from (mov, setp, bra)
                yield from instructions_of(body)
                yield add
            case DescriptorCall(nodes=nodes):
                yield from nodes


def instruction_names(node: Instruction) -> Iterable[str]:
    """Yield every name in an instruction in textual order, the guard last."""
    for operand in node.operands:
        yield from operand_names(operand)
    if node.predicate is not None:
        yield node.predicate.register


NAME_PATTERN = re.compile(r"%?[A-Za-z_$][\w$]*")


def operand_names(o: Operand) -> Iterable[str]:
    """Yield every name in an operand in textual order."""
    match o:
        case RegisterOperand(name) | LabelOperand(name):
            if "." in name and name.partition(".")[2] not in "xyzw":
                yield from NAME_PATTERN.findall(name)
            else:
                yield name
        case AddressOperand(base, offset):
            yield base
            if offset is not None:
                yield from NAME_PATTERN.findall(offset)
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
    """Yield every name in instructions and conditions."""
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
                    yield from instruction_names(node)
                yield from all_names(body)
            case _:
                for node in instructions_of([item]):
                    yield from instruction_names(node)


def count_uses(items: Iterable[Item], registers: dict[str, str]) -> dict[str, int]:
    """Count the uses of each register in instructions, guards and conditions.

    A use in a loop that evaluates it repeatedly counts more than twice, so that its definition is not inlined.
    """
    found: dict[str, int] = {}

    def count(items: Iterable[Item]) -> None:
        for item in items:
            match item:
                case Instruction():
                    for name in instruction_names(item):
                        found[name] = found.get(name, 0) + 1
                case Wait() | DescriptorCall():
                    for node in instructions_of([item]):
                        for name in instruction_names(node):
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
                        for name in instruction_names(node):
                            found[name] = found.get(name, 0) + 9
                    count(body)
                case RolledLoop(group=group):
                    for node in group:
                        for name in instruction_names(node):
                            found[name] = found.get(name, 0) + 9

    count(items)
    return found


def rolled_loops(items: Iterable[Item]) -> Iterable[RolledLoop]:
    """Yield every rolled loop, nested ones included."""
    for item in items:
        match item:
            case RolledLoop():
                yield item
            case Loop(body=body) | Region(body=body) | Range(body=body):
                yield from rolled_loops(body)
            case If(then=then, otherwise=otherwise):
                yield from rolled_loops(then)
                yield from rolled_loops(otherwise)
