"""`pyptx completion`: a script that lets a shell complete commands, options and file names."""

from __future__ import annotations

import argparse

__all__ = ["add", "run"]


def add(subparsers) -> None:
    try:                                                # doctor starts without it, and says what is missing
        from shtab import SUPPORTED_SHELLS
    except ImportError:
        SUPPORTED_SHELLS = []
    summary = "print a script that completes pyptx in a shell"
    command = subparsers.add_parser(
        "completion", help=summary, description=summary.capitalize() + ".",
        formatter_class=argparse.RawDescriptionHelpFormatter, epilog="""examples:
  eval "$(pyptx completion bash)"                       # this shell; in ~/.bashrc, every one
  pyptx completion zsh > ~/.zfunc/_pyptx                # a folder of $fpath""")
    command.add_argument("shell", choices=SUPPORTED_SHELLS or None)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    import shtab

    from pyptx.cli import parser

    print(shtab.complete(parser(), arguments.shell))
    return 0
