"""Kernels named on the command line: `examples/rms_norm.py:rms_norm -p M=512 N=1024`, `kernel.cu:scale<float>`."""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.util
import inspect
import re
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from textwrap import fill
from types import ModuleType
from typing import Any

from pyptx._loc import raised_at
from pyptx.cli.cuda_files import (
    CudaOptions,
    add_cuda_arguments,
    compile_files,
    require_no_options,
    split_cuda,
)
from pyptx.compiled import Compiled, load_cubin
from pyptx.errors import PtxError, UnknownNameError
from pyptx.kernel import Kernel
from pyptx.parser import ParseError
from pyptx.program import Entry, Program, load
from pyptx.workbench.isolation import isolated

__all__ = [
    "CommandError",
    "add_kernel_arguments",
    "add_launch_arguments",
    "add_output_argument",
    "existing_file",
    "help_options",
    "load_kernel",
    "linked_files",
    "load_module",
    "one_line_errors",
    "open_cubin",
    "output_files",
    "parameters",
    "python_globals",
    "suggestion",
]

KERNEL = "FILE.py:NAME, module:NAME, FILE.cu:KERNEL, FILE.ptx:ENTRY, A.ptx+B.ptx:ENTRY, or FILE.cubin"


class CommandError(PtxError, ValueError):
    """A command line is invalid, or what it names does not exist."""


def help_options(summary: str, *examples: str, more: str = "") -> dict[str, Any]:
    """Return the help arguments of `add_parser`: a one-line summary, a description, and example command lines."""
    text = f"{summary[0].upper()}{summary[1:]}. {more}".strip()
    return {
        "help": summary,
        "description": fill(text, 80),
        "epilog": "\n  ".join(("examples:", *examples)),
        "formatter_class": argparse.RawDescriptionHelpFormatter,
    }


def add_kernel_arguments(command: argparse.ArgumentParser) -> None:
    """Add KERNEL, -p NAME=VALUE, --arch and the options of CUDA C++ to a subcommand."""
    command.add_argument("kernel", metavar="KERNEL", help=KERNEL)
    command.add_argument(
        "-p",
        "--param",
        metavar="NAME=VALUE",
        nargs="+",
        action="extend",
        default=[],
        dest="parameters",
        help="sizes and template parameters: -p M=512 N=1024",
    )
    command.add_argument(
        "--arch",
        metavar="SM",
        help="target to compile for, such as sm_100a; default: the kernel's own, sm_90a for a .cu file",
    )
    add_cuda_arguments(command)


def add_launch_arguments(command: argparse.ArgumentParser) -> None:
    """Add --args and --seed, and --grid, --block, --cluster, and --smem for PTX; `cli.inputs.launch_of` reads them."""
    command.add_argument(
        "--args",
        metavar="VALUE",
        nargs="+",
        default=[],
        help="f32[64,96] (random), FILE.npy, a number, or pointers[f32[64,96],FILE.npy] (a table of their addresses): "
        "the inputs of a kernel (default: random arrays for its Tiles), or all arguments of an entry of a .cu or .ptx file",
    )
    command.add_argument("--grid", metavar="X[,Y[,Z]]", help="CTAs in the grid, for .cu and .ptx files")
    command.add_argument("--block", metavar="X[,Y[,Z]]", help="threads per CTA, for .cu and .ptx files")
    command.add_argument("--cluster", metavar="X[,Y[,Z]]", help="CTAs per cluster, for .cu and .ptx files")
    command.add_argument(
        "--smem", metavar="BYTES", type=int, default=0, help="dynamic shared memory, for .cu and .ptx files"
    )
    command.add_argument("--seed", metavar="N", type=int, default=0, help="seed of random inputs and random schedules")


def add_output_argument(command: argparse.ArgumentParser, written: str) -> None:
    """Add -o FILE, which can be repeated; `output_files` reads it."""
    command.add_argument(
        "-o", "--out", metavar="FILE", type=Path, action="append", default=[], help=f"{written}; can be repeated"
    )


def output_files(arguments: argparse.Namespace, suffixes: Sequence[str]) -> list[Path]:
    """Return the files of -o.

    Raises:
        CommandError: the name of one does not end in any of the suffixes.
    """
    for path in arguments.out:
        if path.suffix not in suffixes:
            expected = f"{', '.join(suffixes[:-1])} or {suffixes[-1]}"
            raise CommandError(f"--out {path}: expected a name that ends in {expected}")
    return arguments.out


def open_cubin(arguments: argparse.Namespace) -> Compiled | None:
    """Return the cubin that KERNEL names, or None if it is not a .cubin file.

    Raises:
        CommandError: the file does not exist, or an option would require compilation.
    """
    if not arguments.kernel.endswith(".cubin"):
        return None
    if arguments.parameters or arguments.arch:
        raise CommandError(f"{arguments.kernel} is already compiled; -p and --arch apply to kernels")
    source = getattr(arguments, "source", None)  # of pyptx view
    return load_cubin(existing_file(arguments.kernel), None if source is None else (folder_of_sources(source),))


def folder_of_sources(folder: Path) -> Path:
    """Return the folder of --source.

    Raises:
        CommandError: it is not a folder.
    """
    if not folder.is_dir():
        raise CommandError(f"--source {folder}: not a folder")
    return folder


def existing_file(name: str) -> Path:
    """Return the path of a file.

    Raises:
        CommandError: it does not exist, or is a folder.
    """
    path = Path(name)
    if path.is_dir():
        raise CommandError(f"{name} is a folder; KERNEL is {KERNEL}")
    if not path.is_file():
        raise CommandError(f"no file {name}" + suggestion(path.name, _siblings(path)))
    return path


def _siblings(path: Path) -> Iterable[str]:
    return [found.name for found in path.parent.iterdir()] if path.parent.is_dir() else ()


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean ...?" for the nearest known spelling, or ""."""
    near = get_close_matches(name, list(known), 1)
    return f"; did you mean {near[0]}?" if near else ""


def linked_files(source: str) -> list[str]:
    """Split "a.ptx+b.ptx", PTX files to be linked."""
    return re.split(r"(?<=\.ptx)\+", source)


def load_kernel(name: str, *, isolate: bool = False, cuda: CudaOptions | None = None) -> Kernel | Entry:
    """Return the kernel that `FILE.py:NAME`, `module:NAME`, `FILE.cu:KERNEL`, or `FILE.ptx:ENTRY` names.

    A Python file is executed, a .cu file compiled. `A.ptx+B.ptx:ENTRY` and `A.cu+B.cu:KERNEL` link files.

    Args:
        isolate: reduce the module to ENTRY, if it is named, and what it calls.
        cuda: options of the command line that apply to .cu files.
    Raises:
        CommandError: the file, module, or kernel does not exist, or NAME is missing and there are several kernels.
        CompileError: the CUDA C++ has errors.
    """
    if found := split_cuda(name):
        return _cuda_kernel(*found, cuda or CudaOptions(), isolate)
    require_no_options(name, cuda or CudaOptions(), CommandError)
    source, colon, wanted = name.rpartition(":")
    if not colon or "/" in wanted or "\\" in wanted or wanted.endswith((".py", ".ptx")):
        source, wanted = name, ""
    kernels: dict[str, Kernel | Entry]
    if source.endswith(".ptx"):
        try:
            program = load([existing_file(file) for file in linked_files(source)])
            if isolate and wanted in program.entries and not program.is_linked:
                program = Program(isolated(program.module, wanted), program.name)
            kernels = {entry.name: entry for entry in program}
        except ParseError as error:
            raise CommandError(f"{source}: {error}") from error
    else:
        kernels = {key: value for key, value in vars(load_module(source)).items() if isinstance(value, Kernel)}
    if wanted in kernels:
        return kernels[wanted]
    listed = ", ".join(kernels) or "none"
    if wanted:
        raise CommandError(
            f"{source} defines no kernel {wanted!r}; kernels there: {listed}{suggestion(wanted, kernels)}"
        )
    if not kernels:
        raise CommandError(
            f"{source} defines no "
            + ("entry (.visible .entry)" if source.endswith(".ptx") else "kernel (a function decorated with @kernel)")
        )
    if len(kernels) != 1:
        raise CommandError(f"{source} defines {len(kernels)} kernels ({listed}); name one as {source}:NAME")
    return next(iter(kernels.values()))


def _cuda_kernel(files: list[str], wanted: str, options: CudaOptions, isolate: bool) -> Entry:
    for file in files:
        existing_file(file)
    program, shown = compile_files(files, options), "+".join(files)
    if not wanted and len(program.entries) == 1:
        wanted = program.entries[0]
    if not wanted:
        listed = ", ".join(program.entries) or "none; a template is named with its arguments, as in scale<float>"
        raise CommandError(f"{shown} defines {len(program.entries)} kernels ({listed}); name one as {shown}:NAME")
    try:
        return program.isolated(wanted) if isolate else program[wanted]
    except UnknownNameError as error:
        raise CommandError(f"{error.message}{suggestion(wanted, program.entries)}") from None


def load_module(source: str) -> ModuleType:
    """Execute a Python file (any path that ends in .py) or import a module.

    Raises:
        CommandError: it does not exist, is not Python, or raises an exception.
    """
    path = Path(source)
    if path.suffix == ".py":
        return _execute(source, existing_file(source))
    if path.exists() or "/" in source:
        existing_file(source)
        raise CommandError(f"{source} is neither Python nor PTX; KERNEL is {KERNEL}")
    try:
        with _reported_at_its_line(source):
            return importlib.import_module(source)
    except CommandError as refused:
        error = refused.__cause__
        if not isinstance(error, ModuleNotFoundError) or error.name not in (source, source.partition(".")[0]):
            raise  # the module exists, one that it imports does not
        near = suggestion(source, _siblings(path))
        raise CommandError(f"no file and no module {source!r}; KERNEL is {KERNEL}{near}") from None


def _execute(source: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path.resolve())
    if spec is None or spec.loader is None:
        raise CommandError(f"{source} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    if str(path.resolve().parent) not in sys.path:  # its siblings can be imported, as by a script
        sys.path.append(str(path.resolve().parent))
    sys.modules.setdefault(path.stem, module)  # dataclasses and pickle look modules up by name
    with _reported_at_its_line(source):
        spec.loader.exec_module(module)
    return module


@contextmanager
def _reported_at_its_line(source: str) -> Iterator[None]:
    """Turn an exception of a file or module into a CommandError at its line; errors of pyptx pass through."""
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
            hint = f"install it in the environment of pyptx: {sys.executable} -m pip install ..."
        elif isinstance(error, SystemExit):
            hint = 'the file is executed to find its kernels; put script code under if __name__ == "__main__":'
        at = raised_at(error)
        place = "" if at else f"{source}: "  # null bytes are a ValueError of the import before Python 3.11.4
        raise CommandError(f"{place}{type(error).__name__}: {error}".rstrip(": "), at=at, hint=hint) from error


@contextmanager
def one_line_errors(kernel: Kernel | Entry) -> Iterator[None]:
    """Report invalid parameters, and exceptions of the kernel's own Python, as CommandError with one line."""
    try:
        yield
    except PtxError:
        raise
    except (TypeError, ValueError, KeyError) as error:
        if isinstance(kernel, Entry):
            raise CommandError(f"{kernel.name} is not a kernel in Python and takes no -p: {error}") from error
        file = inspect.unwrap(kernel).__code__.co_filename
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
        place = f"{file}:{lines[-1]}: " if lines else ""
        text = error.args[0] if isinstance(error, KeyError) and error.args else error
        raise CommandError(f"{place}{type(error).__name__}: {text}" if place else str(text)) from error


def python_globals(kernel: Kernel) -> Mapping[str, Any]:
    """Return the global names of the Python file that defines a kernel."""
    return inspect.unwrap(kernel).__globals__


def parameters(given: list[str]) -> dict[str, Any]:
    """Parse `["N=1024", "mode=fast"]` as `{"N": 1024, "mode": "fast"}`; values are Python literals, or else text."""
    values = {}
    for item in given:
        name, equals, text = item.partition("=")
        if not equals or not name.isidentifier():
            raise CommandError(f"-p {item}: expected NAME=VALUE, as in -p N=1024")
        if name in values:
            raise CommandError(f"-p {name} is given twice")
        try:
            values[name] = ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            values[name] = text
    return values
