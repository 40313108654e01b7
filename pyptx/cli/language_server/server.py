"""The server: its open documents, and positions in them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcContentModified
from pygls.lsp.server import LanguageServer

from pyptx._version import __version__
from pyptx.cli.language_server.compilations import Compilations
from pyptx.language.focus import focused
from pyptx.language.regions import Region
from pyptx.language.source import Source
from pyptx.language.text import Document, TextEdit, apply

__all__ = ["LONG", "Place", "PtxServer"]

LONG = 60_000  # characters of a text whose names are read in a thread
PAUSE_SECONDS = 0.5  # after an edit of a long text, in which the time is for the requests that follow a key
Result = TypeVar("Result")


class Place:
    """A position of an editor: a region of a source, and the offset in its PTX."""

    def __init__(self, source: Source, region: Region, offset: int):
        self.source, self.region, self.offset = source, region, offset


class PtxServer(LanguageServer):
    """A language server with the open documents.

    Attributes:
        target: check for this target instead of the one in the text.
        compilations: machine code of the open documents.
    """

    def __init__(self, target: str | None):
        super().__init__("pyptx", __version__, text_document_sync_kind=lsp.TextDocumentSyncKind.Incremental)
        self.target = target
        self.compilations = Compilations(target)
        self.versions: dict[str, int | None] = {}  # of the open documents, as the editor counts them
        self._sources: dict[str, Source] = {}
        self._read: dict[str, Source] = {}  # the last source of a document whose names were read
        self._focus: dict[str, tuple[Source, Region]] = {}  # the function that was read last
        self._background = ThreadPoolExecutor(1, "pyptx")  # one, so that it takes at most half of the time of requests

    # documents ------------------------------------------------------------------------------------------------------

    def keep_texts(self) -> None:
        """Leave the texts to this class: those of pygls end lines as `str.splitlines` does, and clip positions in place."""
        self.workspace.update_text_document = lambda text_doc, change: None

    def open(self, uri: str, version: int | None, language: str, text: str) -> None:
        """Add a document."""
        self.versions[uri] = version
        self._sources[uri] = Source(text, python=language == "python")

    def change(self, uri: str, version: int | None, changes: Iterable[lsp.TextDocumentContentChangeEvent]) -> None:
        """Apply the edits of an editor. Lines end as in the protocol, not as `str.splitlines` splits them."""
        known = self._sources[uri]
        self.versions[uri] = version
        text = known.text
        for change in changes:
            if isinstance(change, lsp.TextDocumentContentChangeWholeDocument):
                text = change.text
            else:
                document = known.document if text is known.text else Document(text)
                start, end = self.offset(document, change.range.start), self.offset(document, change.range.end)
                text = apply(text, [TextEdit(start, max(start, end), change.text)])
        self._sources[uri] = Source(text, python=known.python)

    def close(self, uri: str) -> None:
        """Remove a document."""
        self._sources.pop(uri, None)
        self.versions.pop(uri, None)
        self._read.pop(uri, None)
        self._focus.pop(uri, None)

    def is_open(self, uri: str) -> bool:
        """Return True for an open document."""
        return uri in self._sources

    def source(self, uri: str) -> Source:
        """Return a document as the editor has it; an empty one if it is not open."""
        return self._sources.get(uri) or Source("")

    async def ready(self, uri: str) -> Source:
        """Return a document as the editor has it, after its names were read; of a long one in a thread, after a pause.

        Raises:
            JsonRpcContentModified: the text of a long document has changed meanwhile; editors ask again.
        """
        source = self.source(uri)
        if len(source.text) > LONG and self._read.get(uri) is not source:
            if uri in self._read:
                await asyncio.sleep(PAUSE_SECONDS)
                self._require(uri, source)
            await self.run(source, lambda: [region.index.occurrences for region in source.regions])
            self._require(uri, source)
        if self.is_open(uri):
            self._read[uri] = source
        return source

    def _require(self, uri: str, source: Source) -> None:
        if self.source(uri) is not source:
            raise JsonRpcContentModified("the text has changed since the request")

    async def run(self, source: Source, function: Callable[[], Result]) -> Result:
        """Call a function that reads a source, of a long one in a thread, so that other requests are answered."""
        if len(source.text) <= LONG:
            return function()
        return await self.run_in_background(function)

    async def run_in_background(self, function: Callable[[], Result]) -> Result:
        """Call a function in a thread, after those that were passed before; canceling drops one that has not started."""
        return await asyncio.get_running_loop().run_in_executor(self._background, function)

    # positions ------------------------------------------------------------------------------------------------------

    @property
    def encoding(self) -> str:
        """Unit of columns: "utf-8", "utf-16" or "utf-32"."""
        chosen = self.workspace.position_encoding  # an enum, or the text that the editor sent
        return str(getattr(chosen, "value", chosen) or "utf-16")

    def offset(self, document: Document, position: lsp.Position) -> int:
        """Return the offset of a position in a text."""
        return document.offset(position.line, position.character, self.encoding)

    def range(self, document: Document, start: int, end: int) -> lsp.Range:
        """Return the range of a span of a text."""
        first, last = document.position(start, self.encoding), document.position(end, self.encoding)
        return lsp.Range(lsp.Position(*first), lsp.Position(*last))

    def span(self, place: Place, start: int, end: int) -> lsp.Range:
        """Return the range of a span of the PTX of a region."""
        return self.range(place.source.document, *place.region.outer(start, end))

    async def place(self, uri: str, position: lsp.Position) -> Place | None:
        """Return the PTX at a position; None outside PTX."""
        return self._place(await self.ready(uri), position)

    def near(self, uri: str, position: lsp.Position) -> Place | None:
        """Return the PTX at a position without reading a long text again: only the function around the position."""
        source, known = self.source(uri), self._read.get(uri)
        if len(source.text) > LONG and not source.python and known is not None and known is not source:
            offset = self.offset(source.document, position)
            last, region = self._focus.get(uri, (None, None))
            if last is not source or region is None or region.inner(offset) is None:
                region = focused(known, source, offset)
            if region is not None and (inner := region.inner(offset)) is not None:
                self._focus[uri] = source, region
                return Place(source, region, inner)
        if self.is_open(uri):
            self._read[uri] = source
        return self._place(source, position)

    def _place(self, source: Source, position: lsp.Position) -> Place | None:
        found = source.at(self.offset(source.document, position))
        return None if found is None else Place(source, *found)

    def edits(self, place: Place, edits: list[TextEdit]) -> list[lsp.TextEdit]:
        """Return edits of the PTX of a region as edits of the document."""
        return [lsp.TextEdit(self.span(place, one.start, one.end), one.text) for one in edits]
