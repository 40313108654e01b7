"""Where the instructions of a program stand, and which of them a written place means."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import PurePath

from pyptx._loc import Place, shown_name
from pyptx.analysis.ptxrows import statement_rows
from pyptx.debug.errors import DebugError
from pyptx.ir.nodes import Function, Instruction, Label
from pyptx.ir.visit import statements
from pyptx.kernel.variant import Variant
from pyptx.sim import Program
from pyptx.sim.faults.accesses import text_of

__all__ = ["Lines", "short_name"]

_MANY = re.compile(r"\{([^,{}]+)(?:, [^,{}]+){3,}, ([^,{}]+)\}")
END = "the end of the kernel"
PLACES = 'a Python line "gemm.py:12" or "12", a PTX line "ptx:40", a label "$L_1" or an opcode "op:wgmma"'


class Lines:
    """Lines of a variant's Python and PTX, by instruction; lines count from 1."""

    def __init__(self, variant: Variant, program: Program):
        self.variant, self.program = variant, program
        self._texts: dict[int, str] = {}
        self.ptx_text = tuple(variant.emitted.text.removesuffix("\n").split("\n"))

    def place(self, instruction: int) -> Place | None:
        """The Python that wrote it; None in PTX that was loaded, and for what follows the last instruction."""
        nodes = self.program.instructions
        place = nodes[instruction].place if 0 <= instruction < len(nodes) else None
        return place if isinstance(place, Place) else None

    def text(self, instruction: int) -> str:
        """The instruction as PTX; of many registers in braces the first and the last."""
        found = self._texts.get(instruction)
        if found is None:
            nodes = self.program.instructions
            found = self._texts[instruction] = \
                _MANY.sub(r"{\1 .. \2}", text_of(nodes[instruction])) if instruction < len(nodes) else END
        return found

    def ptx(self, instruction: int) -> int | None:
        """Its line in the PTX; None for a return that the text leaves out."""
        nodes = self.program.instructions
        return self._rows.get(id(nodes[instruction])) if instruction < len(nodes) else None

    def told(self, instruction: int) -> str:
        """Its place in a word: "gemm.py:12", "ptx:40" where no Python wrote it."""
        place, ptx = self.place(instruction), self.ptx(instruction)
        if place is None:
            return "the end" if ptx is None else f"ptx:{ptx}"
        return f"{short_name(place.file)}:{place.line}"

    def line(self, instruction: int) -> tuple[str, int] | None:
        """File and line of the Python, of the PTX ("", line) where there is none."""
        place = self.place(instruction)
        if place is not None:
            return place.file, place.line
        ptx = self.ptx(instruction)
        return None if ptx is None else ("", ptx)

    def passes(self, instruction: int, level: int | None, other: int) -> bool:
        """Whether somebody who goes on from the line of `instruction` has not left it at `other`.

        Args:
            level: of the function to stay in, counted from the kernel's own (0); what it calls is part of its lines.
                None: the innermost, and what that calls counts as other lines.
        """
        own, its = self._inwards(instruction), self._inwards(other)
        if not own or not its:
            return self.line(instruction) == self.line(other)
        if level is None:
            return [(p.code, p.line) for p in own] == [(p.code, p.line) for p in its]
        level = min(level, len(own) - 1)
        return len(its) > level and all(a.code is b.code and a.line == b.line
                                        for a, b in zip(own[:level + 1], its, strict=False))

    def level(self, instruction: int, level: int, other: int) -> int:
        """The level somebody is in at `other` who stayed in one at `instruction`: the same, or that of a caller."""
        for k, (a, b) in enumerate(zip(self._inwards(instruction), self._inwards(other), strict=False)):
            if a.code is not b.code:
                return max(0, k - 1)
            if k == level or a.line != b.line:
                return k
        return max(0, min(level, len(self._inwards(other)) - 1))

    def level_of(self, instruction: int, told: str) -> int | None:
        """The level of the function of an instruction whose line is written so, "gemm.py:12"; None: there is none."""
        stack = enumerate(self._inwards(instruction))
        return next((k for k, p in stack if f"{short_name(p.file)}:{p.line}" == told), None)

    def frame(self, instruction: int, level: int | None) -> Place | None:
        """The place of an instruction in the function of a level, of the innermost by default."""
        stack = self._inwards(instruction)
        return None if not stack else stack[-1 if level is None else min(level, len(stack) - 1)]

    def _inwards(self, instruction: int) -> tuple[Place, ...]:
        """Its places from the kernel's function inwards."""
        return self.stack(instruction)[::-1]

    @cached_property
    def files(self) -> dict[str, list[int]]:
        """Lines with instructions of each Python file."""
        found: dict[str, set[int]] = {}
        for i in range(len(self.program.instructions)):
            for place in self.stack(i):
                found.setdefault(place.file, set()).add(place.line)
        return {file: sorted(lines) for file, lines in found.items()}

    @cached_property
    def labels(self) -> dict[str, list[int]]:
        """Labels, and functions, with the instructions they stand before."""
        found: dict[str, list[int]] = {}
        for scope in {id(scope): scope for _, scope in self.program.names.instructions}.values():
            while scope is not None:
                for name, at in scope.labels.items():
                    if at not in found.setdefault(name, []):
                        found[name].append(at)
                scope = scope.parent
        for name, body in self.program.names.bodies.items():
            found.setdefault(name, []).append(body.start)
        return found

    @cached_property
    def own_file(self) -> str | None:
        """The file of the kernel's function."""
        place = self.variant.entry.place
        if isinstance(place, Place):
            return place.file
        return next(iter(self.files), None)

    def find(self, text: str) -> tuple[list[int], str]:
        """The instructions to stop at for a place, and how it is called.

        Raises:
            DebugError: it is none, or has no instruction.
        """
        text = text.strip()
        head, colon, tail = text.rpartition(":")
        if text.startswith("op:"):
            return self._opcode(text[3:])
        if colon and head == "ptx" and tail.isdigit():
            return self._ptx_line(int(tail))
        if tail.isdigit():
            if not colon and self.own_file is None:
                return self._ptx_line(int(tail))
            return self._python_line(head if colon else self.own_file, int(tail), text)
        if text in self.labels:
            return sorted(self.labels[text]), text
        raise DebugError(f"no place {text!r}; expected {PLACES}" + self._near(text))

    def _near(self, text: str) -> str:
        names = [name for name in self.labels if text.strip("$%") and text.strip("$%") in name][:5]
        return f". Labels that are like it: {', '.join(names)}" if names else ""

    def _opcode(self, wanted: str) -> tuple[list[int], str]:
        found = [i for i, node in enumerate(self.program.instructions)
                 if node.mnemonic == wanted or node.mnemonic.startswith(wanted + ".")]
        if not found:
            opcodes = ", ".join(sorted({node.opcode for node in self.program.instructions}))
            raise DebugError(f"no instruction {wanted!r} here; the kernel has {opcodes}")
        return found, f"op:{wanted}"

    def _ptx_line(self, line: int) -> tuple[list[int], str]:
        if not 1 <= line <= len(self.ptx_text):
            raise DebugError(f"the PTX has lines 1 to {len(self.ptx_text)}, no {line}")
        behind = [(row, i) for i in range(len(self.program.instructions)) if (row := self.ptx(i) or 0) >= line]
        if not behind:
            raise DebugError(f"no instruction stands at or behind line {line} of the PTX")
        row = min(behind)[0]
        return [i for r, i in behind if r == row], f"ptx:{row}"

    def _python_line(self, file: str, line: int, text: str) -> tuple[list[int], str]:
        files = [known for known in self.files if _is_called(known, file)]
        if not files:
            known = ", ".join(sorted(map(short_name, self.files))) or "none: it was loaded from PTX, use ptx:LINE"
            raise DebugError(f"no instruction comes from {file!r}; files of this kernel: {known}")
        behind = sorted({known for f in files for known in self.files[f] if known >= line})
        if not behind:
            raise DebugError(f"{text}: no instruction comes from this line or one behind it")
        return list(self._starts(set(files), behind[0])), f"{short_name(files[0])}:{behind[0]}"

    def _starts(self, files: set[str], line: int) -> Iterator[int]:
        """The first instruction of each stretch that a line wrote; where Python came to the line again, one begins.

        It came again when the same call writes what began the stretch: in a loop of Python. One call that writes
        several instructions, or a helper with a loop of its own, does not begin the line anew.
        """
        first: tuple[Place, str] | None = None
        for i, node in enumerate(self.program.instructions):
            stack = self.stack(i)
            if not any(p.file in files and p.line == line for p in stack):
                first = None
            elif first in (None, (stack[0], node.mnemonic)):
                first = stack[0], node.mnemonic
                yield i

    def stack(self, instruction: int) -> tuple[Place, ...]:
        """Its place and those that called it, innermost first."""
        place = self.place(instruction)
        return () if place is None else place.stack

    @cached_property
    def _rows(self) -> dict[int, int]:
        """PTX line of each instruction, by the id of its node."""
        lines, rows = {}, iter(statement_rows(self.variant.module, self.ptx_text))
        for directive in self.variant.module.directives:
            for node in statements(directive.body) if isinstance(directive, Function) else (directive,):
                if isinstance(node, Instruction | Label):
                    lines[id(node)] = next(rows) + 1
        return lines


def _is_called(file: str, wanted: str) -> bool:
    """Whether a file may be meant: its whole name, the end of it, or the name of a cell."""
    shown = shown_name(file)
    return wanted in (file, shown) or PurePath(file).parts[-len(PurePath(wanted).parts):] == PurePath(wanted).parts


def short_name(file: str) -> str:
    """How a file is called where there is little room: "Cell In[3]", "gemm.py"."""
    shown = shown_name(file)
    return PurePath(file).name if shown == file else shown
