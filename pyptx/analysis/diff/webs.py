"""The values of a function's machine registers: what is written together and read together is one web.

A register holds one value after another; each such life, with every write and read that belongs to it, is a web
("live range"). Two functions that do the same with other registers have the same webs under other names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyptx.analysis.sass.blocks import blocks, successors
from pyptx.analysis.sass.registers import READ, READ_WRITE, WRITE, Shape

__all__ = ["Webs", "find_webs"]


@dataclass(frozen=True, slots=True)
class Webs:
    """Attributes:
        of: for each instruction the web of each of its registers, as `Shape.registers` has them.
        block: for each instruction the number of its basic block.
        unset: webs that some path reaches with nothing written.
        lasting: webs whose value is the same whenever a thread reads it (`repeats.py`).
        copies: how many webs went into those.
    """

    of: list[tuple[int, ...]]
    block: list[int]
    unset: frozenset[int] = frozenset()
    lasting: frozenset[int] = frozenset()
    copies: int = 0


def find_webs(words: Sequence[str], predicates: Sequence[str], shapes: Sequence[Shape],
              targets: Sequence[int]) -> Webs:
    """Webs of one function.

    Args:
        words, predicates: opcode without modifiers and guard of each instruction.
        shapes: of each instruction.
        targets: index of the instruction that a branch goes to, -1 where it goes nowhere or elsewhere.
    """
    starts, block = blocks(words, targets)
    follows = successors(words, predicates, shapes, targets, starts, block)
    bits: dict[str, int] = {}
    for one in shapes:
        for name in one.registers:
            bits.setdefault(name, 1 << len(bits))
    every = tuple(bits)
    calls = {row for row, word in enumerate(words) if word == "CALL" and targets[row] < 0}   # may touch anything
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
    unset = frozenset(map(root, entering[0].values())) if entering else frozenset()
    return Webs([tuple(map(root, mine)) for mine in nodes], block, unset)


def _live_in(shapes: Sequence[Shape], starts: list[int], follows: list[set[int]], bits: dict[str, int],
             calls: set[int]) -> list[int]:
    """Registers whose value a block may read before it writes them, or hand on, as bits."""
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
