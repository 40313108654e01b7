"""Hover and completion."""

from __future__ import annotations

from lsprotocol import types as lsp

from pyptx.cli.language_server.server import PtxServer
from pyptx.language.completion import complete
from pyptx.language.hover import Hover, hover

__all__ = ["add_help"]

_COMPLETION_KINDS = {
    "opcode": lsp.CompletionItemKind.Function,
    "modifier": lsp.CompletionItemKind.EnumMember,
    "directive": lsp.CompletionItemKind.Keyword,
    "type": lsp.CompletionItemKind.TypeParameter,
    "special": lsp.CompletionItemKind.Constant,
    "label": lsp.CompletionItemKind.Reference,
    "function": lsp.CompletionItemKind.Method,
}


def add_help(server: PtxServer) -> None:
    """Add the handlers of hover and completion."""

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def show_hover(params: lsp.HoverParams) -> lsp.Hover | None:
        uri = params.text_document.uri
        place = server.near(uri, params.position)
        source = server.source(uri)
        if place is None:
            found = source.hover(server.offset(source.document, params.position))
        else:
            shown = hover(place.region.document, place.region.index, place.offset)
            found = shown and Hover(*place.region.outer(shown.start, shown.end), shown.text)
        if found is None:
            return None
        content = lsp.MarkupContent(lsp.MarkupKind.Markdown, found.text)
        return lsp.Hover(content, server.range(source.document, found.start, found.end))

    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=[".", "%"]))
    def show_completion(params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
        place = server.near(params.text_document.uri, params.position)
        if place is None:
            return []
        found = complete(place.region.document, place.region.index, place.offset)
        if found is None:
            return []
        replaced = server.span(place, found.start, place.offset)
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
