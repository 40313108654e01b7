"""Where statements stand in the printed text."""

from __future__ import annotations

from typing import NamedTuple

from pyptx.emitter.printer import _before, _Printer
from pyptx.ir.nodes import Module

__all__ = ["Span", "statement_spans"]


class Span(NamedTuple):
    """Where a statement stands in the text: 1-based line, 0-based columns, the end exclusive."""

    line: int
    column: int
    end_column: int


def statement_spans(module: Module) -> list[Span]:
    """Where every instruction and label of the module stands in `emit(module)`, in order of text."""
    printer = _Printer()
    printer.module(module)
    spans: list[Span] = []
    line, column, seen = 1, 0, 0
    for index, node in printer.marked:
        before = "".join(printer.parts[seen:index])
        line += before.count("\n")
        column = len(before) - before.rfind("\n") - 1 if "\n" in before else column + len(before)
        part = printer.parts[index]
        lead = len(_before(node.formatting, node.formatting.indent)) if node.formatting else \
            len(part) - len(part.lstrip())
        first = part[:lead]
        start = lead - first.rfind("\n") - 1 + (0 if "\n" in first else column)
        code = part[lead:].split("\n", 1)[0].split("//", 1)[0].rstrip()
        spans.append(Span(line + first.count("\n"), start, start + len(code)))
        seen = index
    return spans
