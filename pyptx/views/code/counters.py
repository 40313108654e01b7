"""Counters of a simulated launch, per PTX line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from itertools import groupby
from typing import Any

from pyptx.analysis.ptx_rows import instruction_rows
from pyptx.analysis.sass.issue import execution_counts
from pyptx.errors import ShapeError
from pyptx.ir.nodes import Module

__all__ = ["by_ptx_line", "by_sass_row"]


def by_ptx_line(counters: Any, module: Module, ptx: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Return counter name -> one number per PTX line, -1 for lines that are not counted instructions.

    Args:
        counters: the simulator's Counters (arrays over the instructions of the module's entry), a mapping of columns
            in the returned form, or None.
    Raises:
        ShapeError: the counters belong to another kernel.
    """
    if counters is None:
        return {}
    if isinstance(counters, Mapping):
        wrong = {name: len(column) for name, column in counters.items() if len(column) != len(ptx)}
        if wrong:
            raise ShapeError(f"counters have {wrong} lines, but the PTX has {len(ptx)}")
        return {name: tuple(map(int, column)) for name, column in counters.items()}
    if not is_dataclass(counters):
        raise ShapeError(
            f"counters is {type(counters).__name__}; expected the simulator's Counters or a mapping of columns"
        )
    columns = {field.name: getattr(counters, field.name) for field in fields(counters)}
    count = len(next(iter(columns.values())))
    rows = instruction_rows(module, ptx)
    lines = next((lines for lines in rows.values() if len(lines) == count), None)
    if lines is None:
        sizes = ", ".join(f"{name} {len(lines)}" for name, lines in rows.items())
        raise ShapeError(f"counters of {count} instructions match no entry of the module: {sizes}")
    found = {}
    for name, column in columns.items():
        values = [-1] * len(ptx)
        for line, number in zip(lines, column, strict=True):
            values[line] = int(number)
        if name in ("issues", "lanes") or any(value > 0 for value in values):
            found[name] = tuple(values)
    return found


def by_sass_row(owners: Sequence[int], entries: Sequence[str], issues: Sequence[int]) -> tuple[int, ...]:
    """Project the issues of PTX lines onto machine instructions, so that lines without machine code count nothing.

    An instruction issues as often as its PTX line; one added by ptxas as often as the next instruction of its entry
    that comes from a line. Copies of a line in a loop that ptxas unrolled each count in full.

    Args:
        owners: PTX row of each instruction; -1: added by ptxas.
        entries: entry of each instruction.
        issues: warp instructions issued for each PTX row; -1: not counted; empty without counters.
    Returns:
        Issues of each instruction; empty without counters.
    """
    if not issues:
        return ()
    warps, found, start = next((count for count in issues if count > 0), 1), [], 0
    for _, group in groupby(entries):
        own = owners[start : start + sum(1 for _ in group)]
        start += len(own)
        found += [round(warps * count) for count in execution_counts(own, issues) or [0] * len(own)]
    return tuple(found)
