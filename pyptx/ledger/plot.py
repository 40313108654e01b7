"""Plot of times over measurements, one panel for each series, as SVG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise

from pyptx.ledger.measurement import Measurement
from pyptx.ledger.regressions import find_regressions
from pyptx.views.rooflines.units import quantity

__all__ = ["svg"]

_WIDTH, _HEIGHT, _LEFT, _TOP, _FOOT, _RIGHT = 860, 200, 90, 34, 46, 40
_FINE, _BAD, _SOFT = "#4477aa", "#cc3311", "#888888"
_LABELS = 8  # versions named below the axis


def svg(items: Sequence[Measurement]) -> str:
    """Return the plot; a point has its interval as a bar, a red one is the first slow one of a regression.

    Points of different machine code are joined by dashed lines.
    """
    series: dict[tuple[str, ...], list[Measurement]] = {}
    for one in sorted(items, key=lambda one: (one.at, one.number)):
        series.setdefault(one.series, []).append(one)
    height = _HEIGHT * max(1, len(series))
    parts = "".join(
        part for number, ordered in enumerate(series.values()) for part in _panel(ordered, number * _HEIGHT)
    )
    if not series:
        parts = f'<text x="20" y="40" fill="{_SOFT}">no measurements</text>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" '
        f'font-family="system-ui,sans-serif" font-size="12" fill="currentColor" role="img">'
        f"<title>Times over measurements</title>{parts}</svg>"
    )


def _panel(ordered: Sequence[Measurement], top: int) -> Iterator[str]:
    first = ordered[0]
    low, high = min(one.low for one in ordered), max(one.high for one in ordered)
    margin = 0.1 * (high - low) or 0.1 * high or 1.0
    low, high = max(0.0, low - margin), high + margin
    step = (_WIDTH - _LEFT - _RIGHT) / max(1, len(ordered) - 1)

    def x(number: int) -> float:
        return _LEFT + number * step if len(ordered) > 1 else (_LEFT + _WIDTH - _RIGHT) / 2

    def y(value: float) -> float:
        return top + _TOP + (_HEIGHT - _TOP - _FOOT) * (high - value) / (high - low)

    yield f'<text x="{_LEFT}" y="{top + 18}" font-weight="bold">{escape(first.title)}</text>'
    yield (
        f'<text x="{_WIDTH - _RIGHT}" y="{top + 18}" text-anchor="end" fill="{_SOFT}">'
        f"{escape(f'{first.gpu}, {first.kind} ({first.method})')}</text>"
    )
    for value in (low + margin, (low + high) / 2, high - margin):
        yield f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y(value):.1f}" y2="{y(value):.1f}" stroke="{_SOFT}" stroke-opacity="0.3"/>'
        yield f'<text x="{_LEFT - 8}" y="{y(value) + 4:.1f}" text-anchor="end" fill="{_SOFT}">{escape(quantity(value, "s"))}</text>'
    bad = {found.first_bad.number or id(found.first_bad) for found in find_regressions(ordered)}
    for number, (one, other) in enumerate(pairwise(ordered)):
        dashes = "" if one.cubin == other.cubin else ' stroke-dasharray="4 3"'
        yield (
            f'<line x1="{x(number):.1f}" y1="{y(one.seconds):.1f}" x2="{x(number + 1):.1f}" y2="{y(other.seconds):.1f}" '
            f'stroke="{_FINE}" stroke-opacity="0.5"{dashes}/>'
        )
    every = max(1, -(-len(ordered) // _LABELS))
    for number, one in enumerate(ordered):
        color = _BAD if (one.number or id(one)) in bad else _FINE
        tip = f"#{one.number} {one.date}: {quantity(one.seconds, 's')}, {one.origin}"
        fill = color if one.kind == "measured" else "none"
        yield f'<line x1="{x(number):.1f}" x2="{x(number):.1f}" y1="{y(one.low):.1f}" y2="{y(one.high):.1f}" stroke="{color}"/>'
        yield (
            f'<circle cx="{x(number):.1f}" cy="{y(one.seconds):.1f}" r="4" fill="{fill}" stroke="{color}">'
            f"<title>{escape(tip)}</title></circle>"
        )
        if number % every == 0:
            label = one.origin.version or one.origin.commit[:7] or one.date[:10]
            yield (
                f'<text x="{x(number):.1f}" y="{top + _HEIGHT - _FOOT + 20}" text-anchor="middle" fill="{_SOFT}" '
                f'font-size="11">{escape(label)}</text>'
            )
