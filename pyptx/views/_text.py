"""The linked view for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from pyptx.views.outline import (
    Line,
    callers_text,
    control_text,
    facts,
    live_text,
    loop_mark,
    loops_text,
    mix_text,
    outline,
    share_text,
)

__all__ = ["text"]


def text(view, limit: int | None = None) -> str:
    """Summary, then each Python line with its PTX below it and the SASS of each PTX line below that."""
    lines = list(_lines(view))
    if limit is not None and len(lines) > limit:
        lines[limit:] = [f"... {len(lines) - limit} more lines; .text() shows all, .page() is the live view"]
    return "\n".join(lines)


def _lines(view) -> Iterator[str]:
    yield f"{view.title} for {view.target}, PTX {view.ptx_version}"
    for entry in view.entries:
        yield "  " + (f"{entry.name}: " if len(view.entries) > 1 else "") + "; ".join(map(_fact, facts(entry)))
        yield f"  {mix_text(entry)}"
    if loops := loops_text(view):
        yield f"  {loops}"
    for note in view.notes:
        yield f"  {note.severity}{f', PTX line {note.ptx + 1}' if note.ptx >= 0 else ''}: {note.message}"
    for line in outline(view):
        yield from _python(view, line)
        for row, sass_rows in line.ptx:
            if row >= 0:
                callers = callers_text(view, row)
                text = f"{view.ptx.text[row].strip()}{callers and f'    ({callers})'}"
                yield f"        PTX {row + 1:>4} {loop_mark(view.ptx, row)} {text}".rstrip()
            yield from (_sass(view.sass, sass) for sass in sass_rows)


def _fact(fact: tuple[str, str, str]) -> str:
    label, value, note = fact
    return f"{label} {value}" + (f" ({note})" if note else "")


def _python(view, line: Line) -> Iterator[str]:
    python = view.python
    if line.section is not None:
        section = python.sections[line.section]
        yield ""
        yield f"{section.file}, {section.role} {section.function}"
    match line.python:
        case -1:
            yield ""
            yield "PTX without a Python line"
        case -2:
            yield ""
            yield "Added by ptxas"
        case row:
            count = f"  [{share_text(view, row)}]" if python.ptx[row] else ""
            yield f"{python.line[row]:>5} | {python.text[row]}{count}".rstrip()


def _sass(sass, row: int) -> str:
    target = f"  -> {sass.address[sass.target[row]]:04x}" if sass.target[row] >= 0 else ""
    control = f"{control_text(sass, row)}  {live_text(sass, row)}"
    return f"            {sass.address[row]:04x} {loop_mark(sass, row)} {sass.text[row]:<44} {control}{target}"
