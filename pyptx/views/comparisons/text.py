"""Comparisons as text, and the texts of numbers that all forms use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyptx.views.comparisons.comparison import ComparisonTable, Measure

__all__ = ["change_text", "number_text", "shares", "text"]

BAR = 8  # characters
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def number_text(measure: Measure, value: float | None) -> str:
    """Return a number with its unit: "40", "1.5 KiB", "37.5 %", "12.3 us", "?"."""
    if value is None:
        return "?"
    if measure.unit == "B":
        return f"{value:g} B" if value < 1024 else f"{value / 1024:.4g} KiB"
    if measure.unit == "s":
        return f"{value * 1e6:.4g} us" if value < 1e-3 else f"{value * 1e3:.4g} ms"
    return f"{value:g} {measure.unit}".rstrip()


def change_text(measure: Measure, number: int, baseline: int) -> str:
    """Return the change of a column from the baseline, such as "+12 %"; empty if there is none or it is unknown."""
    value, base = measure.values[number], measure.values[baseline]
    if number == baseline or value is None or base is None or value == base:
        return ""
    sign = "+" if value > base else "−"
    if measure.unit == "%":
        return f"{sign}{abs(value - base):g} points"
    return f"{sign}{100 * abs(value - base) / base:.3g} %" if base else f"{sign}{number_text(measure, abs(value))}"


def shares(measure: Measure) -> list[float]:
    """Return the numbers as shares of the largest, 0 for unknown ones."""
    top = max((value for value in measure.values if value is not None), default=0) or 1
    return [max(0.0, (value or 0) / top) for value in measure.values]


def text(table: ComparisonTable) -> str:
    """Render a table: a line for each number, `*` at the best; changes refer to the baseline."""
    return "\n".join(_lines(table))


def _lines(table: ComparisonTable) -> Iterator[str]:
    yield f"{table.title}: {len(table.columns)} compared, changes from {table.columns[table.baseline].title}"
    shown = [one for one in table.measures if one.kind == "use" or len(set(one.values)) > 1]
    cells = [
        [_cell(table, measure, number, share) for number, share in enumerate(shares(measure))] for measure in shown
    ]
    heads = [f"{column.title} ({column.target})" if _shows_target(table) else column.title for column in table.columns]
    first = max([len(measure.label) for measure in shown], default=0)
    widths = [
        max(len(head), *(len(row[k]) for row in cells), 0) if cells else len(head) for k, head in enumerate(heads)
    ]
    yield " " * first + "".join(f"  {head:<{width}}" for head, width in zip(heads, widths, strict=True)).rstrip()
    for measure, row in zip(shown, cells, strict=True):
        yield (f"{measure.label:<{first}}" + "".join(f"  {c:<{w}}" for c, w in zip(row, widths, strict=True))).rstrip()
    for column in table.columns:
        if column.problem:
            yield f"{column.title}: {column.problem}"


def _shows_target(table: ComparisonTable) -> bool:
    targets = {column.target for column in table.columns}
    return len(targets) > 1 and any(column.target not in column.title for column in table.columns)


def _cell(table: ComparisonTable, measure: Measure, number: int, share: float) -> str:
    value = measure.values[number]
    if value is None:
        return "-" if table.columns[number].problem else "?"
    change = change_text(measure, number, table.baseline)
    best = "*" if number in measure.best else ""
    return f"{_bar(share)} {number_text(measure, value)}{best}{f' ({change})' if change else ''}"


def _bar(share: float) -> str:
    eighths = round(8 * BAR * min(1.0, share))
    return (_EIGHTHS[8] * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")).ljust(BAR)
