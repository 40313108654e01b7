"""The linked view for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pyptx._frozen import frozen
from pyptx.views.code.check_rows import finding_text
from pyptx.views.code.outline import (
    Line,
    Rest,
    callers_text,
    control_text,
    facts,
    live_peak_text,
    live_text,
    loop_mark,
    loops_text,
    mix_text,
    outline,
    profile_text,
    samples_text,
    share_text,
)

if TYPE_CHECKING:
    from pyptx.views.code.linked import LinkedView

__all__ = ["text"]


def text(view: LinkedView, limit: int | None = None, color: bool = False) -> str:
    """Render the summary, then each Python line with its IR and PTX below it and the SASS of each PTX line below that."""
    lines = list(_lines(view, _Code.of(view, color)))
    if limit is not None and len(lines) > limit:
        lines[limit:] = [f"... {len(lines) - limit} more lines; .text() shows all, .page() is the live view"]
    return "\n".join(lines)


@frozen
class _Code:
    """The code of each row, optionally with ANSI colors."""

    python: Sequence[str]
    ptx: Sequence[str]
    sass: Sequence[str]
    ir: Sequence[str] = ()

    @classmethod
    def of(cls, view: LinkedView, color: bool) -> _Code:
        python, ptx = view.python.text, [line.strip() for line in view.ptx.text]
        ir = view.ir.text if view.ir else ()
        if not color:
            return cls(python, ptx, view.sass.text, ir)
        from pyptx.views.code.colors import highlight_lines  # imported on use, because Pygments is slow to load

        return cls(
            highlight_lines("python", python), highlight_lines("ptx", ptx), highlight_lines("sass", view.sass.text), ir
        )


def _lines(view: LinkedView, code: _Code) -> Iterator[str]:
    yield f"{view.title} for {view.target}, PTX {view.ptx_version}"
    for entry in view.entries:
        yield "  " + (f"{entry.name}: " if len(view.entries) > 1 else "") + "; ".join(map(_fact, facts(entry)))
        yield f"  {mix_text(entry)}"
        if peak := live_peak_text(view, entry):
            yield f"  {peak}"
    if loops := loops_text(view):
        yield f"  {loops}"
    if view.profiled:
        yield f"  measured counters: {profile_text(view)}"
    for note in view.notes:
        yield f"  {note.severity}{f', PTX line {note.ptx + 1}' if note.ptx >= 0 else ''}: {note.message}"
    if view.check:
        yield f"  check of {view.check['headline']}"
        yield from (f"    {finding_text(found)}" for found in view.check["findings"])
    for line in outline(view):
        yield from _python(view, line, code)
        name = view.ir.name if view.ir else ""
        for row in line.ir:
            yield f"        {name} {row + 1:>4}    {code.ir[row].strip()}"
        for row, sass_rows in line.ptx:
            if row >= 0:
                callers = callers_text(view, row)
                text = f"{code.ptx[row]}{callers and f'    ({callers})'}"
                yield f"        PTX {row + 1:>4} {loop_mark(view.ptx, row)} {text}".rstrip()
            yield from (_sass(view, sass, code.sass[sass]) for sass in sass_rows)


def _fact(fact: tuple[str, str, str]) -> str:
    label, value, note = fact
    return f"{label} {value}" + (f" ({note})" if note else "")


def _python(view: LinkedView, line: Line, code: _Code) -> Iterator[str]:
    python = view.python
    if line.section is not None:
        section = python.sections[line.section]
        yield ""
        yield f"{section.file}, {section.role} {section.function}"
    match line.python:
        case Rest.NO_PYTHON:
            yield ""
            yield "PTX without a Python line"
        case Rest.BY_PTXAS:
            yield ""
            yield "Added by ptxas"
        case Rest.ALL:
            yield ""
        case row:
            count = f"  [{share_text(view, row)}]" if python.ptx[row] else ""
            yield f"{python.line[row]:>5} | {code.python[row]}{count}".rstrip()


def _sass(view: LinkedView, row: int, code: str) -> str:
    sass = view.sass
    target = f"  -> {sass.address[sass.target[row]]:04x}" if sass.target[row] >= 0 else ""
    control = f"{control_text(sass, row)}  {live_text(sass, row)}"
    if (samples := sass.profile.get("samples")) and samples[row] > 0:
        control += f"  {samples_text(samples[row], view)}"
        control += f" ({sass.profile_stalls[row]})" if sass.profile_stalls[row] else ""
    room = " " * max(1, 45 - len(sass.text[row]))
    return f"            {sass.address[row]:04x} {loop_mark(sass, row)} {code}{room}{control}{target}"
