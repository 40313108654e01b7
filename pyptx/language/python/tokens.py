"""Tokens of Python text with offsets. A text that is not valid Python has the tokens before its first error."""

from __future__ import annotations

import token as kinds
import tokenize
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["PythonToken", "read_tokens"]

_START = {getattr(kinds, name, -1) for name in ("FSTRING_START", "TSTRING_START")} - {-1}  # from Python 3.12, 3.14
_END = {getattr(kinds, name, -1) for name in ("FSTRING_END", "TSTRING_END")} - {-1}
_SKIPPED = (kinds.NL, kinds.COMMENT, kinds.ENCODING, kinds.INDENT, kinds.DEDENT)
_NAMES = {kinds.NAME: "name", kinds.OP: "operator", kinds.STRING: "string", kinds.NEWLINE: "newline"}


class PythonToken(NamedTuple):
    """A token; `kind` is "name", "operator", "string" (with its prefix and quotes), "newline" or "other"."""

    kind: str
    text: str
    start: int
    end: int


def read_tokens(text: str) -> list[PythonToken]:
    """Return the tokens without comments and blanks. An f-string is one token, in every version of Python."""
    return list(_joined(text))


def _joined(text: str) -> Iterator[PythonToken]:
    depth = first = 0
    for kind, start, end in _offsets(text):
        if kind in _START:
            first = start if depth == 0 else first
            depth += 1
        elif kind in _END:
            depth -= 1
            if depth == 0:
                yield PythonToken("string", text[first:end], first, end)
        elif depth == 0:
            yield PythonToken(_NAMES.get(kind, "other"), text[start:end], start, end)


def _offsets(text: str) -> Iterator[tuple[int, int, int]]:
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    source = iter([line + "\n" for line in lines])
    last = 0
    try:
        for found in tokenize.generate_tokens(lambda: next(source, "")):
            if found.type in _SKIPPED or found.start[0] > len(lines):
                continue
            start, end = (min(starts[row - 1] + column, len(text)) for row, column in (found.start, found.end))
            # Python 3.12.1 counts some columns in bytes, so the text of the token decides where it is.
            if text[start:end] != found.string and (at := text.find(found.string, last)) >= 0:
                start, end = at, at + len(found.string)
            last = end
            yield found.type, start, end
    except (tokenize.TokenError, SyntaxError, UnicodeEncodeError):  # while it is typed, or not Python
        return
