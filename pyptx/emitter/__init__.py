"""Emitter: IR to PTX text."""

from pyptx.emitter.locations import with_locations
from pyptx.emitter.printer import Emitted, emit, emit_lines, instruction_text, operand_text
from pyptx.emitter.spans import Span, declaration_spans, emit_with_spans, statement_spans

__all__ = [
    "Emitted",
    "Span",
    "declaration_spans",
    "emit",
    "emit_lines",
    "emit_with_spans",
    "instruction_text",
    "operand_text",
    "statement_spans",
    "with_locations",
]
