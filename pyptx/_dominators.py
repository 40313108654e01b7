"""Dominators of a graph: for blocks of machine code, of PTX, and, from the end backwards, of the simulator's programs.

Source: Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm".
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["dominators", "postorder"]


def postorder(after: Sequence[Sequence[int]], root: int) -> list[int]:
    """Nodes that can be reached from the root, each behind those it leads to first; the root is the last.

    Args:
        after: of each node, the nodes it leads to.
    """
    order, seen, stack = [], {root}, [(root, iter(after[root]))]
    while stack:
        node, rest = stack[-1]
        for other in rest:
            if other not in seen:
                seen.add(other)
                stack.append((other, iter(after[other])))
                break
        else:
            order.append(node)
            stack.pop()
    return order


def dominators(order: Sequence[int], before: Sequence[Sequence[int]]) -> dict[int, int]:
    """Node -> the nearest other node that every way from the root to it passes; the root has itself.

    Args:
        order: of `postorder`.
        before: of each node, the nodes that lead to it; such as cannot be reached count for nothing.
    Examples:
        >>> after, before = [[1, 2], [3], [3], []], [[], [0], [0], [1, 2]]
        >>> sorted(dominators(postorder(after, 0), before).items())
        [(0, 0), (1, 0), (2, 0), (3, 0)]
    """
    root = order[-1]
    rank = {node: place for place, node in enumerate(order)}
    above = {root: root}
    changed = True
    while changed:
        changed = False
        for node in reversed(order[:-1]):
            known = [other for other in before[node] if other in above]
            new = known[0]
            for other in known[1:]:
                while new != other:
                    if rank[new] < rank[other]:
                        new = above[new]
                    else:
                        other = above[other]
            if above.get(node) != new:
                above[node] = new
                changed = True
    return above
