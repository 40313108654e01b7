"""The linked view as static HTML: no script, no style sheet, no ids.

The outermost element sets the colors (`views/_style.py`); without styles, nesting, numbers and order carry the same
information. Code is in `pre` and `samp`, which are monospaced without a style; PTX and SASS are columns of one text.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from pyptx._lazy import pattern
from pyptx.views._style import EDGE, FONT, INK, RAISED, SOFT
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
    share_text,
)
from pyptx.views.code.panes import SassPane
from pyptx.views.code.python_sources import Section

if TYPE_CHECKING:
    from pyptx.views.code.linked import LinkedView

__all__ = ["html"]

PALETTE = ("#4477aa", "#ccbb44", "#aa3377", "#228833", "#ee7733", "#66ccee", "#ee6677", "#009988")  # of linked.css
MAX_COLUMN = 72  # characters of PTX beside SASS; longer lines push theirs to the right
BAR = 12  # characters of the longest bar

_OPCODE = pattern(r"((?:@!?[\w$%]+\s+)?)([A-Za-z]\w*(?:(?:\.|::)\w+)*)(?![\w$]*\s*:)")


def html(view: LinkedView, limit: int = 400) -> str:
    """Render the view with at most `limit` PTX and `limit` SASS lines and the number of lines omitted."""
    budget = _Budget(limit)
    most = max(view.python.sass, default=0)
    body, seen, plain = [], 0, []  # colors repeat as in the live view: one per linked line
    for line in outline(view):
        linked = line.python >= 0 and (view.python.ptx[line.python] > 0 or bool(line.ir))
        if line.section is not None or linked or line.python < 0:
            body += _unlinked(plain)
            plain = []
        if line.section is not None:
            body.append(_heading(view.python.sections[line.section]))
        if linked or line.python < 0:
            body.append(_line(view, line, budget, most, PALETTE[seen % len(PALETTE)] if linked else "transparent"))
        else:
            plain.append(_code(view, line.python))
        seen += linked
    body += _unlinked(plain)
    left = [
        f"{count} more {name} lines"
        for name, count in (("PTX", budget.ptx_omitted), ("SASS", budget.sass_omitted))
        if count
    ]
    more = f'<div style="{SOFT};padding:6px 0">{" and ".join(left)} not shown here.</div>' if left else ""
    return (
        f'<div style="{INK};{FONT};padding:6px 8px;border:1px solid {EDGE};border-radius:4px;overflow-x:auto">'
        f"{_header(view)}{''.join(body)}{more}</div>"
    )


class _Budget:
    """Remaining lines to show, and the number of lines omitted."""

    def __init__(self, limit: int):
        self.ptx, self.sass, self.ptx_omitted, self.sass_omitted = limit, limit, 0, 0

    def take_ptx(self) -> bool:
        self.ptx -= 1
        self.ptx_omitted += self.ptx < 0
        return self.ptx >= 0

    def take_sass(self, count: int) -> int:
        taken = min(count, self.sass)
        self.sass -= taken
        self.sass_omitted += count - taken
        return taken


def _header(view: LinkedView) -> str:
    parts = [
        f'<div style="padding-bottom:4px"><b>{escape(view.title)}</b> '
        f'<span style="{SOFT}">for {escape(view.target)}, PTX {escape(view.ptx_version)}</span></div>'
    ]
    for entry in view.entries:
        name = f"<b>{escape(entry.name)}</b>: " if len(view.entries) > 1 else ""
        used = "; ".join(
            f"{escape(label)} <b>{escape(value)}</b>" + (f" ({escape(note)})" if note else "")
            for label, value, note in facts(entry)
        )
        parts.append(f'<div>{name}{used}</div><div style="{SOFT};padding-bottom:6px">{escape(mix_text(entry))}</div>')
        if peak := live_peak_text(view, entry):
            parts.append(f'<div style="{SOFT};padding-bottom:6px">{escape(peak)}</div>')
    if loops := loops_text(view):
        parts.append(f'<div style="{SOFT};padding-bottom:6px">{loops}</div>')
    parts += [
        f'<div style="padding-bottom:6px"><b>{escape(note.severity)}</b>'
        f"{f', PTX line {note.ptx + 1}' if note.ptx >= 0 else ''}: {escape(note.message)}</div>"
        for note in view.notes
    ]
    if view.check:
        parts.append(f'<div style="padding-bottom:6px">check of <b>{escape(view.check["headline"])}</b></div>')
        parts += [
            f'<div style="padding-bottom:6px">{escape(finding_text(one))}</div>' for one in view.check["findings"]
        ]
    return "".join(parts)


def _heading(section: Section) -> str:
    return (
        f'<div style="{RAISED};padding:2px 6px;margin-top:6px">{escape(section.file)}, '
        f"{escape(section.role)} <b>{escape(section.function)}</b></div>"
    )


def _unlinked(lines: list[str]) -> list[str]:
    """Render Python lines without PTX as one block."""
    return [_pre(escape("\n".join(lines)), "0 0 0 22px")] if lines else []


def _line(view: LinkedView, line: Line, budget: _Budget, most: int, color: str) -> str:
    edge, summary = f"border-left:4px solid {color}", _summary(view, line, most)
    code = "\n".join(filter(None, [_ir(view, line, budget), _columns(view, line, budget)]))
    if not code:
        return f'<div style="{edge};padding-left:18px">{summary}</div>'
    shown = " open" if line.python == Rest.ALL else ""
    return (
        f'<details{shown} style="{edge};padding-left:6px"><summary>{summary}</summary>'
        f"{_pre(code, '0 0 4px 28px')}</details>"
    )


def _summary(view: LinkedView, line: Line, most: int) -> str:
    match line.python:
        case Rest.NO_PYTHON:
            return f"PTX without a Python line ({len(line.ptx)} lines)"
        case Rest.BY_PTXAS:
            return f"Added by ptxas ({len(line.ptx[0][1])} SASS)"
        case Rest.ALL:
            return f"PTX ({len(line.ptx)} lines)" if "ptx" in view.panes else f"SASS ({len(line.ptx[0][1])} lines)"
    python, row = view.python, line.python
    filled = -(-BAR * python.sass[row] // most) if most else 0
    code = escape(_code(view, row).replace(" ", "\u00a0"))  # survives without styles
    return f"<samp>{code}</samp>  <small>{'▪' * filled} {share_text(view, row)}</small>"


def _code(view: LinkedView, row: int) -> str:
    return f"{view.python.line[row]:>4} {view.python.text[row].expandtabs(4)}"


def _ir(view: LinkedView, line: Line, budget: _Budget) -> str:
    """Render the IR of a line; its lines count as PTX lines."""
    if view.ir is None:
        return ""
    rows = [row for row in line.ir if budget.take_ptx()]
    return "\n".join(escape(f"{view.ir.name} {row + 1:>4}    {view.ir.text[row].strip()}") for row in rows)


def _columns(view: LinkedView, line: Line, budget: _Budget) -> str:
    """Render PTX and SASS of a line side by side; a PTX line is level with the first of its SASS lines."""
    left: list[tuple[str, str]] = []  # text, HTML
    right: list[str] = []
    for row, sass_rows in line.ptx:
        if row >= 0 and not budget.take_ptx():
            budget.sass_omitted += len(sass_rows)
            continue
        shown = [_sass(view.sass, sass) for sass in sass_rows[: budget.take_sass(len(sass_rows))]]
        ptx = []
        if row >= 0:
            callers = callers_text(view, row)
            number, code = f"PTX {row + 1:>4} {loop_mark(view.ptx, row)} ", view.ptx.text[row].strip().expandtabs(4)
            after = f"  ({callers})" if callers else ""
            ptx.append((f"{number}{code}{after}", f"{number}{_strong(code)}{escape(after)}"))
        height = max(len(ptx), len(shown))
        left += [*ptx, *[("", "")] * (height - len(ptx))]
        right += [*shown, *[""] * (height - len(shown))]
    width = min(MAX_COLUMN, max((len(text) for text, _ in left), default=0))
    width += 2 if width else 0
    return "\n".join(
        f"{html}{' ' * (width - len(text))}{sass}" if sass else html
        for (text, html), sass in zip(left, right, strict=True)
    )


def _pre(text: str, margin: str) -> str:
    """Return preformatted HTML, monospaced without styles and in spite of nbconvert's."""
    return f'<pre style="font-family:monospace;white-space:pre;margin:{margin}">{text}</pre>'


def _strong(code: str) -> str:
    """Return an escaped PTX or SASS instruction with its mnemonic in bold."""
    found = _OPCODE.match(code)
    return f"{escape(found[1])}<b>{escape(found[2])}</b>{escape(code[found.end() :])}" if found else escape(code)


def _sass(sass: SassPane, row: int) -> str:
    target = f"  → {sass.address[sass.target[row]]:04x}" if sass.target[row] >= 0 else ""
    return (
        f"{sass.address[row]:04x} {loop_mark(sass, row)} {control_text(sass, row)}  {live_text(sass, row)}  "
        f"{_strong(sass.text[row])}{target}"
    )
