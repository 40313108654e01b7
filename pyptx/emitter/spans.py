"""Source spans of statements in the emitted text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pyptx.emitter.printer import Header, Node, Printer, leading_text
from pyptx.ir.nodes import Function, Module

__all__ = ["Span", "declaration_spans", "emit_with_spans", "statement_spans"]


class Span(NamedTuple):
    """Source range within one line: 1-based line, 0-based columns, end exclusive."""

    line: int
    column: int
    end_column: int


def statement_spans(module: Module) -> list[Span]:
    """Return the span of every instruction and label in `emit(module)`, in source order."""
    return emit_with_spans(module)[1]


def emit_with_spans(module: Module) -> tuple[str, list[Span]]:
    """Return `emit(module)` and `statement_spans(module)`."""
    printer = Printer(marks=True)
    printer.module(module)
    return "".join(printer.parts), _spans(printer.parts, printer.marked)


def declaration_spans(module: Module) -> dict[int, Span]:
    """Return the spans of header, declarations, functions and directives in `emit(module)`, by the `id` of the node."""
    printer = Printer()
    printer.module(module)
    spans = _spans(printer.parts, printer.declared)
    return {id(node): span for (_, node), span in zip(reversed(printer.declared), reversed(spans), strict=True)}


def _spans(parts: list[str], marked: Sequence[tuple[int, Node | Header]]) -> list[Span]:
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


def _lead(part: str, node: Node | Header) -> int:
    """Return the number of characters of `part` in front of the statement."""
    if node.formatting is None:
        return len(part) - len(part.lstrip())
    if "=continues" in dict(node.formatting.layout):  # a further name of the previous declaration
        return len(part) - len(part.lstrip(", \t\n"))
    if isinstance(node, Function):  # blank lines in front of a function are a separate part
        return len("".join(line + "\n" for line in node.formatting.preceding_comments) + node.formatting.indent)
    return len(leading_text(node.formatting))
