"""Errors that say what was refused, what would do, and where the author wrote it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pyptx._loc import Place

__all__ = ["AssembleError", "CompileError", "DeviceError", "Diagnostic", "FormError", "LaunchError",
           "MissingSizeError", "MissingToolError", "NoValueError", "PtxError", "PtxValidationError", "ShapeError",
           "SimulationError", "TableError", "ToolError", "TraceError"]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding about PTX. `line` and columns are those of the PTX text (1-based line, 0-based columns)."""

    severity: str                       # "error" | "warning"
    message: str
    line: int | None = None
    column: int | None = None
    end_column: int | None = None
    hint: str | None = None
    place: Place | None = None

    def __str__(self) -> str:
        return format_message(self.message, self.place, self.hint, self.line)


def format_message(message: str, place: Place | None, hint: str | None = None, ptx_line: int | None = None) -> str:
    """The message with its place in front, the source line with the expression underlined, and the hint."""
    lines = []
    if place is not None:
        lines.append(f"{place}: {message}")
        text, (line, end_line, start, end) = place.source_line, place.position
        if text.strip():
            lines.append("    " + text.strip())
            indent = len(text) - len(text.lstrip())
            stop = end if end_line == line and end is not None else len(text)
            if start is not None and start >= indent and stop > start:
                lines.append("    " + " " * (start - indent) + "^" * (stop - start))
        lines.extend(f"    called from {caller}" for caller in place.stack[1:])
    elif ptx_line is not None:
        lines.append(f"PTX line {ptx_line}: {message}")
    else:
        lines.append(message)
    if hint:
        lines.append(f"hint: {hint}")
    return "\n".join(lines)


class PtxError(Exception):
    """Base of pyptx's errors. `at` is the Python place that caused it, `hint` what would do."""

    def __init__(self, message: str, *, at: Place | None = None, hint: str | None = None):
        super().__init__(message)
        self.message, self.place, self.hint = message, at, hint

    def __str__(self) -> str:
        return format_message(self.message, self.place, self.hint)


class TableError(PtxError):
    """A row of the ISA table contradicts itself; raised while importing it."""


class TraceError(PtxError, RuntimeError):
    """The kernel's Python did something that cannot be traced."""


class NoValueError(TraceError, TypeError):
    """A register where Python needs a value: a condition, an index, something to iterate over."""


class ShapeError(PtxError, ValueError):
    """A shape, index or count outside its range."""


class FormError(PtxError, ValueError):
    """An instruction that no form of the table fits."""


class LaunchError(PtxError, TypeError, ValueError):
    """Arguments that do not fit the kernel; nothing was launched."""


class MissingSizeError(LaunchError, KeyError):
    """A size that no array tells and nobody gave."""


class DeviceError(PtxError, RuntimeError):
    """A GPU or its driver failed. `code` is the driver's number of the error."""

    def __init__(self, message: str, *, code: int = 0, at: Place | None = None, hint: str | None = None):
        super().__init__(message, at=at, hint=hint)
        self.code = code


class SimulationError(PtxError, RuntimeError):
    """The simulator cannot run the program, or the program did something that traps.

    Attributes:
        kind: what trapped, "bounds" or "deadlock" say; None when the program cannot be run.
        instructions: numbers, in the entry, of those it is about, the one at fault first.
    """

    def __init__(self, message: str, *, at: Place | None = None, hint: str | None = None, kind: str | None = None,
                 instructions: Sequence[int] = ()):
        super().__init__(message, at=at, hint=hint)
        self.kind, self.instructions = kind, tuple(instructions)


class ToolError(PtxError, RuntimeError):
    """An NVIDIA tool failed; the message holds its log."""


class MissingToolError(ToolError):
    """A tool was not found. The message contains "CUDA toolkit" and says how to get it."""


class _Many(PtxError):
    def __init__(self, diagnostics: Sequence[Diagnostic], *, summary: str = ""):
        self.diagnostics = tuple(diagnostics)
        first = self.diagnostics[0] if self.diagnostics else None
        super().__init__(summary, at=first.place if first else None)

    def __str__(self) -> str:
        said = Counter(map(str, self.diagnostics))              # a line of an unrolled loop says the same each time
        return "\n".join(filter(None, [self.message, *(f"{text}\n({count} times)" if count > 1 else text
                                                       for text, count in said.items())]))


class CompileError(_Many, ValueError):
    """What the table or the assembler refused, all of it together, each with its Python place."""


class AssembleError(_Many, ToolError):
    """The assembler refused the text; diagnostics carry PTX lines."""


class PtxValidationError(FormError):
    """An instruction written through a typed wrapper that the table refuses.

    Attributes:
        issues: the messages, one per fault.
        user_frame: text naming the Python line.

    The text is opcode and modifiers (`instruction`, else those of the first issue), the messages, then the line when it
    is not told before them.
    """

    def __init__(self, issues: Sequence[object], *, user_frame: str | None = None, instruction: str = "",
                 at: Place | None = None, hint: str | None = None):
        self.issues, self.user_frame = list(issues), user_frame if user_frame is not None else (str(at) if at else None)
        texts = [getattr(issue, "message", None) or str(issue) for issue in self.issues]
        if not instruction and self.issues:
            instruction = getattr(getattr(self.issues[0], "instruction", None), "mnemonic", "")
        super().__init__("\n".join(filter(None, [instruction, *texts])), at=at, hint=hint)

    def __str__(self) -> str:
        text = super().__str__()
        told = text.startswith(f"{self.user_frame}:")       # the place of the error, which comes first
        return f"{text}\nat {self.user_frame}" if self.user_frame and not told else text
