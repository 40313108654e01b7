"""The Python lines a kernel was written in: the functions its places lie in, as rows of one pane."""

from __future__ import annotations

import inspect
import linecache
import textwrap
import tokenize
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from types import CodeType

from pyptx._loc import Place, given_name

__all__ = ["PythonRows", "Section", "display_names", "python_rows"]

MISSING = "(source not found)"


@dataclass(frozen=True, slots=True)
class Section:
    """One function: `count` rows of the pane from row `start`; `first` is the line number of its first row."""

    file: str                           # as shown: "Cell In[3]", "rms_norm.py"
    function: str
    role: str                           # "kernel" | "helper"
    first: int
    start: int
    count: int


@dataclass(frozen=True, slots=True)
class PythonRows:
    """Rows of the Python pane, and the row each place lies on.

    With more than one section, an empty row with line number 0 stands before each: the place of its heading.
    """

    sections: tuple[Section, ...]
    text: tuple[str, ...]
    line: tuple[int, ...]               # 1-based line number in its file
    rows: dict[tuple[str, int], int]    # (file, line) -> row

    def row(self, place: Place) -> int:
        return self.rows[place.file, place.line]

    def stack(self, place: Place | None) -> tuple[int, ...]:
        """Rows of the place and of its callers, innermost first, each once."""
        return tuple(dict.fromkeys(map(self.row, place.stack))) if place else ()


@dataclass(slots=True)
class _Span:
    file: str
    function: str
    role: str
    first: int
    last: int


def python_rows(places: Iterable[Place | None]) -> PythonRows:
    """The functions that the places and their callers lie in: the kernel first, helpers in order of first use."""
    spans = _merged(_spans(places))
    shown = display_names(span.file for span in spans)
    sections, text, line, rows = [], [], [], {}
    for span in spans:
        source = linecache.getlines(span.file)
        if len(spans) > 1:
            text.append("")
            line.append(0)
        sections.append(Section(shown[span.file], span.function, span.role, span.first, len(text),
                                span.last + 1 - span.first))
        numbers = range(span.first, span.last + 1)
        rows |= {(span.file, number): len(text) + i for i, number in enumerate(numbers)}
        text += _dedented([source[number - 1].rstrip("\n") if number <= len(source) else MISSING for number in numbers])
        line += numbers
    return PythonRows(tuple(sections), tuple(text), tuple(line), rows)


def _dedented(lines: Sequence[str]) -> list[str]:
    """The lines without the indentation that all of them share: a kernel that a function makes stands inside it."""
    return textwrap.dedent("\n".join(lines)).split("\n") if lines else []


def display_names(files: Iterable[str]) -> dict[str, str]:
    """Short names: what a namer says, else the file's own name with as many folders as tell files apart."""
    files = list(dict.fromkeys(files))
    names = {file: given_name(file) for file in files}
    paths = [file for file in files if names[file] is None]
    for file in paths:
        parts = PurePath(file).parts
        depth = next((d for d in range(1, len(parts))
                      if all(PurePath(other).parts[-d:] != parts[-d:] for other in paths if other != file)), len(parts))
        names[file] = "/".join(parts[-depth:])
    return names


def _spans(places: Iterable[Place | None]) -> list[_Span]:
    """One span for each function, widened to every line a place names."""
    found: dict[int, _Span] = {}            # by identity: code objects of two files can be equal
    for place in places:
        for here in place.stack if place else ():
            span = found.get(id(here.code))
            if span is None:
                first, last = _extent(here.code, here.line)
                span = found[id(here.code)] = _Span(here.file, here.function, "helper", first, last)
            if here.caller is None:
                span.role = "kernel"
            span.first, span.last = min(span.first, here.line), max(span.last, here.line)
    return sorted(found.values(), key=lambda span: span.role != "kernel")


def _merged(spans: list[_Span]) -> list[_Span]:
    """Functions written inside one another are one span, named after the outer one."""
    merged: list[_Span] = []
    for span in spans:
        for other in merged:
            if span.file == other.file and span.first <= other.last and other.first <= span.last:
                if span.first < other.first:
                    other.function = span.function
                other.first, other.last = min(span.first, other.first), max(span.last, other.last)
                break
        else:
            merged.append(span)
    return merged if len(merged) == len(spans) else _merged(merged)


def _extent(code: CodeType, line: int) -> tuple[int, int]:
    """First and last line of a function, decorators included; of a module or an expression, the line alone."""
    if code.co_name.startswith("<"):
        return line, line
    first, lines = code.co_firstlineno, linecache.getlines(code.co_filename)
    if first > len(lines):
        return line, line
    try:
        return first, first - 1 + len(inspect.getblock(lines[first - 1:]))
    except (SyntaxError, tokenize.TokenError):          # the file changed after it was imported
        return first, max(number or first for *_, number in code.co_lines())
