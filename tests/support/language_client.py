"""A client of the language server, as an editor is one: pygls' client, and `pyptx lsp` as its process."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

__all__ = ["Editor", "at"]


def at(text: str, before: str, offset: int = 0) -> lsp.Position:
    """The position in a text after the first occurrence of `before`, in UTF-16 units; independent of `pyptx`."""
    head = text[: text.index(before) + len(before) + offset].replace("\r\n", "\n").replace("\r", "\n")
    line = head.rsplit("\n", 1)[-1]
    return lsp.Position(head.count("\n"), len(line.encode("utf-16-le")) // 2)


class Editor(LanguageClient):
    """A client that keeps the diagnostics of each version, messages, opened documents and refreshes."""

    def __init__(self) -> None:
        super().__init__("test", "1")
        self.published: asyncio.Queue[lsp.PublishDiagnosticsParams] = asyncio.Queue()
        self.refreshed: asyncio.Queue[str] = asyncio.Queue()
        self.opened: list[lsp.ShowDocumentParams] = []
        self.said: list[str] = []
        self.registered: list[str] = []
        self.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda found: self.published.put_nowait(found))
        self.feature(lsp.WORKSPACE_INLAY_HINT_REFRESH)(lambda *_: self.refreshed.put_nowait("hints"))
        self.feature(lsp.WORKSPACE_CODE_LENS_REFRESH)(lambda *_: self.refreshed.put_nowait("lenses"))
        self.feature(lsp.WINDOW_SHOW_MESSAGE)(lambda message: self.said.append(message.message))

        @self.feature(lsp.WINDOW_SHOW_DOCUMENT)
        def show(params: lsp.ShowDocumentParams) -> lsp.ShowDocumentResult:
            self.opened.append(params)
            return lsp.ShowDocumentResult(success=True)

        @self.feature(lsp.CLIENT_REGISTER_CAPABILITY)
        def register(params: lsp.RegistrationParams) -> None:
            self.registered += [one.method for one in params.registrations]

    async def start(
        self, *arguments: str, capabilities: lsp.ClientCapabilities | None = None, **options: Any
    ) -> lsp.InitializeResult:
        await self.start_io(sys.executable, "-m", "pyptx", "lsp", *arguments, **options)
        capabilities = capabilities or lsp.ClientCapabilities()
        answer = await self.initialize_async(lsp.InitializeParams(capabilities=capabilities, process_id=None))
        self.initialized(lsp.InitializedParams())
        return answer

    def open(self, text: str, uri: str = "file:///kernel.ptx", language: str = "ptx") -> None:
        self.text_document_did_open(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(uri, language, 1, text)))

    def change(
        self,
        version: int,
        changes: Sequence[lsp.TextDocumentContentChangeEvent],
        uri: str = "file:///kernel.ptx",
    ) -> None:
        document = lsp.VersionedTextDocumentIdentifier(version, uri)
        self.text_document_did_change(lsp.DidChangeTextDocumentParams(document, list(changes)))

    async def diagnostics(self) -> lsp.PublishDiagnosticsParams:
        return await asyncio.wait_for(self.published.get(), 30)

    async def end(self) -> None:
        """Shut the server down and wait until its process is gone."""
        await self.shutdown_async(None)
        self.exit(None)
        await asyncio.wait_for(self._server.wait(), 20)
        await self.stop()
