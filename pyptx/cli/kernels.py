"""Kernels named on the command line: `examples/rms_norm.py:rms_norm -p M=512 -p N=1024`, `kernel.ptx:entry`."""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.util
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import fill
from types import ModuleType
from typing import Any

from pyptx._loc import raised_at
from pyptx.compiled import Compiled
from pyptx.errors import PtxError
from pyptx.kernel import Kernel
from pyptx.parser import ParseError
from pyptx.program import Entry, load
from pyptx.views.code.cubins import load_cubin

__all__ = ["CommandError", "about", "add_kernel_arguments", "add_launch_arguments", "explained", "load_kernel",
           "open_cubin", "parameters"]


class CommandError(PtxError):
    """A command line that cannot be carried out; the message says why."""


def about(summary: str, *examples: str, more: str = "") -> dict[str, Any]:
    """What `add_parser` is told of a subcommand: one line, a description, and command lines to start from."""
    text = f"{summary[0].upper()}{summary[1:]}. {more}".strip()
    return {"help": summary, "description": fill(text, 80), "epilog": "\n  ".join(("examples:", *examples)),
            "formatter_class": argparse.RawDescriptionHelpFormatter}


def add_kernel_arguments(command: argparse.ArgumentParser) -> None:
    """Add KERNEL, -p NAME=VALUE and --arch to a subcommand."""
    command.add_argument("kernel", metavar="KERNEL", help="FILE.py:NAME, module:NAME, FILE.ptx:ENTRY or FILE.cubin")
    command.add_argument("-p", "--param", metavar="NAME=VALUE", nargs="+", action="extend", default=[],
                         dest="parameters", help="sizes and template parameters: -p M=512 N=1024")
    command.add_argument("--arch", metavar="SM", help="compile for this target instead of the kernel's own, as sm_100a")


def add_launch_arguments(command: argparse.ArgumentParser) -> None:
    """Add --args, and --grid, --block, --cluster and --smem for PTX; `cli.inputs.launch_of` reads them."""
    command.add_argument("--args", metavar="VALUE", nargs="+", default=[],
                         help="f32[64,96] (random), FILE.npy or a number: the inputs of a kernel (random ones of its "
                              "Tiles are the default), or all arguments of FILE.ptx:ENTRY")
    command.add_argument("--grid", metavar="X[,Y[,Z]]", help="CTAs, for FILE.ptx:ENTRY")
    command.add_argument("--block", metavar="X[,Y[,Z]]", help="threads of a CTA, for FILE.ptx:ENTRY")
    command.add_argument("--cluster", metavar="X[,Y[,Z]]", help="CTAs of a cluster, for FILE.ptx:ENTRY")
    command.add_argument("--smem", metavar="BYTES", type=int, default=0,
                         help="dynamic shared memory, for FILE.ptx:ENTRY")
    command.add_argument("--seed", metavar="N", type=int, default=0, help="of random inputs and random schedules")


def open_cubin(arguments: argparse.Namespace) -> Compiled | None:
    """The cubin that KERNEL names; None where it is no .cubin file.

    Raises:
        CommandError: no such file, or options that would need it to be compiled.
    """
    if not arguments.kernel.endswith(".cubin"):
        return None
    if arguments.parameters or arguments.arch:
        raise CommandError(f"{arguments.kernel} is machine code already; -p and --arch are for kernels")
    return load_cubin(_existing(arguments.kernel))


def _existing(name: str) -> Path:
    if not Path(name).is_file():
        raise CommandError(f"{name} is a folder" if Path(name).is_dir() else f"no file {name}")
    return Path(name)


def load_kernel(name: str) -> Kernel | Entry:
    """The kernel that `FILE.py:NAME`, `module:NAME` or `FILE.ptx:ENTRY` names; a Python file is executed.

    Raises:
        CommandError: no such file, module or kernel, or several kernels and no NAME.
    """
    source, colon, wanted = name.rpartition(":")
    if not colon or "/" in wanted or "\\" in wanted or wanted.endswith((".py", ".ptx")):
        source, wanted = name, ""
    if source.endswith(".ptx"):
        try:
            kernels = {entry.name: entry for entry in load(_existing(source))}
        except ParseError as error:
            raise CommandError(f"{source}: {error}") from error
    else:
        kernels = {key: value for key, value in vars(load_module(source)).items() if isinstance(value, Kernel)}
    if wanted in kernels:
        return kernels[wanted]
    listed = ", ".join(kernels) or "none"
    if wanted:
        raise CommandError(f"{source} defines no kernel {wanted!r}; kernels there: {listed}")
    if not kernels:
        raise CommandError(f"{source} defines no " + ("entry (.visible .entry)" if source.endswith(".ptx") else
                                                      "kernel; one is a function with @kernel above"))
    if len(kernels) != 1:
        raise CommandError(f"{source} defines {len(kernels)} kernels ({listed}); name one as {source}:NAME")
    return next(iter(kernels.values()))


def load_module(source: str) -> ModuleType:
    """Execute a Python file (a path, or anything ending in .py) or import a module."""
    path = Path(source)
    if path.suffix == ".py" or path.is_file():
        if not path.is_file():
            raise CommandError(f"no file {source}")
        spec = importlib.util.spec_from_file_location(path.stem, path.resolve())
        module = importlib.util.module_from_spec(spec)
        if str(path.resolve().parent) not in sys.path:          # its neighbours are there to import, as for a script
            sys.path.append(str(path.resolve().parent))
        sys.modules.setdefault(path.stem, module)               # dataclasses and pickle look their module up by name
        with _executing(source):
            spec.loader.exec_module(module)
        return module
    if path.is_dir():
        raise CommandError(f"{source} is a folder; KERNEL is FILE.py:NAME, module:NAME, FILE.ptx:ENTRY or FILE.cubin")
    try:
        with _executing(source):
            return importlib.import_module(source)
    except CommandError as refused:
        error = refused.__cause__
        if not isinstance(error, ModuleNotFoundError) or error.name not in (source, source.partition(".")[0]):
            raise                                               # the module is there, one that it imports is not
        raise CommandError(f"no file and no module {source!r}; KERNEL is FILE.py:NAME, module:NAME, "
                           "FILE.ptx:ENTRY or FILE.cubin") from None


@contextmanager
def _executing(source: str) -> Iterator[None]:
    """Report what ends the Python of a file or module in one line with its place; its own errors of pyptx are left."""
    try:
        yield
    except PtxError:
        raise
    except SyntaxError as error:
        place = f"{error.filename}:{error.lineno}: " if error.filename and error.lineno else f"{source}: "
        line = f"\n    {error.text.strip()}" if error.text and error.text.strip() else ""
        raise CommandError(f"{place}{type(error).__name__}: {error.msg}{line}") from error
    except (Exception, SystemExit) as error:
        hint = None
        if isinstance(error, ModuleNotFoundError):
            hint = f"install it where pyptx runs: {sys.executable} -m pip install ..."
        elif isinstance(error, SystemExit):
            hint = "the file is executed to find its kernels; what only the script does goes below " \
                   'if __name__ == "__main__":'
        raise CommandError(f"{type(error).__name__}: {error}".rstrip(": "), at=raised_at(error), hint=hint) from error


@contextmanager
def explained(kernel: Kernel | Entry) -> Iterator[None]:
    """Report parameters that do not fit, and what the kernel's own Python refuses, in one line with its place."""
    try:
        yield
    except PtxError:
        raise
    except (TypeError, ValueError, KeyError) as error:
        if isinstance(kernel, Entry):
            raise CommandError(f"{kernel.name} is PTX text, which takes no -p: {error}") from error
        file = kernel.__wrapped__.__code__.co_filename
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
        place = f"{file}:{lines[-1]}: " if lines else ""
        text = error.args[0] if isinstance(error, KeyError) and error.args else error
        raise CommandError(f"{place}{type(error).__name__}: {text}" if place else str(text)) from error


def parameters(given: list[str]) -> dict[str, object]:
    """`["N=1024", "mode=fast"]` as `{"N": 1024, "mode": "fast"}`; values are Python literals, all else is text."""
    values = {}
    for item in given:
        name, equals, text = item.partition("=")
        if not equals or not name.isidentifier():
            raise CommandError(f"-p {item}: expected NAME=VALUE, as in -p N=1024")
        if name in values:
            raise CommandError(f"-p {name} is given twice")
        try:
            values[name] = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            values[name] = text
    return values
