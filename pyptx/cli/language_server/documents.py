"""Open documents: edits, and diagnostics after them."""

from __future__ import annotations

import asyncio
import logging

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcContentModified

from pyptx.cli.language_server.costs import Costs
from pyptx.cli.language_server.server import LONG, PtxServer
from pyptx.language.findings import Finding, find_problems
from pyptx.language.source import Source

__all__ = ["DELAY_SECONDS", "add_documents"]

DELAY_SECONDS = 0.25  # between the last edit and the check
LONG_DELAY_SECONDS = 1.0  # of a long text, whose check takes a second
MOST_DIAGNOSTICS = 500

_SEVERITIES = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "information": lsp.DiagnosticSeverity.Information,
}


class Checks:
    """Checks of documents, each after its last edit."""

    def __init__(self, server: PtxServer, costs: Costs):
        self.server, self.costs = server, costs
        self.tasks: dict[str, asyncio.Task[None]] = {}

    def schedule(self, uri: str, version: int | None, delay: float) -> None:
        """Check a document after a delay; a check that has not started is canceled."""
        self.cancel(uri)
        self.tasks[uri] = asyncio.get_running_loop().create_task(self._check(uri, version, delay))

    def cancel(self, uri: str) -> None:
        """Cancel the check of a document, and its compilation."""
        self.costs.cancel(uri)
        if task := self.tasks.pop(uri, None):
            task.cancel()

    async def _check(self, uri: str, version: int | None, delay: float) -> None:
        await asyncio.sleep(delay)
        try:
            source = await self.server.ready(uri)
        except JsonRpcContentModified:
            return  # the edit has scheduled another check
        valid = False
        try:
            found = await self.server.run_in_background(lambda: find_problems(source, self.server.target))
            shown = [self._diagnostic(source, one) for one in found[:MOST_DIAGNOSTICS]]
            valid = all(one.severity != "error" for one in found)
        except Exception as error:  # a defect of the checker: report it, and keep serving
            logging.getLogger(__name__).exception("check of %s", uri)
            message = f"pyptx could not check this file: {type(error).__name__}: {error}"
            shown = [self._diagnostic(source, Finding(0, 0, "warning", message))]
        self.server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, shown, version))
        if valid:
            self.costs.schedule(uri)

    def _diagnostic(self, source: Source, found: Finding) -> lsp.Diagnostic:
        message = found.message if not found.hint else f"{found.message}\nhint: {found.hint}"
        place = self.server.range(source.document, found.start, found.end)
        return lsp.Diagnostic(place, message, _SEVERITIES[found.severity], source="pyptx")


def add_documents(server: PtxServer, costs: Costs) -> None:
    """Add the handlers of open documents."""
    checks = Checks(server, costs)

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    async def did_open(params: lsp.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        server.open(document.uri, document.version, document.language_id, document.text)
        checks.schedule(document.uri, document.version, 0)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    async def did_change(params: lsp.DidChangeTextDocumentParams) -> None:
        uri = params.text_document.uri
        if server.is_open(uri):
            server.change(uri, params.text_document.version, params.content_changes)
            delay = DELAY_SECONDS if len(server.source(uri).text) <= LONG else LONG_DELAY_SECONDS
            checks.schedule(uri, params.text_document.version, delay)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    async def did_close(params: lsp.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        checks.cancel(uri)
        costs.close(uri)
        server.close(uri)
        server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))

    @server.feature(lsp.SHUTDOWN)
    async def shutdown(*_: object) -> None:
        for uri in list(checks.tasks):
            checks.cancel(uri)
