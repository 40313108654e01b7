"""What a comparison of two texts says: rows side by side, each of a class, and the hunks they form."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["CLASSES", "Compared", "Hunk", "Row", "hunks_of"]

CLASSES = ("identical", "renamed", "rescheduled", "different")


class Row(NamedTuple):
    """Two lines side by side, or one with nothing beside it.

    Attributes:
        a, b: index of the line on the left and on the right, -1 for none.
        kind: index into CLASSES.
        why: for different lines, what differs: "operands", "address" (of memory, and nothing else), "only left" ...;
            for renamed ones "spelling" where not only registers have other names; else empty.
        partner: for a rescheduled line, the line of the other side that is the same instruction; else -1.
        control: the scheduling bits differ, whatever the class.
    """

    a: int
    b: int
    kind: int
    why: str = ""
    partner: int = -1
    control: bool = False


@dataclass(frozen=True, slots=True)
class Hunk:
    """Rows [start, end) of one class, one after the other."""

    start: int
    end: int
    kind: int


@dataclass(frozen=True, slots=True)
class Compared:
    """Attributes:
        rows: all lines of both sides, in order; a line that has moved stands once on the left and once on the right.
        hunks: the rows cut where their class changes.
    """

    rows: tuple[Row, ...]
    hunks: tuple[Hunk, ...]

    def counts(self) -> dict[str, tuple[int, int]]:
        """Class -> (lines on the left, lines on the right)."""
        found = [[0, 0] for _ in CLASSES]
        for row in self.rows:
            found[row.kind][0] += row.a >= 0
            found[row.kind][1] += row.b >= 0
        return {name: tuple(found[kind]) for kind, name in enumerate(CLASSES)}

    @property
    def control_only(self) -> int:
        """Pairs of lines that do the same and are scheduled by other bits."""
        return sum(row.control and row.kind < 3 and row.a >= 0 for row in self.rows)


def hunks_of(rows: Sequence[Row], breaks: Iterable[int] = ()) -> tuple[Hunk, ...]:
    """The rows cut where the class changes, and before each of `breaks`."""
    cuts, found, start = set(breaks), [], 0
    for number in range(1, len(rows) + 1):
        if number == len(rows) or rows[number].kind != rows[start].kind or number in cuts:
            found.append(Hunk(start, number, rows[start].kind))
            start = number
    return tuple(found)
