"""Costs of documents in the editor: inlay hints, code lenses, and the command that opens the machine code.

They come from `compilations`, in the background: only of documents for which the editor has asked, after the check of a
document without errors, and DELAY_SECONDS after its last edit.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams

from pyptx.cli.language_server.server import PtxServer
from pyptx.errors import PtxError
from pyptx.language.moved_lines import moved_lines
from pyptx.language.regions import Region
from pyptx.language.source import Source
from pyptx.workbench.line_costs import EntryCosts, LineCosts

__all__ = ["COMMAND", "CostViews", "add_costs"]

COMMAND = "pyptx.viewSass"
DELAY_SECONDS = 0.75  # after a check


class CostViews:
    """Inlay hints and code lenses of the open documents."""

    def __init__(self, server: PtxServer):
        self.server = server
        self.wanted: set[str] = set()  # documents for which the editor asked
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self.shown: dict[tuple[str, int], tuple[str, LineCosts]] = {}  # document, region -> text and its costs
        self.folder = tempfile.TemporaryDirectory(prefix="pyptx-lsp-", ignore_cleanup_errors=True)

    def want(self, uri: str) -> None:
        """Compile a document from now on."""
        if uri not in self.wanted and self.server.is_open(uri):
            self.wanted.add(uri)
            self.schedule(uri)

    def schedule(self, uri: str) -> None:
        """Compile the PTX of a document after a delay, if the editor shows costs."""
        self.cancel(uri)
        if uri in self.wanted:
            self.tasks[uri] = asyncio.get_running_loop().create_task(self._compile(uri))

    def cancel(self, uri: str) -> None:
        """Stop the compilation of a document."""
        if task := self.tasks.pop(uri, None):
            task.cancel()

    def close(self, uri: str) -> None:
        """Forget a document."""
        self.wanted.discard(uri)
        for key in [key for key in self.shown if key[0] == uri]:
            del self.shown[key]

    async def _compile(self, uri: str) -> None:
        await asyncio.sleep(DELAY_SECONDS)
        fresh = False
        for number, region in _modules(self.server.source(uri)):
            text = region.document.text
            fresh = fresh or self.server.compilations.costs(text) is None
            try:
                costs = await self.server.compilations.compile(text)
            except PtxError as error:  # the process failed: without costs
                logging.getLogger(__name__).warning("%s: %s", uri, error)
                continue
            if isinstance(costs, LineCosts):
                self.shown[uri, number] = text, costs
        if fresh:
            await self._refresh()

    async def _refresh(self) -> None:
        workspace = self.server.client_capabilities.workspace
        if workspace and workspace.inlay_hint and workspace.inlay_hint.refresh_support:
            await self.server.workspace_inlay_hint_refresh_async(None)
        if workspace and workspace.code_lens and workspace.code_lens.refresh_support:
            await self.server.workspace_code_lens_refresh_async(None)

    # contents -------------------------------------------------------------------------------------------------------

    def hints(self, uri: str, source: Source, first: int, last: int) -> Iterator[lsp.InlayHint]:
        """Yield the live registers of the lines from `first` to `last`, which are 0-based.

        Lines that are as they were when the text was compiled last keep theirs.
        """
        for number, region in _modules(source):
            if (uri, number) not in self.shown:
                continue
            document, (text, costs) = region.document, self.shown[uri, number]
            now = moved_lines(text, document.text)
            for line, (count, live) in sorted(costs.lines.items()):
                if (at := now(line)) is None:
                    continue
                end = document.offset_of_line(at, len(document.text))
                content = document.text[document.offset_of_line(at) : end].rstrip()
                place = region.outer(0, document.offset_of_line(at) + len(content))[1]
                row, column = source.document.position(place, self.server.encoding)
                if first <= row <= last:
                    several = "s" if count > 1 else ""
                    tooltip = f"{count} machine instruction{several}, at most {live} live registers ({costs.target})"
                    yield lsp.InlayHint(lsp.Position(row, column), f"{live} live", padding_left=True, tooltip=tooltip)

    def lenses(self, uri: str, source: Source) -> Iterator[lsp.CodeLens]:
        """Yield a lens for each kernel: its resource usage if it is compiled, and the command."""
        for number, region in _modules(source):
            found = self.server.compilations.costs(region.document.text)
            used = {entry.name: entry for entry in found.entries} if isinstance(found, LineCosts) else {}
            for symbol in region.index.module.symbols:
                if symbol.kind == "entry":
                    place = self.server.range(
                        source.document, *region.outer(symbol.start, symbol.start + len(symbol.name))
                    )
                    state = " (not compiled)" if isinstance(found, str) else ""
                    title = (
                        f"View SASS{state}" if symbol.name not in used else f"View SASS: {_words(used[symbol.name])}"
                    )
                    yield lsp.CodeLens(place, lsp.Command(title, COMMAND, arguments=[uri, number, symbol.name]))

    async def view(self, uri: str, number: int, entry: str) -> str:
        """Compile a text, write its machine code to a file and open it; return the path.

        Raises:
            JsonRpcInvalidParams: the text is not open, or does not compile; the message says why.
        """
        region = dict(_modules(self.server.source(uri))).get(number)
        if region is None:
            raise JsonRpcInvalidParams(f"{uri} is not open, or has no PTX that is known")
        try:
            costs = await self.server.compilations.compile(region.document.text)
        except PtxError as error:
            costs = str(error)
        if isinstance(costs, str):
            self._say(f"No SASS of {entry}: {costs}", lsp.MessageType.Error)
            raise JsonRpcInvalidParams(costs)
        path = Path(self.folder.name, f"{Path(unquote(urlsplit(uri).path)).stem or 'kernel'}.{number}.sass")
        path.write_text(costs.listing, encoding="utf-8")
        rows = costs.listing.split("\n")
        line = next((row for row, text in enumerate(rows) if text.startswith(f"{entry}:")), 0)
        await self._open(path, line)
        return str(path)

    async def _open(self, path: Path, line: int) -> None:
        window = self.server.client_capabilities.window
        if window and window.show_document and window.show_document.support:
            start = lsp.Range(lsp.Position(line, 0), lsp.Position(line, 0))
            shown = await self.server.window_show_document_async(
                lsp.ShowDocumentParams(path.as_uri(), take_focus=True, selection=start)
            )
            if shown.success:
                return
        self._say(f"SASS written to {path}, line {line + 1}", lsp.MessageType.Info)

    def _say(self, message: str, kind: lsp.MessageType) -> None:
        self.server.window_show_message(lsp.ShowMessageParams(kind, message))


def add_costs(server: PtxServer, views: CostViews) -> None:
    """Add inlay hints, code lenses, the code action and the command."""

    @server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    async def show_hints(params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        uri = params.text_document.uri
        views.want(uri)
        source = server.source(uri)
        rows = params.range.start.line, params.range.end.line
        return await server.run(source, lambda: list(views.hints(uri, source, *rows)))

    @server.feature(lsp.TEXT_DOCUMENT_CODE_LENS)
    async def show_lenses(params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        uri = params.text_document.uri
        views.want(uri)
        return list(views.lenses(uri, await server.ready(uri)))

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions([lsp.CodeActionKind.Source]))
    async def show_actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri, row = params.text_document.uri, params.range.start.line
        source = await server.ready(uri)
        lenses = list(views.lenses(uri, source))
        above = [lens for lens in lenses if lens.range.start.line <= row] or lenses
        kind = lsp.CodeActionKind.Source
        return [lsp.CodeAction("View SASS", kind, command=lens.command) for lens in above[-1:]]

    @server.command(COMMAND)
    async def view_sass(uri: str, number: int, entry: str) -> str:
        return await views.view(uri, number, entry)


def _modules(source: Source) -> Iterator[tuple[int, Region]]:
    for number, region in enumerate(source.regions):
        if region.kind == "module" and not region.unknown:
            yield number, region


def _words(used: EntryCosts) -> str:
    spills = f"{used.spill_bytes} B spilled" if used.spill_bytes else "no spills"
    return f"{used.registers} registers, {spills}, {used.instructions} instructions"
