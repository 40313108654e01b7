"""The `pyptx` command: each subcommand is a module with `add(subparsers)` and the function it runs."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

from pyptx._loc import PACKAGE_DIR
from pyptx._version import __version__
from pyptx.cli import (
    cache,
    check,
    compare,
    completion,
    debug,
    demo,
    diff,
    doctor,
    execute,
    history,
    lab,
    ledger,
    lsp,
    package,
    profile,
    ptx_sass,
    remote,
    roofline,
    run,
    transpile,
    tune,
    view,
)
from pyptx.cli.kernels import suggestion
from pyptx.errors import PtxError

__all__ = ["main"]

COMMANDS = (
    demo,
    lab,
    doctor,
    ptx_sass,
    view,
    diff,
    compare,
    run,
    execute,
    check,
    debug,
    tune,
    roofline,
    profile,
    ledger,
    transpile,
    package,
    lsp,
    history,
    remote,
    cache,
    completion,
)


class _Version(argparse.Action):
    """Print the versions and exit."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from pyptx.toolchain import detect_tools  # it starts the tools

        tools = [f"{found.tool.name} {found.version if found.problem is None else 'none'}" for found in detect_tools()]
        parser.exit(message=f"pyptx {__version__}\nPython {platform.python_version()}, {', '.join(tools)}\n")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    top = argparse.ArgumentParser(
        prog="pyptx",
        description="PTX kernels in Python: write them, read their SASS, run them with or without a GPU.",
        epilog="KERNEL is FILE.py:NAME, module:NAME, FILE.cu:KERNEL, FILE.ptx:ENTRY, or A.ptx+B.ptx:ENTRY (linked); NAME is optional if the file defines one kernel. "
        "Exit status: 0 success, 1 failure, 2 wrong usage, 130 interrupted; the --help of diff, check, debug, and tune "
        "describes theirs.",
    )
    top.add_argument(
        "--version", action=_Version, nargs=0, help="print the versions of pyptx, Python, and NVIDIA's tools"
    )
    top.add_argument("--debug", action="store_true", help="show the traceback of an error")
    top.set_defaults(refused=1)  # exit status of a reported error; some commands have another
    subparsers = top.add_subparsers(metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add(subparsers)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand; return 0, `refused` for a reported error, 2 for wrong usage, or 130 if interrupted."""
    given = sys.argv[1:] if argv is None else list(argv)
    _require_known_command(given)
    arguments, rest = parser().parse_known_args(given)
    if rest and not getattr(arguments, "accepts_other_arguments", False):
        parser().error(f"unrecognized arguments: {' '.join(rest)}")
    arguments.rest = rest
    for path in _written(arguments):
        if not path.parent.is_dir():
            parser().error(f"{path} cannot be written: no folder {path.parent}")
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _warn
            return arguments.run(arguments)
    except (PtxError, OSError) as error:
        if isinstance(error, BrokenPipeError):  # `pyptx sass ... | head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        if arguments.debug:
            traceback.print_exc()
        text = f"pyptx: {_message(error)}".encode(
            errors="backslashreplace"
        ).decode()  # surrogate escapes of undecodable names
        print(text, file=sys.stderr)
        return arguments.refused
    except KeyboardInterrupt as pressed:
        print("\n".join(["pyptx: interrupted", *getattr(pressed, "__notes__", ())]), file=sys.stderr)
        return 130


def _require_known_command(given: Sequence[str]) -> None:
    """Exit with the nearest spelling if the first word is not a command."""
    top = parser()
    commands = next(action for action in top._actions if isinstance(action, argparse._SubParsersAction)).choices
    word = next((word for word in given if not word.startswith("-")), None)
    if word is not None and word not in commands:
        listed = f"; commands: {', '.join(commands)}"
        top.error(f"unknown command {word!r}{suggestion(word, commands) or listed}")


def _message(error: PtxError | OSError) -> str:
    """Return the text of an error, without the number of an OSError."""
    if isinstance(error, PtxError) or not error.strerror or error.filename is None:
        return str(error)
    if isinstance(error, FileNotFoundError):
        return f"no file {error.filename}"
    return f"{error.filename}: {error.strerror[0].lower()}{error.strerror[1:]}"


def _written(arguments: argparse.Namespace) -> Iterator[Path]:
    """Yield the files that the subcommand will write, so that they can be checked before it runs."""
    for name in ("output", "out", "save", "sarif", "trace"):
        given = getattr(arguments, name, None)
        yield from given if isinstance(given, list) else [given] if given and arguments.run is not demo.run else []


def _warn(message: Warning | str, kind: type[Warning], file: str, line: int, *_: object) -> None:
    """Print a warning on one line, with its location if that is outside of pyptx."""
    ours = file.startswith(PACKAGE_DIR)
    print(f"pyptx: warning: {message}" if ours else f"{file}:{line}: {kind.__name__}: {message}", file=sys.stderr)
