"""Values of Python string literals, with the source of each character."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable

__all__ = ["Value", "read_literals"]

_LITERAL = re.compile(r"([A-Za-z]*)('''|\"\"\"|'|\")")
_SPECIAL = re.compile(r"\\(?:\r\n|[0-7]{1,3}|x..|u....|U........|N\{[^}]*\}|.)|\r\n?|[{}]", re.DOTALL)
_QUOTED = re.compile(r"'''.*?'''|\"\"\".*?\"\"\"|'[^'\n]*'|\"[^\"\n]*\"", re.DOTALL)
_ESCAPES = "\\'\"abfnrtvx01234567"
HOLE = "_"  # stands for what an f-string inserts


class Value:
    """The characters of adjacent literals.

    Attributes:
        text: the value.
        starts, ends: offsets in the source of each character; `starts` also of the end.
        has_holes: whether an f-string inserts values.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.starts, self.ends = array("q"), array("q")
        self.has_holes = False
        self.text = ""

    def _copy(self, source: str, start: int, end: int) -> None:
        self._parts.append(source[start:end])
        self.starts.extend(range(start, end))
        self.ends.extend(range(start + 1, end + 1))

    def _replace(self, text: str, start: int, end: int) -> None:
        self._parts.append(text)
        for _ in text:
            self.starts.append(start)
            self.ends.append(end)


def read_literals(source: str, spans: Iterable[tuple[int, int]]) -> Value:
    """Return the value of adjacent literals, which Python joins.

    Args:
        spans: offsets of each literal, with its prefix and quotes.
    """
    value, end = Value(), 0
    for start, stop in spans:
        head = _LITERAL.match(source, start)
        if head is None:
            continue
        prefix, quotes = head[1].lower(), head[2]
        end = stop - len(quotes)
        formatted = "f" in prefix or "t" in prefix
        _read(value, source, head.end(), end, raw="r" in prefix, binary="b" in prefix, formatted=formatted)
    value.text = "".join(value._parts)
    value.starts.append(end)
    return value


def _read(value: Value, source: str, start: int, end: int, *, raw: bool, binary: bool, formatted: bool) -> None:
    at = start
    while (found := _SPECIAL.search(source, at, end)) is not None:
        word, first, stop = found[0], found.start(), found.end()
        value._copy(source, at, first)
        if word in ("{", "}"):
            stop = _brace(value, source, first, end, formatted)
        elif word[0] == "\r":
            value._replace("\n", first, stop)
        elif raw and not (formatted and word[1] in "{}"):
            stop = first + 1
            value._copy(source, first, stop)
        elif formatted and word[1] in "{}":  # the backslash stays
            stop = first + 1
            value._copy(source, first, stop)
        else:
            value._replace(_unescaped(word, binary), first, stop)
        at = stop
    value._copy(source, at, end)


def _brace(value: Value, source: str, at: int, end: int, formatted: bool) -> int:
    """Read a brace; return the offset after it, or after the value that an f-string inserts."""
    if not formatted:
        value._copy(source, at, at + 1)
        return at + 1
    if source[at : at + 2] in ("{{", "}}"):
        value._replace(source[at], at, at + 2)
        return at + 2
    stop = _hole_end(source, at, end)
    value.has_holes = True
    value._replace(HOLE, at, stop)
    return stop


def _hole_end(source: str, at: int, end: int) -> int:
    depth = 0
    while at < end:
        if source[at] in "'\"" and (quoted := _QUOTED.match(source, at, end)):
            at = quoted.end()
            continue
        depth += source[at] in "([{"
        depth -= source[at] in ")]}"
        at += 1
        if depth <= 0:
            return at
    return end


def _unescaped(word: str, binary: bool) -> str:
    if word in ("\\\n", "\\\r\n"):
        return ""
    if word[1] not in (_ESCAPES if binary else _ESCAPES + "uUN"):
        return word
    try:
        return word.encode("ascii").decode("unicode_escape")
    except UnicodeError:  # not a valid escape sequence, which Python refuses
        return word
