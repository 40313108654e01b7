"""Dominators and postorder of control-flow graphs.

Source: Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm".
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["dominators", "postorder"]


def postorder(after: Sequence[Sequence[int]], root: int) -> list[int]:
    """Return the nodes reachable from the root in postorder; the root is the last.

    Args:
        after: successors of each node.
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
    """Return the immediate dominator of each reachable node; that of the root is the root.

    Args:
        order: the result of `postorder`.
        before: predecessors of each node; unreachable ones are ignored.
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
