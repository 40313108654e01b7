"""`pyptx diff`: compare the machine code of two kernels."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import traceback
from pathlib import Path
from typing import Any

from pyptx import history
from pyptx.cli.cuda_files import CudaOptions, split_cuda
from pyptx.cli.kernels import (
    CommandError,
    existing_file,
    help_options,
    linked_files,
    load_kernel,
    one_line_errors,
    parameters,
)
from pyptx.errors import PtxError
from pyptx.program import Entry
from pyptx.views.diffs.diff import LEVELS, DiffOperand
from pyptx.workbench.comparing import diff, operand_of

__all__ = ["add", "operand", "run"]


def add(subparsers: Any) -> None:
    summary = "compare two kernels: renamed, rescheduled, and different instructions"
    command = subparsers.add_parser(
        "diff",
        **help_options(
            summary,
            "pyptx diff gemm.py:gemm@sm_90a gemm.py:gemm@sm_100a -p M=256 N=256 K=256",
            "pyptx diff gemm.py:gemm -p M=256 N=256 K=256 -b BK=32        # the same kernel with another parameter",
            "pyptx diff gemm.cu:gemm -a TILE=16 -b TILE=32                   # the same kernel with another macro",
            "pyptx diff before.ptx after.ptx -o diff.html",
            "pyptx diff gemm@-2 gemm@-1",
            more="A and B are FILE.py:NAME, module:NAME or FILE.cu:KERNEL, followed by @ARCH to compile for that target; FILE.ptx or "
            "FILE.ptx:ENTRY; FILE.cubin; or versions listed by `pyptx history`. Exit status: 0 if they are identical, 1 if "
            "they differ, 2 if an error occurred.",
        ),
    )
    command.add_argument("a", metavar="A", help="the kernel on the left")
    command.add_argument(
        "b", metavar="B", nargs="?", help="the kernel on the right; default: A, with the parameters of -b"
    )
    for flag, name, whose in (("-p", "parameters", "both"), ("-a", "parameters_a", "A"), ("-b", "parameters_b", "B")):
        command.add_argument(
            flag,
            metavar="NAME=VALUE",
            nargs="+",
            action="extend",
            default=[],
            dest=name,
            help=f"sizes and template parameters of {whose}; of a .cu file, macros",
        )
    for side in ("a", "b"):
        command.add_argument(
            f"--options-{side}",
            metavar="OPTIONS",
            default="",
            type=shlex.split,
            help=f"ptxas options for {side.upper()}, as in --options-{side}=-O1",
        )
    command.add_argument("--level", choices=LEVELS, default="sass", help="lines to compare; default: sass")
    command.add_argument(
        "--context", metavar="N", type=int, default=3, help="identical lines shown around a change; default: 3"
    )
    command.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        help="write a standalone page (.html) or the data (.json); default: print text",
    )
    command.add_argument("--json", action="store_true", help="print the data as JSON")
    command.set_defaults(run=run, refused=2)


def run(arguments: argparse.Namespace) -> int:
    try:
        return _run(arguments)
    except (PtxError, OSError):
        raise
    except ValueError as error:
        print(f"pyptx: {error}", file=sys.stderr)
        return 2
    except Exception:  # raised by the kernel's file; Python's own status, 1, means "different"
        traceback.print_exc()
        return 2


def _run(arguments: argparse.Namespace) -> int:
    output = arguments.output
    if output and output.suffix not in (".html", ".json"):
        raise CommandError(f"-o {output}: expected a name that ends in .html or .json")
    if arguments.context < 0:
        raise CommandError(f"--context {arguments.context}: expected a number of lines, 0 or more")
    common = parameters(arguments.parameters)
    left = operand(arguments.a, common, parameters(arguments.parameters_a), arguments.options_a)
    right = operand(arguments.b or arguments.a, common, parameters(arguments.parameters_b), arguments.options_b)
    titles = (
        " ".join([left.compiled.name, *arguments.parameters_a, *arguments.options_a]),
        " ".join([right.compiled.name, *arguments.parameters_b, *arguments.options_b]),
    )
    blocks = {side.block for side in (left, right) if side.block}
    found = diff(left, right, level=arguments.level, titles=titles, block=blocks.pop() if len(blocks) == 1 else None)
    if arguments.json and output is None:
        print(json.dumps(found.to_json()))
    elif output is None:
        print(found.text(context=arguments.context, color=sys.stdout.isatty() and not os.environ.get("NO_COLOR")))
    else:
        output.write_text(found.page() if output.suffix == ".html" else json.dumps(found.to_json()), encoding="utf-8")
        print(f"{found.verdict}\nwrote {output}")
    return 0 if found.identical else 1


def operand(reference: str, common: dict[str, Any], own: dict[str, Any], options: list[str]) -> DiffOperand:
    """Return what A or B names; `common` parameters apply to kernels only."""
    suffix = Path(reference).suffix
    name, at, arch = reference.rpartition("@")
    if split_cuda(name if at and arch.startswith("sm_") else reference):
        target = arch if at and arch.startswith("sm_") else None
        cuda = CudaOptions(target, {**common, **own})
        return operand_of(load_kernel(name if target else reference, isolate=True, cuda=cuda).compile(options=options))
    if suffix in (".ptx", ".cubin") or ".ptx:" in reference:
        if own or options:
            does = "compared" if suffix == ".cubin" else "assembled"
            raise CommandError(f"{reference} is {does} as it is; parameters and options apply to kernels")
        loaded = ".ptx:" in reference or len(linked_files(reference)) > 1
        return operand_of(load_kernel(reference, isolate=True) if loaded else existing_file(reference))
    if at and not arch.startswith("sm_") and ":" not in name and not name.endswith(".py"):
        if own or options:
            raise CommandError(f"{reference} is compared as recorded; parameters and options apply to kernels")
        return operand_of(history.version(reference))
    if not at or not arch.startswith("sm_"):
        name, arch = reference, None
    if "arch" in common | own:
        raise CommandError(f"arch is not a parameter; append the target to the kernel, as in {name}@sm_100a")
    kernel = load_kernel(name)
    if isinstance(kernel, Entry):
        return operand_of(kernel)
    with one_line_errors(kernel):
        specialization = kernel.specialize(arch=arch, **common | own)
        return DiffOperand(specialization.compile(options), kernel.block_of(specialization))
