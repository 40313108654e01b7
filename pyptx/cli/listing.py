"""`pyptx ptx` and `pyptx sass`: the text of a kernel at either level."""

from __future__ import annotations

import argparse
from pathlib import Path

from pyptx.cli.kernels import add_kernel_arguments, explained, load_kernel, open_cubin, parameters

__all__ = ["add", "print_ptx", "print_sass"]


def add(subparsers) -> None:
    for name, run, summary in (("ptx", print_ptx, "print the PTX text of a kernel"),
                               ("sass", print_sass, "assemble a kernel and print its machine code")):
        command = subparsers.add_parser(name, help=summary, description=summary.capitalize() + ".")
        add_kernel_arguments(command)
        command.add_argument("-o", "--output", metavar="FILE", type=Path, help="write to this file instead")
        if name == "sass":
            command.add_argument("--control", action="store_true",
                                 help="show live registers, stalls, barriers and the PTX line of every instruction")
        command.set_defaults(run=run)


def print_ptx(arguments: argparse.Namespace) -> int:
    if cubin := open_cubin(arguments):
        return deliver(cubin.ptx, arguments.output)
    kernel, values = load_kernel(arguments.kernel), parameters(arguments.parameters)
    with explained(kernel):
        text = kernel.compile(arch=arguments.arch, **values).ptx if arguments.arch else kernel.ptx(**values)
    return deliver(text, arguments.output)


def print_sass(arguments: argparse.Namespace) -> int:
    if cubin := open_cubin(arguments):
        return deliver(cubin.listing(control=arguments.control), arguments.output)
    kernel, values = load_kernel(arguments.kernel), parameters(arguments.parameters)
    with explained(kernel):
        text = kernel.compile(arch=arguments.arch, **values).listing(control=arguments.control)
    return deliver(text, arguments.output)


def deliver(text: str, output: Path | None) -> int:
    """Print the text, or write it to the file that -o names."""
    if output is None:
        print(text, end="" if text.endswith("\n") else "\n")
    else:
        output.write_text(text, encoding="utf-8")
    return 0
