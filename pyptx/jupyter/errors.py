"""How a notebook shows what was refused: the cell with an arrow, the PTX line, the tool's words, what would do."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType

from pyptx._loc import PACKAGE_DIR, Place
from pyptx.errors import CompileError, Diagnostic, PtxError
from pyptx.views.code.sources import display_names

__all__ = ["CellSyntaxError", "excerpt", "explain", "remarks", "render", "rendered", "user_traceback",
           "warn"]

AROUND = 2                                              # lines shown before and after the line at fault
MOST = 10                                               # findings shown in full

_HIDDEN = (PACKAGE_DIR,)


class CellSyntaxError(PtxError):
    """The cell is not Python. (IPython shows a SyntaxError raised by a magic with the magic's own frames.)"""

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


def explain(shell, error: Exception, about: str = "", ptx: Callable[[], str] = lambda: "") -> None:
    """Let IPython show the error at the lines of the cell, without our own frames; arguments as of `render`."""
    if isinstance(error, PtxError) and (error.place is not None or isinstance(error, CompileError)):
        text = ptx() if isinstance(error, CompileError) else ""
        colour = shell.colors.lower() not in ("nocolor", "")
        lines = render(error, ptx=text, about=about, colour=colour)
    else:
        lines = shell.InteractiveTB.structured_traceback(type(error), error, user_traceback(error.__traceback__))
    rendered(error, lines)


def rendered(error: BaseException, lines: list[str]) -> BaseException:
    """The error, shown as these lines by IPython."""
    error._render_traceback_ = lambda: lines
    return error


def render(error: PtxError, *, ptx: str = "", about: str = "", colour: bool = True) -> list[str]:
    """The lines a front end shows for an error.

    Args:
        ptx: the PTX text that line numbers of diagnostics refer to, when there is one.
        about: what was being done, "saxpy for sm_90a".
        colour: use ANSI colours.
    """
    paint = _ansi if colour else _plain
    findings = error.diagnostics if isinstance(error, CompileError) else (
        Diagnostic("error", error.message, hint=error.hint, place=error.place),)
    title = paint(type(error).__name__, "31")
    count = len(findings)
    if isinstance(error, CompileError):
        what = f"{count} findings" if count > 1 else (findings[0].message.partition("\n")[0] if findings else "")
        lines = [f"{title}: {about + ': ' if about else ''}{error.message or what}"]
    else:
        lines = [f"{title}: {error.message}"]
    different = _repeats(findings)
    for number, (finding, again) in enumerate(different[:MOST]):
        lines.append("")
        lines += _finding(finding, ptx.split("\n"), paint, f"({number + 1}) " if len(different) > 1 else "",
                          say=isinstance(error, CompileError))
        if again:
            also = [str(other.line) for other in again if other.line is not None]
            lines.append(f"and {len(again)} more times" + (f", PTX lines {', '.join(also[:MOST])}" if also else "")
                         + (" ..." if len(also) > MOST else ""))
    if len(different) > MOST:
        lines += ["", f"and {sum(1 + len(again) for _, again in different[MOST:])} more findings"]
    return lines


def _repeats(findings: Sequence[Diagnostic]) -> list[tuple[Diagnostic, list[Diagnostic]]]:
    """Findings that say different things, each with those that say the same of the same place: an unrolled loop."""
    found: dict[tuple, list[Diagnostic]] = {}
    for finding in findings:
        where = id(finding) if finding.place is None else (str(finding.place), finding.place.position)
        found.setdefault((finding.severity, finding.message, where), []).append(finding)
    return [(first, again) for first, *again in found.values()]


def remarks(findings: Sequence[Diagnostic], *, ptx: str = "", about: str = "", colour: bool = True) -> list[str]:
    """The lines a front end shows for warnings: as `render`, without an error."""
    paint = _ansi if colour else _plain
    count = f"{len(findings)} warnings" if len(findings) > 1 else "1 warning"
    lines = [f"{about + ': ' if about else ''}{paint(count, '33')}"]
    for finding in findings[:MOST]:
        lines += ["", *_finding(finding, ptx.split("\n"), paint, "", say=True)]
    return [*lines, "", f"and {len(findings) - MOST} more"] if len(findings) > MOST else lines


def warn(shell, findings: Sequence[Diagnostic], ptx: str, about: str) -> None:
    """Show warnings at the lines of the cell, where a front end shows Python's own; arguments as of `remarks`."""
    if findings:
        colour = shell.colors.lower() not in ("nocolor", "")
        print("\n".join(remarks(findings, ptx=ptx, about=about, colour=colour)), file=sys.stderr)


def excerpt(place: Place, paint: Callable[[str, str], str]) -> Iterator[str]:
    """The line of a place with its neighbours, an arrow in front and the expression underlined."""
    source, (line, end_line, start, end) = linecache.getlines(place.file), place.position
    shown = display_names([place.file])[place.file]
    inside = "" if place.function == "<ptx>" else f", in {paint(place.function, '36')}"
    yield f"{paint(shown, '32')}, line {line}{inside}"
    for number in range(max(1, line - AROUND), min(len(source), line + AROUND) + 1):
        text = source[number - 1].rstrip()
        if number != line:
            yield f"{number:>9} {text}".rstrip()
            continue
        yield paint(f"----> {number:>3} ", "32") + text
        indent = len(text) - len(text.lstrip())
        stop = end if end_line == line and end is not None else len(text)
        if start is not None and stop > max(start, indent):
            yield " " * (10 + max(start, indent)) + paint("^" * (stop - max(start, indent)), "31")


def _finding(finding: Diagnostic, ptx: Sequence[str], paint, number: str, say: bool) -> Iterator[str]:
    place = finding.place
    if place is not None:
        yield from excerpt(place, paint)
        names = display_names(caller.file for caller in place.stack)
        yield from (f"          called from {names[caller.file]}, line {caller.line}: {caller.source_line.strip()}"
                    for caller in place.stack[1:])
    line = ptx[finding.line - 1].strip() if finding.line is not None and 0 < finding.line <= len(ptx) else ""
    if line or finding.line is not None:
        yield f"PTX line {finding.line}:  {line}".rstrip(" :")
    if say:
        yield f"{number}{paint(finding.severity, '31' if finding.severity == 'error' else '33')}: {finding.message}"
    if finding.hint and not (line and line in finding.hint):
        yield f"hint: {finding.hint}"


def user_traceback(traceback: TracebackType | None, skip: Sequence[str] = ()) -> TracebackType | None:
    """The traceback without the frames of pyptx and of the files in `skip`; all of it when nothing would be left."""
    kept = []
    here = traceback
    while here is not None:
        file = here.tb_frame.f_code.co_filename
        made_by_us = here.tb_frame.f_globals.get("__name__", "").startswith("pyptx.")       # a dataclass's __init__
        if not (made_by_us or _ours(file) or file in skip):
            kept.append(here)
        here = here.tb_next
    result = None
    for entry in reversed(kept):
        result = TracebackType(result, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return result or traceback


def _ours(file: str) -> bool:
    return file.startswith(_HIDDEN) or file.startswith(str(Path(sys.modules["IPython"].__file__).parent))


def _ansi(text: str, code: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m"


def _plain(text: str, code: str) -> str:
    return text
