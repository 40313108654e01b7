"""Measurements as tables, in text and HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from pyptx.ledger.measurement import Measurement
from pyptx.views._style import CELL, EDGE, FONT, INK, NUMBER, SOFT, TABLE
from pyptx.views.rooflines.units import quantity

__all__ = ["COLUMNS", "cells", "html", "text"]

COLUMNS = ("#", "date", "kernel", "GPU", "kind", "time", "interval", "runs", "machine code", "origin", "by")
EMPTY = "the ledger has no such measurements; pyptx.benchmark(kernel, args) records one"
_NUMBERS = {"#", "time", "interval", "runs"}


def cells(one: Measurement) -> tuple[str, ...]:
    """Return the cells of a measurement, in the order of COLUMNS."""
    return (
        str(one.number),
        one.date,
        one.title,
        one.gpu,
        one.kind if one.kind == "measured" else f"{one.kind} ({one.method})",
        quantity(one.seconds, "s"),
        f"{quantity(one.low, 's')} .. {quantity(one.high, 's')}",
        str(one.runs) if one.runs else "",
        one.cubin[:10],
        str(one.origin) + (" (accepted)" if one.accepted else ""),
        one.source,
    )


def text(items: Sequence[Measurement]) -> str:
    """Return an aligned table."""
    if not items:
        return EMPTY
    rows = [COLUMNS, *map(cells, items)]
    widths = [max(len(row[k]) for row in rows) for k in range(len(COLUMNS))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if name in _NUMBERS else cell.ljust(width)
            for name, cell, width in zip(COLUMNS, row, widths, strict=True)
        ).rstrip()
        for row in rows
    )


def html(items: Sequence[Measurement]) -> str:
    """Return a table with inline styles only, which works on GitHub, nbviewer and in dark themes."""
    if not items:
        return f'<div style="{INK};{FONT}">{escape(EMPTY)}</div>'

    def line(row: Sequence[str], tag: str) -> str:
        return "".join(
            f'<{tag} style="{INK if tag == "td" else SOFT};{NUMBER if name in _NUMBERS else CELL}">{escape(cell)}</{tag}>'
            for name, cell in zip(COLUMNS, row, strict=True)
        )

    body = "".join(f'<tr style="{INK}">{line(cells(one), "td")}</tr>' for one in items)
    return (
        f'<div style="{INK};{FONT};border:1px solid {EDGE};border-radius:4px;padding:6px 8px;overflow-x:auto">'
        f'<table style="{TABLE};{INK}"><thead><tr>{line(COLUMNS, "th")}</tr></thead><tbody>{body}</tbody></table></div>'
    )
