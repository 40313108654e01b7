"""Definition, references, highlights and renaming of names."""

from __future__ import annotations

from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams

from pyptx.cli.language_server.server import Place, PtxServer
from pyptx.errors import InputError
from pyptx.language import rename as renaming
from pyptx.language.symbols import Symbol

__all__ = ["add_navigation"]


def add_navigation(server: PtxServer) -> None:
    """Add the handlers of names."""

    async def named(params: Any) -> tuple[Place, Symbol, str] | None:
        """Return the place, the symbol of the name there, and the name."""
        place = await server.place(params.text_document.uri, params.position)
        found = place and place.region.index.at(place.offset)
        if place is None or not found or found.symbol is None:
            return None
        return place, found.symbol, place.region.document.text[found.start : found.end]

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    async def go_to_definition(params: lsp.DefinitionParams) -> lsp.Location | None:
        if (found := await named(params)) is None:
            return None
        place, symbol, _ = found
        start = symbol.declared[-1]
        return lsp.Location(params.text_document.uri, server.span(place, start, start + len(symbol.name)))

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    async def find_references(params: lsp.ReferenceParams) -> list[lsp.Location]:
        if (found := await named(params)) is None:
            return []
        place, symbol, _ = found
        shown = [o for o in place.region.index.of(symbol) if params.context.include_declaration or not o.declares]
        return [lsp.Location(params.text_document.uri, server.span(place, o.start, o.end)) for o in shown]

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    async def highlight(params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
        if (found := await named(params)) is None:
            return []
        place, symbol, name = found
        text = place.region.document.text
        same = [o for o in place.region.index.of(symbol) if o.declares or text[o.start : o.end] == name]
        return [lsp.DocumentHighlight(server.span(place, o.start, o.end)) for o in same]

    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    async def prepare_rename(params: lsp.PrepareRenameParams) -> lsp.Range | None:
        place = await server.place(params.text_document.uri, params.position)
        found = place and renaming.renamed_span(place.region.index, place.offset)
        return server.span(place, *found) if place and found else None

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    async def rename(params: lsp.RenameParams) -> lsp.WorkspaceEdit:
        place = await server.place(params.text_document.uri, params.position)
        if place is None:
            raise JsonRpcInvalidParams("the position is outside PTX, where nothing can be renamed")
        try:
            region = place.region
            if region.unknown:
                raise InputError(f"names cannot be renamed here: the PTX is {region.unknown}")
            edits = await server.run(
                place.source, lambda: renaming.rename(region.document, region.index, place.offset, params.new_name)
            )
        except InputError as error:
            raise JsonRpcInvalidParams(str(error)) from error
        return _workspace_edit(server, params.text_document.uri, server.edits(place, edits))


def _workspace_edit(server: PtxServer, uri: str, edits: list[lsp.TextEdit]) -> lsp.WorkspaceEdit:
    """Return the edits of a document, with its version where the editor can refuse those of another version."""
    workspace = server.client_capabilities.workspace
    if not (workspace and workspace.workspace_edit and workspace.workspace_edit.document_changes):
        return lsp.WorkspaceEdit({uri: edits})
    document = lsp.OptionalVersionedTextDocumentIdentifier(uri, server.versions.get(uri))
    return lsp.WorkspaceEdit(document_changes=[lsp.TextDocumentEdit(document, list(edits))])
