"""`pyptx transpile`: convert PTX to Python that traces back to it."""

from __future__ import annotations

import argparse
from typing import Any

from pyptx.cli.kernels import CommandError, help_options
from pyptx.codegen.__main__ import add_arguments, transpile

__all__ = ["add", "run"]


def add(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "transpile",
        **help_options(
            "convert PTX to editable Python that traces back to it",
            "pyptx transpile kernel.ptx --sugar -o kernel.py",
            "nvcc -ptx kernel.cu -o - | pyptx transpile - --sugar --kernel entry",
        ),
    )
    add_arguments(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    if not arguments.files:
        raise CommandError("pyptx transpile needs a FILE; - reads standard input")
    return transpile(arguments)
