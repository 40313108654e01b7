"""A sweep as text, and the phrases shared with HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyptx.views.sweeps.states import SIGNS

if TYPE_CHECKING:
    from pyptx.views.sweeps.sweep import SweepView

__all__ = [
    "best_text",
    "bytes_text",
    "config_text",
    "duration",
    "headings",
    "percent",
    "progress_text",
    "refusals",
    "row",
    "text",
    "time_text",
]

_NUMBER = re.compile(r"\d+")
UNITS = ((1e-6, 1e9, "ns"), (1e-3, 1e6, "µs"), (1.0, 1e3, "ms"))


def time_text(seconds: float | None) -> str:
    """Return a time with three digits and a unit: "12.3 µs"."""
    if seconds is None:
        return ""
    scale, unit = next(((scale, unit) for below, scale, unit in UNITS if seconds * 1.0005 < below), (1.0, "s"))
    value = seconds * scale
    digits = max(0, 2 - (len(str(int(value))) - 1))
    return f"{value:.{digits}f} {unit}"


def duration(seconds: float) -> str:
    """Return a duration: "40 s", "3 min"."""
    return f"{max(1, round(seconds))} s" if seconds < 90 else f"{round(seconds / 60)} min"


def bytes_text(size: int | None) -> str:
    return "" if size is None else f"{size} B" if size < 1024 else f"{size / 1024:.4g} KiB"


def percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f} %"


def shown(value: object) -> str:
    return "" if value is None else str(value)


def config_text(view: SweepView, number: int) -> str:
    return ", ".join(f"{name}={value}" for name, value in view.config(number).items())


def progress_text(view: SweepView) -> str:
    """Return one line: progress, time left, number of points by state."""
    progress = view.progress
    words = {
        "new": "not started",
        "running": "running",
        "paused": "paused",
        "stopped": "stopped",
        "finished": "finished",
        "failed": "failed with an error",
    }[progress.state]
    parts = [f"{words}, {progress.done} of {progress.total} points"]
    if progress.state == "running" and progress.seconds_left is not None:
        parts.append(f"about {duration(progress.seconds_left)} left")
    parts += [f"{count} {name}" for name, count in view.counts.items()]
    if view.holes:
        parts.append(f"{len(view.holes)} excluded by restrictions")
    return "; ".join(parts)


def best_text(view: SweepView) -> str:
    """Describe the fastest point in one sentence; empty if there is none."""
    if view.best < 0:
        return ""
    point = view.points[view.best]
    return f"best: {config_text(view, view.best)}: {time_text(point.seconds)} {point.kind}".rstrip()


def refusals(view: SweepView) -> list[tuple[str, int]]:
    """Return (reason, number of points and holes), most frequent first; reasons that differ only in numbers are merged."""
    reasons = [point.reason for point in view.points if point.state in ("refused", "wrong", "failed")]
    alike: dict[str, list[str]] = {}
    for reason in filter(None, [*reasons, *(hole.reason for hole in view.holes)]):
        alike.setdefault(_NUMBER.sub("0", reason), []).append(reason)
    found = [(one[0] if len(set(one)) == 1 else f"{one[0]} (and similar)", len(one)) for one in alike.values()]
    return sorted(found, key=lambda reason: -reason[1])


def headings(view: SweepView) -> list[str]:
    """Return the names of the columns of `row`."""
    return [
        "",
        *(parameter.name for parameter in view.parameters),
        "time",
        "interval",
        "× best",
        *(label for _, label, _ in view.columns),
        "bottleneck or reason",
    ]


def row(view: SweepView, number: int) -> list[str]:
    """Return the cells of a point; the first is its sign, the last its bottleneck or the reason it was refused."""
    point = view.points[number]
    best = view.points[view.best].seconds if view.best >= 0 else None
    interval = f"{time_text(point.low)} – {time_text(point.high)}" if point.low is not None else ""
    ratio = f"{point.seconds / best:.2f}" if point.seconds is not None and best else ""
    what = point.reason or point.bound
    if point.state in ("refused", "wrong", "failed", "duplicate"):
        what = f"{point.state}: {what}" if what else point.state
    return [
        SIGNS[point.state],
        *map(str, view.config(number).values()),
        time_text(point.seconds),
        interval,
        ratio,
        *(text_of(getattr(point, name)) for name, _, text_of in view.columns),
        what,
    ]


def text(view: SweepView, limit: int | None = None) -> str:
    return "\n".join(_lines(view, limit))


def _lines(view: SweepView, limit: int | None) -> Iterator[str]:
    yield f"{view.title} for {view.target}, {view.device}"
    yield f"  {progress_text(view)}"
    if view.best >= 0:
        yield f"  {best_text(view)}"
    yield from (f"  {note}" for note in view.notes)
    numbers = [number for number in view.order if view.points[number].seconds is not None]
    numbers += [
        number
        for number in view.order
        if view.points[number].state in ("wrong", "failed") and view.points[number].seconds is None
    ]
    kept = numbers[:limit]
    if kept:
        table = [headings(view), *(row(view, number) for number in kept)]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        last = len(widths) - 1
        yield ""
        for cells in table:
            yield (
                "  "
                + "  ".join(
                    cell if at == last else cell.rjust(width) if at else cell.ljust(width)
                    for at, (cell, width) in enumerate(zip(cells, widths, strict=True))
                ).rstrip()
            )
        if len(numbers) > len(kept):
            yield f"  ... {len(numbers) - len(kept)} more; .text() shows all"
    reasons = refusals(view)
    if reasons:
        yield ""
        yield from (f"  {count:>4} × {reason}" for reason, count in reasons[:12])
        if len(reasons) > 12:
            yield f"  ... {len(reasons) - 12} more reasons; .csv() has all"
