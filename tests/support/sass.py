"""Machine code for tests of its readers: written by hand, one instruction per line, or compiled."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

from pyptx.toolchain import Control, SassLine, assemble, disassemble

__all__ = ["compiled", "rename", "sass"]

PLAIN = Control(1, False, None, None, 0, 0)


@cache
def compiled(text: str, target: str, options: tuple[str, ...] = (), tool: str = "ptxas") -> tuple[SassLine, ...]:
    """Return the machine code of PTX. Each `nvdisasm` takes half a second, so that tests share what they compile."""
    return disassemble(assemble(text, target=target, options=options, tool=tool).data)


def sass(text: str, entry: str = "k") -> tuple[SassLine, ...]:
    """The lines of a listing: "@P0 BRA top" goes to the line after "top:"."""
    rows, labels = [], {}
    for row in filter(None, map(str.strip, text.splitlines())):
        if row.endswith(":"):
            labels[row[:-1]] = 16 * len(rows)
        else:
            rows.append(row)
    lines = []
    for number, row in enumerate(rows):
        guard, opcode, operands = re.fullmatch(r"(?:@(\S+) )?(\S+) ?(.*)", row).groups()
        target = labels.get(operands.split(", ")[-1])
        parts = tuple(filter(None, operands.split(", ")))
        if target is not None:
            parts = (*parts[:-1], hex(target))
        lines.append(SassLine(entry, 16 * number, guard or "", opcode, parts, PLAIN, None, target, None, False))
    return tuple(lines)


def rename(
    lines: Sequence[SassLine], new: Callable[[int], int], first: int = 0, last: int | None = None, bank: str = "R"
) -> tuple[SassLine, ...]:
    """The lines with other numbers for their registers, from line `first` up to `last`."""
    pattern = re.compile(rf"(?<![\w.]){bank}(\d+)")
    last = len(lines) if last is None else last
    return tuple(
        replace(
            line,
            operands=tuple(pattern.sub(lambda m: f"{bank}{new(int(m[1]))}", operand) for operand in line.operands),
            predicate=pattern.sub(lambda m: f"{bank}{new(int(m[1]))}", line.predicate),
        )
        if first <= number < last
        else line
        for number, line in enumerate(lines)
    )
