"""The `pyptx` command: one file a subcommand, each with `add(subparsers)` and what it runs."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

from pyptx import __version__
from pyptx._loc import PACKAGE_DIR
from pyptx.cli import (
    cache,
    check,
    completion,
    debug,
    demo,
    diff,
    doctor,
    history,
    lab,
    listing,
    roofline,
    run,
    transpile,
    tune,
    view,
)
from pyptx.errors import PtxError

__all__ = ["main"]

COMMANDS = (demo, lab, doctor, listing, view, diff, run, check, debug, tune, roofline, transpile, history, cache,
            completion)


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="pyptx", description="PTX kernels in Python: write them, read their SASS, run them with or without a GPU.",
        epilog="KERNEL is FILE.py:NAME, module:NAME or FILE.ptx:ENTRY; NAME may be left out when the file defines one "
               "kernel. Exit status: 0 done, 1 refused or failed, 2 wrong usage, 130 interrupted; diff, check and tune "
               "say in their --help what theirs means.")
    top.add_argument("--version", action="version", version=f"pyptx {__version__}")
    top.add_argument("--debug", action="store_true", help="show the traceback of an error")
    top.set_defaults(refused=1)                     # the exit status of an explained error; some commands have another
    subparsers = top.add_subparsers(metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add(subparsers)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand; its exit status: 0, `refused` for an explained error, 2 for wrong usage, 130 interrupted."""
    arguments, rest = parser().parse_known_args(argv)
    if rest and not getattr(arguments, "passes_arguments_on", False):
        parser().error(f"unrecognized arguments: {' '.join(rest)}")
    arguments.rest = rest
    for path in _written(arguments):
        if not path.parent.is_dir():
            parser().error(f"{path} cannot be written: there is no folder {path.parent}")
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _warn
            return arguments.run(arguments)
    except (PtxError, OSError) as error:
        if isinstance(error, BrokenPipeError):                  # `pyptx sass ... | head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        if arguments.debug:
            traceback.print_exc()
        text = f"pyptx: {error}".encode(errors="backslashreplace").decode()     # bytes of a file that is no text
        print(text, file=sys.stderr)
        return arguments.refused
    except KeyboardInterrupt as pressed:
        print("\n".join(["pyptx: interrupted", *getattr(pressed, "__notes__", ())]), file=sys.stderr)
        return 130


def _written(arguments: argparse.Namespace) -> Iterator[Path]:
    """Files that the subcommand writes when it is done: whether it can is known before."""
    for name in ("output", "out", "save", "sarif"):
        given = getattr(arguments, name, None)
        yield from given if isinstance(given, list) else [given] if given and arguments.run is not demo.run else []


def _warn(message: Warning | str, kind: type[Warning], file: str, line: int, *_: object) -> None:
    """A warning on one line; with its place when it is about a line outside pyptx."""
    ours = file.startswith(PACKAGE_DIR)
    print(f"pyptx: warning: {message}" if ours else f"{file}:{line}: {kind.__name__}: {message}", file=sys.stderr)
