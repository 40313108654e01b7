"""Inlay hints: the live registers at the end of each line."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types as lsp

from pyptx.cli.language_server.costs import Costs, modules
from pyptx.cli.language_server.server import PtxServer
from pyptx.language.moved_lines import moved_lines
from pyptx.language.source import Source

__all__ = ["add_hints"]


def add_hints(server: PtxServer, costs: Costs) -> None:
    """Add the handler of inlay hints."""

    @server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    async def show_hints(params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        uri = params.text_document.uri
        costs.want(uri)
        source = server.source(uri)
        rows = params.range.start.line, params.range.end.line
        return await server.run(source, lambda: list(_hints(server, costs, uri, source, *rows)))


def _hints(server: PtxServer, costs: Costs, uri: str, source: Source, first: int, last: int) -> Iterator[lsp.InlayHint]:
    """Yield the live registers of the lines from `first` to `last`, which are 0-based.

    Lines that are as they were when the text was compiled last keep theirs.
    """
    for number, region in modules(source):
        if (uri, number) not in costs.shown:
            continue
        document, (text, found) = region.document, costs.shown[uri, number]
        now = moved_lines(text, document.text)
        for line, (count, live) in sorted(found.lines.items()):
            if (at := now(line)) is None:
                continue
            end = document.offset_of_line(at, len(document.text))
            content = document.text[document.offset_of_line(at) : end].rstrip()
            place = region.outer(0, document.offset_of_line(at) + len(content))[1]
            row, column = source.document.position(place, server.encoding)
            if first <= row <= last:
                several = "s" if count > 1 else ""
                tooltip = f"{count} machine instruction{several}, at most {live} live registers ({found.target})"
                yield lsp.InlayHint(lsp.Position(row, column), f"{live} live", padding_left=True, tooltip=tooltip)
