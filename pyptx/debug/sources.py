"""The lines a session speaks of: the kernel's Python, its helpers, its PTX."""

from __future__ import annotations

import linecache
from typing import Any

from pyptx.debug.stopping.lines import Lines, short_name

__all__ = ["sources_of"]

_AROUND = 400                                           # lines of a file around those that wrote something, at most


def sources_of(lines: Lines) -> dict[str, Any]:
    """Python files (the part that holds what wrote instructions), PTX lines, and how they are linked.

    Returns:
        {"python": [{"file", "name", "first", "lines", "role"}], "ptx": lines, "line_of_ptx", "file_of_ptx",
        "stack_of_ptx"}: for each PTX line the Python line and the number of its file, and all callers, inside out.
    """
    files = _ordered(lines)
    python = []
    for file in files:
        text = [line.rstrip("\n") for line in linecache.getlines(file)]
        known = lines.files[file]
        first, last = _part(lines, file, known, len(text))
        python.append({"file": file, "name": short_name(file), "first": first, "lines": text[first - 1:last],
                       "role": "kernel" if file == lines.own_file else "helper"})
    count = len(lines.ptx_text)
    line_of: list[int | None] = [None] * count
    file_of: list[int | None] = [None] * count
    stack_of: list[list[list[int]]] = [[] for _ in range(count)]
    number = {file: k for k, file in enumerate(files)}
    for i in range(len(lines.program.instructions)):
        place, row = lines.place(i), lines.ptx(i)
        if place is None or row is None:
            continue
        line_of[row - 1], file_of[row - 1] = place.line, number[place.file]
        stack_of[row - 1] = [[number[p.file], p.line] for p in place.stack]
    return {"python": python, "ptx": list(lines.ptx_text), "line_of_ptx": line_of, "file_of_ptx": file_of,
            "stack_of_ptx": stack_of}


def _ordered(lines: Lines) -> list[str]:
    """The files, the kernel's own first."""
    return sorted(lines.files, key=lambda file: (file != lines.own_file, file))


def _part(lines: Lines, file: str, known: list[int], total: int) -> tuple[int, int]:
    """First and last line to show: whole functions where that is not too much."""
    first, last = known[0], known[-1]
    for i in range(len(lines.program.instructions)):
        place = lines.place(i)
        for p in place.stack if place is not None else ():
            if p.file == file:
                first = min(first, p.code.co_firstlineno)
                last = max(last, max((line for *_, line in p.code.co_lines() if line), default=last))
    if last - first > _AROUND + known[-1] - known[0]:
        first, last = known[0], known[-1]
    return max(first, 1), min(max(last, known[-1]), total) if total else 0
