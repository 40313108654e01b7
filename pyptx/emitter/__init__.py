"""Printing the tree as PTX."""

from pyptx.emitter.printer import Emitted, emit, emit_lines, instruction_text, operand_text

__all__ = ["Emitted", "emit", "emit_lines", "instruction_text", "operand_text"]
