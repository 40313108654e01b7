"""`pyptx check`: run a kernel in several schedules and report findings, with an exit status for CI."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyptx.cli.cuda_files import cuda_options, split_cuda
from pyptx.cli.debug import converse
from pyptx.cli.kernels import (
    CommandError,
    add_kernel_arguments,
    add_launch_arguments,
    help_options,
    load_kernel,
    one_line_errors,
    parameters,
)
from pyptx.errors import PtxError

if TYPE_CHECKING:
    from pyptx.check import Report

__all__ = ["add", "run"]

FOUND, NOT_CHECKED = 1, 2


def add(subparsers: Any) -> None:
    summary = "run a kernel in several schedules and find races, missing waits, faults, and deadlocks"
    command = subparsers.add_parser(
        "check",
        **help_options(
            summary,
            "pyptx check examples/softmax.py:softmax -p M=8 N=1000",
            "pyptx check gemm.py:gemm --args a.npy b.npy --json",
            "pyptx check gemm.py:gemm -p M=128 --replay data-race",
            "pyptx check kernels.cu:reduce --grid 8 --block 256 --args f32[2048] f32[8] 2048 --sarif found.sarif",
            "pyptx check kernel.ptx:entry --grid 64 --block 32 --args f32[64,100] f32[64] 100 --sarif found.sarif",
            more="No GPU is needed. Exit status: 0 no findings (or only notes), 1 findings, 2 the kernel could not be checked.",
        ),
    )
    add_kernel_arguments(command)
    add_launch_arguments(command)
    command.add_argument(
        "--schedules", metavar="LIST", default="eager,late", help="any of eager, late, random; default: eager,late"
    )
    command.add_argument(
        "--random", metavar="N", type=int, default=4, help="number of additional random schedules; default: 4"
    )
    command.add_argument("--max-steps", metavar="N", type=int, help="warp-instructions after which a run is aborted")
    command.add_argument(
        "--ignore",
        metavar="RULE=REASON",
        action="append",
        default=[],
        help="show findings of a rule as notes, with the reason; can be repeated",
    )
    command.add_argument(
        "--replay",
        metavar="RULE",
        nargs="?",
        const=0,
        help="after the report, open the debugger at the first finding, or the first one of a rule: "
        "a race is stopped at its second access",
    )
    command.add_argument("--json", action="store_true", help="print the report as JSON")
    command.add_argument("--sarif", metavar="FILE", type=Path, help="write the report as SARIF 2.1.0")
    command.set_defaults(run=run, refused=NOT_CHECKED)


def run(arguments: argparse.Namespace) -> int:
    try:
        report = _report(arguments)
    except (PtxError, OSError):
        raise
    except Exception:  # raised by the file's own Python; status 1 would mean findings
        traceback.print_exc()
        return NOT_CHECKED
    if arguments.sarif:
        arguments.sarif.write_text(json.dumps(report.to_sarif(), indent=1), encoding="utf-8")
    if arguments.json:
        print(json.dumps(report.to_json(), indent=1))
    else:
        terminal = sys.stdout.isatty()
        print(
            report.text(
                terminal and not os.environ.get("NO_COLOR"), shutil.get_terminal_size().columns if terminal else None
            )
        )
    if arguments.replay is not None and not report.ok:
        with report.replay(arguments.replay) as session:
            converse(session)
    return 0 if report.ok else FOUND


def _report(arguments: argparse.Namespace) -> Report:
    from pyptx.cli.inputs import launch_of  # late: NumPy takes time to load

    kernel, params = load_kernel(arguments.kernel, cuda=cuda_options(arguments)), parameters(arguments.parameters)
    kinds = arguments.schedules.split(",") if arguments.schedules else []
    if arguments.arch and not split_cuda(arguments.kernel):
        raise CommandError("--arch is not supported: a check runs the kernel for its own target")
    options: dict[str, Any] = {"schedules": kinds, "random": arguments.random, "seed": arguments.seed}
    if arguments.ignore:
        options["ignore"] = dict(rule.split("=", 1) if "=" in rule else (rule, "") for rule in arguments.ignore)
    if arguments.max_steps is not None:
        options["max_steps"] = arguments.max_steps
    with one_line_errors(kernel):
        values, launch = launch_of(kernel, arguments, params)
        return kernel.check(*values, **{**options, **launch})  # a kernel parameter `seed` takes precedence
