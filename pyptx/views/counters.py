"""What a simulated launch counted, laid beside the PTX lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from pyptx.emitter import instruction_text
from pyptx.ir.nodes import Function, Module
from pyptx.ir.visit import instructions

__all__ = ["by_ptx_line", "instruction_lines"]


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
    lines = next((lines for entry in module.entries if len(lines := instruction_lines(entry, ptx)) == count), None)
    if lines is None:
        sizes = ", ".join(f"{entry.name} {len(list(instructions(entry)))}" for entry in module.entries)
        raise ValueError(f"counters of {count} instructions; the entries have: {sizes}")
    found = {}
    for name, column in columns.items():
        values = [-1] * len(ptx)
        for line, number in zip(lines, column, strict=True):
            values[line] = int(number)
        if name in ("issues", "lanes") or any(value > 0 for value in values):
            found[name] = tuple(values)
    return found


def instruction_lines(entry: Function, ptx: Sequence[str]) -> list[int]:
    """Row in the PTX text of each instruction of the entry, in order. The emitter prints one instruction a line."""
    start = next((row for row, line in enumerate(ptx) if ".entry" in line and entry.name in line), 0)
    rows, row = [], start
    for instruction in instructions(entry):
        text = instruction_text(instruction)
        while row < len(ptx) and not ptx[row].lstrip().startswith(text):
            row += 1
        if row == len(ptx):
            raise ValueError(f"the PTX text has no line for {text!r} of {entry.name}")
        rows.append(row)
        row += 1
    return rows
