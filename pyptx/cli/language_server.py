"""The language server: `pyptx.language` behind the language server protocol, with pygls."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from pyptx._version import __version__
from pyptx.errors import InputError
from pyptx.language import rename as renaming
from pyptx.language.completion import complete
from pyptx.language.diagnostics import find_diagnostics, span
from pyptx.language.folding import find_folds
from pyptx.language.formatting import format_document
from pyptx.language.hover import describe, hover
from pyptx.language.indexing import build_index
from pyptx.language.outline import Entry, outline
from pyptx.language.semantic_tokens import MODIFIERS, TYPES, classify
from pyptx.language.symbols import Index, Occurrence
from pyptx.language.text import Document, TextEdit

__all__ = ["PtxServer", "make_server"]

DELAY_SECONDS = 0.25  # between the last edit and the check
MOST_DIAGNOSTICS = 500

_COMPLETION_KINDS = {
    "opcode": lsp.CompletionItemKind.Function,
    "modifier": lsp.CompletionItemKind.EnumMember,
    "directive": lsp.CompletionItemKind.Keyword,
    "type": lsp.CompletionItemKind.TypeParameter,
    "special": lsp.CompletionItemKind.Constant,
    "label": lsp.CompletionItemKind.Reference,
    "function": lsp.CompletionItemKind.Method,
}
_SYMBOL_KINDS = {
    "entry": lsp.SymbolKind.Function,
    "function": lsp.SymbolKind.Function,
    "parameter": lsp.SymbolKind.Field,
    "label": lsp.SymbolKind.Key,
    "targets": lsp.SymbolKind.Array,
    "prototype": lsp.SymbolKind.Interface,
}


class PtxServer(LanguageServer):
    """A language server with the indices of the open documents."""

    def __init__(self, target: str | None):
        super().__init__("pyptx", __version__, text_document_sync_kind=lsp.TextDocumentSyncKind.Full)
        self.target = target
        self.opened: dict[str, tuple[Document, Index]] = {}
        self.checks: dict[str, asyncio.Task[None]] = {}

    def read(self, uri: str) -> tuple[Document, Index]:
        """Return a document as the editor has it, with its index."""
        text = self.workspace.get_text_document(uri).source
        known = self.opened.get(uri)
        if known is None or known[0].text != text:
            document = Document(text)
            known = self.opened[uri] = document, build_index(document)
        return known

    def forget(self, uri: str) -> None:
        self.opened.pop(uri, None)
        if task := self.checks.pop(uri, None):
            task.cancel()

    # positions ------------------------------------------------------------------------------------------------------

    @property
    def encoding(self) -> str:
        return str(getattr(self.workspace.position_encoding, "value", None) or "utf-16")

    def offset(self, document: Document, position: lsp.Position) -> int:
        return document.offset(position.line, position.character, self.encoding)

    def range(self, document: Document, start: int, end: int) -> lsp.Range:
        first, last = document.position(start, self.encoding), document.position(end, self.encoding)
        return lsp.Range(lsp.Position(*first), lsp.Position(*last))

    def edits(self, document: Document, edits: list[TextEdit]) -> list[lsp.TextEdit]:
        return [lsp.TextEdit(self.range(document, one.start, one.end), one.text) for one in edits]

    # diagnostics ----------------------------------------------------------------------------------------------------

    def schedule_check(self, uri: str, version: int | None, delay: float) -> None:
        """Check a document after a delay; a check that has not started is canceled."""
        if task := self.checks.pop(uri, None):
            task.cancel()
        self.checks[uri] = asyncio.get_running_loop().create_task(self._check(uri, version, delay))

    async def _check(self, uri: str, version: int | None, delay: float) -> None:
        await asyncio.sleep(delay)
        document = Document(self.workspace.get_text_document(uri).source)
        try:
            found = await asyncio.to_thread(self._diagnostics, document)
        except Exception as error:  # a defect of the checker: report it, and keep serving
            logging.getLogger(__name__).exception("check of %s", uri)
            message = f"pyptx could not check this file: {type(error).__name__}: {error}"
            found = [
                lsp.Diagnostic(self.range(document, 0, 0), message, lsp.DiagnosticSeverity.Warning, source="pyptx")
            ]
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, found, version))

    def _diagnostics(self, document: Document) -> list[lsp.Diagnostic]:
        shown = []
        for found in find_diagnostics(document.text, self.target)[:MOST_DIAGNOSTICS]:
            severity = lsp.DiagnosticSeverity.Error if found.severity == "error" else lsp.DiagnosticSeverity.Warning
            message = found.message if not found.hint else f"{found.message}\nhint: {found.hint}"
            shown.append(
                lsp.Diagnostic(self.range(document, *span(document, found)), message, severity, source="pyptx")
            )
        return shown


def make_server(target: str | None = None) -> PtxServer:
    """Return a server that is not started.

    Args:
        target: check for this target instead of the one in the file.
    """
    server = PtxServer(target)
    _add_synchronization(server)
    _add_help(server)
    _add_navigation(server)
    _add_layout(server)
    return server


def _add_synchronization(server: PtxServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    async def did_open(params: lsp.DidOpenTextDocumentParams) -> None:
        server.schedule_check(params.text_document.uri, params.text_document.version, 0)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    async def did_change(params: lsp.DidChangeTextDocumentParams) -> None:
        server.schedule_check(params.text_document.uri, params.text_document.version, DELAY_SECONDS)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    async def did_close(params: lsp.DidCloseTextDocumentParams) -> None:
        server.forget(params.text_document.uri)
        server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(params.text_document.uri, []))


def _add_help(server: PtxServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def show_hover(params: lsp.HoverParams) -> lsp.Hover | None:
        document, index = server.read(params.text_document.uri)
        found = hover(document, index, server.offset(document, params.position))
        if found is None:
            return None
        content = lsp.MarkupContent(lsp.MarkupKind.Markdown, found.text)
        return lsp.Hover(content, server.range(document, found.start, found.end))

    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=[".", "%"]))
    def show_completion(params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
        document, index = server.read(params.text_document.uri)
        offset = server.offset(document, params.position)
        found = complete(document, index, offset)
        if found is None:
            return []
        replaced = server.range(document, found.start, offset)
        return [
            lsp.CompletionItem(
                offer.text,
                kind=_COMPLETION_KINDS.get(offer.kind, lsp.CompletionItemKind.Variable),
                detail=offer.detail,
                sort_text=f"{number:05}",
                filter_text=offer.text,
                text_edit=lsp.TextEdit(replaced, offer.text),
            )
            for number, offer in enumerate(found.offers)
        ]

    @server.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, lsp.SemanticTokensLegend(list(TYPES), list(MODIFIERS)))
    def show_semantic_tokens(params: lsp.SemanticTokensParams) -> lsp.SemanticTokens:
        return lsp.SemanticTokens(_encoded_tokens(server, *server.read(params.text_document.uri)))


def _add_navigation(server: PtxServer) -> None:
    def occurrence(params: Any) -> tuple[Document, Index, Occurrence | None]:
        document, index = server.read(params.text_document.uri)
        found = index.at(server.offset(document, params.position))
        return document, index, found if found is not None and found.symbol is not None else None

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def go_to_definition(params: lsp.DefinitionParams) -> lsp.Location | None:
        document, _, found = occurrence(params)
        if found is None or found.symbol is None:
            return None
        start = found.symbol.declared[-1]
        return lsp.Location(params.text_document.uri, server.range(document, start, start + len(found.symbol.name)))

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def find_references(params: lsp.ReferenceParams) -> list[lsp.Location]:
        document, index, found = occurrence(params)
        if found is None or found.symbol is None:
            return []
        shown = [o for o in index.of(found.symbol) if params.context.include_declaration or not o.declares]
        return [lsp.Location(params.text_document.uri, server.range(document, o.start, o.end)) for o in shown]

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def highlight(params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
        document, index, found = occurrence(params)
        if found is None or found.symbol is None:
            return []
        name = document.text[found.start : found.end]
        same = [o for o in index.of(found.symbol) if o.declares or document.text[o.start : o.end] == name]
        return [lsp.DocumentHighlight(server.range(document, o.start, o.end)) for o in same]

    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepare_rename(params: lsp.PrepareRenameParams) -> lsp.Range | None:
        document, index = server.read(params.text_document.uri)
        found = renaming.renamed_span(index, server.offset(document, params.position))
        return None if found is None else server.range(document, *found)

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    def rename(params: lsp.RenameParams) -> lsp.WorkspaceEdit:
        document, index = server.read(params.text_document.uri)
        try:
            edits = renaming.rename(document, index, server.offset(document, params.position), params.new_name)
        except InputError as error:
            raise JsonRpcInvalidParams(str(error)) from error
        return lsp.WorkspaceEdit({params.text_document.uri: server.edits(document, edits)})


def _add_layout(server: PtxServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def show_outline(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        document, index = server.read(params.text_document.uri)
        return [_document_symbol(server, document, entry) for entry in outline(index)]

    @server.feature(lsp.TEXT_DOCUMENT_FOLDING_RANGE)
    def show_folds(params: lsp.FoldingRangeParams) -> list[lsp.FoldingRange]:
        document, _ = server.read(params.text_document.uri)
        kinds = {"comment": lsp.FoldingRangeKind.Comment}
        return [lsp.FoldingRange(f.first, f.last, kind=kinds.get(f.kind)) for f in find_folds(document)]

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def format_text(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
        document, _ = server.read(params.text_document.uri)
        indent = " " * params.options.tab_size if params.options.insert_spaces else "\t"
        return server.edits(document, format_document(document, indent))


def _document_symbol(server: PtxServer, document: Document, entry: Entry) -> lsp.DocumentSymbol:
    symbol = entry.symbol
    name = symbol.name if symbol.count is None else f"{symbol.name}<{symbol.count}>"
    at = symbol.start
    return lsp.DocumentSymbol(
        name,
        _SYMBOL_KINDS.get(symbol.kind, lsp.SymbolKind.Variable),
        server.range(document, at, max(symbol.end, at + len(symbol.name))),
        server.range(document, at, at + len(symbol.name)),
        detail=describe(symbol),
        children=[_document_symbol(server, document, child) for child in entry.children],
    )


def _encoded_tokens(server: PtxServer, document: Document, index: Index) -> list[int]:
    """Return five numbers for each token: line and column relative to the last one, length, type, modifiers."""
    data: list[int] = []
    last_line = last_column = 0
    for token in classify(document, index):
        for start, end in _lines_of(document.text, token.start, token.end):
            (line, column), (_, end_column) = (
                document.position(start, server.encoding),
                document.position(end, server.encoding),
            )
            modifiers = sum(1 << MODIFIERS.index(modifier) for modifier in token.modifiers)
            delta = column - last_column if line == last_line else column
            data += [line - last_line, delta, end_column - column, TYPES.index(token.type), modifiers]
            last_line, last_column = line, column
    return data


def _lines_of(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Split a span at line ends, which a token of the protocol must not contain."""
    spans, at = [], start
    for line in text[start:end].splitlines(keepends=True):
        content = len(line.rstrip("\r\n"))
        if content:
            spans.append((at, at + content))
        at += len(line)
    return spans
