"""Loop rerolling: repeated groups of instructions whose numbers and registers advance by constant steps."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from pyptx.codegen.items import Item, RolledLoop
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

__all__ = ["base_of", "split_numbers", "number_bases", "reroll"]

MAX_GROUP = 48  # instructions
MIN_SAVED_LINES = 6


_NUMBERED = re.compile(r"(%?[A-Za-z_$]++\w*(?<!\d))(0|[1-9]\d*)")
_PLAIN = re.compile(r"-?(?:0|[1-9]\d*)")


def base_of(name: str) -> str | None:
    """Return a numbered name without its number; None if it has none, or one with leading zeros."""
    match = _NUMBERED.fullmatch(name)
    return match and match[1]


def split_numbers(
    node: Instruction, registers: Callable[[str], object], into: list[int] | None = None
) -> tuple[object, Sequence[int]]:
    """Return the shape of an instruction, and its numbers: of guard, immediates, offsets and registers in textual order.

    Args:
        node: the instruction.
        registers: predicate for names of declared registers whose number may be an index.
        into: list to append the numbers to.
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


def number_bases(node: Instruction, registers: Callable[[str], bool]) -> list[tuple[str | None, int]]:
    """Return the numbers of an instruction, each with its register base; None for literals and offsets."""
    bases: list[tuple[int, str]] = []
    numbers: list[int] = []

    def seen(name: str) -> bool:
        base = base_of(name)
        if base is None or not registers(name):
            return False
        bases.append((len(numbers), base))
        return True

    split_numbers(node, seen, numbers)
    found = dict(bases)
    return [(found.get(k), n) for k, n in enumerate(numbers)]


def reroll(items: Sequence[Item], registers: Callable[[str], object], allow: Callable[[str], bool]) -> list[Item]:
    """Return the items with repeated groups of instructions replaced by rolled loops."""
    kinds: dict[object, int] = {}
    shapes, numbers = [], []
    for item in items:
        if isinstance(item, Instruction):
            shape, found = split_numbers(item, registers)
            shapes.append(kinds.setdefault(shape, len(kinds) + 1))
            numbers.append(tuple(found))
        else:
            shapes.append(-len(shapes))  # matches nothing
            numbers.append(())
    out: list[Item] = []
    i = 0
    while i < len(items):
        found = _best_repetition(shapes, numbers, i)
        if found is not None and allow("roll"):
            size, count = found
            steps = [
                tuple(b - a for a, b in zip(numbers[i + k], numbers[i + k + size], strict=True)) for k in range(size)
            ]
            group = [item for item in items[i : i + size] if isinstance(item, Instruction)]
            out.append(RolledLoop(group, steps, count))
            i += size * count
        else:
            out.append(items[i])
            i += 1
    return out


def _best_repetition(shapes: list[int], numbers: list[tuple[int, ...]], i: int) -> tuple[int, int] | None:
    """Return size and count of the repetition starting at i that saves most lines."""
    best, saved = None, MIN_SAVED_LINES - 1
    for size in range(1, min(MAX_GROUP, (len(shapes) - i) // 3) + 1):
        if shapes[i] != shapes[i + size] or shapes[i] != shapes[i + 2 * size]:
            continue
        if shapes[i : i + size] != shapes[i + size : i + 2 * size]:
            continue
        count = _count_repetitions(shapes, numbers, i, size)
        if count >= 3 and size * (count - 1) > saved:
            best, saved = (size, count), size * (count - 1)
    return best


def _count_repetitions(shapes: list[int], numbers: list[tuple[int, ...]], i: int, size: int) -> int:
    """Return how often the group at i repeats with each number advancing by the same step."""
    steps = [[b - a for a, b in zip(numbers[i + k], numbers[i + k + size], strict=True)] for k in range(size)]
    count, at = 2, i + 2 * size
    while at + size <= len(shapes) and shapes[at : at + size] == shapes[i : i + size]:
        for k in range(size):
            if any(b - a != s for a, b, s in zip(numbers[at - size + k], numbers[at + k], steps[k], strict=True)):
                return count
        count += 1
        at += size
    return count
