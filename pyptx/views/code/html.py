"""The linked view as HTML that needs nothing: no script, no style sheet, no ids.

Colours are inline styles (`views/_style.py`), and without any style the nesting, the numbers and the order still tell
everything: code stands in `pre` and `samp`, whose colours are left to the page, because Jupyter's own style sheet
paints over others.
"""

from __future__ import annotations

import re
from html import escape

from pyptx.views._style import BLUE, CELL, CODE, EDGE, FONT, INK, RAISED, SOFT
from pyptx.views.code.outline import (
    Line,
    Rest,
    callers_text,
    control_text,
    facts,
    held_text,
    live_text,
    loop_mark,
    loops_text,
    mix_text,
    outline,
    share_text,
)

__all__ = ["html"]

PALETTE = ("#4477aa", "#ccbb44", "#aa3377", "#228833", "#ee7733", "#66ccee", "#ee6677", "#009988")   # of linked.css
BLANK = "\u00a0"                                        # an empty line of `pre`, wherever it stands
BAR = 12                                                # characters of the longest bar

_OPCODE = re.compile(r"((?:@!?[\w$%]+\s+)?)([A-Za-z]\w*(?:(?:\.|::)\w+)*)(?![\w$]*\s*:)")


def html(view, limit: int = 400) -> str:
    """The view with at most `limit` PTX and `limit` SASS lines; what is left out is counted."""
    budget = _Budget(limit)
    most = max(view.python.sass, default=0)
    body, seen, plain = [], 0, []                       # colours go round as in the live view: one for each linked line
    for line in outline(view):
        linked = line.python >= 0 and view.python.ptx[line.python] > 0
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
    left = [f"{count} more {name} lines"
            for name, count in (("PTX", budget.ptx_left), ("SASS", budget.sass_left)) if count]
    more = f'<div style="{SOFT};padding:6px 0">{" and ".join(left)} not shown here.</div>' if left else ""
    return (f'<div style="{INK};{FONT};padding:6px 8px;border:1px solid {EDGE};border-radius:4px;overflow-x:auto">'
            f'{_header(view)}{"".join(body)}{more}</div>')


class _Budget:
    """How many lines may still be shown, and how many were left out."""

    def __init__(self, limit: int):
        self.ptx, self.sass, self.ptx_left, self.sass_left = limit, limit, 0, 0

    def take_ptx(self) -> bool:
        self.ptx -= 1
        self.ptx_left += self.ptx < 0
        return self.ptx >= 0

    def take_sass(self, count: int) -> int:
        taken = min(count, self.sass)
        self.sass -= taken
        self.sass_left += count - taken
        return taken


def _header(view) -> str:
    parts = [f'<div style="{INK};padding-bottom:4px"><b>{escape(view.title)}</b> '
             f'<span style="{SOFT}">for {escape(view.target)}, PTX {escape(view.ptx_version)}</span></div>']
    for entry in view.entries:
        name = f"<b>{escape(entry.name)}</b>: " if len(view.entries) > 1 else ""
        used = "; ".join(f"{escape(label)} <b>{escape(value)}</b>" + (f" ({escape(note)})" if note else "")
                         for label, value, note in facts(entry))
        parts.append(f'<div style="{INK}">{name}{used}</div>'
                     f'<div style="{SOFT};padding-bottom:6px">{escape(mix_text(entry))}</div>')
        if held := held_text(view, entry):
            parts.append(f'<div style="{SOFT};padding-bottom:6px">{escape(held)}</div>')
    if loops := loops_text(view):
        parts.append(f'<div style="{SOFT};padding-bottom:6px">{loops}</div>')
    parts += [f'<div style="{INK};padding-bottom:6px"><b>{escape(note.severity)}</b>'
              f'{f", PTX line {note.ptx + 1}" if note.ptx >= 0 else ""}: {escape(note.message)}</div>'
              for note in view.notes]
    return "".join(parts)


def _heading(section) -> str:
    return (f'<div style="{RAISED};padding:2px 6px;margin-top:6px">{escape(section.file)}, '
            f'{escape(section.role)} <b>{escape(section.function)}</b></div>')


def _unlinked(lines: list[str]) -> list[str]:
    """Python lines that became nothing, as one block."""
    return [_pre(escape("\n".join(lines)), "padding:0 0 0 22px")] if lines else []


def _line(view, line: Line, budget: _Budget, most: int, colour: str) -> str:
    edge, summary = f"border-left:4px solid {colour}", _summary(view, line, most)
    ptx, sass = _columns(view, line, budget)
    if not ptx:
        return f'<div style="{INK};{edge};padding-left:18px">{summary}</div>'
    cells = "".join(f'<td style="{CELL}">{_pre(column)}</td>' for column in (ptx, sass) if column.strip())
    shown = " open" if line.python == Rest.ALL else ""
    return (f'<details{shown} style="{edge};padding-left:6px"><summary style="{INK};cursor:pointer">{summary}</summary>'
            f'<table style="border-collapse:collapse;margin:0 0 4px 28px;{INK}"><tr style="{INK}">{cells}</tr></table>'
            f'</details>')


def _summary(view, line: Line, most: int) -> str:
    match line.python:
        case Rest.NO_PYTHON:
            return f"PTX without a Python line ({len(line.ptx)} lines)"
        case Rest.BY_PTXAS:
            return f"Added by ptxas ({len(line.ptx[0][1])} SASS)"
        case Rest.ALL:
            return f"PTX ({len(line.ptx)} lines)" if "ptx" in view.panes else f"SASS ({len(line.ptx[0][1])} lines)"
    python, row = view.python, line.python
    filled = -(-BAR * python.sass[row] // most) if most else 0
    code = escape(_code(view, row).replace(" ", "\u00a0"))      # no-break blanks survive where styles do not
    bar = f'<span style="{BLUE}">{"▪" * filled}</span>' if filled else ""
    return f'<samp style="{CODE}">{code}</samp>  <span style="{SOFT}">{bar} {share_text(view, row)}</span>'


def _code(view, row: int) -> str:
    return f"{view.python.line[row]:>4} {view.python.text[row].expandtabs(4)}"


def _columns(view, line: Line, budget: _Budget) -> tuple[str, str]:
    """PTX and SASS of a line, each as lines of HTML; a PTX line stands beside the first of its SASS lines."""
    left, right = [], []
    for row, sass_rows in line.ptx:
        if row >= 0 and not budget.take_ptx():
            budget.sass_left += len(sass_rows)
            continue
        shown = [_sass(view.sass, sass) for sass in sass_rows[:budget.take_sass(len(sass_rows))]]
        ptx = []
        if row >= 0:
            callers = callers_text(view, row)
            ptx.append(f"PTX {row + 1:>4} {loop_mark(view.ptx, row)} {_strong(view.ptx.text[row].strip())}"
                       + (f"  ({callers})" if callers else ""))
        height = max(len(ptx), len(shown))
        left += [*ptx, *[BLANK] * (height - len(ptx))]
        right += [*shown, *[BLANK] * (height - len(shown))]
    return "\n".join(left), "\n".join(right)


def _pre(text: str, room: str = "padding:0") -> str:
    """Preformatted HTML: it stays monospaced where styles are taken away. Its colours are the page's own."""
    return f'<pre style="{CODE};{room}">{text}</pre>'


def _strong(code: str) -> str:
    """An instruction of PTX or SASS, escaped, its mnemonic in bold."""
    found = _OPCODE.match(code)
    return f"{escape(found[1])}<b>{escape(found[2])}</b>{escape(code[found.end():])}" if found else escape(code)


def _sass(sass, row: int) -> str:
    target = f"  → {sass.address[sass.target[row]]:04x}" if sass.target[row] >= 0 else ""
    return (f"{sass.address[row]:04x} {loop_mark(sass, row)} {control_text(sass, row)}  {live_text(sass, row)}  "
            f"{_strong(sass.text[row])}{target}")
