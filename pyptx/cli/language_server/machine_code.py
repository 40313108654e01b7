"""Machine code: a code lens and a code action for each kernel, and the command that opens it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams

from pyptx.cli.language_server.costs import Costs, modules
from pyptx.cli.language_server.server import PtxServer
from pyptx.errors import PtxError
from pyptx.language.source import Source
from pyptx.workbench.line_costs import EntryCosts, LineCosts

__all__ = ["COMMAND", "add_machine_code"]

COMMAND = "pyptx.viewSass"


class MachineCode:
    """Lenses of kernels, and files with their machine code, which are removed when the server ends."""

    def __init__(self, server: PtxServer):
        self.server = server
        self.folder = tempfile.TemporaryDirectory(prefix="pyptx-lsp-", ignore_cleanup_errors=True)

    def lenses(self, uri: str, source: Source) -> Iterator[lsp.CodeLens]:
        """Yield a lens for each kernel: its resource usage if it is compiled, and the command."""
        for number, region in modules(source):
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
        region = dict(modules(self.server.source(uri))).get(number)
        if region is None:
            raise JsonRpcInvalidParams(f"{uri} is not open, or has no PTX that is known")
        try:
            costs = await self.server.compilations.compile(region.document.text, again=True)
        except PtxError as error:
            costs = str(error)
        if isinstance(costs, str):
            raise JsonRpcInvalidParams(f"no SASS of {entry}: {costs}")  # editors show it
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
        message = f"SASS written to {path}, line {line + 1}"
        self.server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Info, message))


def add_machine_code(server: PtxServer, costs: Costs) -> None:
    """Add code lenses, the code action and the command."""
    code = MachineCode(server)

    @server.feature(lsp.TEXT_DOCUMENT_CODE_LENS)
    async def show_lenses(params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        uri = params.text_document.uri
        costs.want(uri)
        return list(code.lenses(uri, await server.ready(uri)))

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions([lsp.CodeActionKind.Source]))
    async def show_actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri, row = params.text_document.uri, params.range.start.line
        lenses = list(code.lenses(uri, await server.ready(uri)))
        above = [lens for lens in lenses if lens.range.start.line <= row] or lenses
        return [lsp.CodeAction("View SASS", lsp.CodeActionKind.Source, command=lens.command) for lens in above[-1:]]

    @server.command(COMMAND)
    async def view_sass(uri: str, number: int, entry: str) -> str:
        return await code.view(uri, number, entry)


def _words(used: EntryCosts) -> str:
    spills = f"{used.spill_bytes} B spilled" if used.spill_bytes else "no spills"
    return f"{used.registers} registers, {spills}, {used.instructions} instructions"
