"""Result of a comparison: rows side by side, each with a class, and the hunks they form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["CLASSES", "Comparison", "Hunk", "Row", "group_hunks"]

CLASSES = ("identical", "renamed", "rescheduled", "different")


class Row(NamedTuple):
    """Two lines side by side, or a single line.

    Attributes:
        a, b: index of the line on the left and on the right, -1 for none.
        kind: index into CLASSES.
        why: for different lines the difference: "operands", "address" (only a memory address), "only left", ...; for
            renamed lines "spelling" when more than register names differ; else empty.
        partner: for a rescheduled line, its counterpart on the other side; else -1.
        control: the scheduling bits differ.
    """

    a: int
    b: int
    kind: int
    why: str = ""
    partner: int = -1
    control: bool = False


@dataclass(frozen=True, slots=True)
class Hunk:
    """Consecutive rows [start, end) of one class."""

    start: int
    end: int
    kind: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Result of a comparison.

    Attributes:
        rows: all lines of both sides, in order; a moved line occurs once on each side.
        hunks: the rows grouped by class.
    """

    rows: tuple[Row, ...]
    hunks: tuple[Hunk, ...]

    def counts(self) -> dict[str, tuple[int, int]]:
        """Return class -> (lines on the left, lines on the right)."""
        left = Counter(row.kind for row in self.rows if row.a >= 0)
        right = Counter(row.kind for row in self.rows if row.b >= 0)
        return {name: (left[kind], right[kind]) for kind, name in enumerate(CLASSES)}

    @property
    def control_only(self) -> int:
        """Number of equivalent pairs of lines with different scheduling bits."""
        return sum(row.control and row.kind < 3 and row.a >= 0 for row in self.rows)


def group_hunks(rows: Sequence[Row], breaks: Iterable[int] = ()) -> tuple[Hunk, ...]:
    """Group rows by class, with a new hunk at each of `breaks`."""
    cuts, found, start = set(breaks), [], 0
    for number in range(1, len(rows) + 1):
        if number == len(rows) or rows[number].kind != rows[start].kind or number in cuts:
            found.append(Hunk(start, number, rows[start].kind))
            start = number
    return tuple(found)
