"""Instructions of a program as locations: the Python line, the PTX line, the text."""

from __future__ import annotations

from functools import cached_property

from pyptx.analysis.ptxrows import statement_rows
from pyptx.check.finding import Location
from pyptx.ir.nodes import Function, Instruction, Label
from pyptx.ir.visit import statements
from pyptx.kernel.variant import Variant
from pyptx.sim import Program
from pyptx.sim.faults.accesses import text_of

__all__ = ["Places"]


class Places:
    """Where the instructions of a variant stand."""

    def __init__(self, variant: Variant, program: Program):
        self._variant, self._program = variant, program

    @property
    def count(self) -> int:
        """How many instructions there are."""
        return len(self._program.instructions)

    def of(self, instruction: int, role: str) -> Location:
        """The location of the instruction of that number."""
        node = self._program.instructions[instruction]
        return Location(role, node.place, self._lines[id(node)], text_of(node))

    def line(self, instruction: int) -> tuple[str, int]:
        """The Python line, or else the PTX line, an instruction stands for."""
        node = self._program.instructions[instruction]
        return ("", self._lines[id(node)]) if node.place is None else (node.place.file, node.place.line)

    @cached_property
    def _lines(self) -> dict[int, int]:
        """1-based PTX line of each instruction, by the id of its node."""
        variant, lines = self._variant, {}
        rows = iter(statement_rows(variant.module, variant.emitted.text.split("\n")))
        for directive in variant.module.directives:
            for node in statements(directive.body) if isinstance(directive, Function) else (directive,):
                if isinstance(node, Instruction | Label):
                    lines[id(node)] = next(rows) + 1
        return lines
