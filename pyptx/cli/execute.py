"""`pyptx exec`: run a program that uses the CUDA driver, on a simulated GPU."""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyptx.cli.kernels import CommandError, help_options

if TYPE_CHECKING:
    from pyptx.cuda_device.listener import Listener

__all__ = ["add", "run"]

NOT_FOUND = 127


def add(subparsers: Any) -> None:
    summary = "run a program that uses the CUDA driver on a simulated GPU"
    command = subparsers.add_parser(
        "exec",
        **help_options(
            summary,
            "pyptx exec python train.py",
            "pyptx exec --arch b200 ./program 1000",
            "pyptx exec --schedule late pytest tests/kernels",
            "pyptx exec --check --sarif found.sarif ./program",
            more="Exit status: that of the program; 127 if it cannot be started; with --check 1 if it is 0 and there are findings.",
        ),
    )
    command.add_argument(
        "--arch", metavar="GPU", default="h200", help="GPU (h200, b200) or target (sm_90a); default: %(default)s"
    )
    command.add_argument(
        "--schedule",
        choices=("eager", "late", "random"),
        default="eager",
        help="schedule of asynchronous operations in kernels; late: of streams, too; default: %(default)s",
    )
    command.add_argument(
        "--check",
        action="store_true",
        help="watch every access of every launch, and report races, missing waits and fences",
    )
    command.add_argument("--sarif", metavar="FILE", type=Path, help="with --check: write the findings as SARIF 2.1.0")
    command.add_argument(
        "--trace",
        metavar="FILE",
        type=Path,
        help="write calls (measured), copies and kernels (modeled) as a trace for chrome://tracing or Perfetto",
    )
    command.add_argument("program", nargs=argparse.REMAINDER, metavar="PROGRAM ...", help="program and its arguments")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from pyptx.analysis.gpus import gpu  # late: NumPy takes time to load
    from pyptx.cuda_device.environment import program_environment
    from pyptx.cuda_device.listener import Listener

    command = arguments.program[1:] if arguments.program[:1] == ["--"] else arguments.program
    if not command:
        raise CommandError("no program is given: pyptx exec PROGRAM ...")
    checked = arguments.check or arguments.sarif is not None
    with Listener(gpu(arguments.arch), arguments.schedule, checked, arguments.trace is not None) as listener:
        environment = program_environment(listener.path, listener.gpu.name, check=checked)
        try:
            process = subprocess.Popen(command, env=environment)
        except OSError as error:
            print(f"pyptx: {command[0]} cannot be started: {error.strerror}", file=sys.stderr)
            return NOT_FOUND
        before = {signal.SIGINT: signal.signal(signal.SIGINT, signal.SIG_IGN)}  # a terminal interrupts the program, too
        for number in (signal.SIGTERM, signal.SIGHUP):
            before[number] = signal.signal(number, lambda received, _: process.send_signal(received))
        try:
            status = listener.serve_until(process)
            if checked or arguments.trace is not None:
                listener.wait_for_devices()
            if arguments.trace is not None:
                arguments.trace.write_text(json.dumps(listener.trace()), encoding="utf-8")
            return _checked_status(listener, arguments.sarif, status) if checked else status
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _checked_status(listener: Listener, sarif: Path | None, status: int) -> int:
    """Print a summary of the findings, write them, and return the exit status."""
    from pyptx.check import joined_sarif
    from pyptx.cuda_device.server.checking import summary

    checks = listener.checks()
    print("\n  ".join([f"pyptx: {summary(checks)}", *checks.leaks]), file=sys.stderr)
    if sarif is not None:
        sarif.write_text(json.dumps(joined_sarif(checks.logs), indent=1), encoding="utf-8")
    return status or int(checks.counts["error"] + checks.counts["warning"] > 0)
