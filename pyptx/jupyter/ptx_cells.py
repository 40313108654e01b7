"""Cells of PTX under `%%ptx`: checked, assembled and optionally launched."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import Any, NoReturn

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from pyptx._loc import SourceLocation, StoredCode
from pyptx.emitter import Emitted, emit_lines, statement_spans
from pyptx.errors import CompileError, Diagnostic
from pyptx.ir.visit import with_places
from pyptx.jupyter.cells import Cell, call_with
from pyptx.jupyter.errors import attach_traceback
from pyptx.jupyter.kernel_runs import CompiledKernel
from pyptx.parser import parse
from pyptx.program import Entry, Program
from pyptx.validate import check_ptx
from pyptx.views.code.source_locations import with_sources

__all__ = ["CellProgram", "compile_ptx_cell"]


def compile_ptx_cell(
    shell: InteractiveShell,
    cell: Cell,
    text: str,
    *,
    entry: str | None,
    arch: str | None,
    options: tuple[str, ...],
    launch: str | None,
    name: str | None,
) -> CompiledKernel:
    """Compile a cell and bind its entries, and the program under `name`, in the notebook's namespace.

    Args:
        entry: the entry to record and show; default: the first.
        launch: "grid, block, arguments" of the entry, evaluated in that namespace.
    Raises:
        CompileError: the table or the assembler rejects the text; each finding is at its line of the cell.
        UsageError: the cell has no entry, or none of this name.
    """
    __tracebackhide__ = True
    found = check_ptx(text, arch)
    if any(d.severity == "error" for d in found):
        _raise_at_cell(shell, cell, CompileError([d for d in found if d.severity == "error"]), arch)
    program = CellProgram(cell, text, name or cell.name(shell))
    chosen = _select_entry(program, entry)
    if name in program.entries:
        raise UsageError(f"--name {name}: an entry of the cell has this name; expected another one")
    try:
        compiled = chosen.compile(arch=arch, options=options)
    except CompileError as error:
        _raise_at_cell(shell, cell, error, arch)
    shell.user_ns.update({one.name: one for one in program if one.name.isidentifier()})
    if name:
        shell.user_ns[name] = program
    warnings = (*compiled.warnings, *(d for d in found if d.severity == "warning"))
    compiled = with_sources(replace(compiled, warnings=warnings))
    block, smem_bytes, counters = (None, 0, None) if launch is None else _launch(shell, chosen, launch)
    return CompiledKernel(compiled, {}, block, smem_bytes, counters, tuple(_at_cell_lines(warnings, cell)))


class CellProgram(Program):
    """A program whose instructions have places in the cell, for errors and findings of its launches.

    The compiled text has no places: its view shows PTX and SASS alone.
    """

    def __init__(self, cell: Cell, text: str, name: str):
        module = parse(text)
        spans = statement_spans(module)
        where = tuple((span.line + cell.first_line, span.line + cell.first_line, None, None) for span in spans)
        code = StoredCode(cell.file, "<ptx>", "<ptx>", cell.first_line + 1, where)
        places = (SourceLocation(code, 2 * number) for number in range(len(spans)))
        super().__init__(with_places(module, places), name)

    @cached_property
    def _emitted(self) -> Emitted:
        emitted = emit_lines(self.module)
        return emitted._replace(places=(None,) * len(emitted.places))


def _select_entry(program: Program, wanted: str | None) -> Entry:
    listed = ", ".join(program.entries)
    if not listed:
        raise UsageError("%%ptx: the cell has no .entry; write .visible .entry NAME(...) { ... }")
    if wanted is None:
        return next(iter(program))
    if wanted not in program.entries:
        raise UsageError(f"--entry {wanted}: the cell's entries are {listed}")
    return program[wanted]


def _launch(shell: InteractiveShell, entry: Entry, text: str) -> tuple[tuple[int, ...] | None, int, Any]:
    """Launch with the evaluated text; return the block, the dynamic shared memory in bytes, and the counters."""
    __tracebackhide__ = True
    configuration: dict[str, Any] = {}

    def launch(grid: Any, block: Any, *args: Any, **settings: Any) -> Any:
        configuration.update(block=block, smem_bytes=settings.get("smem_bytes", 0))
        return entry.launch(grid, block, *args, **settings)

    launch.__qualname__ = f"{entry.name}.launch"  # shown in errors
    call_with(shell, launch, text, f"{entry.name}.launch({text})", f"--run {text}")
    block = configuration["block"]
    return (block,) if isinstance(block, int) else tuple(map(int, block)), configuration["smem_bytes"], entry.counters()


def _raise_at_cell(shell: InteractiveShell, cell: Cell, error: CompileError, arch: str | None) -> NoReturn:
    """Raise the error with each finding at its line of the cell."""
    __tracebackhide__ = True
    placed = CompileError(_at_cell_lines(error.diagnostics, cell), summary=error.message or "")
    attach_traceback(shell, placed, f"the PTX of {cell.name(shell)}" + (f" for {arch}" if arch else ""))
    raise placed from None


def _at_cell_lines(findings: Iterable[Diagnostic], cell: Cell) -> list[Diagnostic]:
    """Replace PTX lines of findings by places in the cell; findings without a line are unchanged."""
    findings, rows = list(findings), cell.source.split("\n")
    spans = []
    for one in findings:
        number = (one.line or 1) + cell.first_line
        row = rows[number - 1] if number <= len(rows) else ""
        columns = (None if column is None else len(row[:column].encode()) for column in (one.column, one.end_column))
        spans.append((number, number, *columns))
    code = StoredCode(cell.file, "<ptx>", "<ptx>", cell.first_line + 1, tuple(spans))
    return [
        one
        if one.line is None
        else replace(
            one,
            line=None,
            place=SourceLocation(code, 2 * number),
            hint=None if one.hint and one.hint.startswith("PTX line ") else one.hint,
        )
        for number, one in enumerate(findings)
    ]
