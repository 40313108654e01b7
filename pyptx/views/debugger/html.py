"""A debugged kernel as static HTML: no script, no style sheet, no ids; colors as in `views/_style.py`.

Marks and colors are repeated as text or signs; code and the timeline are `pre`, monospaced even without styles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from pyptx.views._style import CELL, CODE, EDGE, FONT, INK, NUMBER, RAISED, SOFT
from pyptx.views.debugger.excerpts import CodeLine, code, lane_text, matrix, registers, warps
from pyptx.views.debugger.text import (
    TIMES,
    barrier_text,
    headline,
    matrix_title,
    stop_text,
    timeline,
    warp_text,
    watch_text,
)

if TYPE_CHECKING:
    from pyptx.views.debugger.view import DebugView

__all__ = ["html"]

MAX_WARPS, MAX_REGISTERS, MAX_BARRIERS, MAX_ROWS, MAX_COLUMNS = 32, 32, 32, 16, 16
BLANK = "\u00a0"  # not collapsed by HTML
WIDTH = 110  # characters of the timeline
TABLE = f"border-collapse:collapse;{INK};{FONT};margin:2px 0"
HERE = "color:#1b1f24;background:#ffd9a8"


def html(view: DebugView, context: int) -> str:
    document = view.document
    stop = "<br>".join(escape(line.replace("  ", 2 * BLANK)) for line in stop_text(document).split("\n"))
    return (
        f'<div style="{INK};{FONT};padding:6px 8px;border:1px solid {EDGE};border-radius:4px;overflow-x:auto">'
        f"<div><b>{escape(document['kernel'])}</b> "
        f'<span style="{SOFT}">{escape(headline(view).removeprefix(document["kernel"]).strip())}</span></div>'
        f'<div style="padding:2px 0 4px"><b>{stop}</b></div>'
        f"{_code(view, context)}{_timeline(document)}{_warps(document)}{_registers(document)}{_watches(document)}"
        f"{_barriers(document)}{_matrices(document)}</div>"
    )


def _code(view: DebugView, context: int) -> str:
    file, python, ptx = code(view, context)
    cells = "".join(
        f'<td style="{CELL}"><div style="{SOFT}">{escape(name)}</div>'
        f'<pre style="{CODE};padding:0">{"<br>".join(map(_line, lines))}</pre></td>'
        for name, lines in ((file, python), ("PTX", ptx))
        if lines
    )
    return f'<table style="{TABLE}"><tr>{cells}</tr></table>'


def _line(line: CodeLine) -> str:
    others = str(line.others) if line.others else ""
    margin = f"{line.stops or ' '}{'▶' if line.here else ' '}{others:>2} {line.number:>5}  "
    text = escape(margin + line.text.expandtabs(4))
    return f'<span style="{HERE}"><b>{text}</b></span>' if line.here else text


def _timeline(document: Mapping[str, Any]) -> str:
    lines = list(timeline(document, WIDTH))
    if not lines:
        return ""
    return _section(
        "Timeline",
        f'<pre style="{CODE};padding:0">{escape(chr(10).join(lines))}</pre>'
        f'<div style="{SOFT}">{escape("   ".join(f"{sign} {kind}" for kind, sign in TIMES.items()))}</div>',
    )


def _warps(document: Mapping[str, Any]) -> str:
    shown, left = warps(document, MAX_WARPS)
    lines = [
        f"<b>{escape(warp_text(document, warp))}</b>" if focused else escape(warp_text(document, warp))
        for focused, warp in shown
    ]
    return _section(f"Warps ({len(document['warps'])})", _list(lines, left))


def _registers(document: Mapping[str, Any]) -> str:
    found, left = registers(document, MAX_REGISTERS)
    if not found:
        return ""
    lane = document["focus"]["lane"]
    rows = []
    for one in found:
        name = f"<b>{escape(one['python'])}</b> {escape(one['name'])}" if one["python"] else escape(one["name"])
        own = one["lanes"][lane]
        rows.append(
            _row(
                (
                    "Δ" if one["changed"] else "",
                    name,
                    escape(one["type"]),
                    escape("–" if own is None else str(own)),
                    escape(lane_text(one)),
                ),
                strong=one["changed"],
            )
        )
    head = _row(("", "register", "type", f"lane {lane}", "lanes 0 to 31"), head=True)
    return _section("Registers", f'<table style="{TABLE}">{head}{"".join(rows)}</table>{_more(left)}')


def _row(cells: Iterable[str], *, head: bool = False, strong: bool = False) -> str:
    ground = RAISED if strong else SOFT if head else INK
    parts = [f'<td style="{NUMBER if i == 3 else CELL}">{cell}</td>' for i, cell in enumerate(cells)]
    return f'<tr style="{ground}">{"".join(parts)}</tr>'


def _watches(document: Mapping[str, Any]) -> str:
    lines = [escape(watch_text(watch)) for watch in document["watches"]]
    return _section("Watches", _list(lines, 0)) if lines else ""


def _barriers(document: Mapping[str, Any]) -> str:
    lines = [escape(barrier_text(barrier)) for barrier in document["barriers"][:MAX_BARRIERS]]
    return _section("Barriers", _list(lines, len(document["barriers"]) - len(lines))) if lines else ""


def _matrices(document: Mapping[str, Any]) -> str:
    found = []
    for part in (*document["fragments"], *document["memory"]):
        values, rest = matrix(part, MAX_ROWS, MAX_COLUMNS)
        changed = part.get("changed") or []
        wide = max((len(value) for line in values for value in line), default=1)
        lines = [
            " ".join(
                f"<b>{escape(f'{value:>{wide}}')}</b>" if changed and changed[r][c] else escape(f"{value:>{wide}}")
                for c, value in enumerate(line)
            )
            for r, line in enumerate(values)
        ]
        found.append(
            _section(
                matrix_title(part),
                f'<pre style="{CODE};padding:0">{"<br>".join(lines)}</pre>'
                + (f'<div style="{SOFT}">{escape(rest)}</div>' if rest else ""),
            )
        )
    return "".join(found)


def _section(title: str, body: str) -> str:
    return f'<details open style="padding:2px 0"><summary><b>{escape(title)}</b></summary>{body}</details>'


def _list(lines: Iterable[str], left: int) -> str:
    return f'<div style="padding-left:14px">{"<br>".join(lines)}</div>{_more(left)}'


def _more(left: int) -> str:
    return f'<div style="{SOFT};padding-left:14px">and {left} more</div>' if left > 0 else ""
