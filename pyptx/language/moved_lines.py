"""Lines of a text after an edit."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["moved_lines"]


def moved_lines(before: str, after: str) -> Callable[[int], int | None]:
    """Return a function from the 1-based lines of a text to those of the edited text; None for a changed line."""
    if before == after:
        return lambda line: line
    old, new = before.split("\n"), after.split("\n")
    most, top = min(len(old), len(new)), 0
    while top < most and old[top] == new[top]:
        top += 1
    bottom = 0
    while bottom < most - top and old[-1 - bottom] == new[-1 - bottom]:
        bottom += 1
    return lambda line: line if line <= top else line + len(new) - len(old) if line > len(old) - bottom else None
