"""A roofline as static HTML: the chart as an image, and a table; colors as in `views/_style.py`."""

from __future__ import annotations

from base64 import b64encode
from html import escape
from typing import TYPE_CHECKING

from pyptx.views._style import EDGE, FONT, INK, RAISED, SOFT
from pyptx.views.rooflines.elements import Point, work_text
from pyptx.views.rooflines.text import time_text
from pyptx.views.rooflines.units import number, percent, quantity

if TYPE_CHECKING:
    from pyptx.views.rooflines.roofline import Roofline

__all__ = ["html"]

MAX_ROWS = 60
TEXT, NUMBER = "text-align:left;padding-right:14px", "text-align:right;padding-right:14px"


def html(view: Roofline) -> str:
    picture = b64encode(view.svg().encode()).decode()
    shown = view.points[:MAX_ROWS]
    heads = ("Kernel", "Time", "Work", f"Bytes, {view.level}", f"{view.count}/B", view.unit, "Of the roof", "Limit")
    head = "".join(f'<th style="{TEXT};{SOFT};font-weight:400">{escape(name)}</th>' for name in heads)
    rows = "".join(_row(view, point) for point in shown)
    left = len(view.points) - len(shown)
    more = f'<div style="{SOFT};padding:6px 0">{left} more points not shown here.</div>' if left else ""
    roofs = "; ".join(escape(one.label) for one in (*view.slopes, *view.roofs))
    return (
        f'<div style="{INK};{FONT};padding:6px 8px;border:1px solid {EDGE};border-radius:4px;overflow-x:auto">'
        f'<div style="padding-bottom:4px"><b>{escape(view.title)}</b> <span style="{SOFT}">on '
        f"{escape(view.gpu.name)} ({escape(view.gpu.target)})</span></div>"
        f'<img alt="{escape(_alt_text(view))}" width="100%" style="max-width:960px" '
        f'src="data:image/svg+xml;base64,{picture}">'
        f'<table style="border-collapse:collapse;{INK};{FONT};margin:6px 0"><tbody>'
        f'<tr style="{RAISED}">{head}</tr>{rows}</tbody></table>{more}'
        f'<div style="{SOFT}">{roofs}</div></div>'
    )


def _alt_text(view: Roofline) -> str:
    placed = sum(view.at(point) is not None for point in view.points)
    return f"Roofline of {view.title} on {view.gpu.name}: {placed} points, in the table below"


def _row(view: Roofline, point: Point) -> str:
    placed = view.at(point)
    title = " ".join(filter(None, (point.title, point.note)))
    work = work_text(point, view.count)
    moved = point.bytes.get(view.level)
    cells = [
        (TEXT, title),
        (NUMBER, time_text(point)),
        (TEXT, work),
        (NUMBER, quantity(moved, "B") if moved else ""),
        (NUMBER, number(placed.intensity) if placed else ""),
        (NUMBER, quantity(placed.rate, view.unit) if placed else ""),
        (NUMBER, percent(placed.share) if placed else ""),
        (TEXT, "; ".join(filter(None, (placed.limit if placed else "", point.bound)))),
    ]
    row = "".join(f'<td style="{style}">{escape(text)}</td>' for style, text in cells)
    return f"<tr>{row}</tr>"
