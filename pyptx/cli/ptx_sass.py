"""`pyptx ptx` and `pyptx sass`: print the PTX or the machine code of a kernel."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from pyptx.cli.cuda_files import cuda_options
from pyptx.cli.kernels import add_kernel_arguments, help_options, load_kernel, one_line_errors, open_cubin, parameters
from pyptx.toolchain.sass import to_columns

__all__ = ["add", "print_ptx", "print_sass"]


def add(subparsers: Any) -> None:
    for name, run, summary, examples in (
        (
            "ptx",
            print_ptx,
            "print the PTX text of a kernel",
            (
                "pyptx ptx examples/rms_norm.py:rms_norm -p M=512 N=1024",
                "pyptx ptx kernel.py:add -p N=1000 -o add.ptx",
                "pyptx ptx kernels.cu:add --arch sm_80",
            ),
        ),
        (
            "sass",
            print_sass,
            "assemble a kernel and print its machine code",
            (
                "pyptx sass examples/rms_norm.py:rms_norm -p M=512 N=1024 --control",
                "pyptx sass kernel.ptx:entry --arch sm_100a",
                "pyptx sass kernel.cubin --json",
            ),
        ),
    ):
        command = subparsers.add_parser(name, **help_options(summary, *examples))
        add_kernel_arguments(command)
        command.add_argument("-o", "--output", metavar="FILE", type=Path, help="write to this file; default: print")
        if name == "sass":
            command.add_argument(
                "--control",
                action="store_true",
                help="show live registers, stalls, barriers, and the PTX line of every instruction",
            )
            command.add_argument("--json", action="store_true", help="print JSON, one array per column")
        command.set_defaults(run=run)


def print_ptx(arguments: argparse.Namespace) -> int:
    if cubin := open_cubin(arguments):
        return deliver(cubin.ptx, arguments.output)
    kernel, values = (
        load_kernel(arguments.kernel, isolate=True, cuda=cuda_options(arguments)),
        parameters(arguments.parameters),
    )
    with one_line_errors(kernel):
        text = kernel.compile(arch=arguments.arch, **values).ptx if arguments.arch else kernel.ptx(**values)
    return deliver(text, arguments.output)


def print_sass(arguments: argparse.Namespace) -> int:
    compiled = open_cubin(arguments)
    if compiled is None:
        kernel, values = (
            load_kernel(arguments.kernel, isolate=True, cuda=cuda_options(arguments)),
            parameters(arguments.parameters),
        )
        with one_line_errors(kernel):
            compiled = kernel.compile(arch=arguments.arch, **values)
    text = json.dumps(to_columns(compiled.sass)) if arguments.json else compiled.listing(control=arguments.control)
    return deliver(text, arguments.output)


def deliver(text: str, output: Path | None) -> int:
    """Print the text, or write it to a file."""
    if output is None:
        print(text, end="" if text.endswith("\n") else "\n")
    else:
        output.write_text(text, encoding="utf-8")
    return 0
