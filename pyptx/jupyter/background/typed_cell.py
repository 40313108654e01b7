"""A `%%ptxkernel` cell as it is typed: its declarations are executed in a copy of the namespace, its kernels compiled."""

from __future__ import annotations

import ast
import linecache
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from pyptx._loc import SourceLocation
from pyptx.errors import CompileError, Diagnostic, PtxError
from pyptx.jupyter import magic_options
from pyptx.jupyter.background.declarations import assigned_names, is_declaration
from pyptx.jupyter.kernel_runs import CompiledKernel, compile_kernel
from pyptx.kernel import Kernel

__all__ = ["TypedCell", "TypedKernel"]

MAGIC = "%%ptxkernel"
_numbers = count(1)


@dataclass(frozen=True, slots=True)
class TypedKernel:
    """A kernel of a typed cell, the parameters it was compiled for, and its code."""

    name: str
    kernel: Kernel
    params: Mapping[str, Any]
    made: CompiledKernel


@dataclass(slots=True)
class TypedCell:
    """A cell while it is typed. Nothing of it reaches the notebook's namespace.

    Attributes:
        source: the cell with its magic.
        diagnostics: errors and warnings, with lines of the cell (from 1) and columns (from 0), as JSON values.
        note: why something was not compiled; "" if everything was.
    """

    shell: InteractiveShell
    source: str
    diagnostics: list[dict[str, Any]] = field(default_factory=list)
    note: str = ""
    _file: str = ""
    _left_out: set[str] = field(default_factory=set)

    def compiled(self, last: Mapping[str, CompiledKernel]) -> Iterator[TypedKernel]:
        """Yield the kernels of the cell as they are compiled.

        Args:
            last: kernels by name as the notebook ran them last; they give the sizes that the cell's magic does not.
        """
        magic, _, body = self.source.partition("\n")
        self._file = f"<cell being typed {next(_numbers)}>"
        text: str = "\n" + self.shell.transform_cell(body)
        linecache.cache[self._file] = (len(text), None, list(text.splitlines(keepends=True)), self._file)
        try:
            try:
                given = magic_options.parse_given(self._parser, magic.removeprefix(MAGIC))
                arch, version = (
                    magic_options.parse_arch(given.get("arch")),
                    magic_options.parse_version(given.get("version")),
                )
                literal = [[item for item in group if "={" not in item] for group in given.get("param", [])]
                params = magic_options.parse_params(literal, {})
            except UsageError as error:
                self._add("error", str(error), 1)
                return
            options = tuple(magic_options.unquote(given.get("options") or "").split())
            for name, kernel in self._kernels(text).items():
                names = magic_options.parameter_names(kernel)
                known = last[kernel.name].params if kernel.name in last else {}
                own = {key: value for key, value in {**known, **params}.items() if key in names}
                try:
                    made = compile_kernel(kernel, own, arch=arch, version=version, options=options)
                except Exception as error:  # of the kernel's own Python, shown at its line
                    self._failed(error)
                    continue
                for warning in made.compiled.warnings:
                    self._diagnose(warning)
                yield TypedKernel(name, kernel, own, made)
        finally:
            linecache.cache.pop(self._file, None)

    @property
    def _parser(self) -> Any:
        return self.shell.find_cell_magic("ptxkernel")

    def _kernels(self, text: str) -> dict[str, Kernel]:
        """Execute the declarations; return the kernels among them."""
        try:
            tree = ast.parse(text, self._file)
        except SyntaxError as error:
            self._add("error", error.msg, error.lineno or 1, (error.offset or 1) - 1, (error.end_offset or 0) - 1)
            return {}
        namespace = dict(self.shell.user_ns)
        before = dict(namespace)
        for statement in tree.body:
            if not is_declaration(statement, namespace):
                self._left_out |= assigned_names(statement)
                continue
            code = compile(ast.Module([statement], []), self._file, "exec", dont_inherit=True)
            try:
                exec(code, namespace)
            except Exception as error:
                self._failed(error)
        names = {name for statement in tree.body for name in assigned_names(statement)}
        return {
            name: value
            for name, value in namespace.items()
            if name in names and isinstance(value, Kernel) and before.get(name) is not value
        }

    # findings ---------------------------------------------------------------------------------------------------------

    def _failed(self, error: Exception) -> None:
        """Add the error of a declaration or of a kernel's body at its line."""
        missing = error.name if isinstance(error, NameError) else None
        if missing in self._left_out:
            self.note = f"not compiled while typing: {missing} is computed when the cell runs"
        elif isinstance(error, CompileError):
            for diagnostic in error.diagnostics:
                self._diagnose(diagnostic)
        elif isinstance(error, PtxError):
            place = self._own(error.place) if error.place else None
            if place is None and not self._line_of(error):  # such as missing sizes
                self.note = f"not compiled while typing: {error.message}"
                return
            self._diagnose(Diagnostic("error", error.message, hint=error.hint, place=error.place), self._line_of(error))
        else:
            self._add("error", f"{type(error).__name__}: {error}", self._line_of(error) or 1)

    def _line_of(self, error: Exception) -> int | None:
        """Return the innermost line of the cell in a traceback."""
        frames = traceback.extract_tb(error.__traceback__)
        return next((frame.lineno for frame in reversed(frames) if frame.filename == self._file), None)

    def _own(self, place: SourceLocation) -> SourceLocation | None:
        """Return the line of the cell that a place belongs to: of a helper in a file, that of its caller."""
        return next((one for one in place.stack if one.file == self._file), None)

    def _diagnose(self, found: Diagnostic, line: int | None = None) -> None:
        place = self._own(found.place) if found.place else None
        if place is None:
            self._add(found.severity, found.message, line or 1, hint=found.hint)
            return
        first, last, start, end = place.position
        end = end if last == first else None
        self._add(found.severity, found.message, first, start, end, found.hint)

    def _add(
        self,
        severity: str,
        message: str,
        line: int,
        column: int | None = None,
        end_column: int | None = None,
        hint: str | None = None,
    ) -> None:
        rows = self.source.split("\n")
        if column is not None and line <= len(rows):  # Python counts bytes
            encoded = rows[line - 1].encode()
            column = len(encoded[:column].decode(errors="ignore"))
            end_column = None if end_column is None else len(encoded[:end_column].decode(errors="ignore"))
        found = {
            "severity": severity,
            "message": message,
            "line": line,
            "column": column,
            "end_column": end_column,
            "hint": hint,
        }
        if found not in self.diagnostics:
            self.diagnostics.append(found)
