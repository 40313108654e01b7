"""`%%ptx`: a cell of PTX, checked, assembled, and launched where that is asked for."""

from __future__ import annotations

import linecache
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any, NoReturn

from IPython.core.error import UsageError

from pyptx._loc import Place
from pyptx.emitter import Emitted, emit_lines, statement_spans
from pyptx.errors import CompileError, Diagnostic, PtxError
from pyptx.history._places import StoredCode
from pyptx.ir.nodes import Instruction, Label
from pyptx.jupyter.cells import Cell
from pyptx.jupyter.errors import CellSyntaxError, explain, rendered
from pyptx.jupyter.running import Shown
from pyptx.parser import parse
from pyptx.program import Entry, Program
from pyptx.validate import check_ptx
from pyptx.views.code.locs import with_sources

__all__ = ["CellProgram", "ptx_cell"]


def ptx_cell(shell, cell: Cell, text: str, *, entry: str | None, arch: str | None, options: tuple[str, ...],
             launch: str | None, name: str | None) -> Shown:
    """Make a program of the text, and put its entries, and under `name` the program, into the notebook's namespace.

    Args:
        launch: "grid, block, arguments" of the entry, evaluated in that namespace.
    Raises:
        CompileError: the table or the assembler refused it; each finding at its line of the cell.
        UsageError: no entry, none called so, or several and none named.
    """
    __tracebackhide__ = True
    found = check_ptx(text, arch)
    if any(d.severity == "error" for d in found):
        _refuse(shell, cell, CompileError([d for d in found if d.severity == "error"]), arch)
    program = CellProgram(cell, text, name or cell.name(shell))
    chosen = _entry(program, entry)
    if name in program.entries:
        raise UsageError(f"--name {name}: an entry of the cell is called so; expected another name")
    try:
        compiled = chosen.compile(arch=arch, options=options)
    except CompileError as error:
        _refuse(shell, cell, error, arch)
    shell.user_ns.update({one.name: one for one in program if one.name.isidentifier()})
    if name:
        shell.user_ns[name] = program
    warnings = (*compiled.warnings, *(d for d in found if d.severity == "warning"))
    compiled = with_sources(replace(compiled, warnings=warnings))
    block, smem_bytes, counters = (None, 0, None) if launch is None else _launch(shell, chosen, launch)
    return Shown(compiled, {}, block, smem_bytes, counters, tuple(_at_cell_lines(warnings, cell)))


class CellProgram(Program):
    """A program whose instructions know their lines of the cell: what happens to one when it is launched says so.

    Its text is shown as PTX alone: the places are of the module, not of what is compiled and viewed.
    """

    def __init__(self, cell: Cell, text: str, name: str):
        module = parse(text)
        spans = statement_spans(module)
        where = tuple((span.line + cell.above, span.line + cell.above, None, None) for span in spans)
        code = StoredCode(cell.file, "<ptx>", "<ptx>", cell.above + 1, where)
        places = (Place(code, 2 * number) for number in range(len(spans)))
        super().__init__(replace(module, directives=tuple(_placed(module.directives, places))), name)

    @cached_property
    def _emitted(self) -> Emitted:
        emitted = emit_lines(self.module)
        return emitted._replace(places=(None,) * len(emitted.places))


def _placed(statements: Iterable[Any], places: Iterator[Place]) -> Iterator[Any]:
    for statement in statements:
        if isinstance(statement, Instruction | Label):
            yield replace(statement, place=next(places))
        elif getattr(statement, "body", None):
            yield replace(statement, body=tuple(_placed(statement.body, places)))
        else:
            yield statement


def _entry(program: Program, wanted: str | None) -> Entry:
    listed = ", ".join(program.entries)
    if not listed:
        raise UsageError("%%ptx: the cell holds no .entry; write .visible .entry NAME(...) { ... }")
    if wanted is None:
        return next(iter(program))
    if wanted not in program.entries:
        raise UsageError(f"--entry {wanted}: the cell's entries are {listed}")
    return program[wanted]


def _launch(shell, entry: Entry, text: str) -> tuple[tuple[int, ...] | None, int, Any]:
    """Launch with what the text evaluates to: threads of a block, dynamic shared memory, and what was counted."""
    __tracebackhide__ = True
    asked: dict[str, Any] = {}

    def launch(grid: Any, block: Any, *args: Any, **settings: Any) -> Any:
        asked.update(block=block, smem_bytes=settings.get("smem_bytes", 0))
        return entry.launch(grid, block, *args, **settings)
    launch.__qualname__ = f"{entry.name}.launch"        # how an error calls it
    file, line = "<--run>", f"{entry.name}.launch({text})"
    linecache.cache[file] = (len(line), None, [line + "\n"], file)
    try:
        code = shell.compile(f"launch({text})", file, "eval")
    except SyntaxError as error:
        raise CellSyntaxError(f"--run {text}: {error.msg}; expected GRID, BLOCK, ARGUMENTS") from None
    try:
        result = eval(code, shell.user_ns, {"launch": launch})
    except Exception as error:
        if isinstance(error, PtxError) and error.place is None:
            rendered(error, [f"{type(error).__name__}: {line}: {error}"])
        else:
            explain(shell, error)
        raise
    block = asked["block"]
    return (block,) if isinstance(block, int) else tuple(map(int, block)), asked["smem_bytes"], result.counters


def _refuse(shell, cell: Cell, error: CompileError, arch: str | None) -> NoReturn:
    """Raise the error with every finding at its line of the cell."""
    __tracebackhide__ = True
    placed = CompileError(_at_cell_lines(error.diagnostics, cell), summary=error.message or "")
    explain(shell, placed, f"the PTX of {cell.name(shell)}" + (f" for {arch}" if arch else ""))
    raise placed from None


def _at_cell_lines(findings: Iterable[Diagnostic], cell: Cell) -> list[Diagnostic]:
    """The findings with places in the cell instead of PTX lines; what names no line stays as it is."""
    findings, rows = list(findings), cell.source.split("\n")
    spans = []
    for one in findings:
        number = (one.line or 1) + cell.above
        row = rows[number - 1] if number <= len(rows) else ""
        columns = (None if column is None else len(row[:column].encode()) for column in (one.column, one.end_column))
        spans.append((number, number, *columns))
    code = StoredCode(cell.file, "<ptx>", "<ptx>", cell.above + 1, tuple(spans))
    return [one if one.line is None else replace(
        one, line=None, place=Place(code, 2 * number),
        hint=None if one.hint and one.hint.startswith("PTX line ") else one.hint)
        for number, one in enumerate(findings)]
