"""What the prompt prints: the place with its lines, values of lanes, matrices, the timeline."""

from __future__ import annotations

import linecache
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pyptx.debug.looking.values import shown
from pyptx.debug.timeline import Row, Timeline

__all__ = ["SIGNS", "excerpt", "lanes", "matrix", "ptx_excerpt", "shown", "summary", "timeline", "values_of"]

SIGNS = {"run": "=", "wait": ".", "issued": "i", "in flight": "~", "completed": "#", "waited": "w"}
_PER_LINE = 8


def excerpt(file: str, line: int, around: int) -> Iterator[tuple[str, bool]]:
    """Lines of a file around one, each with whether it is that one."""
    text = linecache.getlines(file)
    for number in range(max(1, line - around), min(len(text), line + around) + 1):
        here = number == line
        yield f"{'->' if here else '  '}{number:>5}  {text[number - 1].rstrip()}", here


def ptx_excerpt(text: Sequence[str], line: int, around: int) -> Iterator[tuple[str, bool]]:
    """The same of the PTX."""
    for number in range(max(1, line - around), min(len(text), line + around) + 1):
        here = number == line
        yield f"{'->' if here else '  '}{number:>5}  {text[number - 1].rstrip()}", here


def summary(values: np.ndarray, lane: int, base: str = "") -> str:
    """The values of a register in a few words: one that all have, a sequence, or that of a lane."""
    texts = [shown(v, base=base) for v in values]
    if len(set(texts)) == 1:
        return texts[0]
    if values.dtype.kind in "iu":
        whole = values.astype(object)
        step = whole[1] - whole[0]
        if all(whole[k + 1] - whole[k] == step for k in range(31)):
            return f"{texts[0]}, {texts[1]} .. {texts[31]}"
    return f"{texts[lane]} in lane {lane}, others differ"


def lanes(values: np.ndarray, focus: int, base: str = "") -> Iterator[str]:
    """The values of 32 lanes, eight in a line, that of the focus marked."""
    texts = [shown(v, base=base) for v in values]
    wide = max(map(len, texts)) + 1
    for first in range(0, 32, _PER_LINE):
        cells = [f"{'>' if k == focus else ''}{texts[k]}".rjust(wide + 1) for k in range(first, first + _PER_LINE)]
        yield f"  lane {first:>2}: {''.join(cells)}"


def matrix(values: np.ndarray, first: tuple[int, int], shape: tuple[int, int], width: int, *, base: str = "",
           changed: np.ndarray | None = None, most: int = 16) -> Iterator[str]:
    """Rows and columns with their numbers, as many as there is room for; changed values have a star."""
    rows = [[shown(v, base=base) + ("*" if changed is not None and changed[r][c] else "")
             for c, v in enumerate(row)] for r, row in enumerate(values[:most])]
    if not rows:
        yield "  nothing"
        return
    wide = max((len(text) for row in rows for text in row), default=1)
    wide = max(wide, len(str(first[1] + len(rows[0]) - 1)))
    count = max(1, min(len(rows[0]), (width - 8) // (wide + 1)))
    yield " " * 7 + " ".join(f"{first[1] + c:>{wide}}" for c in range(count))
    for r, row in enumerate(rows):
        yield f"{first[0] + r:>6} " + " ".join(f"{text:>{wide}}" for text in row[:count])
    if (len(rows), count) != tuple(shape):
        yield (f"  rows {first[0]} to {first[0] + len(rows) - 1} of {shape[0]}, columns {first[1]} to "
               f"{first[1] + count - 1} of {shape[1]}; rows=FIRST,COUNT columns=FIRST,COUNT show others")


def timeline(found: Timeline, width: int, start: int = 0) -> Iterator[str]:
    """A line for each row; a later kind of span covers an earlier one."""
    if not found.rows:
        yield "nothing has happened yet"
        return
    names = max(len(row.name) for row in found.rows)
    room = max(20, width - names - 2)
    span = max(1, found.now - start)
    for row in found.rows:
        yield f"{row.name:>{names}}  {_cells(row, start, found.now, room, span).rstrip()}"
    yield f"{'':>{names}}  {start:<{max(1, room - 10)}}step {found.now}"
    yield "  " + ", ".join(f"{sign} {kind}" for kind, sign in SIGNS.items())
    if found.lost:
        yield f"  the first {found.lost} events are not kept any more"


def _cells(row: Row, start: int, now: int, room: int, span: int) -> str:
    cells = [" "] * room
    for s in row.spans:
        end = now if s.end is None else s.end
        if end < start:
            continue
        begin = min(room - 1, max(0, (s.start - start) * room // span))
        for k in range(begin, max(begin + 1, min(room, (end - start) * room // span))):
            cells[k] = SIGNS[s.kind]
    return "".join(cells)


def values_of(value: Any) -> np.ndarray | None:
    """A value with one number for each lane; None for all else."""
    array = np.asarray(value) if not isinstance(value, (tuple, dict, str)) else None
    return array if array is not None and array.shape == (32,) else None
