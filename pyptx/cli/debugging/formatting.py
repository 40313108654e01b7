"""Text of the prompt: source excerpts, values of lanes, matrices, and the timeline."""

from __future__ import annotations

import linecache
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pyptx.debug.inspect.values import number_text
from pyptx.debug.timeline import Row, Timeline

__all__ = [
    "SIGNS",
    "lane_rows",
    "lane_summary",
    "lane_values",
    "matrix_rows",
    "ptx_excerpt",
    "source_excerpt",
    "timeline_rows",
]

SIGNS = {"run": "=", "wait": ".", "issued": "i", "in flight": "~", "completed": "#", "waited": "w"}
_LANES_PER_LINE = 8


def source_excerpt(file: str, line: int, around: int) -> Iterator[tuple[str, bool]]:
    """Yield the lines of a file around a line, each with True for that line."""
    return ptx_excerpt([text.rstrip() for text in linecache.getlines(file)], line, around)


def ptx_excerpt(text: Sequence[str], line: int, around: int) -> Iterator[tuple[str, bool]]:
    """Yield the lines of a text around a line, each with True for that line."""
    for number in range(max(1, line - around), min(len(text), line + around) + 1):
        here = number == line
        yield f"{'->' if here else '  '}{number:>5}  {text[number - 1].rstrip()}", here


def lane_values(value: Any) -> np.ndarray | None:
    """Return a value as an array if it has one number per lane, else None."""
    array = np.asarray(value) if not isinstance(value, (tuple, dict, str)) else None
    return array if array is not None and array.shape == (32,) else None


def lane_summary(values: np.ndarray, lane: int, base: str = "") -> str:
    """Return a short form of 32 lanes: a uniform value, an arithmetic sequence, or the value of one lane."""
    texts = [number_text(v, base=base) for v in values]
    if len(set(texts)) == 1:
        return texts[0]
    if values.dtype.kind in "iu":
        exact = values.astype(object)
        step = exact[1] - exact[0]
        if all(exact[k + 1] - exact[k] == step for k in range(31)):
            return f"{texts[0]}, {texts[1]} .. {texts[31]}"
    return f"{texts[lane]} in lane {lane}, others differ"


def lane_rows(values: np.ndarray, focus: int, base: str = "") -> Iterator[str]:
    """Yield the values of 32 lanes, eight per line, with the focused lane marked."""
    texts = [number_text(v, base=base) for v in values]
    width = max(map(len, texts)) + 1
    for first in range(0, 32, _LANES_PER_LINE):
        lanes = range(first, first + _LANES_PER_LINE)
        cells = [f"{'>' if k == focus else ''}{texts[k]}".rjust(width + 1) for k in lanes]
        yield f"  lane {first:>2}: {''.join(cells)}"


def matrix_rows(
    values: np.ndarray,
    first: tuple[int, int],
    shape: tuple[int, int],
    width: int,
    *,
    base: str = "",
    most: int = 16,
) -> Iterator[str]:
    """Yield a matrix with row and column numbers, as far as it fits.

    Args:
        first: row and column of values[0][0].
        shape: rows and columns of the whole matrix.
        width: columns of the terminal.
        most: maximum number of rows.
    """
    rows = [[number_text(v, base=base) for v in row] for row in values[:most]]
    if not rows:
        yield "  empty"
        return
    wide = max((len(text) for row in rows for text in row), default=1)
    wide = max(wide, len(str(first[1] + len(rows[0]) - 1)))
    count = max(1, min(len(rows[0]), (width - 8) // (wide + 1)))
    yield " " * 7 + " ".join(f"{first[1] + c:>{wide}}" for c in range(count))
    for r, row in enumerate(rows):
        yield f"{first[0] + r:>6} " + " ".join(f"{text:>{wide}}" for text in row[:count])
    if (len(rows), count) != tuple(shape):
        yield (
            f"  rows {first[0]} to {first[0] + len(rows) - 1} of {shape[0]}, columns {first[1]} to "
            f"{first[1] + count - 1} of {shape[1]}; select others with rows=FIRST,COUNT columns=FIRST,COUNT"
        )


def timeline_rows(timeline: Timeline, width: int, start: int = 0) -> Iterator[str]:
    """Yield a line for each row of a timeline, from a step on."""
    if not timeline.rows:
        yield "nothing has run yet"
        return
    names = max(len(row.name) for row in timeline.rows)
    columns = max(20, width - names - 2)
    steps = max(1, timeline.now - start)
    for row in timeline.rows:
        yield f"{row.name:>{names}}  {_cells(row, start, timeline.now, columns, steps).rstrip()}"
    yield f"{'':>{names}}  {start:<{max(1, columns - 10)}}step {timeline.now}"
    yield "  " + ", ".join(f"{sign} {kind}" for kind, sign in SIGNS.items())
    if timeline.dropped:
        yield f"  the first {timeline.dropped} events were dropped"


def _cells(row: Row, start: int, now: int, columns: int, steps: int) -> str:
    """Return the characters of a row; later kinds of spans cover earlier ones."""
    cells = [" "] * columns
    for s in row.spans:
        end = now if s.end is None else s.end
        if end < start:
            continue
        begin = min(columns - 1, max(0, (s.start - start) * columns // steps))
        for k in range(begin, max(begin + 1, min(columns, (end - start) * columns // steps))):
            cells[k] = SIGNS[s.kind]
    return "".join(cells)
