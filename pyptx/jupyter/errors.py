"""Errors and warnings as a notebook shows them: the line of the cell, the PTX line, the message and the hint."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType

import IPython
from IPython.core.interactiveshell import InteractiveShell

from pyptx._loc import PACKAGE_DIR, SourceLocation
from pyptx.errors import CompileError, Diagnostic, PtxError
from pyptx.views.code.python_sources import display_names

__all__ = [
    "CellSyntaxError",
    "attach_traceback",
    "excerpt",
    "hide_internal_frames",
    "print_warnings",
    "render_error",
    "render_warnings",
    "set_rendering",
    "user_traceback",
]

CONTEXT_LINES = 2  # shown before and after the reported line
MAX_FINDINGS = 10  # shown in full

_HIDDEN = (PACKAGE_DIR, str(Path(IPython.__file__).parent))

Paint = Callable[[str, str], str]  # (text, ANSI code) -> text


class CellSyntaxError(PtxError):
    """Invalid Python in a cell or option. IPython would show a SyntaxError raised by a magic with the magic's frames."""

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


def attach_traceback(
    shell: InteractiveShell, error: Exception, about: str = "", ptx: Callable[[], str] = lambda: ""
) -> None:
    """Make IPython show the error at the lines of the cell, without frames of pyptx; arguments as for `render_error`."""
    if isinstance(error, PtxError) and (error.place is not None or isinstance(error, CompileError)):
        text = ptx() if isinstance(error, CompileError) else ""
        color = shell.colors.lower() not in ("nocolor", "")
        lines = render_error(error, ptx=text, about=about, color=color)
    else:
        lines = shell.InteractiveTB.structured_traceback(type(error), error, user_traceback(error.__traceback__))
    set_rendering(error, lines)


def set_rendering(error: BaseException, lines: list[str]) -> BaseException:
    """Make IPython show the error as these lines; return the error."""
    error._render_traceback_ = lambda: lines  # pyright: ignore[reportAttributeAccessIssue]  (IPython's protocol)
    return error


def render_error(error: PtxError, *, ptx: str = "", about: str = "", color: bool = True) -> list[str]:
    """Return the lines a front end shows for an error.

    Args:
        ptx: the PTX text that line numbers of diagnostics refer to, if any.
        about: what was compiled, such as "saxpy for sm_90a".
        color: use ANSI escape codes.
    """
    paint = _ansi if color else _plain
    findings = (
        error.diagnostics
        if isinstance(error, CompileError)
        else (Diagnostic("error", error.message, hint=error.hint, place=error.place),)
    )
    title = paint(type(error).__name__, "31")
    count = len(findings)
    if isinstance(error, CompileError):
        what = f"{count} findings" if count > 1 else (findings[0].message.partition("\n")[0] if findings else "")
        lines = [f"{title}: {about + ': ' if about else ''}{error.message or what}"]
    else:
        lines = [f"{title}: {error.message}"]
    different = _group_repeats(findings)
    for number, (finding, again) in enumerate(different[:MAX_FINDINGS]):
        lines.append("")
        lines += _finding(
            finding,
            ptx.split("\n"),
            paint,
            f"({number + 1}) " if len(different) > 1 else "",
            message=isinstance(error, CompileError),
        )
        if again:
            also = [str(other.line) for other in again if other.line is not None]
            lines.append(
                f"and {len(again)} more times"
                + (f", PTX lines {', '.join(also[:MAX_FINDINGS])}" if also else "")
                + (" ..." if len(also) > MAX_FINDINGS else "")
            )
    if len(different) > MAX_FINDINGS:
        lines += ["", f"and {sum(1 + len(again) for _, again in different[MAX_FINDINGS:])} more findings"]
    return lines


def _group_repeats(findings: Sequence[Diagnostic]) -> list[tuple[Diagnostic, list[Diagnostic]]]:
    """Group findings with the same message at the same place, as an unrolled loop produces: (first, repeats)."""
    found: dict[tuple, list[Diagnostic]] = {}
    for finding in findings:
        where = id(finding) if finding.place is None else (str(finding.place), finding.place.position)
        found.setdefault((finding.severity, finding.message, where), []).append(finding)
    return [(first, again) for first, *again in found.values()]


def render_warnings(findings: Sequence[Diagnostic], *, ptx: str = "", about: str = "", color: bool = True) -> list[str]:
    """Return the lines a front end shows for warnings; arguments as for `render_error`."""
    paint = _ansi if color else _plain
    count = f"{len(findings)} warnings" if len(findings) > 1 else "1 warning"
    lines = [f"{about + ': ' if about else ''}{paint(count, '33')}"]
    for finding in findings[:MAX_FINDINGS]:
        lines += ["", *_finding(finding, ptx.split("\n"), paint, "", message=True)]
    return [*lines, "", f"and {len(findings) - MAX_FINDINGS} more"] if len(findings) > MAX_FINDINGS else lines


def print_warnings(shell: InteractiveShell, findings: Sequence[Diagnostic], ptx: str, about: str) -> None:
    """Print warnings at the lines of the cell to stderr, as Python's own; arguments as for `render_warnings`."""
    if findings:
        color = shell.colors.lower() not in ("nocolor", "")
        print("\n".join(render_warnings(findings, ptx=ptx, about=about, color=color)), file=sys.stderr)


def excerpt(place: SourceLocation, paint: Paint) -> Iterator[str]:
    """Yield the source lines around a place, with an arrow at its line and the expression underlined."""
    source, (line, end_line, start, end) = linecache.getlines(place.file), place.position
    shown = display_names([place.file])[place.file]
    inside = "" if place.function == "<ptx>" else f", in {paint(place.function, '36')}"
    yield f"{paint(shown, '32')}, line {line}{inside}"
    for number in range(max(1, line - CONTEXT_LINES), min(len(source), line + CONTEXT_LINES) + 1):
        text = source[number - 1].rstrip()
        if number != line:
            yield f"{number:>9} {text}".rstrip()
            continue
        yield paint(f"----> {number:>3} ", "32") + text
        indent = len(text) - len(text.lstrip())
        stop = end if end_line == line and end is not None else len(text)
        if start is not None and stop > max(start, indent):
            yield " " * (10 + max(start, indent)) + paint("^" * (stop - max(start, indent)), "31")


def _finding(finding: Diagnostic, ptx: Sequence[str], paint: Paint, number: str, *, message: bool) -> Iterator[str]:
    place = finding.place
    if place is not None:
        yield from excerpt(place, paint)
        names = display_names(caller.file for caller in place.stack)
        yield from (
            f"          called from {names[caller.file]}, line {caller.line}: {caller.source_line.strip()}"
            for caller in place.stack[1:]
        )
    line = ptx[finding.line - 1].strip() if finding.line is not None and 0 < finding.line <= len(ptx) else ""
    if line or finding.line is not None:
        yield f"PTX line {finding.line}:  {line}".rstrip(" :")
    if message:
        yield f"{number}{paint(finding.severity, '31' if finding.severity == 'error' else '33')}: {finding.message}"
    if finding.hint and not (line and line in finding.hint):
        yield f"hint: {finding.hint}"


def user_traceback(traceback: TracebackType | None, skip: Sequence[str] = ()) -> TracebackType | None:
    """Return the traceback without frames of pyptx, IPython and the files in `skip`; unchanged if none remains."""
    kept = []
    here = traceback
    while here is not None:
        file = here.tb_frame.f_code.co_filename
        generated = here.tb_frame.f_globals.get("__name__", "").startswith("pyptx.")  # a dataclass's __init__
        if not (generated or _internal(file) or file in skip):
            kept.append(here)
        here = here.tb_next
    result = None
    for entry in reversed(kept):
        result = TracebackType(result, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return result or traceback


def _internal(file: str) -> bool:
    return file.startswith(_HIDDEN)


def _ansi(text: str, code: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m"


def _plain(text: str, code: str) -> str:
    return text


def hide_internal_frames(shell: InteractiveShell) -> Callable[[], None]:
    """Show errors of ordinary cells without frames of pyptx; `%tb` and `%xmode Verbose` still show them.

    Does nothing when another extension has registered a handler of exceptions.

    Returns:
        A function that undoes it.
    """
    if shell.custom_exceptions:
        return lambda: None

    def show(
        shell: InteractiveShell,
        kind: type[BaseException],
        error: BaseException,
        traceback: TracebackType | None,
        tb_offset: int | None = None,
    ) -> None:
        every = shell.InteractiveTB.mode == "Verbose" or hasattr(error, "_render_traceback_")
        hidden = 0 if every else _frame_count(traceback) - _frame_count(user_traceback(traceback))
        if hidden < 2:  # IPython's own frame, which it hides itself
            shell.showtraceback((kind, error, traceback), tb_offset=tb_offset, running_compiled_code=True)
            return
        lines = shell.InteractiveTB.structured_traceback(kind, error, user_traceback(traceback), tb_offset=0)
        set_rendering(error, [*lines, "(frames of pyptx are hidden; %tb shows them)"])
        try:
            shell.showtraceback((kind, error, traceback), running_compiled_code=True)
        finally:
            del error._render_traceback_  # pyright: ignore[reportAttributeAccessIssue]  (IPython's protocol)

    shell.set_custom_exc((Exception,), show)
    handler = shell.CustomTB

    def undo() -> None:
        if shell.CustomTB is handler:  # no other extension has replaced it since
            shell.set_custom_exc((), None)

    return undo


def _frame_count(traceback: TracebackType | None) -> int:
    count = 0
    while traceback is not None:
        count, traceback = count + 1, traceback.tb_next
    return count
