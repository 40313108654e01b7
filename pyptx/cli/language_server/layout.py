"""Features of whole `.ptx` files: outline, folding, formatting, semantic highlighting.

In Python files they would compete with those of a Python language server, so they are registered for PTX only, where the
editor can register a feature for some languages.
"""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types as lsp

from pyptx.cli.language_server.server import PtxServer
from pyptx.language.folding import find_folds
from pyptx.language.formatting import format_document
from pyptx.language.hover import describe
from pyptx.language.outline import Entry, outline
from pyptx.language.semantic_tokens import MODIFIERS, TYPES, classify
from pyptx.language.source import Source
from pyptx.language.text import Document

__all__ = ["add_layout", "can_register", "registrations"]

_SYMBOL_KINDS = {
    "entry": lsp.SymbolKind.Function,
    "function": lsp.SymbolKind.Function,
    "parameter": lsp.SymbolKind.Field,
    "label": lsp.SymbolKind.Key,
    "targets": lsp.SymbolKind.Array,
    "prototype": lsp.SymbolKind.Interface,
}
_PTX = [lsp.TextDocumentFilterLanguage("ptx")]
_LEGEND = lsp.SemanticTokensLegend(list(TYPES), list(MODIFIERS))


def can_register(client: lsp.ClientCapabilities) -> bool:
    """Return True if the editor can register the features for some languages, after its start."""
    text = client.text_document
    if text is None:
        return False
    features = (text.document_symbol, text.folding_range, text.formatting, text.semantic_tokens)
    return all(feature is not None and feature.dynamic_registration for feature in features)


def registrations() -> list[lsp.Registration]:
    """Return the registrations of the features, for PTX."""
    return [
        lsp.Registration(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL, lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL,
                         lsp.DocumentSymbolRegistrationOptions(_PTX)),
        lsp.Registration(lsp.TEXT_DOCUMENT_FOLDING_RANGE, lsp.TEXT_DOCUMENT_FOLDING_RANGE,
                         lsp.FoldingRangeRegistrationOptions(_PTX)),
        lsp.Registration(lsp.TEXT_DOCUMENT_FORMATTING, lsp.TEXT_DOCUMENT_FORMATTING,
                         lsp.DocumentFormattingRegistrationOptions(_PTX)),
        lsp.Registration("pyptx-semantic-tokens", "textDocument/semanticTokens",
                         lsp.SemanticTokensRegistrationOptions(_LEGEND, document_selector=_PTX, full=True)),
    ]  # fmt: skip


def add_layout(server: PtxServer) -> None:
    """Add the handlers."""

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def show_outline(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol] | None:
        source = await server.ready(params.text_document.uri)
        if source.python:
            return None
        [region] = source.regions
        make = lambda: [_symbol(server, source.document, entry) for entry in outline(region.index)]  # noqa: E731
        return await server.run(source, make)

    @server.feature(lsp.TEXT_DOCUMENT_FOLDING_RANGE)
    async def show_folds(params: lsp.FoldingRangeParams) -> list[lsp.FoldingRange] | None:
        source = await server.ready(params.text_document.uri)
        if source.python:
            return None
        kinds = {"comment": lsp.FoldingRangeKind.Comment}
        folds = await server.run(source, lambda: find_folds(source.document))
        return [lsp.FoldingRange(f.first, f.last, kind=kinds.get(f.kind)) for f in folds]

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    async def format_text(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
        source = await server.ready(params.text_document.uri)
        if source.python:
            return None
        document = source.document
        indent = " " * params.options.tab_size if params.options.insert_spaces else "\t"
        edits = await server.run(source, lambda: format_document(document, indent))
        return [lsp.TextEdit(server.range(document, one.start, one.end), one.text) for one in edits]

    @server.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, _LEGEND)
    async def show_semantic_tokens(params: lsp.SemanticTokensParams) -> lsp.SemanticTokens | None:
        source = await server.ready(params.text_document.uri)
        if source.python:
            return None
        return lsp.SemanticTokens(await server.run(source, lambda: _encoded_tokens(server, source)))


def _symbol(server: PtxServer, document: Document, entry: Entry) -> lsp.DocumentSymbol:
    symbol = entry.symbol
    name = symbol.name if symbol.count is None else f"{symbol.name}<{symbol.count}>"
    at = symbol.start
    return lsp.DocumentSymbol(
        name,
        _SYMBOL_KINDS.get(symbol.kind, lsp.SymbolKind.Variable),
        server.range(document, at, max(symbol.end, at + len(symbol.name))),
        server.range(document, at, at + len(symbol.name)),
        detail=describe(symbol),
        children=[_symbol(server, document, child) for child in entry.children],
    )


def _encoded_tokens(server: PtxServer, source: Source) -> list[int]:
    """Return five numbers for each token: line and column relative to the last one, length, type, modifiers."""
    data: list[int] = []
    document, last_line, last_column = source.document, 0, 0
    [region] = source.regions
    for token in classify(document, region.index):
        for start, end in _lines_of(document.text, token.start, token.end):
            line, column = document.position(start, server.encoding)
            length = document.position(end, server.encoding)[1] - column
            modifiers = sum(1 << MODIFIERS.index(modifier) for modifier in token.modifiers)
            delta = column - last_column if line == last_line else column
            data += [line - last_line, delta, length, TYPES.index(token.type), modifiers]
            last_line, last_column = line, column
    return data


def _lines_of(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Split a span at line ends, which a token of the protocol must not contain."""
    at = start
    for line in text[start:end].splitlines(keepends=True):
        content = len(line.rstrip("\r\n"))
        if content:
            yield at, at + content
        at += len(line)
