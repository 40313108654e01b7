"""Where a line was written: the one module that looks at frames.

Recording is cheap (a code object and an instruction offset); decoding to line and columns happens once per code
object, when someone looks.
"""

from __future__ import annotations

import contextlib
import linecache
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from os.path import dirname
from types import CodeType
from typing import NamedTuple

__all__ = ["Place", "Position", "boundary", "given_name", "is_users", "name_files", "raised_at", "shown_name",
           "user_place"]

PACKAGE_DIR = dirname(__file__)
_OURS: dict[str, bool] = {contextlib.contextmanager.__code__.co_filename: True}    # runs our `with` statements
_BOUNDARIES: set[CodeType] = set()
_PLACES: dict[tuple[int, int, Place | None], Place] = {}
_MOST_PLACES = 1 << 16


class Position(NamedTuple):
    """Span of one expression: 1-based lines, 0-based character columns, end exclusive; None where unknown."""

    line: int
    end_line: int
    column: int | None
    end_column: int | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Place:
    """A point in the user's Python: where it stands and through which helper calls it was reached.

    `caller` is the place in the user's code that called this function, up to the kernel function itself.
    """

    code: CodeType
    lasti: int
    caller: Place | None = None

    @property
    def position(self) -> Position:
        return _positions(self.code)[self.lasti // 2]

    @property
    def file(self) -> str:
        return self.code.co_filename

    @property
    def function(self) -> str:
        return self.code.co_qualname

    @property
    def line(self) -> int:
        return self.position.line

    @property
    def stack(self) -> tuple[Place, ...]:
        """This place and its callers, innermost first."""
        return tuple(self._walk())

    @property
    def source_line(self) -> str:
        """The text of the line, without its end; empty when the source cannot be found."""
        return linecache.getline(self.file, self.line).rstrip("\n")

    def _walk(self) -> Iterator[Place]:
        place: Place | None = self
        while place is not None:
            yield place
            place = place.caller

    def as_dict(self) -> dict[str, object]:
        """Plain values, for JSON."""
        line, end_line, column, end_column = self.position
        return {"file": self.file, "function": self.function, "line": line, "end_line": end_line,
                "column": column, "end_column": end_column}

    def __str__(self) -> str:
        """ "gemm.py:12", or "Cell In[3], line 12" as notebooks say it."""
        name = shown_name(self.file)
        return f"{name}, line {self.line}" if " " in name and name != self.file else f"{name}:{self.line}"

    def __repr__(self) -> str:
        return f"<Place {self} in {self.function}>"


_namers: list[Callable[[str], str | None]] = []


def name_files(namer: Callable[[str], str | None]) -> Callable[[], None]:
    """Let `namer` say how a file name is shown (None: not one of its files). Returns a function that ends this."""
    _namers.append(namer)
    return lambda: _namers.remove(namer)


def shown_name(file: str) -> str:
    """How messages name a file: "Cell In[3]" for a cell, else as it is."""
    return given_name(file) or file


def given_name(file: str) -> str | None:
    """The name of what is no file of a folder: a cell, or a text in angle brackets; else None."""
    for namer in reversed(_namers):
        if name := namer(file):
            return name
    if match := re.fullmatch(r"<ipython-input-(\d+)-\w+>", file):
        return f"Cell In[{match[1]}]"
    if re.search(r"ipykernel_\d+[/\\]\d+\.py$", file):
        return "notebook cell"
    return file if file.startswith("<") else None


def boundary(function):
    """Mark the function that calls user code: the walk over callers ends there."""
    _BOUNDARIES.add(function.__code__)
    return function


def user_place() -> Place:
    """The innermost frame outside pyptx, with the chain of user frames that led to it."""
    known, frame = _OURS, sys._getframe(1)
    while frame.f_back:
        ours = known.get(frame.f_code.co_filename)
        if not (_is_ours(frame.f_code.co_filename) if ours is None else ours):
            break
        frame = frame.f_back
    trail = [(frame.f_code, frame.f_lasti)]
    frame = frame.f_back
    while frame is not None:
        code = frame.f_code
        if code in _BOUNDARIES:
            break
        ours = known.get(code.co_filename)
        if not (_is_ours(code.co_filename) if ours is None else ours):
            trail.append((code, frame.f_lasti))
        frame = frame.f_back
    if frame is None:                       # nothing of ours called the user: only the innermost frame means anything
        del trail[1:]
    place = None
    for code, lasti in reversed(trail):
        place = _PLACES.get((id(code), lasti, place)) or _new_place(code, lasti, place)
    return place


def raised_at(error: BaseException) -> Place | None:
    """The innermost place outside pyptx and Python's own machinery that an error went through; None: through none."""
    place, traceback = None, error.__traceback__
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if not (_is_ours(file) or file.startswith("<frozen ")):
            place = Place(traceback.tb_frame.f_code, traceback.tb_lasti)
        traceback = traceback.tb_next
    return place


def _new_place(code: CodeType, lasti: int, caller: Place | None) -> Place:
    """A place that is not known yet. One object stands for each, so that a loop of the kernel makes it once.

    Known by the identity of its code, which the place keeps alive: code objects of two files can be equal.
    """
    if len(_PLACES) >= _MOST_PLACES:
        _PLACES.clear()
    place = _PLACES[id(code), lasti, caller] = Place(code, lasti, caller)
    return place


def is_users(code: CodeType) -> bool:
    """Whether code was written by the kernel author or a library of theirs, not by pyptx."""
    return not _is_ours(code.co_filename)


def _is_ours(filename: str) -> bool:
    """Whether a file belongs to pyptx; asked once for each."""
    return _OURS.setdefault(filename, filename.startswith(PACKAGE_DIR))


@cache
def _positions(code: CodeType) -> tuple[Position, ...]:
    """Decode a code object once; co_positions gives UTF-8 byte columns, editors want characters."""
    def span(line, end_line, start, end):
        line = line or code.co_firstlineno
        end_line = end_line or line
        return Position(line, end_line, _characters(code, line, start), _characters(code, end_line, end))
    return tuple(span(*entry) for entry in code.co_positions())


def _characters(code: CodeType, line: int, column: int | None) -> int | None:
    if not column:
        return column
    text = linecache.getline(code.co_filename, line)
    if text.isascii():
        return column
    return len(text.encode()[:column].decode(errors="replace"))
