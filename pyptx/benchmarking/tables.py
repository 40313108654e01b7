"""Benchmarks as text, Markdown and static HTML; all forms have the cells of `cells`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from pyptx.tune.trial import format_time
from pyptx.views._style import CELL, EDGE, FONT, INK, NUMBER, SOFT, TABLE
from pyptx.views.rooflines.units import number, quantity

if TYPE_CHECKING:
    from pyptx.benchmarking.result import Benchmark, BenchmarkRow

__all__ = ["SIGNIFICANCE", "cells", "columns", "footer", "heading", "html", "markdown", "text", "verdict"]

SIGNIFICANCE = 0.05  # p-value below which a difference counts
_NUMBERS = {"time", "interval", "range", "speedup", "p", "runs", "FLOP/s", "bandwidth"}
_BAR_PX = 120


def columns(result: Benchmark) -> list[str]:
    """Return the titles of the columns."""
    measured = result.kind == "measured"
    found = ["", "time", "interval" if measured else "range", "speedup"]
    found += ["p", "runs"] if measured else []
    found += ["FLOP/s"] if any("flop/s" in row.rates for row in result.rows) else []
    found += ["bandwidth"] if any("byte/s" in row.rates for row in result.rows) else []
    return [*found, "result"]


def cells(result: Benchmark, row: BenchmarkRow) -> list[str]:
    """Return the texts of a row, one for each column."""
    values = {"": row.name, "result": verdict(result, row)}
    if row.seconds is not None:
        value, low, high = row.seconds
        values["time"] = format_time(value)
        values["interval"] = values["range"] = f"{format_time(low)} .. {format_time(high)}"
        values["runs"] = str(row.rounds)
    if row.speedup is not None and row.name != result.baseline:
        values["speedup"] = _speedup(row)
        values["p"] = "" if row.p_value is None else f"{row.p_value:.2g}"
    values["FLOP/s"] = quantity(row.rates["flop/s"], "FLOP/s") if "flop/s" in row.rates else ""
    values["bandwidth"] = quantity(row.rates["byte/s"], "B/s") if "byte/s" in row.rates else ""
    return [values.get(name, "") for name in columns(result)]


def _speedup(row: BenchmarkRow) -> str:
    assert row.speedup is not None
    value, low, high = row.speedup
    return f"{number(value)} x" + (f" [{number(low)}, {number(high)}]" if low != high else "")


def verdict(result: Benchmark, row: BenchmarkRow) -> str:
    """Return one phrase: "faster", "slower", "no significant difference", "baseline", or the problem."""
    if row.problem is not None:
        return row.problem
    if row.name == result.baseline:
        return "; ".join(filter(None, ("baseline", row.note)))
    if row.speedup is None:
        return row.note
    value, low, high = row.speedup
    certain = low > 1 or high < 1 if row.p_value is not None else value != 1 and "not distinguished" not in row.note
    if row.p_value is not None and row.p_value >= SIGNIFICANCE:
        certain = False
    words = ("faster" if value > 1 else "slower") if certain else "no significant difference"
    if row.kind == "modeled" and not certain:
        words = ""
    return "; ".join(filter(None, (words, row.note)))


def heading(result: Benchmark) -> str:
    """Return the first line: what was timed, where, and whether times are measured."""
    kind = "measured" if result.kind == "measured" else "modeled, not measured"
    return f"{result.title} on {result.gpu}: {kind}"


def footer(result: Benchmark) -> Iterator[str]:
    """Yield the lines below the table."""
    yield result.method
    found = result.conditions
    parts = []
    if "clock_hz" in found:
        low, high = (value / 1e6 for value in found["clock_hz"])
        parts.append(f"{low:.0f} to {high:.0f} MHz" if low != high else f"{low:.0f} MHz")
    if "watts" in found:
        parts.append(f"{found['watts'][0]:.0f} to {found['watts'][1]:.0f} W")
    if "temperature" in found:
        parts.append(f"{found['temperature'][1]:.0f} °C")
    if found.get("repeated"):
        parts.append(f"{found['repeated']} disturbed rounds")
    if found.get("throttled"):
        parts.append(f"the GPU throttled in {found['throttled']} rounds")
    if result.kind == "measured" and "clock_hz" not in found:
        parts.append("clock and power unknown (no NVML)")
    if parts:
        yield "Conditions: " + ", ".join(parts)
    yield f"Outputs: {result.checked}"
    yield " ".join(filter(None, (f"driver {result.driver}," if result.driver else "", result.date)))


def text(result: Benchmark) -> str:
    """Render the table as aligned text."""
    titles, rows = columns(result), [cells(result, row) for row in result.rows]
    widths = [max(len(row[k]) for row in [titles, *rows]) for k in range(len(titles))]

    def line(row: Sequence[str]) -> str:
        aligned = (
            cell.rjust(width) if title in _NUMBERS else cell.ljust(width)
            for title, cell, width in zip(titles, row, widths, strict=True)
        )
        return "  ".join(aligned).rstrip()

    return "\n".join([heading(result), line(titles), *map(line, rows), *footer(result)])


def markdown(result: Benchmark) -> str:
    """Render the table in Markdown, with the heading above and the method below."""
    titles = columns(result)

    def line(row: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |"

    rule = line(["---:" if title in _NUMBERS else "---" for title in titles])
    rows = [line(cells(result, row)) for row in result.rows]
    below = [f"{part.rstrip('.')}." for part in footer(result)]
    return "\n".join([f"**{heading(result)}**", "", line(titles), rule, *rows, "", " ".join(below)])


def html(result: Benchmark) -> str:
    """Render the table as HTML with inline styles only, which works on GitHub, nbviewer and in dark themes."""
    titles = columns(result)
    head = "".join(f'<th style="{_aligned(title)}">{escape(title)}</th>' for title in titles)
    longest = max((row.seconds.value for row in result.rows if row.seconds), default=0.0)
    body = "".join(_html_row(result, row, titles, longest) for row in result.rows)
    below = "".join(f'<div style="{SOFT}">{escape(part)}</div>' for part in footer(result))
    mark = "" if result.kind == "measured" else f' <small style="{SOFT};border:1px solid {EDGE}"> modeled </small>'
    return (
        f'<div style="{INK};{FONT};padding:6px 8px;border:1px solid {EDGE};border-radius:4px;overflow-x:auto">'
        f"<div><b>{escape(heading(result))}</b>{mark}</div>"
        f'<table style="{TABLE};{INK}"><thead><tr style="{INK}">{head}</tr></thead><tbody>{body}</tbody></table>'
        f"{below}</div>"
    )


def _html_row(result: Benchmark, row: BenchmarkRow, titles: Sequence[str], longest: float) -> str:
    found = []
    for title, cell in zip(titles, cells(result, row), strict=True):
        inner = f"<b>{escape(cell)}</b>" if title == "" and not row.against else escape(cell)
        if title == "time" and row.seconds is not None and longest:
            width = max(1, round(_BAR_PX * row.seconds.value / longest))
            color = "#4477aa" if not row.against else "#aa7744"
            inner += f'<div style="height:4px;width:{width}px;margin-left:auto;background:{color}"></div>'
        found.append(f'<td style="{_aligned(title)}">{inner}</td>')
    return f'<tr style="{INK}">{"".join(found)}</tr>'


def _aligned(title: str) -> str:
    wrapped = ";white-space:normal;min-width:18em" if title == "result" else ""
    return f"{INK};{NUMBER if title in _NUMBERS else CELL}{wrapped}"
