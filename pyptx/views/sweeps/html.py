"""A sweep as static HTML: heat maps of two parameters each, and a table; colors as in `views/_style.py`.

Each cell repeats the meaning of its color as a number or a sign.
"""

from __future__ import annotations

import math
from html import escape
from itertools import product
from typing import TYPE_CHECKING

from pyptx.views._style import CELL, EDGE, FONT, INK, NUMBER, RAISED, SOFT, TABLE
from pyptx.views.sweeps.states import SIGNS
from pyptx.views.sweeps.text import (
    best_text,
    config_text,
    headings,
    progress_text,
    refusals,
    row,
    time_text,
)

if TYPE_CHECKING:
    from pyptx.views.sweeps.sweep import SweepView

__all__ = ["html"]

MAX_MAPS, MAX_CELLS = 24, 800  # heat maps, and cells in all of them
SHADES = (
    ("#08306b", "#ffffff"),
    ("#1a5499", "#ffffff"),
    ("#3c7fbe", "#ffffff"),
    ("#7db0da", "#10233a"),
    ("#b8d4ec", "#10233a"),
    ("#e4eef8", "#10233a"),
)  # background and foreground, fastest first
BAD = "color:#5c1206;background:#fbdcd3"
EMPTY = "color:#5b6675;background:#eef0f3"
GRID = f"{TABLE};{FONT};margin:4px 0"
SQUARE = "text-align:center;padding:3px 7px;border:1px solid #fff"


def html(view: SweepView, limit: int = 200) -> str:
    """Render the sweep with at most `limit` points in its table and the number of points omitted."""
    return (
        f'<div style="{INK};{FONT};padding:6px 8px;border:1px solid {EDGE};border-radius:4px;overflow-x:auto">'
        f"{_header(view)}{_maps(view)}{_table(view, limit)}{_reasons(view)}</div>"
    )


def _header(view: SweepView) -> str:
    best = f'<div style="padding-bottom:4px"><b>{escape(best_text(view))}</b></div>' if view.best >= 0 else ""
    chosen = (
        f'<div style="padding-bottom:4px">chosen: {escape(config_text(view, view.choice))}</div>'
        if view.choice >= 0
        else ""
    )
    notes = "".join(f'<div style="{SOFT}">{escape(note)}</div>' for note in view.notes)
    return (
        f'<div style="padding-bottom:2px"><b>{escape(view.title)}</b> '
        f'<span style="{SOFT}">for {escape(view.target)}, {escape(view.device)}</span></div>'
        f'<div style="{SOFT};padding-bottom:4px">{escape(progress_text(view))}</div>{best}{chosen}{notes}'
    )


def _maps(view: SweepView) -> str:
    """Render a map of the two parameters with the most values, for each combination of the others."""
    if not view.parameters:
        return ""
    sizes = [len(parameter.values) for parameter in view.parameters]
    order = sorted(range(len(sizes)), key=lambda at: -sizes[at])
    across, down = order[0], order[1] if len(order) > 1 and sizes[order[1]] > 1 else None
    others = [at for at in range(len(sizes)) if at not in (across, down)]
    found = {point.config: number for number, point in enumerate(view.points)}
    holes = {hole.config: hole.reason for hole in view.holes}
    times = [point.seconds for point in view.points if point.seconds]
    ends = (math.log(min(times)), math.log(max(times))) if times else (0.0, 0.0)
    combinations = list(product(*(range(sizes[at]) for at in others)))
    maps = []
    most = max(1, min(MAX_MAPS, MAX_CELLS // (sizes[across] * (sizes[down] if down is not None else 1))))
    for combination in combinations[:most]:
        fixed = dict(zip(others, combination, strict=True))
        name = ", ".join(
            f"{view.parameters[at].name}={view.parameters[at].values[value]}"
            for at, value in fixed.items()
            if sizes[at] > 1
        )
        maps.append(_map(view, across, down, fixed, name, found, holes, ends))
    more = (
        f'<div style="{SOFT}">{len(combinations) - most} more maps not shown here.</div>'
        if len(combinations) > most
        else ""
    )
    legend = " &nbsp; ".join(f"{sign} {escape(name)}" for name, sign in SIGNS.items() if name in view.counts)
    return f'{"".join(maps)}{more}<div style="{SOFT};padding:2px 0 8px">{legend}</div>'


def _map(view: SweepView, across, down, fixed, name, found, holes, ends) -> str:
    columns, rows = view.parameters[across], view.parameters[down] if down is not None else None
    corner = f"{rows.name} \\ {columns.name}" if rows else columns.name
    head = "".join(f'<th style="{SQUARE};{SOFT}">{escape(str(value))}</th>' for value in columns.values)
    body = []
    for y in range(len(rows.values) if rows else 1):
        cells = []
        for x in range(len(columns.values)):
            places = {across: x, **fixed} | ({down: y} if down is not None else {})
            cells.append(_square(view, tuple(places[at] for at in range(len(view.parameters))), found, holes, ends))
        label = escape(str(rows.values[y])) if rows else ""
        body.append(f'<tr><th style="{SQUARE};{SOFT}">{label}</th>{"".join(cells)}</tr>')
    title = f'<div style="padding-top:2px"><b>{escape(name)}</b></div>' if name else ""
    return (
        f'<div style="display:inline-block;vertical-align:top;margin:0 14px 8px 0">{title}'
        f'<table style="{GRID}"><thead><tr>'
        f'<th style="{SQUARE};{SOFT}">{escape(corner)}</th>{head}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def _square(view: SweepView, config, found, holes, ends) -> str:
    number = found.get(config)
    if number is None:
        reason = holes.get(config, "not tried")
        return f'<td style="{SQUARE};{EMPTY}" title="{escape(reason)}">–</td>'
    point = view.points[number]
    said = f"{point.state}{': ' if point.reason else ''}{point.reason}"
    if point.state in ("wrong", "failed"):
        return f'<td style="{SQUARE};{BAD}" title="{escape(said)}">{SIGNS[point.state]} {point.state}</td>'
    if point.seconds is None:
        return f'<td style="{SQUARE};{EMPTY}" title="{escape(said)}">{SIGNS[point.state]}</td>'
    low, high = ends
    share = (math.log(point.seconds) - low) / (high - low) if high > low else 0.0
    ground, ink = SHADES[min(len(SHADES) - 1, int(share * len(SHADES)))]
    words = f"{SIGNS[point.state]} {time_text(point.seconds)}"
    words = f"<b>★ {words}</b>" if number == view.best else words
    return f'<td style="{SQUARE};color:{ink};background:{ground}" title="{escape(said)}">{words}</td>'


def _table(view: SweepView, limit: int) -> str:
    kept = [number for number in view.order if view.points[number].state not in ("queued", "compiling")][:limit]
    if not kept:
        return ""
    names = headings(view)
    head = "".join(f'<th style="{NUMBER if name != names[-1] else CELL};{SOFT}">{escape(name)}</th>' for name in names)
    rows = []
    for number in kept:
        cells = row(view, number)
        last = len(cells) - 1
        rows.append(
            f'<tr style="{RAISED if number == view.best else INK}">'
            + "".join(
                f'<td style="{CELL if at == last else NUMBER}">{escape(cell)}</td>' for at, cell in enumerate(cells)
            )
            + "</tr>"
        )
    left = len(view.points) - len(kept)
    more = f'<div style="{SOFT};padding:4px 0">{left} more points not shown here.</div>' if left else ""
    return (
        f"<details><summary>Table of {len(kept)} points</summary>"
        f'<table style="{GRID}"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>{more}</details>"
    )


def _reasons(view: SweepView) -> str:
    reasons = refusals(view)
    if not reasons:
        return ""
    items = "".join(
        f'<tr><td style="{NUMBER}">{count} ×</td><td style="{CELL};white-space:normal">{escape(reason)}</td></tr>'
        for reason, count in reasons[:12]
    )
    return (
        f"<details><summary>Reasons of refused points</summary>"
        f'<table style="{GRID}"><tbody>{items}</tbody></table></details>'
    )
