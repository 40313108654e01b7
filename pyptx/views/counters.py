"""What a simulated launch counted, laid beside the PTX lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from pyptx.emitter import emit, statement_spans
from pyptx.ir.nodes import Function, Instruction, Label, Module
from pyptx.ir.visit import statements

__all__ = ["by_ptx_line", "instruction_rows", "statement_rows"]


def by_ptx_line(counters: Any, module: Module, ptx: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Name -> one number for each PTX line, -1 for lines that are no counted instruction.

    Args:
        counters: the simulator's Counters (arrays over the instructions of the module's entry), a mapping of columns
            that are in this form already, or None.
    Raises:
        ValueError: the counters are of another kernel.
    """
    if counters is None:
        return {}
    if isinstance(counters, Mapping):
        wrong = {name: len(column) for name, column in counters.items() if len(column) != len(ptx)}
        if wrong:
            raise ValueError(f"counters of {wrong} lines, but the PTX has {len(ptx)}")
        return {name: tuple(map(int, column)) for name, column in counters.items()}
    if not is_dataclass(counters):
        raise ValueError("counters are the simulator's Counters or a mapping of columns, "
                         f"not {type(counters).__name__}")
    columns = {field.name: getattr(counters, field.name) for field in fields(counters)}
    count = len(next(iter(columns.values())))
    rows = instruction_rows(module, ptx)
    lines = next((lines for lines in rows.values() if len(lines) == count), None)
    if lines is None:
        sizes = ", ".join(f"{name} {len(lines)}" for name, lines in rows.items())
        raise ValueError(f"counters of {count} instructions; the entries have: {sizes}")
    found = {}
    for name, column in columns.items():
        values = [-1] * len(ptx)
        for line, number in zip(lines, column, strict=True):
            values[line] = int(number)
        if name in ("issues", "lanes") or any(value > 0 for value in values):
            found[name] = tuple(values)
    return found


def statement_rows(module: Module, ptx: Sequence[str]) -> list[int]:
    """Row in the PTX text of every instruction and label of the module, in order of text.

    Args:
        ptx: the module as the emitter prints it; lines that are not the module's, such as `.loc`, may stand between.
    Raises:
        ValueError: the text is another module's.
    """
    rows, row = [], 0
    for line in emit(module).removesuffix("\n").split("\n"):
        while row < len(ptx) and ptx[row] != line:
            row += 1
        if row == len(ptx):
            raise ValueError(f"the PTX text has no line {line.strip()!r} of the module")
        rows.append(row)
        row += 1
    return [rows[span.line - 1] for span in statement_spans(module)]


def instruction_rows(module: Module, ptx: Sequence[str]) -> dict[str, list[int]]:
    """Row in the PTX text of each instruction of each entry, in order."""
    rows = iter(statement_rows(module, ptx))
    found: dict[str, list[int]] = {}
    for directive in module.directives:
        inside = statements(directive.body) if isinstance(directive, Function) else (directive,)
        own = [(s, next(rows)) for s in inside if isinstance(s, Instruction | Label)]
        if isinstance(directive, Function) and directive.is_entry:
            found[directive.name] = [row for s, row in own if isinstance(s, Instruction)]
    return found
