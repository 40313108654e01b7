"""Modes of layouts as lists of sizes and strides, slowest first: the arithmetic of the layout algebra."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["Leaf", "coalesced", "compose_leaf", "flat", "gaps", "like", "structure"]

Leaf = tuple[int, int]  # size, stride


def flat(nested: Any) -> list[Any]:
    """Return the leaves of nested tuples."""
    return [leaf for item in nested for leaf in flat(item)] if isinstance(nested, tuple) else [nested]


def structure(nested: Any) -> Any:
    """Return nested tuples without their leaves, for comparisons."""
    return tuple(map(structure, nested)) if isinstance(nested, tuple) else None


def like(nested: tuple[Any, ...], leaves: Sequence[Any]) -> tuple[Any, ...]:
    """Return nested tuples of the same structure with other leaves."""
    given = iter(leaves)

    def fill(item: Any) -> Any:
        return tuple(map(fill, item)) if isinstance(item, tuple) else next(given)

    return fill(nested)


def coalesced(leaves: Sequence[Leaf]) -> list[Leaf]:
    """Return the same function of a linear index with as few modes as possible, at least one."""
    found: list[Leaf] = []
    for n, step in leaves:
        if n == 1:
            continue
        if found and found[-1][1] == n * step:
            found[-1] = (found[-1][0] * n, step)
        else:
            found.append((n, step))
    return found or [(1, 0)]


def compose_leaf(outer: Sequence[Leaf], n: int, step: int, reached: list[int]) -> list[Leaf] | None:
    """Return the modes of outer(step * i) for i below n; None if they do not divide the modes of `outer` evenly.

    Args:
        outer: coalesced modes.
        n, step: the inner mode.
        reached: largest coordinate in each mode of `outer` so far; those of this inner mode are added. The sum of inner modes
            carries if one is not below its size.
    """
    if n == 1 or step == 0:
        return [(n, 0)]
    found: list[Leaf] = []
    for at in reversed(range(len(outer))):
        size, stride = outer[at]
        if step < 0 or step >= size:
            if step < 0 or step % size:
                return None
            step //= size
            continue
        count = min(n, -(-size // step))
        if count < n and (size % step or n % count):
            return None
        found.insert(0, (count, step * stride))
        reached[at] += (count - 1) * step
        n, step = n // count, 1
        if n == 1:
            return found
    return None


def gaps(leaves: Sequence[Leaf], size: int, exact: bool = True) -> list[Leaf] | None:
    """Return the modes of the offsets between those of `leaves`, up to `size`; None if there are none that fit.

    Args:
        exact: the offsets end at `size`; else at the next possible multiple.
    """
    found: list[Leaf] = []
    filled = 1  # offsets below it are reached, by the leaves or the gaps
    for n, step in sorted((leaf for leaf in leaves if leaf[0] > 1), key=lambda leaf: leaf[1]):
        if step < filled or step % filled:
            return None
        if step > filled:
            found.insert(0, (step // filled, filled))
        filled = n * step
    if exact and size % filled:
        return None
    rest = -(-size // filled)
    if rest > 1 or not found:
        found.insert(0, (rest, filled))
    return found
