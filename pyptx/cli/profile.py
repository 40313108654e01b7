"""`pyptx profile`: run Nsight Compute on a kernel, or show one of its reports beside the code and the model."""

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
    add_launch_arguments,
    add_output_argument,
    help_options,
    load_kernel,
    one_line_errors,
    output_files,
    parameters,
)
from pyptx.kernel import Kernel
from pyptx.program import Entry

__all__ = ["add", "run"]

SUFFIXES = (".html", ".json")


def add(subparsers: Any) -> None:
    summary = "profile a kernel with ncu, or show a profiler report line by line, beside the modeled numbers"
    command = subparsers.add_parser(
        "profile",
        **help_options(
            summary,
            "pyptx profile examples/softmax.py:softmax -p M=4096 N=1024",
            "pyptx profile examples/softmax.py:softmax -p M=4096 N=1024 --report run.ncu-rep -o softmax.html",
            "pyptx profile kernel.ptx:entry --report source.csv raw.csv",
            more="Without --report, ncu runs the kernel on this machine's GPU. --report takes a report that was made elsewhere: "
            "an .ncu-rep file needs ncu or its Python module, a CSV of `ncu --import REPORT --page source --csv` needs neither.",
        ),
    )
    add_kernel_arguments(command)
    add_launch_arguments(command)
    command.add_argument(
        "--report",
        metavar="FILE",
        nargs="+",
        type=Path,
        default=[],
        help="reports to show instead of profiling: .ncu-rep, or .csv of the source page and the raw page",
    )
    command.add_argument("--keep", metavar="FILE.ncu-rep", type=Path, help="keep the report that ncu writes")
    command.add_argument(
        "--device", metavar="GPU", help="GPU of the modeled numbers, such as h200; default: that of the kernel's target"
    )
    command.add_argument("--code", action="store_true", help="also print the code with the measured samples")
    add_output_argument(command, "write a page with the linked view (.html), or the comparison (.json)")
    command.add_argument("--json", action="store_true", help="print the comparison as JSON")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from pyptx.analysis.work.call import bind_call  # late: NumPy takes time to load
    from pyptx.cli.inputs import launch_of
    from pyptx.profiles import compare_profile, load_report
    from pyptx.workbench.tools import matched_profile

    files = output_files(arguments, SUFFIXES)
    if arguments.report and arguments.keep:
        raise CommandError("--keep applies to a new report; --report names one that exists")
    if arguments.keep and arguments.keep.suffix != ".ncu-rep":
        raise CommandError(f"--keep {arguments.keep}: expected a name that ends in .ncu-rep")
    kernel, params = load_kernel(arguments.kernel, cuda=cuda_options(arguments)), parameters(arguments.parameters)
    with one_line_errors(kernel):
        values, launch = launch_of(kernel, arguments, params)
        report = load_report(arguments.report) if arguments.report else _profiled(arguments, kernel)
        call = bind_call(kernel, *values, **launch)
        matched = matched_profile(report, call.specialization, call.compiled())
        prediction = kernel.estimate(*values, device=arguments.device, **launch)
        comparison = compare_profile(matched, prediction)
        _record(matched, call, kernel)
        view = None
        if arguments.code or any(path.suffix == ".html" for path in files):
            view = kernel.view(*values, device=arguments.device, profile=report, **launch)
    for path in files:
        text = view.page() if view and path.suffix == ".html" else json.dumps(comparison.to_json(), indent=1)
        path.write_text(text, encoding="utf-8")
    if arguments.json:
        print(json.dumps(comparison.to_json(), indent=1))
        return 0
    if arguments.code and view:
        print(view.text(color=sys.stdout.isatty() and not os.environ.get("NO_COLOR")), end="\n\n")
    print(comparison.text())
    print("\n".join(f"wrote {path}" for path in files), end="\n" if files else "")
    return 0


def _record(matched: Any, call: Any, kernel: Kernel | Entry) -> None:
    """Keep the duration of a profiled launch in the ledger."""
    from pyptx import ledger
    from pyptx.ledger.origins import measurement_of
    from pyptx.tune.build import code_hash

    duration = matched.profile.metrics.get("gpu__time_duration.sum")
    if duration is None or not matched.profile.gpu:
        return
    seconds = duration.base
    one = measurement_of(
        kernel,
        call,
        kind="measured",
        method="ncu",
        source="profile",
        gpu=matched.profile.gpu,
        seconds=seconds,
        low=seconds,
        high=seconds,
        runs=1,
        cubin=code_hash(call.compiled().cubin),
    )
    ledger.record(one)


def _profiled(arguments: argparse.Namespace, kernel: Kernel | Entry) -> Any:
    """Run ncu on `pyptx run` of the same kernel; return the report.

    Raises:
        MissingToolError, ToolError: ncu is not installed, fails, or profiles nothing.
    """
    from pyptx.profiles import load_report
    from pyptx.profiles.ncu_program import profile_command, run_ncu
    from pyptx.toolchain.process import workspace

    program = [sys.executable, "-m", "pyptx", "run", "--backend", "cuda", *_run_arguments(arguments)]
    entry = kernel.name if isinstance(kernel, Kernel) else kernel._function.name
    with workspace() as folder:
        output = Path(folder) / "profile" if arguments.keep is None else arguments.keep.with_suffix("")
        return load_report(run_ncu(profile_command(entry, program, output), output))


def _run_arguments(arguments: argparse.Namespace) -> list[str]:
    """Return the arguments of `pyptx run` for the same launch."""
    found = [arguments.kernel]
    for option, value in (
        ("-p", arguments.parameters),
        ("--args", arguments.args),
        ("--arch", arguments.arch),
        ("--grid", arguments.grid),
        ("--block", arguments.block),
        ("--cluster", arguments.cluster),
        ("--smem", arguments.smem),
        ("--seed", arguments.seed),
        *(("-D", [define]) for define in arguments.defines),
    ):
        if value:
            found += [option, *(value if isinstance(value, list) else [str(value)])]
    return found
