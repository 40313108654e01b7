"""The language server: `pyptx.language` behind the language server protocol, with pygls."""

from pyptx.cli.language_server.features import make_server
from pyptx.cli.language_server.server import PtxServer

__all__ = ["PtxServer", "make_server"]
