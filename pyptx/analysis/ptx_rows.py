"""Rows of a module's instructions and labels in its PTX text."""

from __future__ import annotations

from collections.abc import Sequence

from pyptx.emitter import emit_with_spans
from pyptx.errors import OptionError
from pyptx.ir.nodes import Function, Instruction, Label, Module
from pyptx.ir.visit import statements

__all__ = ["instruction_rows", "statement_rows"]


def statement_rows(module: Module, ptx: Sequence[str]) -> list[int]:
    """Return the row in the PTX text of each instruction and label of a module, in text order.

    Args:
        module: the module.
        ptx: its text as emitted; other lines, such as `.loc`, may occur in between.
    Raises:
        OptionError: the text belongs to another module.
    """
    rows, row = [], 0
    text, spans = emit_with_spans(module)
    for line in text.removesuffix("\n").split("\n"):
        while row < len(ptx) and ptx[row] != line:
            row += 1
        if row == len(ptx):
            raise OptionError(f"the PTX text has no line {line.strip()!r} of the module")
        rows.append(row)
        row += 1
    return [rows[span.line - 1] for span in spans]


def instruction_rows(module: Module, ptx: Sequence[str]) -> dict[str, list[int]]:
    """Return the rows of the instructions of each entry, in order."""
    rows = iter(statement_rows(module, ptx))
    found: dict[str, list[int]] = {}
    for directive in module.directives:
        inside = statements(directive.body) if isinstance(directive, Function) else (directive,)
        own = [(s, next(rows)) for s in inside if isinstance(s, Instruction | Label)]
        if isinstance(directive, Function) and directive.is_entry:
            found[directive.name] = [row for s, row in own if isinstance(s, Instruction)]
    return found
