"""Focus: the function around the cursor, read by itself, so that a long text need not be read again after each key."""

from __future__ import annotations

from dataclasses import replace

from pyptx.language.indexing import build_index
from pyptx.language.regions import Region
from pyptx.language.source import Source
from pyptx.language.symbols import Index
from pyptx.language.text import Document

__all__ = ["focused"]

_NEAR = 2_000_000  # longest function that is read


def focused(before: Source, after: Source, offset: int) -> Region | None:
    """Return the region of the function around an offset; None unless the edit is inside that function.

    Names of the module are those before the edit.

    Args:
        before: an earlier version of the text, whose names are read.
        after: PTX; the text now.
    """
    [known] = before.regions
    same = _common(before.text, after.text)
    kept = min(_common(before.text[same:][::-1], after.text[same:][::-1]), len(before.text) - same)
    for symbol in known.index.module.symbols:
        if symbol.body is None or not symbol.body.start <= same <= len(before.text) - kept <= symbol.end:
            continue
        start, end = symbol.body.start, symbol.end + len(after.text) - len(before.text)
        if start <= offset <= end and end - start <= _NEAR:
            document = Document(after.text[start:end])
            region = Region(document, range(start, end + 1), range(start + 1, end + 1))
            region.__dict__["index"] = _index(document, known.index, start)
            return region
    return None


def _index(document: Document, known: Index, start: int) -> Index:
    """Return the names of a function, and below them those of the module that are declared before it."""
    index = build_index(document)
    inside = {symbol.name for symbol in index.module.symbols}
    for symbol in known.module.symbols:
        if symbol.start < start and symbol.name not in inside:
            index.module.add(replace(symbol, start=0, end=0, declared=[], scope=index.module))
    return index


def _common(a: str, b: str) -> int:
    """Return the length of the common prefix."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if a[low:middle] == b[low:middle] else (low, middle - 1)
    return low
