"""`pyptx diff`: two kernels compared by what their machine code does."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import traceback
from pathlib import Path

from pyptx import history
from pyptx.cli.kernels import CommandError, explained, load_kernel, parameters
from pyptx.errors import PtxError
from pyptx.views.diffs.diff import LEVELS, diff
from pyptx.views.diffs.operands import Operand, operand_of

__all__ = ["add", "run"]

HELP = """\
A and B are FILE.py:NAME or module:NAME, with @ARCH behind them to compile for that target, or files of PTX, or cubins,
or versions that `pyptx history` lists:

  pyptx diff gemm.py:gemm@sm_90a gemm.py:gemm@sm_100a -p M=256 N=256 K=256
  pyptx diff gemm.py:gemm -p M=256 N=256 K=256 -b BK=32        the same kernel with another parameter
  pyptx diff before.ptx after.ptx -o diff.html
  pyptx diff gemm@-2 gemm@-1

The exit status is 0 when they are identical, 1 when they differ, 2 when something went wrong."""


def add(subparsers) -> None:
    summary = "compare two kernels: what is renamed, rescheduled or really different"
    command = subparsers.add_parser("diff", help=summary, description=summary.capitalize() + ".", epilog=HELP,
                                    formatter_class=argparse.RawDescriptionHelpFormatter)
    command.add_argument("a", metavar="A", help="the kernel on the left")
    command.add_argument("b", metavar="B", nargs="?",
                         help="the kernel on the right; may be left out: A, with what -b says")
    for flag, name, whose in (("-p", "parameters", "both"), ("-a", "parameters_a", "A"), ("-b", "parameters_b", "B")):
        command.add_argument(flag, metavar="NAME=VALUE", nargs="+", action="extend", default=[], dest=name,
                             help=f"sizes and template parameters of {whose}")
    for side in ("a", "b"):
        command.add_argument(f"--options-{side}", metavar="OPTIONS", default="", type=shlex.split,
                             help=f"options of ptxas for {side.upper()}, as in --options-{side}=-O1")
    command.add_argument("--level", choices=LEVELS, default="sass", help="the lines to compare (default: sass)")
    command.add_argument("--context", metavar="N", type=int, default=3, help="identical lines shown around a change")
    command.add_argument("-o", "--output", metavar="FILE", type=Path,
                         help="write a standalone page (.html) or the data (.json); without it, text is printed")
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
    except Exception:                                   # of the kernel's file; Python's own status, 1, is "different"
        traceback.print_exc()
        return 2


def _run(arguments: argparse.Namespace) -> int:
    output = arguments.output
    if output and output.suffix not in (".html", ".json"):
        raise CommandError(f"-o {output}: expected a name that ends in .html or .json")
    if arguments.context < 0:
        raise CommandError(f"--context {arguments.context}: expected a number of lines, 0 or more")
    common = parameters(arguments.parameters)
    left = _operand(arguments.a, common, parameters(arguments.parameters_a), arguments.options_a)
    right = _operand(arguments.b or arguments.a, common, parameters(arguments.parameters_b), arguments.options_b)
    titles = (" ".join([left.compiled.name, *arguments.parameters_a, *arguments.options_a]),
              " ".join([right.compiled.name, *arguments.parameters_b, *arguments.options_b]))
    blocks = {side.block for side in (left, right) if side.block}
    found = diff(left, right, level=arguments.level, titles=titles, block=blocks.pop() if len(blocks) == 1 else None)
    if arguments.json and output is None:
        print(json.dumps(found.to_json()))
    elif output is None:
        print(found.text(context=arguments.context, colour=sys.stdout.isatty() and not os.environ.get("NO_COLOR")))
    else:
        output.write_text(found.page() if output.suffix == ".html" else json.dumps(found.to_json()), encoding="utf-8")
        print(f"{found.verdict}\nwrote {output}")
    return 0 if found.identical else 1


def _operand(reference: str, common: dict[str, object], own: dict[str, object], options: list[str]) -> Operand:
    """What A or B names; `common` parameters are for kernels, and PTX has none."""
    suffix = Path(reference).suffix
    if suffix in (".ptx", ".cubin"):
        if own or options:
            does = "assembled" if suffix == ".ptx" else "compared"
            raise CommandError(f"{reference} is {does} as it stands; parameters and options are for kernels")
        return operand_of(Path(reference))
    name, at, arch = reference.rpartition("@")
    if at and not arch.startswith("sm_") and ":" not in name and not name.endswith(".py"):
        if own or options:
            raise CommandError(f"{reference} is compared as it was kept; parameters and options are for kernels")
        return operand_of(history.version(reference))
    if not at or not arch.startswith("sm_"):
        name, arch = reference, None
    if "arch" in common | own:
        raise CommandError(f"arch is no parameter: the target stands behind the kernel, as in {name}@sm_100a")
    kernel = load_kernel(name)
    with explained(kernel):
        variant = kernel.variant(arch=arch, **common | own)
        return Operand(variant.compile(options), kernel.block_of(variant))
