"""Sources: the text of an editor, PTX or Python, with the regions that are PTX."""

from __future__ import annotations

from functools import cached_property

from pyptx.language.completion import Completion, complete
from pyptx.language.hover import Hover, hover
from pyptx.language.python.instructions import Chain, find_chains, hover_chain
from pyptx.language.python.strings import find_strings
from pyptx.language.python.tokens import PythonToken, read_tokens
from pyptx.language.regions import Region, whole
from pyptx.language.text import Document

__all__ = ["Source"]

MAX_PYTHON = 2_000_000  # characters of a Python text that is searched for PTX while it is typed


class Source:
    """A text of an editor. An edited text is another Source.

    Args:
        python: the text is Python; otherwise it is PTX.
    """

    def __init__(self, text: str, *, python: bool = False):
        self.text, self.python = text, python
        self.document = Document(text)

    @cached_property
    def _tokens(self) -> list[PythonToken]:
        searched = self.python and len(self.text) <= MAX_PYTHON and (".version" in self.text or "ptx" in self.text)
        return read_tokens(self.text) if searched else []

    @cached_property
    def regions(self) -> tuple[Region, ...]:
        """The PTX of the text, in source order."""
        return tuple(find_strings(self.text, self._tokens)) if self.python else (whole(self.document),)

    @cached_property
    def chains(self) -> tuple[Chain, ...]:
        """The instructions of a Python text."""
        return tuple(find_chains(self._tokens))

    def at(self, offset: int) -> tuple[Region, int] | None:
        """Return the region that contains an offset, and the offset in its PTX."""
        for region in self.regions:
            if (inner := region.inner(offset)) is not None:
                return region, inner
        return None

    def hover(self, offset: int) -> Hover | None:
        """Return the help for the word at an offset, with offsets in this text."""
        found = self.at(offset)
        if found is None:
            return hover_chain(self.chains, offset)
        region, inner = found
        shown = hover(region.document, region.index, inner)
        return None if shown is None else Hover(*region.outer(shown.start, shown.end), shown.text)

    def complete(self, offset: int) -> Completion | None:
        """Return what may stand at an offset, which replaces the text from an offset in this text."""
        if (found := self.at(offset)) is None:
            return None
        region, inner = found
        offered = complete(region.document, region.index, inner)
        return None if offered is None else Completion(region.outer(offered.start, inner)[0], offered.offers)
