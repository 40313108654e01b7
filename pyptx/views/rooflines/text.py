"""A roofline as text: the chart in characters, then each point with its numbers."""

from __future__ import annotations

from collections.abc import Iterator
from math import log10
from string import ascii_uppercase
from typing import TYPE_CHECKING

from pyptx.views.rooflines.elements import Point, Roof, work_text
from pyptx.views.rooflines.layout import axes
from pyptx.views.rooflines.units import percent, power, quantity, ticks

if TYPE_CHECKING:
    from pyptx.views.rooflines.roofline import Roofline

__all__ = ["text", "time_text"]

HEIGHT = 19
MARGIN = 9  # width of the tick labels
SOLID, HOLLOW = "●", "○"


def text(view: Roofline, width: int, chart: bool) -> str:
    gpu = view.gpu
    lines = [f"{view.title} on {gpu.name} ({gpu.target}), {gpu.sms} SMs"]
    if chart and any(view.at(point) for point in view.points):
        lines += ["", *_chart(view, max(60, width)), ""]
    lines += ["  ".join(f"{slope.label}" for slope in view.slopes), *(_roof(roof) for roof in view.roofs), ""]
    for number, point in enumerate(view.points):
        lines += _point(view, number, point)
    return "\n".join(line.rstrip() for line in lines)


def time_text(point: Point) -> str:
    """Return the time of a point: "3.4 µs modeled", "3.4 µs (3.3 to 3.5 µs) measured"."""
    interval = ""
    if point.low is not None and point.high is not None:
        interval = f" ({quantity(point.low, 's')} to {quantity(point.high, 's')})"
    return f"{quantity(point.seconds, 's')}{interval} {point.kind}"


def _mark(number: int, point: Point) -> str:
    letter = ascii_uppercase[number] if number < len(ascii_uppercase) else "*"
    return f"{SOLID if point.kind == 'measured' else HOLLOW} {letter}"


def _roof(roof: Roof) -> str:
    return f"{roof.label}" + ("" if roof.used else "  (not used here)")


def _point(view: Roofline, number: int, point: Point) -> Iterator[str]:
    yield f"{_mark(number, point)}  {point.title}{f'  {point.note}' if point.note else ''}: {time_text(point)}"
    indent = " " * 5
    work = work_text(point, view.count)
    moved = ", ".join(f"{quantity(count, 'B')} {level}" for level, count in point.bytes.items())
    yield f"{indent}{work or 'no floating-point work'}; {moved or 'no bytes counted'}"
    if placed := view.at(point):
        yield from (indent + line for line in placed.formula)
        yield f"{indent}limit: {placed.limit}"
    elif moved := point.bytes.get(view.level):
        rate = moved / point.seconds
        yield f"{indent}{quantity(rate, 'B/s')}, {percent(rate / view.gpu.bytes_per_s(view.level))} of {view.level}"
    for ceiling in view.ceilings:
        if ceiling.point == number:
            yield f"{indent}{ceiling.why}"
    if point.bound:
        yield f"{indent}{point.kind}: {point.bound}"
    if point.how:
        yield f"{indent}counted: {point.how}"


def _chart(view: Roofline, width: int) -> Iterator[str]:
    placed = [(number, point, at) for number, point in enumerate(view.points) if (at := view.at(point))]
    slope, tops = view.gpu.bytes_per_s(view.level), [roof.flops_per_s for roof in view.roofs if roof.used]
    tops = tops or [roof.flops_per_s for roof in view.roofs]
    xs, ys = axes(view, [at for *_, at in placed])
    wide = width - MARGIN - 1

    def row(value: float) -> int:
        return round((HEIGHT - 1) * (1 - log10(value / ys[0]) / log10(ys[1] / ys[0])))

    def column(value: float) -> int:
        return round((wide - 1) * log10(value / xs[0]) / log10(xs[1] / xs[0]))

    grid = [[" "] * wide for _ in range(HEIGHT)]
    for top in tops:
        first = max(0, column(max(xs[0], top / slope)))
        for at in range(first, wide):
            grid[row(top)][at] = "─"
    for at in range(wide):
        value = xs[0] * (xs[1] / xs[0]) ** (at / (wide - 1)) * slope
        if ys[0] <= value <= max(tops) and grid[row(value)][at] == " ":
            grid[row(value)][at] = "╱"
    labels = {}
    for roof in view.roofs:
        if roof.flops_per_s in tops:
            labels.setdefault(row(roof.flops_per_s), roof.label)
    for y, label in labels.items():
        if y > 0:
            _write(grid[y - 1], wide - len(label) - 1, label)
    for number, point, at in placed:
        line, place = grid[row(at.rate)], column(at.intensity)
        while place + 1 < wide and {line[place], line[place + 1]} - set(" ─╱"):  # another point is here
            place += 1
        _write(line, place, _mark(number, point).replace(" ", ""))
    named = {row(value): quantity(value, "").strip() for value in ticks(*ys)[0]}
    for y, line in enumerate(grid):
        yield f"{named.get(y, ''):>{MARGIN - 2}} {'┤' if y in named else '│'}{''.join(line)}"
    below = [" "] * wide
    edge = ["─"] * wide
    for value in ticks(*xs)[0]:
        edge[column(value)] = "┴"
        _write(below, column(value) - len(power(value)) // 2, power(value))
    yield f"{'':>{MARGIN - 2}} └{''.join(edge)}"
    yield f"{'':>{MARGIN}}{''.join(below)}"
    yield f"{view.unit:>{MARGIN - 2}}  {f'{view.count} per byte of {view.level}':^{wide}}"


def _write(line: list[str], at: int, words: str) -> None:
    for place, character in enumerate(words, max(0, at)):
        if place < len(line):
            line[place] = character
