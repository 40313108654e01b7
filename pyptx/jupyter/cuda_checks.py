"""Diagnostics of CUDA C++ while the user types: the compiler runs in a process of its own, which may fail or hang."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, TimeoutError
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyptx.errors import Diagnostic, OptionError, ToolError
from pyptx.nvrtc import CudaError, Source, compile_source

__all__ = ["CudaText", "check_cuda", "read_cell"]

SECONDS = 60  # a longer compilation is stopped
NAME = "/text/cell.cu"


@dataclass(frozen=True)
class CudaText:
    """CUDA C++ and the options of its compilation.

    Attributes:
        text: the source; its lines are those of the editor.
        folder: of the file or notebook, where headers in quotes are found; None: unknown.
    """

    text: str
    folder: Path | None = None
    arch: str = "sm_90a"
    defines: Mapping[str, Any] = field(default_factory=dict)
    include: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


def read_cell(cell: str, folder: Path | None) -> CudaText:
    """Return the source of a `%%cuda` cell, with the options of its magic.

    The kernel of the notebook is not asked: the value of a macro that is an `{expression}` is 1.

    Raises:
        OptionError: an option is not valid.
    """
    from IPython.core.error import UsageError

    from pyptx.jupyter import magic_options
    from pyptx.jupyter.magics import PtxMagics

    lines = cell.split("\n")
    at = next(number for number, line in enumerate(lines) if line.strip())
    text = "\n".join([*[""] * (at + 1), *lines[at + 1 :]])
    try:
        given = magic_options.parse_given(PtxMagics.cuda, lines[at].strip().removeprefix("%%cuda"))
        arch = magic_options.parse_arch(given.get("arch")) or CudaText.arch
        macros = [*given.get("defines", []), *_first_values(given.get("values", []))]
        defines = magic_options.parse_defines(list(map(_literal, macros)), {})
    except UsageError as error:
        raise OptionError(str(error)) from None
    include = tuple(str((folder or Path()) / magic_options.unquote(path)) for path in given.get("include", []))
    options = tuple(magic_options.unquote(given.get("nvrtc", "")).split())
    return CudaText(text, folder, arch, defines, include, options)


def _first_values(groups: Sequence[Sequence[str]]) -> list[str]:
    """Return macros with the first of the values that `--sweep` tries."""
    items = [item for group in groups for item in group]
    return [item if "={" in item else item.partition(",")[0] for item in items]


def _literal(item: str) -> str:
    name, equals, value = item.strip("\"'").partition("=")
    return f"{name}=1" if value.startswith("{") else f"{name}{equals}{value}"


def check_cuda(given: CudaText) -> list[dict[str, Any]]:
    """Return the errors and warnings of the compiler as JSON values; lines count from 1, columns from 0.

    A finding in a header has no line. Results are cached.

    Raises:
        MissingToolError: NVRTC is not installed.
        ToolError: the compiler does not end, or fails.
    """
    return _worker.call(given)


def _check(given: CudaText) -> list[dict[str, Any]]:
    """Compile; runs in the worker."""
    source = Source(given.text, NAME if given.folder is None else str(given.folder / "cell.cu"), given.folder)
    try:
        found = compile_source(
            source,
            arch=given.arch,
            options=given.options,
            defines=given.defines,
            include=given.include,
            relocatable=True,  # functions of other files may be used
        ).warnings
    except CudaError as error:
        found = error.diagnostics
    return [_values(one, source.name) for one in found]


def _values(found: Diagnostic, name: str) -> dict[str, Any]:
    place = found.place if found.place is not None and found.place.file == name else None
    where = "" if place is not None or found.place is None else f"{found.place}: "
    column, end = (None, None) if place is None else (place.position.column, place.position.end_column)
    return {
        "severity": found.severity,
        "message": f"{where}{found.message}",
        "line": place.line if place else None,
        "column": column,
        "end_column": end,
        "hint": found.hint,
    }


class _Worker:
    """A process that compiles; it is replaced when the compiler crashes or does not end."""

    def __init__(self):
        self._lock = threading.Lock()
        self._pool: ProcessPoolExecutor | None = None

    def call(self, given: CudaText) -> list[dict[str, Any]]:
        with self._lock:
            if self._pool is None:
                self._pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))
            pool = self._pool
            task = pool.submit(_check, given)
            try:
                return task.result(SECONDS)
            except (TimeoutError, BrokenProcessPool) as error:
                self._pool = None
                for process in (pool._processes or {}).values():
                    process.kill()
                pool.shutdown(wait=False, cancel_futures=True)
                reason = f"did not end in {SECONDS} s" if isinstance(error, TimeoutError) else "crashed"
                raise ToolError(f"the CUDA C++ compiler {reason}, so this text is not checked") from None


_worker = _Worker()
