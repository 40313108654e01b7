"""CUDA C++ on the command line: `FILE.cu:KERNEL`, and the options of its compilation."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyptx.errors import PtxError

__all__ = [
    "CudaOptions",
    "add_cuda_arguments",
    "compile_files",
    "cuda_options",
    "require_no_options",
    "split_cuda",
]

_NAME = re.compile(r"(?P<files>.+?\.cuh?(?:\+.+?\.cuh?)*)(?::(?P<kernel>.+))?", re.S)


@dataclass(frozen=True)
class CudaOptions:
    """Options of a compilation of CUDA C++: the target, macros, folders of headers, options of NVRTC."""

    arch: str | None = None
    defines: Mapping[str, Any] = field(default_factory=dict)
    include: tuple[str, ...] = ()
    options: tuple[str, ...] = ()

    @property
    def given(self) -> list[str]:
        """The options that only apply to CUDA C++ and are set."""
        named = {"-D": self.defines, "-I": self.include, "--option": self.options}
        return [name for name, value in named.items() if value]


def add_cuda_arguments(command: argparse.ArgumentParser) -> None:
    """Add -D, -I and --option; `cuda_options` reads them."""
    group = command.add_argument_group("CUDA C++ files")
    group.add_argument(
        "-D",
        "--define",
        metavar="NAME[=VALUE]",
        action="append",
        default=[],
        dest="defines",
        help="define a macro; can be repeated",
    )
    group.add_argument(
        "-I",
        "--include",
        metavar="DIR",
        type=Path,
        action="append",
        default=[],
        dest="include",
        help="folder of headers; can be repeated",
    )
    group.add_argument(
        "--option",
        metavar="OPTION",
        action="append",
        default=[],
        dest="nvrtc_options",
        help="option of NVRTC, as in --option=--use_fast_math or --option=-G; can be repeated",
    )


def cuda_options(arguments: argparse.Namespace) -> CudaOptions:
    """Return the options of a command line."""
    defines: dict[str, Any] = {}
    for text in getattr(arguments, "defines", ()):
        name, equals, value = text.partition("=")
        defines[name] = value if equals else 1
    return CudaOptions(
        getattr(arguments, "arch", None),
        defines,
        tuple(map(str, getattr(arguments, "include", ()))),
        tuple(getattr(arguments, "nvrtc_options", ())),
    )


def split_cuda(name: str) -> tuple[list[str], str] | None:
    """Split "a.cu+b.cu:kernel<float>" into files and kernel ("" if it is not named); None if it names no .cu file."""
    found = _NAME.fullmatch(name)
    if found is None or not re.search(r"\.cuh?($|[:+])", name):
        return None
    return re.split(r"(?<=\.cu)\+|(?<=\.cuh)\+", found["files"]), found["kernel"] or ""


def compile_files(files: Sequence[str], options: CudaOptions) -> Any:
    """Return the program of CUDA C++ files.

    Raises:
        CompileError: the compiler refused them.
    """
    from pyptx.workbench.cuda_program import DEFAULT_ARCH, cuda  # late: NumPy takes time to load

    return cuda(
        [Path(file) for file in files],
        defines=options.defines,
        include=options.include,
        options=options.options,
        arch=options.arch or DEFAULT_ARCH,
    )


def require_no_options(name: str, options: CudaOptions, error: type[PtxError]) -> None:
    """Raise an error if options of CUDA C++ are given for something else."""
    if options.given:
        raise error(f"{', '.join(options.given)}: {name} is not CUDA C++; the options apply to .cu files")
