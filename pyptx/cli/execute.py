"""`pyptx exec`: run a program that uses the CUDA driver, on a simulated GPU."""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
from typing import Any

from pyptx.cli.kernels import CommandError, help_options

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
            more="Exit status: that of the program; 127 if it cannot be started.",
        ),
    )
    command.add_argument(
        "--arch", metavar="GPU", default="h200", help="GPU (h200, b200) or target (sm_90a); default: %(default)s"
    )
    command.add_argument(
        "--schedule",
        choices=("eager", "late", "random"),
        default="eager",
        help="schedule of asynchronous operations in kernels; default: %(default)s",
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
    with Listener(gpu(arguments.arch), arguments.schedule) as listener:
        environment = program_environment(listener.path)
        try:
            process = subprocess.Popen(command, env=environment)
        except OSError as error:
            print(f"pyptx: {command[0]} cannot be started: {error.strerror}", file=sys.stderr)
            return NOT_FOUND
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # the program decides what an interrupt means
        try:
            return listener.serve_until(process)
        finally:
            signal.signal(signal.SIGINT, before)
