"""Serialization of Python places, which outlive the code objects, cells and files they were in.

A stored place has its position and the name of its function; the text of its file is stored with it and added to
linecache under a name that includes the version, such as `<rms_norm@3: Cell In[2]>`.
"""

from __future__ import annotations

import inspect
import linecache
import tokenize
from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import Any

from pyptx._loc import SourceLocation, Span, StoredCode

__all__ = ["functions", "pack", "sources", "unpack"]


def pack(places: Sequence[SourceLocation | None]) -> dict[str, Any]:
    """Return plain values for JSON: functions, the places in each, and the place of each PTX line (-1 for none)."""
    codes: dict[int, int] = {}
    files: dict[str, int] = {}
    rows: list[dict[str, Any]] = []
    points: dict[int, int] = {}
    callers: list[list[int]] = []
    decoded: list[list[Span]] = []

    def point(place: SourceLocation | None) -> int:
        if place is None:
            return -1
        if id(place) not in points:
            caller, code = point(place.caller), place.code
            if id(code) not in codes:
                codes[id(code)] = len(rows)
                rows.append(
                    {
                        "file": files.setdefault(code.co_filename, len(files)),
                        "name": code.co_name,
                        "qualname": code.co_qualname,
                        "first": code.co_firstlineno,
                        "spans": [],
                    }
                )
                decoded.append(list(code.co_positions()))
            number = codes[id(code)]
            spans = rows[number]["spans"]
            spans.append(decoded[number][place.lasti // 2])
            points[id(place)] = len(callers)
            callers.append([number, len(spans) - 1, caller])
        return points[id(place)]

    lines = [point(place) for place in places]
    return {"codes": rows, "points": callers, "lines": lines}


def unpack(packed: dict[str, Any], files: Sequence[tuple[str, str]], version: str) -> tuple[SourceLocation | None, ...]:
    """Restore the places that `pack` serialized, one for each PTX line.

    Args:
        files: the result of `sources`: the display name and the text of each file.
        version: "rms_norm@3"; part of the names under which the texts are added to linecache.
    """
    names: list[str] = []
    for shown, text in files:
        name, again = f"<{version}: {shown}>", 1
        while name in names:
            again += 1
            name = f"<{version}: {shown} ({again})>"
        names.append(name)
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    codes = [
        StoredCode(names[row["file"]], row["name"], row["qualname"], row["first"], tuple(map(tuple, row["spans"])))
        for row in packed["codes"]
    ]
    places: list[SourceLocation] = []
    for code, span, caller in packed["points"]:  # callers come first
        places.append(SourceLocation(codes[code], 2 * span, places[caller] if caller >= 0 else None))
    return tuple(places[line] if line >= 0 else None for line in packed["lines"])


def sources(places: Sequence[SourceLocation | None], shown: Callable[[str], str | None]) -> list[tuple[str, str]]:
    """Return the display name and the text of each file that contains places, in the order of `pack`.

    Args:
        shown: returns the display name of a file; None: its own name.
    """
    files = dict.fromkeys(code.co_filename for code in _codes(places))
    return [(shown(file) or PurePath(file).name.strip("<>"), "".join(linecache.getlines(file))) for file in files]


def functions(places: Sequence[SourceLocation | None]) -> list[str]:
    """Return the text of each function that contains places, with decorators; the kernel first."""
    blocks = dict.fromkeys(map(_block, _codes(places)))
    return [text for text in blocks if not any(text != other and text in other for other in blocks)]


def _codes(places: Sequence[SourceLocation | None]) -> list[Any]:
    """Return the code objects of the places and their callers, outermost first, without duplicates."""
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
        return "".join(inspect.getblock(lines[first - 1 :]))
    except (SyntaxError, tokenize.TokenError):  # the file changed after it was imported
        return "".join(lines[first - 1 : max(number or first for *_, number in code.co_lines())])
