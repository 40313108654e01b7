"""Regions: PTX in a text of an editor. All of a `.ptx` file is one region, and so is each PTX string of a Python file."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from pyptx.language.indexing import build_index
from pyptx.language.symbols import Index
from pyptx.language.text import Document

__all__ = ["Region", "whole"]


@dataclass(frozen=True)
class Region:
    """PTX text, and the offsets in the text of the editor that its characters come from.

    Attributes:
        document: the PTX.
        starts: offset in the editor's text of each PTX character, and of the end; not decreasing.
        ends: offset after each PTX character.
        kind: "module", or "statements" of `ptx.raw`.
        unknown: why parts of the text are not known, such as "an f-string with values"; "" if all of it is known.
    """

    document: Document
    starts: Sequence[int]
    ends: Sequence[int]
    kind: str = "module"
    unknown: str = ""

    @cached_property
    def index(self) -> Index:
        """The names of the PTX, read on first use."""
        return build_index(self.document)

    def inner(self, offset: int) -> int | None:
        """Return the PTX offset of an offset in the editor's text; None outside the region."""
        at = bisect_left(self.starts, offset)
        if at < len(self.starts) and self.starts[at] == offset:
            return at
        if at in (0, len(self.starts)):
            return None
        return at if offset == self.ends[at - 1] else at - 1 if offset < self.ends[at - 1] else None

    def outer(self, start: int, end: int) -> tuple[int, int]:
        """Return the offsets in the editor's text of a span of PTX."""
        first = self.starts[start]
        return first, max(first, self.ends[end - 1]) if end > start else first


def whole(document: Document) -> Region:
    """Return the region of a text that is all PTX."""
    length = len(document.text)
    return Region(document, range(length + 1), range(1, length + 1))
