"""What a simulated launch counted, laid beside the PTX lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from pyptx.analysis.ptxrows import instruction_rows
from pyptx.ir.nodes import Module

__all__ = ["by_ptx_line"]


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
