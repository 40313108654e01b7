"""Basic blocks and loops of code given as rows, for PTX and SASS."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import NamedTuple

from pyptx._dominators import dominators, postorder
from pyptx._frozen import frozen

__all__ = ["BlockEnd", "ControlFlow", "find_control_flow"]


class BlockEnd(NamedTuple):
    """End of a basic block: the rows it may branch to; `falls` is true when control may continue with the next row."""

    targets: tuple[int, ...]
    falls: bool


@frozen
class ControlFlow:
    """Blocks and loops.

    Attributes:
        starts: first rows of the basic blocks, in order; a block extends to the next one or the end of the code.
        depth: loop nesting depth of each row.
        loops: (header row, last row with a back edge) of each loop, outer loops first.
    """

    starts: tuple[int, ...] = ()
    depth: tuple[int, ...] = ()
    loops: tuple[tuple[int, int], ...] = ()


def find_control_flow(count: int, code: Iterable[tuple[int, int]], endings: Mapping[int, BlockEnd]) -> ControlFlow:
    """Find basic blocks and natural loops; unreachable code and irreducible cycles are in no loop.

    Args:
        count: total number of rows.
        code: rows [first, end) of each function; the first row is its entry.
        endings: the rows that end a block.
    """
    starts: list[int] = []
    depth = [0] * count
    loops: list[tuple[int, int]] = []
    for first, end in code:
        leaders = {first} | {row + 1 for row in endings if first <= row < end - 1}
        leaders |= {
            to for row, ending in endings.items() if first <= row < end for to in ending.targets if first <= to < end
        }
        order = sorted(leaders)
        starts += order
        loops += _loops([*order, end], endings, depth)
    return ControlFlow(tuple(starts), tuple(depth), tuple(sorted(loops, key=lambda loop: (loop[0], -loop[1]))))


def _loops(bounds: list[int], endings: Mapping[int, BlockEnd], depth: list[int]) -> list[tuple[int, int]]:
    """Return the loops of one function with blocks [bounds[i], bounds[i + 1]); add to `depth`."""
    blocks = list(pairwise(bounds))
    number = {first: block for block, (first, _) in enumerate(blocks)}
    after: list[list[int]] = []
    for block, (_, end) in enumerate(blocks):
        ending = endings.get(end - 1, BlockEnd((), True))
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
    while rank[block] < rank[head]:  # a dominator follows its block in postorder
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
