"""Comparisons as static HTML: no script, no style sheet; bars are backgrounds, numbers are text."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from pyptx.views._style import CELL, EDGE, FONT, INK, SOFT, TABLE
from pyptx.views.comparisons.text import change_text, number_text, shares

if TYPE_CHECKING:
    from pyptx.views.comparisons.comparison import ComparisonTable, Measure

__all__ = ["html"]


def html(table: ComparisonTable) -> str:
    """Render a table with a column for each kernel and a row for each number."""
    heads = "".join(
        f'<th style="{CELL};text-align:left">{escape(column.title)}<br><small style="{SOFT}">{escape(column.target)}</small></th>'
        for column in table.columns
    )
    rows = "".join(_row(table, one) for one in table.measures if one.kind == "use" or len(set(one.values)) > 1)
    problems = "".join(
        f"<div><b>{escape(column.title)}</b>: {escape(column.problem)}</div>"
        for column in table.columns
        if column.problem
    )
    return (
        f'<div style="{INK};{FONT};padding:6px 8px;border:1px solid {EDGE};border-radius:4px;overflow-x:auto">'
        f'<div><b>{escape(table.title)}</b> <span style="{SOFT}">changes from '
        f"{escape(table.columns[table.baseline].title)}</span></div>"
        f'<table style="{TABLE}"><thead><tr><th></th>{heads}</tr></thead><tbody>{rows}</tbody></table>{problems}</div>'
    )


def _row(table: ComparisonTable, measure: Measure) -> str:
    cells = []
    for number, share in enumerate(shares(measure)):
        change = change_text(measure, number, table.baseline)
        value = escape(number_text(measure, measure.values[number]))
        best = "<b>" if number in measure.best else "", "</b> ★" if number in measure.best else ""
        bar = f'<div style="height:4px;width:{round(100 * share)}%;background:#4477aa"></div>'
        small = f' <small style="{SOFT}">{escape(change)}</small>' if change else ""
        cells.append(f'<td style="{CELL}">{best[0]}{value}{best[1]}{small}{bar}</td>')
    return f'<tr><td style="{CELL}">{escape(measure.label)}</td>{"".join(cells)}</tr>'
