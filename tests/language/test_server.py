"""`pyptx lsp`, started as an editor starts it, and driven by pygls' client."""

from __future__ import annotations

import asyncio
import sys

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.client import LanguageClient

from pyptx import cli
from pyptx.cli import lsp as command

URI = "file:///kernel.ptx"
TEXT = """.version 8.5
.target sm_90a
.address_size 64
.entry k()
{
	.reg .b32 %r<3>;
	mov.u32 %r1, %tid.x ;
	add.s32 %r2, %r1, %r9;
	ret;
}
"""
FIXED = TEXT.replace("%r9", "1")


class Editor(LanguageClient):
    """A client that keeps the diagnostics of each version."""

    def __init__(self):
        super().__init__("test", "1")
        self.published: asyncio.Queue[lsp.PublishDiagnosticsParams] = asyncio.Queue()
        self.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda found: self.published.put_nowait(found))

    async def start(self) -> lsp.InitializeResult:
        await self.start_io(sys.executable, "-m", "pyptx", "lsp")
        answer = await self.initialize_async(
            lsp.InitializeParams(capabilities=lsp.ClientCapabilities(), process_id=None)
        )
        self.initialized(lsp.InitializedParams())
        return answer

    def open(self, text: str) -> None:
        self.text_document_did_open(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(URI, "ptx", 1, text)))

    def change(self, text: str, version: int) -> None:
        changes = [lsp.TextDocumentContentChangeWholeDocument(text)]
        document = lsp.VersionedTextDocumentIdentifier(version, URI)
        self.text_document_did_change(lsp.DidChangeTextDocumentParams(document, changes))

    async def diagnostics(self) -> lsp.PublishDiagnosticsParams:
        return await asyncio.wait_for(self.published.get(), 20)


def test_a_session_of_an_editor():
    asyncio.run(asyncio.wait_for(session(), 60))


async def session() -> None:
    editor, document = Editor(), lsp.TextDocumentIdentifier(URI)
    offers = (await editor.start()).capabilities
    assert offers.rename_provider and offers.folding_range_provider and offers.semantic_tokens_provider

    editor.open(TEXT)
    found = await editor.diagnostics()
    [problem] = found.diagnostics
    assert problem.range.start.line == 7 and "%r9 is not declared" in problem.message

    help_ = await editor.text_document_hover_async(lsp.HoverParams(document, lsp.Position(7, 2)))
    assert help_ is not None and "d = a + b" in help_.contents.value
    items = await editor.text_document_completion_async(lsp.CompletionParams(document, lsp.Position(6, 5)))
    assert ".u32" in [item.label for item in items]
    place = await editor.text_document_definition_async(lsp.DefinitionParams(document, lsp.Position(7, 16)))
    assert place.range == lsp.Range(lsp.Position(5, 11), lsp.Position(5, 13))
    context = lsp.ReferenceContext(include_declaration=False)
    places = await editor.text_document_references_async(lsp.ReferenceParams(context, document, lsp.Position(5, 12)))
    assert [(one.range.start.line, one.range.start.character) for one in places] == [(6, 9), (7, 9), (7, 14)]

    change = await editor.text_document_rename_async(lsp.RenameParams(document, lsp.Position(6, 10), "%x"))
    assert [edit.new_text for edit in change.changes[URI]] == ["%x"] * 4
    with pytest.raises(JsonRpcException, match="not a valid name"):
        await editor.text_document_rename_async(lsp.RenameParams(document, lsp.Position(6, 10), "1"))
    span = await editor.text_document_prepare_rename_async(lsp.PrepareRenameParams(document, lsp.Position(6, 11)))
    assert span == lsp.Range(lsp.Position(6, 9), lsp.Position(6, 11))

    symbols = await editor.text_document_document_symbol_async(lsp.DocumentSymbolParams(document))
    assert [(one.name, [child.name for child in one.children]) for one in symbols] == [("k", ["%r<3>"])]
    folds = await editor.text_document_folding_range_async(lsp.FoldingRangeParams(document))
    assert [(fold.start_line, fold.end_line) for fold in folds] == [(4, 8)]
    tokens = await editor.text_document_semantic_tokens_full_async(lsp.SemanticTokensParams(document))
    assert len(tokens.data) % 5 == 0 and tuple(tokens.data[:5]) == (0, 0, 8, 3, 0)
    options = lsp.FormattingOptions(tab_size=4, insert_spaces=True)
    edits = await editor.text_document_formatting_async(lsp.DocumentFormattingParams(document, options))
    assert (edits[0].range.start, edits[0].new_text) == (lsp.Position(5, 0), "    ")

    for version, text in enumerate([TEXT + "\0\ufeff/*", '"', FIXED], 2):  # only the last one is checked
        editor.change(text, version)
    found = await editor.diagnostics()
    assert (found.version, list(found.diagnostics)) == (4, []) and editor.published.empty()

    editor.text_document_did_close(lsp.DidCloseTextDocumentParams(document))
    assert not (await editor.diagnostics()).diagnostics
    await editor.shutdown_async(None)
    editor.exit(None)
    await editor.stop()


def test_the_command_names_the_extra_and_refuses_an_unknown_target(monkeypatch, capsys):
    assert cli.main(["lsp", "--arch", "sm_1"]) == 1
    assert "unknown target 'sm_1'" in capsys.readouterr().err
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    assert cli.main(["lsp"]) == 1
    assert "pip install 'pyptx-workbench[lsp]'" in capsys.readouterr().err
