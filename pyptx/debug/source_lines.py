"""Source lines of a program: Python and PTX lines of each instruction, and the instructions at a location."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import PurePath
from typing import Any

from pyptx._loc import SourceLocation, shown_name
from pyptx.check.locations import ptx_lines
from pyptx.debug.errors import DebugError
from pyptx.jit.specialization import Specialization
from pyptx.sim import Program
from pyptx.sim.faults.messages import text_of

__all__ = ["SourceLines", "session_sources", "short_name"]

_LONG_VECTOR = re.compile(r"\{([^,{}]+)(?:, [^,{}]+){3,}, ([^,{}]+)\}")
_END = "the end of the kernel"
_LOCATIONS = 'a Python line "gemm.py:12" or "12", a PTX line "ptx:40", a label "$L_1" or an opcode "op:wgmma"'
_MOST_LINES = 400  # lines of a file beyond those that emitted instructions, in `session_sources`


class SourceLines:
    """Lines of a kernel's Python and PTX, by instruction; lines count from 1."""

    program: Program
    specialization: Specialization
    ptx_text: tuple[str, ...]

    def __init__(self, specialization: Specialization, program: Program):
        self.specialization, self.program = specialization, program
        self._texts: dict[int, str] = {}
        self.ptx_text = tuple(specialization.emitted.text.removesuffix("\n").split("\n"))

    # lines of an instruction ------------------------------------------------------------------------------------------

    def place(self, instruction: int) -> SourceLocation | None:
        """Return the Python location that emitted an instruction; None for loaded PTX and past the last instruction."""
        nodes = self.program.instructions
        place = nodes[instruction].place if 0 <= instruction < len(nodes) else None
        return place if isinstance(place, SourceLocation) else None

    def stack(self, instruction: int) -> tuple[SourceLocation, ...]:
        """Return the location of an instruction and its callers, innermost first."""
        place = self.place(instruction)
        return () if place is None else place.stack

    def text(self, instruction: int) -> str:
        """Return the instruction as PTX, with long register vectors abbreviated."""
        found = self._texts.get(instruction)
        if found is None:
            nodes = self.program.instructions
            found = self._texts[instruction] = (
                _LONG_VECTOR.sub(r"{\1 .. \2}", text_of(nodes[instruction])) if instruction < len(nodes) else _END
            )
        return found

    def ptx(self, instruction: int) -> int | None:
        """Return the PTX line of an instruction; None for an implicit return."""
        nodes = self.program.instructions
        return self._ptx_lines.get(id(nodes[instruction])) if instruction < len(nodes) else None

    def location_text(self, instruction: int) -> str:
        """Return a short location: "gemm.py:12", or "ptx:40" for loaded PTX."""
        place, ptx = self.place(instruction), self.ptx(instruction)
        if place is None:
            return "the end" if ptx is None else f"ptx:{ptx}"
        return f"{short_name(place.file)}:{place.line}"

    def line(self, instruction: int) -> tuple[str, int] | None:
        """Return file and line of the Python, or ("", line) of the PTX if there is no Python."""
        place = self.place(instruction)
        if place is not None:
            return place.file, place.line
        ptx = self.ptx(instruction)
        return None if ptx is None else ("", ptx)

    # call depth -------------------------------------------------------------------------------------------------------

    def on_same_line(self, instruction: int, level: int | None, other: int) -> bool:
        """Return whether a step from the line of `instruction` is still on that line at `other`.

        Args:
            level: call depth of the function to stay in, 0 for the kernel's own; its callees are part of its lines.
                None: the innermost function, whose callees count as other lines.
        """
        own, its = self._outermost_first(instruction), self._outermost_first(other)
        if not own or not its:
            return self.line(instruction) == self.line(other)
        if level is None:
            return [(p.code, p.line) for p in own] == [(p.code, p.line) for p in its]
        level = min(level, len(own) - 1)
        return len(its) > level and all(
            a.code is b.code and a.line == b.line for a, b in zip(own[: level + 1], its, strict=False)
        )

    def level(self, instruction: int, level: int, other: int) -> int:
        """Return the call depth at `other` after a step from depth `level` at `instruction`: the same, or a caller's."""
        for k, (a, b) in enumerate(zip(self._outermost_first(instruction), self._outermost_first(other), strict=False)):
            if a.code is not b.code:
                return max(0, k - 1)
            if k == level or a.line != b.line:
                return k
        return max(0, min(level, len(self._outermost_first(other)) - 1))

    def level_of(self, instruction: int, text: str) -> int | None:
        """Return the call depth at which the stack of an instruction has the line "gemm.py:12"; None if nowhere."""
        stack = enumerate(self._outermost_first(instruction))
        return next((k for k, p in stack if f"{short_name(p.file)}:{p.line}" == text), None)

    def frame(self, instruction: int, level: int | None) -> SourceLocation | None:
        """Return the location of an instruction at a call depth, by default the innermost."""
        stack = self._outermost_first(instruction)
        return None if not stack else stack[-1 if level is None else min(level, len(stack) - 1)]

    def _outermost_first(self, instruction: int) -> tuple[SourceLocation, ...]:
        return self.stack(instruction)[::-1]

    # instructions at a location ---------------------------------------------------------------------------------------

    @cached_property
    def files(self) -> dict[str, list[int]]:
        """Lines that emitted instructions, by Python file."""
        found: dict[str, set[int]] = {}
        for i in range(len(self.program.instructions)):
            for place in self.stack(i):
                found.setdefault(place.file, set()).add(place.line)
        return {file: sorted(lines) for file, lines in found.items()}

    @cached_property
    def labels(self) -> dict[str, list[int]]:
        """Instructions that follow each label or start each function, by name."""
        found: dict[str, list[int]] = {}
        for innermost in {id(scope): scope for _, scope in self.program.symbols.instructions}.values():
            scope = innermost
            while scope is not None:
                for name, at in scope.labels.items():
                    if at not in found.setdefault(name, []):
                        found[name].append(at)
                scope = scope.parent
        for name, body in self.program.symbols.bodies.items():
            found.setdefault(name, []).append(body.start)
        return found

    @cached_property
    def own_file(self) -> str | None:
        """File of the kernel's function."""
        place = self.specialization.entry.place
        if isinstance(place, SourceLocation):
            return place.file
        return next(iter(self.files), None)

    def find(self, text: str) -> tuple[list[int], str]:
        """Return the instructions at a location, and the location in canonical form.

        Raises:
            DebugError: the location is invalid, or has no instruction.
        """
        text = text.strip()
        head, colon, tail = text.rpartition(":")
        if text.startswith("op:"):
            return self._opcode(text[3:])
        if colon and head == "ptx" and tail.isdigit():
            return self._ptx_line(int(tail))
        if tail.isdigit():
            file = head if colon else self.own_file
            return self._ptx_line(int(tail)) if file is None else self._python_line(file, int(tail), text)
        if text in self.labels:
            return sorted(self.labels[text]), text
        raise DebugError(f"no location {text!r}; expected {_LOCATIONS}", hint=self._similar_labels(text))

    def _similar_labels(self, text: str) -> str | None:
        names = [name for name in self.labels if text.strip("$%") and text.strip("$%") in name][:5]
        return f"similar labels: {', '.join(names)}" if names else None

    def _opcode(self, wanted: str) -> tuple[list[int], str]:
        found = [
            i
            for i, node in enumerate(self.program.instructions)
            if node.mnemonic == wanted or node.mnemonic.startswith(wanted + ".")
        ]
        if not found:
            opcodes = ", ".join(sorted({node.opcode for node in self.program.instructions}))
            raise DebugError(f"no instruction {wanted!r} in this kernel; it has {opcodes}")
        return found, f"op:{wanted}"

    def _ptx_line(self, line: int) -> tuple[list[int], str]:
        if not 1 <= line <= len(self.ptx_text):
            raise DebugError(f"no PTX line {line}; the PTX has lines 1 to {len(self.ptx_text)}")
        rest = [(row, i) for i in range(len(self.program.instructions)) if (row := self.ptx(i) or 0) >= line]
        if not rest:
            raise DebugError(f"no instruction at or after PTX line {line}")
        row = min(rest)[0]
        return [i for r, i in rest if r == row], f"ptx:{row}"

    def _python_line(self, file: str, line: int, text: str) -> tuple[list[int], str]:
        files = [known for known in self.files if _matches_file(known, file)]
        if not files:
            known = ", ".join(sorted(map(short_name, self.files))) or "none: it was loaded from PTX, use ptx:LINE"
            raise DebugError(f"no instruction was emitted by {file!r}; files of this kernel: {known}")
        rest = sorted({known for f in files for known in self.files[f] if known >= line})
        if not rest:
            raise DebugError(f"{text}: no instruction was emitted by this line or a later one")
        return list(self._starts(set(files), rest[0])), f"{short_name(files[0])}:{rest[0]}"

    def _starts(self, files: set[str], line: int) -> Iterator[int]:
        """Yield the first instruction of each sequence that a line emitted, one for each time Python executed the line.

        A repeated call site with the same mnemonic as the first instruction of a sequence means that a Python loop
        executed the line again. One call that emits several instructions, or a helper with a loop of its own, does not
        start a new sequence.
        """
        first: tuple[SourceLocation, str] | None = None
        for i, node in enumerate(self.program.instructions):
            stack = self.stack(i)
            if not any(p.file in files and p.line == line for p in stack):
                first = None
            elif first in (None, (stack[0], node.mnemonic)):
                first = stack[0], node.mnemonic
                yield i

    @cached_property
    def _ptx_lines(self) -> dict[int, int]:
        return ptx_lines(self.specialization)


def _matches_file(file: str, wanted: str) -> bool:
    """Return whether a name may refer to a file: its full name, a suffix of its path, or the name of a cell."""
    shown = shown_name(file)
    return wanted in (file, shown) or PurePath(file).parts[-len(PurePath(wanted).parts) :] == PurePath(wanted).parts


def short_name(file: str) -> str:
    """Return the short name of a file: "gemm.py", "Cell In[3]"."""
    shown = shown_name(file)
    return PurePath(file).name if shown == file else shown


def session_sources(lines: SourceLines) -> dict[str, Any]:
    """Return Python files (the parts that emitted instructions), PTX lines, and the links between them, as JSON.

    Returns:
        {"python": [{"file", "name", "first", "lines", "role"}], "ptx": lines, "line_of_ptx", "file_of_ptx",
        "stack_of_ptx"}: for each PTX line the Python line, the index of its file, and all callers, innermost first.
    """
    files = sorted(lines.files, key=lambda file: (file != lines.own_file, file))
    python = []
    for file in files:
        text = [line.rstrip("\n") for line in linecache.getlines(file)]
        first, last = _shown_range(lines, file, len(text))
        python.append(
            {
                "file": file,
                "name": short_name(file),
                "first": first,
                "lines": text[first - 1 : last],
                "role": "kernel" if file == lines.own_file else "helper",
            }
        )
    count = len(lines.ptx_text)
    line_of: list[int | None] = [None] * count
    file_of: list[int | None] = [None] * count
    stack_of: list[list[list[int]]] = [[] for _ in range(count)]
    number = {file: k for k, file in enumerate(files)}
    for i in range(len(lines.program.instructions)):
        place, row = lines.place(i), lines.ptx(i)
        if place is None or row is None:
            continue
        line_of[row - 1], file_of[row - 1] = place.line, number[place.file]
        stack_of[row - 1] = [[number[p.file], p.line] for p in place.stack]
    return {
        "python": python,
        "ptx": list(lines.ptx_text),
        "line_of_ptx": line_of,
        "file_of_ptx": file_of,
        "stack_of_ptx": stack_of,
    }


def _shown_range(lines: SourceLines, file: str, total: int) -> tuple[int, int]:
    """Return the first and last line to show: whole functions, unless that is too much."""
    known = lines.files[file]
    first, last = known[0], known[-1]
    for i in range(len(lines.program.instructions)):
        for p in lines.stack(i):
            if p.file == file:
                first = min(first, p.code.co_firstlineno)
                last = max(last, max((line for *_, line in p.code.co_lines() if line), default=last))
    if last - first > _MOST_LINES + known[-1] - known[0]:
        first, last = known[0], known[-1]
    return max(first, 1), min(max(last, known[-1]), total) if total else 0
