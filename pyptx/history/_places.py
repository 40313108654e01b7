"""Python places as plain values, and back: they outlive the code objects, the cells and the files they were in.

A stored place keeps its position and enough of its function for a reader; the text of its file is stored with it and
given to linecache again under a name that says which version it belongs to, such as `<rms_norm@3: Cell In[2]>`.
"""

from __future__ import annotations

import inspect
import linecache
import tokenize
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from pyptx._loc import Place

__all__ = ["StoredCode", "functions", "pack", "sources", "unpack"]

Span = tuple[int | None, int | None, int | None, int | None]


@dataclass(frozen=True, eq=False, repr=False)
class StoredCode:
    """What a Place and the views ask of a code object. `spans` are of the places in it: the i-th has lasti 2 * i."""

    co_filename: str
    co_name: str
    co_qualname: str
    co_firstlineno: int
    spans: tuple[Span, ...]             # line, end line, column and end column in UTF-8 bytes, as co_positions gives

    def co_positions(self) -> Iterator[Span]:
        return iter(self.spans)

    def co_lines(self) -> Iterator[tuple[int, int, int | None]]:
        return ((2 * i, 2 * i + 2, span[0]) for i, span in enumerate(self.spans))


def pack(places: Sequence[Place | None]) -> dict[str, Any]:
    """Plain values for JSON: functions, the places in each, and the place of each PTX line (-1 for none)."""
    codes: dict[int, int] = {}
    files: dict[str, int] = {}
    rows: list[dict[str, Any]] = []
    points: dict[int, int] = {}
    callers: list[list[int]] = []
    decoded: list[list[Span]] = []

    def point(place: Place | None) -> int:
        if place is None:
            return -1
        if id(place) not in points:
            caller, code = point(place.caller), place.code
            if id(code) not in codes:
                codes[id(code)] = len(rows)
                rows.append({"file": files.setdefault(code.co_filename, len(files)), "name": code.co_name,
                             "qualname": code.co_qualname, "first": code.co_firstlineno, "spans": []})
                decoded.append(list(code.co_positions()))
            number = codes[id(code)]
            spans = rows[number]["spans"]
            spans.append(decoded[number][place.lasti // 2])
            points[id(place)] = len(callers)
            callers.append([number, len(spans) - 1, caller])
        return points[id(place)]

    lines = [point(place) for place in places]
    return {"codes": rows, "points": callers, "lines": lines}


def unpack(packed: dict[str, Any], files: Sequence[tuple[str, str]], version: str) -> tuple[Place | None, ...]:
    """The places that `pack` made plain, one for each PTX line.

    Args:
        files: what `sources` gave: the name shown and the text of each file.
        version: "rms_norm@3"; part of the names under which the texts are known to linecache from now on.
    """
    names: list[str] = []
    for shown, text in files:
        name, again = f"<{version}: {shown}>", 1
        while name in names:
            again += 1
            name = f"<{version}: {shown} ({again})>"
        names.append(name)
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    codes = [StoredCode(names[row["file"]], row["name"], row["qualname"], row["first"], tuple(map(tuple, row["spans"])))
             for row in packed["codes"]]
    places: list[Place] = []
    for code, span, caller in packed["points"]:         # callers come first
        places.append(Place(codes[code], 2 * span, places[caller] if caller >= 0 else None))
    return tuple(places[line] if line >= 0 else None for line in packed["lines"])


def sources(places: Sequence[Place | None], shown: Callable[[str], str | None]) -> list[tuple[str, str]]:
    """(name shown, text) of each file that places lie in, in the order of `pack`.

    Args:
        shown: says how a file is called for readers; None: by its own name.
    """
    files = dict.fromkeys(code.co_filename for code in _codes(places))
    return [(shown(file) or PurePath(file).name.strip("<>"), "".join(linecache.getlines(file))) for file in files]


def functions(places: Sequence[Place | None]) -> list[str]:
    """The text of each function that places lie in, decorators included, as it stands; the kernel first."""
    blocks = dict.fromkeys(map(_block, _codes(places)))
    return [text for text in blocks if not any(text != other and text in other for other in blocks)]


def _codes(places: Sequence[Place | None]) -> list[Any]:
    """Code objects of the places and their callers, outermost first; each once."""
    found: dict[int, Any] = {}
    for place in places:
        for here in reversed(place.stack if place else ()):
            found.setdefault(id(here.code), here.code)
    return list(found.values())


def _block(code: Any) -> str:
    lines, first = linecache.getlines(code.co_filename), code.co_firstlineno
    if not 0 < first <= len(lines):
        return ""
    if code.co_name.startswith("<"):
        return lines[first - 1]
    try:
        return "".join(inspect.getblock(lines[first - 1:]))
    except (SyntaxError, tokenize.TokenError):          # the file changed after it was imported
        return "".join(lines[first - 1:max(number or first for *_, number in code.co_lines())])
