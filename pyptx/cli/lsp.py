"""`pyptx lsp`: the language server for PTX, started by an editor."""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec
from typing import Any

from pyptx.cli.kernels import CommandError, help_options
from pyptx.isa import targets

__all__ = ["add", "run"]

SWITCH_SECONDS = 0.0005  # a request waits no longer for the thread that reads a long text


def add(subparsers: Any) -> None:
    summary = "start the language server for PTX; editors run it"
    command = subparsers.add_parser(
        "lsp",
        **help_options(
            summary,
            "pyptx lsp                        # in the configuration of an editor",
            "pyptx lsp --arch sm_100a         # check and compile for this target",
            more="The server speaks the language server protocol on standard input and output: diagnostics, completion, "
            "hover help, definitions, references, renaming, live registers and machine code of .ptx files and of PTX in Python strings; "
            "outline, folding, semantic highlighting and formatting of .ptx files. The page 'Editors' of the documentation has the configuration of VS Code, Neovim, Emacs and Helix.",
        ),
    )
    command.add_argument(
        "--arch",
        metavar="TARGET",
        help="check and compile for this target, such as sm_90a, instead of the one in the text",
    )
    command.add_argument("--stdio", action="store_true", help="accepted for editors that pass it; it is the default")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    if find_spec("pygls") is None:
        raise CommandError("the language server needs pygls", hint="pip install 'pyptx-workbench[lsp]'")
    if arguments.arch is not None:
        targets.parse(arguments.arch)  # refuses an unknown target before the editor waits
    from pyptx.cli.language_server import make_server  # pygls takes time to load

    sys.setswitchinterval(SWITCH_SECONDS)
    make_server(arguments.arch).start_io()
    return 0
