"""Basic blocks and loops of code that is known by its rows: the same for PTX and for SASS."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from pyptx._dominators import dominators, postorder

__all__ = ["Ending", "Flow", "flow_of"]


class Ending(NamedTuple):
    """What a row does that ends a basic block: the rows it may go to, and whether the next row may follow."""

    targets: tuple[int, ...]
    falls: bool


@dataclass(frozen=True, slots=True)
class Flow:
    """Attributes:
        starts: rows at which basic blocks begin, in order. A block ends before the next one or where code ends.
        depth: for each row, how many loops it is part of.
        loops: (row where it is entered, last row that jumps back there) of each loop, outer ones first.
    """

    starts: tuple[int, ...] = ()
    depth: tuple[int, ...] = ()
    loops: tuple[tuple[int, int], ...] = ()


def flow_of(count: int, code: Iterable[tuple[int, int]], endings: Mapping[int, Ending]) -> Flow:
    """Blocks and natural loops. Code that cannot be reached is in no loop, nor is a cycle that can be entered in two
    places.

    Args:
        count: rows in all.
        code: rows [first, end) of each function; control enters at its first row.
        endings: the rows that end a block.
    """
    starts: list[int] = []
    depth = [0] * count
    loops: list[tuple[int, int]] = []
    for first, end in code:
        leaders = {first} | {row + 1 for row in endings if first <= row < end - 1}
        leaders |= {to for row, ending in endings.items() if first <= row < end for to in ending.targets
                    if first <= to < end}
        order = sorted(leaders)
        starts += order
        loops += _loops([*order, end], endings, depth)
    return Flow(tuple(starts), tuple(depth), tuple(sorted(loops, key=lambda loop: (loop[0], -loop[1]))))


def _loops(bounds: list[int], endings: Mapping[int, Ending], depth: list[int]) -> list[tuple[int, int]]:
    """The loops of one function whose blocks are [bounds[i], bounds[i + 1]); adds to `depth`."""
    blocks = list(pairwise(bounds))
    number = {first: block for block, (first, _) in enumerate(blocks)}
    after: list[list[int]] = []
    for block, (_, end) in enumerate(blocks):
        ending = endings.get(end - 1, Ending((), True))
        to = [number[target] for target in ending.targets if target in number]
        after.append([*to, block + 1] if ending.falls and block + 1 < len(blocks) else to)
    order = postorder(after, 0)
    before: list[list[int]] = [[] for _ in blocks]
    for block in order:
        for other in after[block]:
            before[other].append(block)
    above, rank = dominators(order, before), {block: place for place, block in enumerate(order)}
    found = []
    for head in order:
        back = [block for block in before[head] if _dominates(head, block, above, rank)]
        if back:
            body = _body(head, back, before)
            for block in body:
                for row in range(*blocks[block]):
                    depth[row] += 1
            found.append((blocks[head][0], max(blocks[block][1] for block in back) - 1))
    return found


def _dominates(head: int, block: int, above: dict[int, int], rank: dict[int, int]) -> bool:
    while rank[block] < rank[head]:                         # what dominates a block stands behind it in postorder
        block = above[block]
    return block == head


def _body(head: int, back: list[int], before: list[list[int]]) -> set[int]:
    body, todo = {head}, list(back)
    while todo:
        block = todo.pop()
        if block not in body:
            body.add(block)
            todo += before[block]
    return body
