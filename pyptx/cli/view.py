"""`pyptx view`: Python, PTX and SASS of a kernel side by side."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from pyptx.cli.kernels import (
    CommandError,
    about,
    add_kernel_arguments,
    explained,
    load_kernel,
    open_cubin,
    parameters,
)

__all__ = ["add", "run"]


def add(subparsers) -> None:
    summary = "show a kernel's Python, PTX and SASS, linked line by line"
    command = subparsers.add_parser("view", **about(
        summary, "pyptx view examples/sgemm.py:sgemm -p M=256 N=256 K=256 -o sgemm.html", "pyptx view kernel.ptx:entry",
        "pyptx view kernel.cubin -o kernel.html"))
    add_kernel_arguments(command)
    command.add_argument("-o", "--output", metavar="FILE", type=Path,
                         help="write a standalone page (.html) or the view's data (.json); without it, text is printed")
    command.add_argument("--json", action="store_true", help="print the view's data as JSON")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    output = arguments.output
    if output and output.suffix not in (".html", ".json"):
        raise CommandError(f"-o {output}: expected a name that ends in .html or .json")
    if cubin := open_cubin(arguments):
        view = cubin.view()
    else:
        kernel, values = load_kernel(arguments.kernel), parameters(arguments.parameters)
        with explained(kernel):
            view = kernel.view(arch=arguments.arch, **values)
    if arguments.json:
        print(json.dumps(view.to_json()))
    if output is None and arguments.json:
        return 0
    if output is None:
        print(view.text(colour=sys.stdout.isatty() and not os.environ.get("NO_COLOR")))
        return 0
    if output.suffix == ".json":
        output.write_text(json.dumps(view.to_json()), encoding="utf-8")
    else:
        output.write_text(view.page(), encoding="utf-8")
    print(f"wrote {output}", file=sys.stderr if arguments.json else sys.stdout)
    return 0
