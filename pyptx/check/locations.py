"""Source locations of a program's instructions: the Python line, the PTX line, the text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from weakref import WeakKeyDictionary

from pyptx.analysis.ptx_rows import statement_rows
from pyptx.check.finding import Location
from pyptx.ir.nodes import Function, Instruction, Label, Module
from pyptx.ir.visit import statements
from pyptx.jit.specialization import Specialization
from pyptx.sim import Program
from pyptx.sim.faults.messages import text_of

__all__ = ["Locations", "ptx_lines", "text_lines"]

_lines: WeakKeyDictionary[Specialization, dict[int, int]] = WeakKeyDictionary()


class Locations:
    """Locations of the instructions of a program.

    Args:
        lines: returns the 1-based PTX line of each instruction, by the id of its node; called on first use.
    """

    def __init__(self, program: Program, lines: Callable[[], Mapping[int, int]]):
        self._program, self._lines = program, lines

    @property
    def count(self) -> int:
        """Number of instructions."""
        return len(self._program.instructions)

    def of(self, instruction: int, role: str) -> Location:
        """Return the location of the instruction with this number."""
        node = self._program.instructions[instruction]
        return Location(role, node.place, self._ptx_lines[id(node)], text_of(node))

    def line(self, instruction: int) -> tuple[str, int]:
        """Return file and line of the Python that emitted an instruction, or ("", line) of the PTX."""
        node = self._program.instructions[instruction]
        return ("", self._ptx_lines[id(node)]) if node.place is None else (node.place.file, node.place.line)

    @cached_property
    def _ptx_lines(self) -> Mapping[int, int]:
        return self._lines()


def ptx_lines(specialization: Specialization) -> dict[int, int]:
    """Return the 1-based PTX line of each instruction and label, by the id of its node."""
    if (found := _lines.get(specialization)) is not None:
        return found
    lines = _lines[specialization] = text_lines(specialization.module, specialization.emitted.text)
    return lines


def text_lines(module: Module, text: str) -> dict[int, int]:
    """Return the 1-based line of each instruction and label of a module in its PTX text, by the id of its node."""
    rows = iter(statement_rows(module, text.removesuffix("\n").split("\n")))
    lines: dict[int, int] = {}
    for directive in module.directives:
        for node in statements(directive.body) if isinstance(directive, Function) else (directive,):
            if isinstance(node, Instruction | Label):
                lines[id(node)] = next(rows) + 1
    return lines
