"""The language server with all its features."""

from __future__ import annotations

from lsprotocol import types as lsp

from pyptx.cli.language_server.costs import Costs
from pyptx.cli.language_server.documents import add_documents
from pyptx.cli.language_server.help import add_help
from pyptx.cli.language_server.hints import add_hints
from pyptx.cli.language_server.layout import add_layout, can_register, registrations
from pyptx.cli.language_server.machine_code import add_machine_code
from pyptx.cli.language_server.navigation import add_navigation
from pyptx.cli.language_server.server import PtxServer

__all__ = ["make_server"]


def make_server(target: str | None = None) -> PtxServer:
    """Return a server that is not started.

    Args:
        target: check and compile for this target instead of the one in the file.
    """
    server = PtxServer(target)
    costs = Costs(server)
    add_documents(server, costs)
    add_help(server)
    add_navigation(server)
    add_hints(server, costs)
    add_machine_code(server, costs)
    _add_start(server)
    return server


def _add_start(server: PtxServer) -> None:
    @server.feature(lsp.INITIALIZE)
    def initialize(params: lsp.InitializeParams) -> None:
        server.keep_texts()
        if not can_register(params.capabilities):
            add_layout(server)

    @server.feature(lsp.INITIALIZED)
    async def initialized(_: lsp.InitializedParams) -> None:
        if can_register(server.client_capabilities):
            add_layout(server)
            await server.client_register_capability_async(lsp.RegistrationParams(registrations()))
