"""Where statements stand in the printed text."""

from __future__ import annotations

from typing import NamedTuple

from pyptx.emitter.printer import _before, _Printer
from pyptx.ir.nodes import Function, Module, Statement

__all__ = ["Span", "declaration_spans", "statement_spans"]


class Span(NamedTuple):
    """Where a statement stands in the text: 1-based line, 0-based columns, the end exclusive."""

    line: int
    column: int
    end_column: int


def statement_spans(module: Module) -> list[Span]:
    """Where every instruction and label of the module stands in `emit(module)`, in order of text."""
    printer = _Printer()
    printer.module(module)
    return _spans(printer.parts, printer.marked)


def declaration_spans(module: Module) -> dict[int, Span]:
    """Where declarations, functions and directives of the module stand in `emit(module)`, by the id of the node."""
    printer = _Printer()
    printer.module(module)
    spans = _spans(printer.parts, printer.declared)
    return {id(node): span for (_, node), span in zip(reversed(printer.declared), reversed(spans), strict=True)}


def _spans(parts: list[str], marked: list[tuple[int, Statement]]) -> list[Span]:
    spans: list[Span] = []
    line, column, seen = 1, 0, 0
    for index, node in marked:
        before = "".join(parts[seen:index])
        line += before.count("\n")
        column = len(before) - before.rfind("\n") - 1 if "\n" in before else column + len(before)
        part = parts[index]
        lead = _lead(part, node)
        first = part[:lead]
        start = lead - first.rfind("\n") - 1 + (0 if "\n" in first else column)
        code = part[lead:].split("\n", 1)[0].split("//", 1)[0].rstrip()
        spans.append(Span(line + first.count("\n"), start, start + len(code)))
        seen = index
    return spans


def _lead(part: str, node: Statement) -> int:
    """Characters of a part in front of its statement."""
    if node.formatting is None:
        return len(part) - len(part.lstrip())
    if "=continues" in dict(node.formatting.layout):        # one more name of the declaration before
        return len(part) - len(part.lstrip(", \t\n"))
    if isinstance(node, Function):              # blank lines in front of it are a part of their own
        return len("".join(line + "\n" for line in node.formatting.preceding_comments) + node.formatting.indent)
    return len(_before(node.formatting, node.formatting.indent))
