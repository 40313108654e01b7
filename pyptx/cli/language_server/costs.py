"""Costs of open documents, compiled in the background.

Only of documents for which the editor has asked: after their check without errors, and DELAY_SECONDS after it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator

from pyptx.cli.language_server.server import PtxServer
from pyptx.errors import PtxError
from pyptx.language.regions import Region
from pyptx.language.source import Source
from pyptx.workbench.line_costs import LineCosts

__all__ = ["Costs", "modules"]

DELAY_SECONDS = 0.75  # after a check


class Costs:
    """The compilations of the open documents.

    Attributes:
        shown: (document, number of a region) -> the text that was compiled last, and its costs.
    """

    def __init__(self, server: PtxServer):
        self.server = server
        self.wanted: set[str] = set()  # documents for which the editor asked
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self.shown: dict[tuple[str, int], tuple[str, LineCosts]] = {}

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
        for number, region in modules(self.server.source(uri)):
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


def modules(source: Source) -> Iterator[tuple[int, Region]]:
    """Yield the modules of a source whose text is known, with their numbers."""
    for number, region in enumerate(source.regions):
        if region.kind == "module" and not region.unknown:
            yield number, region
