"""One function of a comparison: its lines, their shapes, webs and branch targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyptx.analysis.sassregs import Shape, shape
from pyptx.analysis.webs import Webs, find_webs

__all__ = ["Side"]


@dataclass(frozen=True, slots=True)
class Side:
    """Attributes:
        rows: index of each of its lines in the whole text.
        words: opcodes without modifiers.
        targets: where a branch goes, as a number of a line of this function; -1: nowhere, or elsewhere.
    """

    lines: Sequence
    rows: range
    words: list[str]
    shapes: list[Shape]
    targets: list[int]
    webs: Webs

    @classmethod
    def of(cls, lines: Sequence, rows: range) -> Side:
        lines = lines[rows.start:rows.stop]
        at = {line.address: number for number, line in enumerate(lines)}
        targets = [-1 if line.target_address is None else at.get(line.target_address, -1) for line in lines]
        words = [line.opcode.partition(".")[0] for line in lines]
        shapes = [shape(line.opcode, line.operands, line.predicate, target >= 0)
                  for line, target in zip(lines, targets, strict=True)]
        return cls(lines, rows, words, shapes, targets,
                   find_webs(words, [line.predicate for line in lines], shapes, targets))

    def opcode(self, number: int) -> str:
        return self.lines[number].opcode

    def control(self, number: int) -> tuple:
        return self.lines[number].control
