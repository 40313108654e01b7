"""`pyptx view`: show Python or CUDA C++, PTX, and SASS of a kernel side by side."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from pyptx.cli.cuda_files import cuda_options
from pyptx.cli.kernels import (
    CommandError,
    add_kernel_arguments,
    folder_of_sources,
    help_options,
    load_kernel,
    one_line_errors,
    open_cubin,
    parameters,
)
from pyptx.program import Entry

__all__ = ["add", "run"]


def add(subparsers: Any) -> None:
    summary = "show a kernel's source, PTX, and SASS, linked line by line"
    command = subparsers.add_parser(
        "view",
        **help_options(
            summary,
            "pyptx view examples/sgemm.py:sgemm -p M=256 N=256 K=256 -o sgemm.html",
            "pyptx view kernels.cu:scale<float> -D TILE=32 --arch sm_100a -o scale.html",
            "pyptx view kernel.ptx:entry",
            "pyptx view kernel.ptx:entry --source src/cuda",
            "pyptx view kernel.cubin -o kernel.html",
        ),
    )
    add_kernel_arguments(command)
    command.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        help="write a standalone page (.html) or the view's data (.json); default: print text",
    )
    command.add_argument("--json", action="store_true", help="print the view's data as JSON")
    command.add_argument(
        "--source",
        metavar="DIR",
        type=Path,
        help="for a .ptx or .cubin file with line information: folder of its source files; default: the working directory",
    )
    command.add_argument(
        "--explain",
        metavar="LINE",
        type=int,
        help="print the machine instructions of a line of the source with an explanation of each, and cheaper forms",
    )
    command.add_argument(
        "--device",
        metavar="GPU",
        help="also show the modeled time of each line on a GPU, such as h200; see pyptx roofline",
    )
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    output = arguments.output
    if output and output.suffix not in (".html", ".json"):
        raise CommandError(f"-o {output}: expected a name that ends in .html or .json")
    if cubin := open_cubin(arguments):
        view = cubin.view()
    else:
        kernel, values = (
            load_kernel(arguments.kernel, isolate=True, cuda=cuda_options(arguments)),
            parameters(arguments.parameters),
        )
        if isinstance(kernel, Entry) and values:
            from pyptx.workbench.cuda_program import CudaEntry  # late: it needs NumPy

            hint = "use -D" if isinstance(kernel, CudaEntry) else "it is PTX text"
            raise CommandError(f"{kernel.name} takes no -p, {hint}; got {', '.join(values)}")
        if arguments.source is not None:
            if not isinstance(kernel, Entry):
                raise CommandError(
                    "--source applies to the source files of a .ptx or .cubin file; a kernel names its own"
                )
            values["source"] = folder_of_sources(arguments.source)
        with one_line_errors(kernel):
            if arguments.device is not None:
                if isinstance(kernel, Entry):
                    raise CommandError(
                        "--device applies to kernels in Python; a .cu or .ptx file does not name its launch"
                    )
                values["device"] = arguments.device
            view = kernel.view(arch=arguments.arch, **values)
    if arguments.explain is not None:
        print(view.explain(arguments.explain, pane="python" if view.python.text else "ptx"))
        return 0
    if arguments.json:
        print(json.dumps(view.to_json()))
    if output is None and arguments.json:
        return 0
    if output is None:
        print(view.text(color=sys.stdout.isatty() and not os.environ.get("NO_COLOR")))
        return 0
    if output.suffix == ".json":
        output.write_text(json.dumps(view.to_json()), encoding="utf-8")
    else:
        output.write_text(view.page(), encoding="utf-8")
    print(f"wrote {output}", file=sys.stderr if arguments.json else sys.stdout)
    return 0
