"""`pyptx transpile`: convert PTX or CUDA C++ to Python that traces back to it."""

from __future__ import annotations

import argparse
from typing import Any

from pyptx.cli.cuda_files import add_cuda_arguments, compile_files, cuda_options, split_cuda
from pyptx.cli.kernels import CommandError, help_options
from pyptx.codegen.__main__ import add_arguments, read_ptx, transpile

__all__ = ["add", "run"]


def add(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "transpile",
        **help_options(
            "convert PTX to editable Python that traces back to it",
            "pyptx transpile kernel.ptx --sugar -o kernel.py",
            "pyptx transpile kernels.cu --sugar --arch sm_90a",
            "nvcc -ptx kernel.cu -o - | pyptx transpile - --sugar --kernel entry",
        ),
    )
    add_arguments(parser)
    parser.add_argument("--arch", metavar="SM", help="target of .cu files; default: sm_90a")
    add_cuda_arguments(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    if not arguments.files:
        raise CommandError("pyptx transpile needs a FILE; - reads standard input")
    options = cuda_options(arguments)

    def read(file: str) -> bytes:
        if not split_cuda(file):
            return read_ptx(file)
        program = compile_files([file], options)
        if arguments.kernel:  # the C++ name
            arguments.kernel = program[arguments.kernel].mangled
        return program.text.encode()

    return transpile(arguments, read)
