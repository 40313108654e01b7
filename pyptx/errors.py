"""Exception classes and diagnostics: what was refused, where in the author's source, and a suggested fix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pyptx._frozen import frozen
from pyptx._loc import SourceLocation

__all__ = [
    "ArgumentTypeError",
    "ArgumentValueError",
    "AssembleError",
    "BackendError",
    "BoundsError",
    "CompileError",
    "DeviceError",
    "Diagnostic",
    "FormError",
    "InputError",
    "LaunchError",
    "MissingSizeError",
    "MissingToolError",
    "NoValueError",
    "OperandError",
    "OptionError",
    "PtxError",
    "PtxValidationError",
    "RemoteError",
    "ShapeError",
    "SharedMemoryError",
    "SimulationError",
    "TableError",
    "ToolError",
    "TraceError",
    "UnknownAttributeError",
    "UnknownNameError",
    "UnsupportedError",
]


@frozen
class Diagnostic:
    """One error or warning about PTX.

    Attributes:
        severity: "error" or "warning".
        line: 1-based line of the PTX text, or None.
        column, end_column: 0-based columns in that line, or None.
        hint: suggested fix, or None.
        place: Python source location that emitted the line, or None.
    """

    severity: str
    message: str
    line: int | None = None
    column: int | None = None
    end_column: int | None = None
    hint: str | None = None
    place: SourceLocation | None = None

    def __str__(self) -> str:
        return format_message(self.message, self.place, self.hint, self.line)


def format_message(
    message: str, place: SourceLocation | None, hint: str | None = None, ptx_line: int | None = None
) -> str:
    """Return the message preceded by its source location, with the underlined source line and the hint below."""
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
    """Base class of all errors that pyptx raises on purpose.

    Every subclass that is raised also derives from the one built-in exception that fits it, so that code which knows
    nothing of pyptx can still catch it.

    Attributes:
        message: the text without place and hint.
        place: Python source location that caused the error, or None.
        hint: suggested fix, or None.
    """

    message: str
    place: SourceLocation | None
    hint: str | None

    def __init__(self, message: str, *, at: SourceLocation | None = None, hint: str | None = None):
        super().__init__(message)
        self.message, self.place, self.hint = message, at, hint

    def __str__(self) -> str:
        return format_message(self.message, self.place, self.hint)


class TableError(PtxError, ValueError):
    """A row of the ISA table contradicts itself; raised while the table is imported."""


class TraceError(PtxError, RuntimeError):
    """The kernel's Python code does something that cannot be traced."""


class OperandError(PtxError, TypeError):
    """A Python value cannot be an operand of an instruction, or an argument of a DSL function."""


class NoValueError(OperandError):
    """A register is used where Python needs a concrete value: a condition, an index, an iterable."""


class InputError(PtxError, ValueError):
    """A text or a value is malformed: a constant expression, a parameter declaration, a type name."""


class ShapeError(PtxError, ValueError):
    """A shape, a count, or an extent is out of range."""


class SharedMemoryError(ShapeError):
    """A kernel allocates more shared memory than a CTA has."""


class UnknownAttributeError(PtxError, AttributeError):
    """A module or an object of the DSL has no attribute of this name."""


class BoundsError(PtxError, IndexError):
    """An index is out of range."""


class OptionError(PtxError, ValueError):
    """An option, a name from a fixed set, a file format, or an environment variable has an invalid value."""


class UnknownNameError(PtxError, KeyError):
    """A name is not defined: an entry, a kernel, a version, a register."""


class UnsupportedError(PtxError, NotImplementedError):
    """The request is valid, but pyptx does not support it."""


class FormError(PtxError, ValueError):
    """No form of the ISA table matches an instruction."""


class LaunchError(PtxError):
    """Base class of errors about a launch. Nothing was launched."""


class ArgumentTypeError(LaunchError, TypeError):
    """An argument of a launch has the wrong type or dtype, is missing, or is surplus."""


class ArgumentValueError(LaunchError, ValueError):
    """An argument of a launch, or its launch configuration, has an invalid value: a shape, a size, an alignment."""


class BackendError(LaunchError, RuntimeError):
    """The backend cannot run the launch: a driver, a GPU, a package, or the simulator core is missing or too old."""


class MissingSizeError(LaunchError, KeyError):
    """A symbolic size was not given and cannot be read off an argument."""


class DeviceError(PtxError, RuntimeError):
    """A GPU or its driver failed. `code` is the CUDA driver's error number (`CUresult`)."""

    def __init__(self, message: str, *, code: int = 0, at: SourceLocation | None = None, hint: str | None = None):
        super().__init__(message, at=at, hint=hint)
        self.code = code


class RemoteError(PtxError, ConnectionError):
    """Another machine cannot be reached, cannot serve, or the connection to it was lost."""


class SimulationError(PtxError, RuntimeError):
    """The simulator does not support the program, or the program trapped.

    Attributes:
        kind: kind of trap, for example "bounds" or "deadlock"; None when the program cannot be run at all.
        instructions: indices, in the entry, of the instructions involved, the faulting one first.
        diagnostics: forms of a program that are not simulated, each with its place.
    """

    kind: str | None
    instructions: tuple[int, ...]
    diagnostics: tuple[Diagnostic, ...]

    def __init__(
        self,
        message: str,
        *,
        at: SourceLocation | None = None,
        hint: str | None = None,
        kind: str | None = None,
        instructions: Sequence[int] = (),
        diagnostics: Sequence[Diagnostic] = (),
    ):
        super().__init__(message, at=at, hint=hint)
        self.kind, self.instructions, self.diagnostics = kind, tuple(instructions), tuple(diagnostics)


class ToolError(PtxError, RuntimeError):
    """An NVIDIA tool failed; the message contains its log."""


class MissingToolError(ToolError):
    """A tool of the CUDA toolkit or an optional package was not found. The hint says how to install it."""


class _DiagnosticsError(PtxError):
    """Base class of errors that carry several diagnostics."""

    diagnostics: tuple[Diagnostic, ...]

    def __init__(self, diagnostics: Sequence[Diagnostic], *, summary: str = ""):
        self.diagnostics = tuple(diagnostics)
        first = self.diagnostics[0] if self.diagnostics else None
        super().__init__(summary, at=first.place if first else None)

    def __str__(self) -> str:
        texts = Counter(map(str, self.diagnostics))  # an unrolled loop repeats a diagnostic for each iteration
        return "\n".join(
            filter(
                None,
                [self.message, *(f"{text}\n({count} times)" if count > 1 else text for text, count in texts.items())],
            )
        )


class CompileError(_DiagnosticsError, ValueError):
    """The ISA table or the assembler refused the module; `diagnostics` holds every finding with its Python place."""


class AssembleError(_DiagnosticsError, ToolError):
    """The assembler refused the PTX text; `diagnostics` carry PTX lines."""


class PtxValidationError(FormError):
    """The ISA table refuses an instruction written through a typed wrapper.

    The text is the mnemonic (`instruction`, else the one of the first issue), the messages, and then the Python line
    unless the text already starts with it.

    Attributes:
        issues: the messages, one for each fault.
        user_frame: text that names the Python line.
    """

    issues: list[object]
    user_frame: str | None

    def __init__(
        self,
        issues: Sequence[object],
        *,
        user_frame: str | None = None,
        instruction: str = "",
        at: SourceLocation | None = None,
        hint: str | None = None,
    ):
        self.issues, self.user_frame = list(issues), user_frame if user_frame is not None else (str(at) if at else None)
        texts = [getattr(issue, "message", None) or str(issue) for issue in self.issues]
        if not instruction and self.issues:
            instruction = getattr(getattr(self.issues[0], "instruction", None), "mnemonic", "")
        super().__init__("\n".join(filter(None, [instruction, *texts])), at=at, hint=hint)

    def __str__(self) -> str:
        text = super().__str__()
        named = text.startswith(f"{self.user_frame}:")
        return f"{text}\nat {self.user_frame}" if self.user_frame and not named else text
