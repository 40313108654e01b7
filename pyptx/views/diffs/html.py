"""A diff as static HTML: no script, no style sheet, no ids; colors as in `views/_style.py`, repeated as text."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from pyptx.analysis.diff.comparison import CLASSES, Row
from pyptx.views._style import CELL, EDGE, FONT, INK, NUMBER, RAISED, SOFT, TABLE
from pyptx.views.diffs.facts import delta_text, shown
from pyptx.views.diffs.text import FOLD, MARKS, cause_text, other_verdicts, row_label, sections

if TYPE_CHECKING:
    from pyptx.views.diffs.diff import Diff

__all__ = ["html"]

TINTS = (
    INK,  # follows the theme; the tints below are readable in both
    "color:#0b2e4f;background:#d6e6f7",
    "color:#4a3200;background:#fbeec0",
    "color:#5c1206;background:#fbdcd3",
)


def html(diff: Diff, context: int = 3, limit: int = 600) -> str:
    """Render the diff with at most `limit` rows and the number of rows omitted."""
    parts, omitted = [], 0
    for kind, first, last in sections(diff, context):
        if kind == FOLD:
            parts.append(f'<tr style="{SOFT}"><td colspan="5" style="{CELL}">… {last - first} identical …</td></tr>')
            continue
        shown_rows = diff.compared.rows[first : min(last, first + max(0, limit))]
        limit -= len(shown_rows)
        omitted += last - first - len(shown_rows)
        if not shown_rows:
            continue
        if kind:
            count = f"{last - first} {'row' if last - first == 1 else 'rows'}"
            words = f"{CLASSES[kind]}, {count}{cause_text(diff, first, last, kind)}"
            parts.append(f'<tr style="{RAISED}"><td colspan="5" style="{CELL}"><b>{escape(words)}</b></td></tr>')
        parts += (_row(diff, row) for row in shown_rows)
    table = f'<table style="{TABLE}"><tbody>{"".join(parts)}</tbody></table>' if not diff.identical else ""
    more = f'<div style="{SOFT};padding:6px 0">{omitted} more rows not shown here.</div>' if omitted else ""
    return (
        f'<div style="{INK};{FONT};padding:6px 8px;border:1px solid {EDGE};border-radius:4px;overflow-x:auto">'
        f"{_header(diff)}{table}{more}</div>"
    )


def _header(diff: Diff) -> str:
    sides = " | ".join(f"<b>{escape(view.title)}</b> for {escape(view.target)}" for view in (diff.left, diff.right))
    facts = "".join(
        f'<tr><td style="{CELL}">{escape(fact.label)}</td>'
        f'<td style="{NUMBER}">{shown(fact, fact.left)}</td><td style="{NUMBER}">{shown(fact, fact.right)}</td>'
        f'<td style="{CELL}">{delta_text(fact)}</td></tr>'
        for fact in diff.facts
        if fact.kind == "use" or fact.left != fact.right
    )
    others = "".join(f"<br>{escape(line)}" for line in other_verdicts(diff))
    return (
        f"<div>{sides} · {escape(diff.level)}</div>"
        f'<div style="padding:4px 0"><b>{escape(diff.verdict)}</b>{others}</div>'
        f'<table style="{TABLE};{FONT};margin:0 0 6px 0"><tbody>{facts}</tbody></table>'
    )


def _code(text: str) -> str:
    """Return code that is monospaced and aligned even without styles."""
    return f"<samp>{escape(text.expandtabs(4)).replace(' ', chr(0xA0))}</samp>"


def _row(diff: Diff, row: Row) -> str:
    tint = TINTS[row.kind]
    cells = []
    for side, line in (("left", row.a), ("right", row.b)):
        view = getattr(diff, side)
        if line < 0:
            cells.append("<td></td><td></td>")
            continue
        number = (
            f"{view.sass.address[line]:04x}"
            if diff.level == "sass"
            else str(line + 1 if diff.level == "ptx" else view.python.line[line] or "")
        )
        words = _code(getattr(view, diff.level).text[line])
        cells.append(f'<td style="{NUMBER}">{_code(number)}</td><td style="{CELL};{tint}">{words}</td>')
    return f'<tr>{"".join(cells)}<td style="{CELL}">{MARKS[row.kind]}{escape(row_label(diff, row))}</td></tr>'
