"""The Python pane: the functions that contain the places of a kernel."""

from __future__ import annotations

import inspect
import linecache
import re
import textwrap
import tokenize
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from types import CodeType

from pyptx._frozen import frozen
from pyptx._lazy import pattern
from pyptx._loc import SourceLocation, StoredCode, given_name

__all__ = ["FOREIGN", "PythonRows", "Section", "display_names", "foreign_name", "python_rows", "with_gaps"]

MISSING = "(source not found)"
FOREIGN = "<source>"  # co_name of code whose places come from `.loc`
MAX_FOLDERS = 8  # shown to distinguish files of one name; beyond, the whole path
GAP = 12  # lines without code that are shown between two lines that `.loc` refers to

_FOREIGN = pattern(r"<source:(.*)>", re.DOTALL)


@frozen
class Section:
    """One function: `count` rows of the pane from row `start`; `first` is the line number of the first."""

    file: str  # as shown: "Cell In[3]", "rms_norm.py"
    function: str
    role: str  # "kernel" | "helper"
    first: int
    start: int
    count: int


@frozen
class PythonRows:
    """Rows of the Python pane, and the row of each place.

    With more than one section, an empty row with line number 0 precedes each one, for its heading.
    """

    sections: tuple[Section, ...]
    text: tuple[str, ...]
    line: tuple[int, ...]  # 1-based line number in its file
    rows: dict[tuple[str, int], int]  # (file, line) -> row

    def row(self, place: SourceLocation) -> int:
        return self.rows[place.file, place.line]

    def stack(self, place: SourceLocation | None) -> tuple[int, ...]:
        """Return the rows of the place and of its callers, innermost first, without duplicates."""
        return tuple(dict.fromkeys(map(self.row, place.stack))) if place else ()


@dataclass(slots=True)
class _Span:
    """Lines of a function to show."""

    file: str
    function: str
    role: str
    first: int
    last: int
    lines: set[int] | None = None  # of foreign source: the lines referred to; None: all from first to last

    def numbers(self) -> Sequence[int]:
        """Return the numbers of the lines to show."""
        return range(self.first, self.last + 1) if self.lines is None else with_gaps(self.lines)


def python_rows(places: Iterable[SourceLocation | None]) -> PythonRows:
    """Collect the functions that contain the places and their callers: the kernel first, helpers by first use."""
    spans = _merged(_spans(places))
    shown = display_names(span.file for span in spans)
    sections, text, line, rows = [], [], [], {}
    for span in spans:
        source = linecache.getlines(span.file)
        if len(spans) > 1:
            text.append("")
            line.append(0)
        numbers = span.numbers()
        sections.append(Section(shown[span.file], span.function, span.role, numbers[0], len(text), len(numbers)))
        rows |= {(span.file, number): len(text) + i for i, number in enumerate(numbers)}
        text += _dedented([source[number - 1].rstrip("\n") if number <= len(source) else MISSING for number in numbers])
        line += numbers
    return PythonRows(tuple(sections), tuple(text), tuple(line), rows)


def with_gaps(lines: Iterable[int]) -> list[int]:
    """Return the sorted line numbers, with those in gaps of at most GAP lines between them."""
    found: list[int] = []
    for number in sorted(lines):
        gap = number - found[-1] - 1 if found else 0
        found += range(number - gap if gap <= GAP else number, number + 1)
    return found


def foreign_name(path: str) -> str:
    """Return the name under which linecache holds the lines of a source file that `.file` names."""
    return f"<source:{path}>"


def _dedented(lines: Sequence[str]) -> list[str]:
    """Remove the common indentation, which a kernel defined inside a function has."""
    return textwrap.dedent("\n".join(lines)).split("\n") if lines else []


def display_names(files: Iterable[str]) -> dict[str, str]:
    """Return short names: the registered display name, else the file name with as many folders as make it unique."""
    files = list(dict.fromkeys(files))
    foreign = {file: found[1] for file in files if (found := _FOREIGN.fullmatch(file))}
    names = {file: name for file in files if file not in foreign and (name := given_name(file)) is not None}
    paths = {file: PurePath(foreign.get(file, file)).parts for file in files if file not in names}
    shared = Counter(parts[-depth:] for parts in set(paths.values()) for depth in range(1, MAX_FOLDERS + 2))
    for file, parts in paths.items():
        depths = range(1, min(len(parts), MAX_FOLDERS + 2))
        depth = next((depth for depth in depths if shared[parts[-depth:]] == 1), len(parts))
        names[file] = "/".join(parts[-depth:])
    return names


def _spans(places: Iterable[SourceLocation | None]) -> list[_Span]:
    """Return one span per function, extended to every line of its places."""
    found: dict[int, _Span] = {}  # keyed by id: code objects of two files can be equal
    for place in places:
        for here in place.stack if place else ():
            line, span = here.line, found.get(id(here.code))
            if span is None:
                first, last = _extent(here.code, line)
                span = found[id(here.code)] = _Span(here.file, here.function, "helper", first, last)
            if here.caller is None:
                span.role = "kernel"
            if here.code.co_name == FOREIGN:
                span.lines = (span.lines or set()) | {line}
            span.first, span.last = min(span.first, line), max(span.last, line)
    return sorted(found.values(), key=lambda span: span.role != "kernel")


def _merged(spans: list[_Span]) -> list[_Span]:
    """Merge spans of nested functions into one, named after the outer function."""
    order = sorted(range(len(spans)), key=lambda number: (spans[number].file, spans[number].first, number))
    merged: dict[int, _Span] = {}  # by the position of the earliest of the spans
    at = -1
    for number in order:
        span, last = spans[number], merged.get(at)
        if last is None or span.file != last.file or span.first > last.last:
            at = number
            merged[at] = span
            continue
        last.last = max(last.last, span.last)
        if span.lines is not None and last.lines is not None:
            last.lines |= span.lines
        if number < at:  # keeps its place in the order and its role, under the name of the outer function
            last.role = span.role
            merged[number] = merged.pop(at)
            at = number
    return [merged[number] for number in sorted(merged)]


def _extent(code: CodeType | StoredCode, line: int) -> tuple[int, int]:
    """Return the first and last line of a function with its decorators; for a module or expression, the line alone."""
    if code.co_name.startswith("<"):
        return line, line
    first, lines = code.co_firstlineno, linecache.getlines(code.co_filename)
    if first > len(lines):
        return line, line
    try:
        return first, first - 1 + len(inspect.getblock(lines[first - 1 :]))
    except (SyntaxError, tokenize.TokenError):  # the file changed after it was imported
        return first, max(number or first for *_, number in code.co_lines())
