"""Repeated groups of instructions, as Python loops: the same instructions whose numbers and registers go up evenly."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pyptx.codegen.flow import Item
from pyptx.ir.nodes import (
    AddressOperand,
    ImmediateOperand,
    Instruction,
    LabelOperand,
    NegatedOperand,
    Operand,
    ParenthesizedOperand,
    PipeOperand,
    RegisterOperand,
    VectorOperand,
)

__all__ = ["Roll", "base_of", "numbered", "numbers_of", "rolled"]

LONGEST = 48                                            # instructions in a group
SAVED = 6                                               # lines a loop must save


@dataclass(slots=True)
class Roll:
    """`count` repetitions of a group; number k of the group's text is `steps[k]` more each time."""

    group: list[Instruction]
    steps: list[tuple[int, ...]]                        # for each instruction, for each number in it
    count: int


_NUMBERED = re.compile(r"(%?[A-Za-z_$]+(?:\w*[A-Za-z_$])?)(0|[1-9]\d*)")
_PLAIN = re.compile(r"-?(?:0|[1-9]\d*)")


def base_of(name: str) -> str | None:
    """What stands in front of the number of a name; None without one, or where zeros lead it."""
    match = _NUMBERED.fullmatch(name)
    return match and match[1]


def numbered(node: Instruction, registers: Callable[[str], object],
             into: list[int] | None = None) -> tuple[object, Sequence[int]]:
    """The instruction without its numbers, and those: of guard, immediates, offsets and registers in order of text.

    Args:
        registers: whether a name is a declared register whose number may be an index.
        into: where the numbers go.
    """
    numbers: list[int] = [] if into is None else into

    def name(text: str) -> object:
        match = _NUMBERED.fullmatch(text)
        if match and registers(text):
            numbers.append(int(match[2]))
            return match[1]
        return ("", text)

    def shape(o: Operand) -> object:
        match o:
            case RegisterOperand(text) | LabelOperand(text):
                return name(text)
            case ImmediateOperand(text):
                if _PLAIN.fullmatch(text) and text != "-0":
                    numbers.append(int(text))
                    return "#"
                return ("#", text)
            case AddressOperand(base, offset, suffix=suffix):
                inner = name(base)
                if offset is None:
                    numbers.append(0)
                elif _PLAIN.fullmatch(offset) and offset not in ("0", "-0"):
                    numbers.append(int(offset))
                else:
                    return ("[", inner, offset, suffix)
                return ("[", inner, "#", suffix)
            case VectorOperand(elements) | ParenthesizedOperand(elements):
                return (type(o).__name__, *map(shape, elements))
            case PipeOperand(left, right):
                return ("|", shape(left), shape(right))
            case NegatedOperand(inner):
                return ("!", shape(inner))
            case _:
                return ("?", o)

    guard = node.predicate and (node.predicate.negated, name(node.predicate.register))
    return (node.opcode, node.modifiers, guard, *map(shape, node.operands)), numbers


def numbers_of(node: Instruction, registers: Callable[[str], bool]) -> list[tuple[str | None, int]]:
    """The numbers of an instruction with the register base each is of, None for those of literals and offsets."""
    bases: list[tuple[int, str]] = []
    numbers: list[int] = []

    def seen(name: str) -> bool:
        if not registers(name):
            return False
        bases.append((len(numbers), base_of(name)))
        return True
    numbers = numbered(node, seen, numbers)[1]
    found = dict(bases)
    return [(found.get(k), n) for k, n in enumerate(numbers)]


def rolled(items: Sequence[Item], registers: Callable[[str], object], take: Callable[[str], bool]) -> list[Item]:
    """The items with repeated groups of instructions rolled up."""
    kinds: dict[object, int] = {}
    shapes, numbers = [], []
    for item in items:
        if isinstance(item, Instruction):
            shape, found = numbered(item, registers)
            shapes.append(kinds.setdefault(shape, len(kinds) + 1))
            numbers.append(tuple(found))
        else:
            shapes.append(-len(shapes))                 # like no other
            numbers.append(())
    out: list[Item] = []
    i = 0
    while i < len(items):
        found = _longest(shapes, numbers, i)
        if found is not None and take("roll"):
            size, count = found
            steps = [tuple(b - a for a, b in zip(numbers[i + k], numbers[i + k + size], strict=True))
                     for k in range(size)]
            out.append(Roll(list(items[i:i + size]), steps, count))
            i += size * count
        else:
            out.append(items[i])
            i += 1
    return out


def _longest(shapes: list[int], numbers: list[tuple[int, ...]], i: int) -> tuple[int, int] | None:
    """Size and count of the best repetition from i on."""
    best, saved = None, SAVED - 1
    for size in range(1, min(LONGEST, (len(shapes) - i) // 3) + 1):
        if shapes[i] != shapes[i + size] or shapes[i] != shapes[i + 2 * size]:
            continue
        if shapes[i:i + size] != shapes[i + size:i + 2 * size]:
            continue
        count = _count(shapes, numbers, i, size)
        if count >= 3 and size * (count - 1) > saved:
            best, saved = (size, count), size * (count - 1)
    return best


def _count(shapes: list[int], numbers: list[tuple[int, ...]], i: int, size: int) -> int:
    """How often the group at i is repeated, each number going up by the same step."""
    steps = [[b - a for a, b in zip(numbers[i + k], numbers[i + k + size], strict=True)] for k in range(size)]
    count, at = 2, i + 2 * size
    while at + size <= len(shapes) and shapes[at:at + size] == shapes[i:i + size]:
        for k in range(size):
            if any(b - a != s for a, b, s in zip(numbers[at - size + k], numbers[at + k], steps[k], strict=True)):
                return count
        count += 1
        at += size
    return count
