"""Live ranges of machine registers: all connected writes and reads of one value form a web.

A register holds one value after another; each of them, with its writes and reads, is a web. Functions that differ only
in register allocation have the same webs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyptx.toolchain.sass_blocks import find_blocks, successors
from pyptx.toolchain.sass_registers import READ, READ_WRITE, WRITE, InstructionShape

__all__ = ["LiveRanges", "find_live_ranges"]


@dataclass(frozen=True, slots=True)
class LiveRanges:
    """The webs of a function.

    Attributes:
        of: for each instruction the web of each register, in the order of `InstructionShape.registers`.
        block: for each instruction the number of its basic block.
        undefined: webs that are read before they are written on some path.
        invariant: webs whose value never changes during a thread (`value_numbering`).
        copies: number of webs merged into others.
    """

    of: list[tuple[int, ...]]
    block: list[int]
    undefined: frozenset[int] = frozenset()
    invariant: frozenset[int] = frozenset()
    copies: int = 0


def find_live_ranges(
    words: Sequence[str], predicates: Sequence[str], shapes: Sequence[InstructionShape], targets: Sequence[int]
) -> LiveRanges:
    """Return the webs of one function.

    Args:
        words, predicates: opcode without modifiers, and guard, of each instruction.
        shapes: shape of each instruction.
        targets: index of the instruction a branch goes to, -1 for other instructions and for external targets.
    """
    starts, block = find_blocks(words, targets)
    follows = successors(words, predicates, [one.registers for one in shapes], targets, starts, block)
    bits: dict[str, int] = {}
    for one in shapes:
        for name in one.registers:
            bits.setdefault(name, 1 << len(bits))
    every = tuple(bits)
    calls = {row for row, word in enumerate(words) if word == "CALL" and targets[row] < 0}  # may access any register
    live = _live_in(shapes, starts, follows, bits, calls)

    parent: list[int] = []

    def fresh() -> int:
        parent.append(len(parent))
        return len(parent) - 1

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = node = parent[parent[node]]
        return node

    entering = [{name: fresh() for name in every if mask & bits[name]} if mask else {} for mask in live]
    nodes: list[tuple[int, ...]] = []
    for number, start in enumerate(starts):
        now = dict(entering[number])
        end = starts[number + 1] if number + 1 < len(starts) else len(shapes)
        for row in range(start, end):
            one = shapes[row]
            written: dict[str, int] = {}
            mine = []
            for name, role in zip(one.registers, one.roles, strict=True):
                if role == WRITE:
                    node = written.get(name)
                    if node is None:
                        node = written[name] = fresh()
                else:
                    node = now.get(name)
                    if node is None:
                        node = now[name] = fresh()
                mine.append(node)
            now.update(written)
            nodes.append(tuple(mine))
        for other in follows[number]:
            for name, node in entering[other].items():
                if name in now:
                    parent[root(now[name])] = root(node)
    undefined = frozenset(map(root, entering[0].values())) if entering else frozenset()
    return LiveRanges([tuple(map(root, mine)) for mine in nodes], block, undefined)


def _live_in(
    shapes: Sequence[InstructionShape],
    starts: list[int],
    follows: list[set[int]],
    bits: dict[str, int],
    calls: set[int],
) -> list[int]:
    """Return the registers live at the entry of each block, as bit masks."""
    needs, kills = [], []
    for number, start in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else len(shapes)
        need = kill = 0
        for row in range(start, end):
            writes = 0
            for name, role in zip(shapes[row].registers, shapes[row].roles, strict=True):
                if role == WRITE:
                    writes |= bits[name]
                elif role in (READ, READ_WRITE):
                    need |= bits[name] & ~kill
            if row in calls:
                need |= ((1 << len(bits)) - 1) & ~kill
            kill |= writes
        needs.append(need)
        kills.append(kill)
    live, before = list(needs), [set() for _ in starts]
    for number, others in enumerate(follows):
        for other in others:
            before[other].add(number)
    work = set(range(len(starts)))
    while work:
        number = max(work)
        work.discard(number)
        out = 0
        for other in follows[number]:
            out |= live[other]
        mask = needs[number] | out & ~kills[number]
        if mask != live[number]:
            live[number] = mask
            work |= before[number]
    return live
