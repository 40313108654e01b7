"""`pyptx compare`: several kernels side by side."""

from __future__ import annotations

import argparse
import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from pyptx import history
from pyptx.cli.diff import operand
from pyptx.cli.kernels import CommandError, help_options, load_kernel, one_line_errors, parameters
from pyptx.kernel import Kernel
from pyptx.program import Entry
from pyptx.workbench.side_by_side import compare

__all__ = ["add", "run"]


def add(subparsers: Any) -> None:
    summary = "compare several kernels, targets, configurations or versions side by side"
    command = subparsers.add_parser(
        "compare",
        **help_options(
            summary,
            "pyptx compare gemm.py:gemm --targets sm_80 sm_90a sm_100a sm_120a -p M=256 N=256 K=256",
            "pyptx compare gemm.py:gemm --config BK=16 --config BK=32 --config BK=64 -p M=256 N=256 K=256 --time",
            "pyptx compare gemm --last 5",
            "pyptx compare gemm@3 gemm@5 gemm@-1 -o versions.html",
            "pyptx compare a.ptx b.ptx c.cubin --json",
            more="A KERNEL is FILE.py:NAME or module:NAME; other references are those of `pyptx diff`. Columns that cannot be "
            "compiled say why.",
        ),
    )
    command.add_argument(
        "kernels", metavar="KERNEL", nargs="+", help="what to compare; one kernel with --targets or --config"
    )
    command.add_argument("--targets", metavar="ARCH", nargs="+", help="compile each kernel for these targets")
    command.add_argument(
        "--config",
        metavar="NAME=VALUE",
        nargs="+",
        action="append",
        dest="configs",
        help="parameters of one column; can be repeated",
    )
    command.add_argument("--last", metavar="N", type=int, help="the last N recorded versions of each NAME")
    command.add_argument(
        "-p",
        metavar="NAME=VALUE",
        nargs="+",
        action="extend",
        default=[],
        dest="parameters",
        help="sizes and template parameters of all columns",
    )
    command.add_argument("--time", action="store_true", help="also simulate a launch, and show its modeled time")
    command.add_argument("--device", metavar="GPU", help="the GPU of the modeled time; default: that of each target")
    command.add_argument(
        "-o", "--output", metavar="FILE", type=Path, help="write a standalone page (.html) or the data (.json)"
    )
    command.add_argument("--json", action="store_true", help="print the data as JSON")
    command.set_defaults(run=run, refused=2)


def run(arguments: argparse.Namespace) -> int:
    output = arguments.output
    if output and output.suffix not in (".html", ".json"):
        raise CommandError(f"-o {output}: expected a name that ends in .html or .json")
    if arguments.last is not None and arguments.last < 2:
        raise CommandError(f"--last {arguments.last}: expected 2 or more")
    if arguments.last:
        references = [one for name in arguments.kernels for one in history.versions(name)[-arguments.last :]]
    else:
        references = list(map(_reference, arguments.kernels))
    kernel = next((one for one in references if isinstance(one, Kernel)), None)
    with one_line_errors(kernel) if kernel else nullcontext():
        table = compare(
            *references,
            targets=arguments.targets,
            configs=[parameters(config) for config in arguments.configs or ()] or None,
            time=arguments.time,
            device=arguments.device,
            **parameters(arguments.parameters),
        )
    if output:
        output.write_text(table.page() if output.suffix == ".html" else json.dumps(table.to_json()), encoding="utf-8")
        print(f"wrote {output}")
    else:
        print(json.dumps(table.to_json()) if arguments.json else table.text())
    return 0


def _reference(text: str) -> Any:
    """Return a kernel, to be compiled for each column, or what `pyptx diff` compares."""
    if text.endswith((".ptx", ".cubin", ".cu")) or "@" in text or ":" not in text:
        return operand(text, {}, {}, [])
    kernel = load_kernel(text, isolate=True)
    return kernel.compile() if isinstance(kernel, Entry) else kernel
