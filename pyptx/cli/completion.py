"""`pyptx completion`: shell completion of commands, options, and file names."""

from __future__ import annotations

import argparse
from typing import Any

from pyptx.cli.kernels import help_options

__all__ = ["add", "run"]


def add(subparsers: Any) -> None:
    try:  # `doctor` works without it, and reports it missing
        from shtab import SUPPORTED_SHELLS
    except ImportError:
        SUPPORTED_SHELLS = []
    summary = "print the completion script of a shell"
    command = subparsers.add_parser(
        "completion",
        **help_options(
            summary,
            'eval "$(pyptx completion bash)"                       # this shell; in ~/.bashrc, every one',
            "pyptx completion zsh > ~/.zfunc/_pyptx                # a folder of $fpath",
        ),
    )
    command.add_argument("shell", choices=SUPPORTED_SHELLS or None)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    import shtab

    from pyptx.cli import parser

    print(shtab.complete(parser(), arguments.shell))
    return 0
