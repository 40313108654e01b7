"""Source locations in user code: the only module that inspects Python frames.

Recording a location is cheap (a code object and an instruction offset); it is decoded to line and columns on demand,
once per code object.
"""

from __future__ import annotations

import contextlib
import linecache
import re
import sys
from array import array
from collections.abc import Callable, Iterator
from functools import cache
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from itertools import chain
from os.path import dirname
from time import time_ns
from types import CodeType, FrameType, FunctionType
from typing import NamedTuple, TypeVar

from pyptx._frozen import frozen

__all__ = [
    "SourceLocation",
    "Position",
    "Span",
    "StoredCode",
    "boundary",
    "forget_frame",
    "given_name",
    "is_users",
    "name_files",
    "raised_at",
    "shown_name",
    "user_frame",
    "user_place",
]

F = TypeVar("F", bound=FunctionType)

PACKAGE_DIR = dirname(__file__)
LOADED_NS = time_ns()  # when the package was imported: what is newer is not what this process runs
_OURS: dict[str, bool] = {contextlib.contextmanager.__code__.co_filename: True}  # frames of `with` statements in pyptx
_BOUNDARIES: dict[int, CodeType] = {}  # by id: hashing a code object reads its constants
_PLACES: dict[tuple[int, ...], SourceLocation] = {}  # by the trail of frames, see `_new_place`
_MAX_PLACES = 1 << 16
_RESUMED = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR  # functions whose frames have another caller at each step
# The innermost user frame of the last location, and its locations: while it runs, its callers stay where they are.
_recent: list[tuple[FrameType | None, dict[int, SourceLocation]]] = [(None, {})]


class Position(NamedTuple):
    """Span of an expression: 1-based lines, 0-based character columns, exclusive end; None if unknown."""

    line: int
    end_line: int
    column: int | None
    end_column: int | None


Span = tuple[int | None, int | None, int | None, int | None]


@frozen(eq=False)
class StoredCode:
    """The part of a code object that a SourceLocation reads, restored from plain data; the i-th span has lasti 2 * i."""

    co_filename: str
    co_name: str
    co_qualname: str
    co_firstlineno: int
    spans: tuple[Span, ...]  # line, end line, column and end column in UTF-8 bytes, as co_positions gives

    def __repr__(self) -> str:
        return object.__repr__(self)

    def co_positions(self) -> Iterator[Span]:
        return iter(self.spans)

    def co_lines(self) -> Iterator[tuple[int, int, int | None]]:
        return ((2 * i, 2 * i + 2, span[0]) for i, span in enumerate(self.spans))


@frozen(eq=False)
class SourceLocation:
    """A location in the user's Python, with the calls that led to it.

    Attributes:
        code: code object of the function.
        lasti: offset of the bytecode instruction.
        caller: location of the call of this function, up to the kernel function; None there.
    """

    code: CodeType | StoredCode
    lasti: int
    caller: SourceLocation | None = None

    @property
    def position(self) -> Position:
        at = 2 * self.lasti  # four numbers for two bytes
        line, end_line, start, end = _positions(self.code)[at : at + 4]
        return Position(line, end_line, None if start < 0 else start, None if end < 0 else end)

    @property
    def file(self) -> str:
        return self.code.co_filename

    @property
    def function(self) -> str:
        return self.code.co_qualname

    @property
    def line(self) -> int:
        return _positions(self.code)[2 * self.lasti]

    @property
    def stack(self) -> tuple[SourceLocation, ...]:
        """This location and its callers, innermost first."""
        return tuple(self._walk())

    @property
    def source_line(self) -> str:
        """Text of the line without its newline; empty if the source is not available."""
        return linecache.getline(self.file, self.line).rstrip("\n")

    def _walk(self) -> Iterator[SourceLocation]:
        place: SourceLocation | None = self
        while place is not None:
            yield place
            place = place.caller

    def as_dict(self) -> dict[str, object]:
        """Return the location as JSON-serializable values."""
        line, end_line, column, end_column = self.position
        return {
            "file": self.file,
            "function": self.function,
            "line": line,
            "end_line": end_line,
            "column": column,
            "end_column": end_column,
        }

    def __str__(self) -> str:
        """Return "gemm.py:12", or "Cell In[3], line 12" for a notebook cell."""
        name = shown_name(self.file)
        return f"{name}, line {self.line}" if " " in name and name != self.file else f"{name}:{self.line}"

    def __repr__(self) -> str:
        return f"<SourceLocation {self} in {self.function}>"


_namers: list[Callable[[str], str | None]] = []


def name_files(namer: Callable[[str], str | None]) -> Callable[[], None]:
    """Register a function that maps file names to display names (None for files it does not know).

    Returns:
        A function that unregisters it.
    """
    _namers.append(namer)
    return lambda: _namers.remove(namer)


def shown_name(file: str) -> str:
    """Return the display name of a file: "Cell In[3]" for a notebook cell, else the file name."""
    return given_name(file) or file


def given_name(file: str) -> str | None:
    """Return the display name of code that is not a file on disk: a cell, or text in angle brackets; else None."""
    for namer in reversed(_namers):
        if name := namer(file):
            return name
    if match := re.fullmatch(r"<ipython-input-(\d+)-\w+>", file):
        return f"Cell In[{match[1]}]"
    if re.search(r"ipykernel_\d+[/\\]\d+\.py$", file):
        return "notebook cell"
    return file if file.startswith("<") else None


def boundary(function: F) -> F:
    """Mark a function that calls user code: stacks of locations end there."""
    _BOUNDARIES[id(function.__code__)] = function.__code__
    return function


def user_place(depth: int = 1) -> SourceLocation:
    """Return the location of the innermost frame outside pyptx, with the user frames that led to it.

    Args:
        depth: calls to skip before the search; 2 in a function whose own frame is one of pyptx.
    """
    known, frame = _OURS, sys._getframe(depth)
    code, outer = frame.f_code, frame.f_back
    if outer is not None and id(outer.f_code) in _BOUNDARIES and known.get(code.co_filename) is False:  # most calls
        place = _PLACES.get((id(code), frame.f_lasti))
        if place is not None:
            return place
    while (outer := frame.f_back) is not None:
        ours = known.get(code.co_filename)
        if not (_is_ours(code.co_filename) if ours is None else ours):
            break
        frame, code = outer, outer.f_code
    innermost = frame
    recent, places = _recent[0]
    if recent is innermost and (place := places.get(innermost.f_lasti)) is not None:
        return place
    codes, trail = [code], [id(code), frame.f_lasti]
    while outer is not None:
        code = outer.f_code
        ours = known.get(code.co_filename)
        if not (_is_ours(code.co_filename) if ours is None else ours):
            codes.append(code)
            trail += (id(code), outer.f_lasti)
        elif id(code) in _BOUNDARIES:
            break
        outer = outer.f_back
    if outer is None:  # not called through a boundary: only the innermost frame is meaningful
        del codes[1:], trail[2:]
    key = tuple(trail)
    place = _PLACES.get(key) or _new_place(codes, key)
    if len(trail) > 4 and not codes[0].co_flags & _RESUMED:  # the search was a long one
        if recent is not innermost:
            places = {}
            _recent[0] = innermost, places
        places[innermost.f_lasti] = place
    return place


def forget_frame() -> None:
    """Release the frame that `user_place` remembers; called where a boundary is left."""
    _recent[0] = None, {}


def user_frame() -> FrameType | None:
    """Return the innermost frame outside pyptx; None if there is none."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def raised_at(error: BaseException) -> SourceLocation | None:
    """Return the innermost location in user code that an error passed through; None if there is none."""
    place, traceback = None, error.__traceback__
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if not (_is_ours(file) or file.startswith("<frozen ")):
            place = SourceLocation(traceback.tb_frame.f_code, traceback.tb_lasti)
        traceback = traceback.tb_next
    return place


def _new_place(codes: list[CodeType], trail: tuple[int, ...]) -> SourceLocation:
    """Create and intern a location and its callers, so that a location in an unrolled loop is one object.

    Args:
        codes: code objects of the frames, innermost first.
        trail: identity of the code object and offset of each frame. The location keeps the code objects alive; they
            are not the key themselves, because code objects of two files can be equal.
    """
    if len(_PLACES) >= _MAX_PLACES:
        _PLACES.clear()
    caller = None
    if outer := trail[2:]:
        caller = _PLACES.get(outer) or _new_place(codes[1:], outer)
    place = _PLACES[trail] = SourceLocation(codes[0], trail[1], caller)
    return place


def is_users(code: CodeType) -> bool:
    """Return True for code outside pyptx."""
    return not _is_ours(code.co_filename)


def _is_ours(filename: str) -> bool:
    """Return True for a file of pyptx; cached."""
    return _OURS.setdefault(filename, filename.startswith(PACKAGE_DIR))


@cache
def _positions(code: CodeType | StoredCode) -> array[int]:
    """Decode a code object once: line, end line, column and end column (-1: unknown) of each unit of bytecode, in turn.

    co_positions gives columns of UTF-8 bytes, editors want characters. An array takes a tenth of the memory of tuples.
    """
    first = code.co_firstlineno
    found = array(
        "i",
        chain.from_iterable(
            (line or first, end_line or line or first, -1 if start is None else start, -1 if end is None else end)
            for line, end_line, start, end in code.co_positions()
        ),
    )
    lines = {*found[::4], *found[1::4]}
    other = {n: text for n in lines if not (text := linecache.getline(code.co_filename, n)).isascii()}
    if other:
        for at in range(0, len(found), 4):
            for line, column in ((at, at + 2), (at + 1, at + 3)):
                if found[column] > 0 and (text := other.get(found[line])):
                    found[column] = len(text.encode()[: found[column]].decode(errors="replace"))
    return found
