"""Printing the tree as PTX."""

from pyptx.emitter.locations import with_locations
from pyptx.emitter.printer import Emitted, emit, emit_lines, instruction_text, operand_text

__all__ = ["Emitted", "emit", "emit_lines", "instruction_text", "operand_text", "with_locations"]
