"""`pyptx transpile FILE`: PTX as Python that traces back to it."""

from __future__ import annotations

import argparse

from pyptx.cli.kernels import about
from pyptx.codegen.__main__ import add_arguments, transpile
from pyptx.errors import PtxError

__all__ = ["add", "run"]


def add(subparsers) -> None:
    parser = subparsers.add_parser("transpile", **about(
        "write PTX as editable Python that traces back to it", "pyptx transpile kernel.ptx --sugar -o kernel.py",
        "nvcc -ptx kernel.cu -o - | pyptx transpile - --sugar --kernel entry"))
    add_arguments(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    if not arguments.files:
        raise PtxError("pyptx transpile needs a FILE; - reads standard input")
    return transpile(arguments)
