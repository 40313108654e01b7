"""Layout of a roofline chart: lines, points and labels in pixels, without overlapping labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import atan2, degrees, log10
from typing import TYPE_CHECKING, NamedTuple

from pyptx.views.rooflines.elements import Point, Slope
from pyptx.views.rooflines.units import axis, percent, ticks

if TYPE_CHECKING:
    from pyptx.views.rooflines.roofline import Roofline

__all__ = ["FONT", "Frame", "Label", "Line", "Marker", "ChartLayout", "axes", "axis_ticks", "labeled", "chart_layout"]

FONT = 11.5
CHARACTER = 0.61  # width of a sans-serif character, in font sizes
MAX_POINTS_WITH_CEILINGS = 3  # more points have no ceilings of their own
NEAR = 0.8  # share of a ceiling that a point must be able to reach for the ceiling to be drawn
MAX_LABELS = 12  # of points


class Frame(NamedTuple):
    """The area inside the axes, in pixels, and the data range of each axis."""

    left: float
    top: float
    width: float
    height: float
    x: tuple[float, float]
    y: tuple[float, float]

    def px(self, value: float) -> float:
        low, high = self.x
        return self.left + self.width * (log10(value / low) / log10(high / low))

    def py(self, value: float) -> float:
        low, high = self.y
        return self.top + self.height * (1 - log10(value / low) / log10(high / low))


class Line(NamedTuple):
    """A line with its style classes: "slope", "roof", ... and "tensor", "core", "other", "ceiling"."""

    kind: str
    x1: float
    y1: float
    x2: float
    y2: float
    title: str = ""


class Label(NamedTuple):
    kind: str
    x: float
    y: float
    text: str
    anchor: str = "start"
    turn: float = 0.0  # degrees


class Marker(NamedTuple):
    """A point; `low` and `high` are the ends of its interval, in pixels on the y axis."""

    number: int
    x: float
    y: float
    color: int
    solid: bool
    title: str
    low: float | None = None
    high: float | None = None


class ChartLayout(NamedTuple):
    frame: Frame
    lines: list[Line]
    labels: list[Label]
    markers: list[Marker]
    shade: list[tuple[float, float]]  # the area under the roof
    leaders: list[Line]  # from a marker to a distant label


def chart_layout(view: Roofline, left: float, top: float, width: float, height: float) -> ChartLayout:
    """Lay out the chart of a Roofline in a rectangle, the area between the axes."""
    placed = [(number, point, at) for number, point in enumerate(view.points) if (at := view.at(point))]
    slopes, roofs = view.slopes, view.roofs
    main = next(slope for slope in slopes if slope.level == view.level and slope.kind == "peak")
    tops = [roof.flops_per_s for roof in roofs] or [main.bytes_per_s]
    frame = Frame(left, top, width, height, *axes(view, [at for *_, at in placed]))
    room = _Occupied(frame)
    lines, labels = [], []
    for slope in slopes:
        own = _slope(frame, slope.bytes_per_s, max(tops))
        if own is None:
            continue
        kind = "slope" if slope is main else "slope other"
        lines.append(Line(kind, *own, title=f"{slope.label}: {slope.source}"))
        room.line(own)
    ceilings = {one.label: one for one in view.ceilings if _matters(one, placed)}.values()
    flats = [
        *(
            (roof.flops_per_s, f"roof {roof.kind}" + ("" if roof.used else " other"), roof.label, roof.source)
            for roof in roofs
        ),
        *((one.flops_per_s, "roof ceiling", one.label, one.why) for one in ceilings),
    ]
    for flops, kind, label, why in flats:
        if not frame.y[0] < flops < frame.y[1]:
            continue
        start = max(frame.x[0], flops / main.bytes_per_s)
        if start < frame.x[1]:
            own = (frame.px(start), frame.py(flops), frame.left + frame.width, frame.py(flops))
            lines.append(Line(kind, *own, title=f"{label}: {why}"))
            room.line(own)
    markers = [
        Marker(
            number,
            frame.px(at.intensity),
            frame.py(at.rate),
            _color(view, point),
            point.kind == "measured",
            "\n".join((point.title, *at.formula)),
            *(frame.py(point.flops / ends) if ends else None for ends in (point.high, point.low)),
        )
        for number, point, at in placed
    ]
    markers.sort(key=lambda marker: marker.solid)  # measured points are drawn on top
    for marker in markers:
        room.take(marker.x - 6, marker.y - 6, 12, 12)
    flats.sort(key=lambda flat: ("ceiling" in flat[1], -flat[0]))  # ceilings get the remaining room
    labels += room.roof_labels(
        (kind, label, frame.px(max(frame.x[0], flops / main.bytes_per_s)), frame.py(flops))
        for flops, kind, label, _ in flats
        if frame.y[0] < flops < frame.y[1] and flops / main.bytes_per_s < frame.x[1]
    )
    labels += room.slope_labels(
        (line, slope)
        for line, slope in zip(
            (one for one in lines if one.kind.startswith("slope")),
            (one for one in slopes if _slope(frame, one.bytes_per_s, max(tops))),
            strict=True,
        )
    )
    words = labeled(view)
    names, leaders = room.point_labels(
        (marker, words[marker.number], view.points[marker.number].rate) for marker in markers if marker.number in words
    )
    ridge = max(tops) / main.bytes_per_s
    first = max(frame.x[0], frame.y[0] / main.bytes_per_s)
    shade = [
        (frame.px(first), frame.top + frame.height),
        (frame.px(first), frame.py(first * main.bytes_per_s)),
        (frame.px(min(ridge, frame.x[1])), frame.py(min(max(tops), frame.x[1] * main.bytes_per_s))),
        (frame.left + frame.width, frame.py(min(max(tops), frame.x[1] * main.bytes_per_s))),
        (frame.left + frame.width, frame.top + frame.height),
    ]
    return ChartLayout(frame, lines, [*labels, *names], markers, shade, leaders)


def axes(view: Roofline, placed: list) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the range of both axes for the placed points."""
    tops = [roof.flops_per_s for roof in view.roofs] or [view.gpu.bytes_per_s(view.level)]
    ridge = max(tops) / view.gpu.bytes_per_s(view.level)
    return (
        axis([*(at.intensity for at in placed), ridge], 4, 6, 3),
        axis([*(at.rate for at in placed), *tops], 3, 1.8, 2),
    )


def labeled(view: Roofline) -> dict[int, str]:
    """Return point number -> label. Of several points of one name and kind, as in a sweep, only the fastest has one."""
    groups: dict[tuple[str, str], list[int]] = {}
    for number, point in enumerate(view.points):
        if view.at(point):
            groups.setdefault((point.title, point.kind), []).append(number)
    found = {}
    for (title, kind), numbers in groups.items():
        best = max(numbers, key=lambda number: view.points[number].rate)
        point = view.points[best]
        words = [
            title,
            point.note if len(numbers) > 1 else "",
            percent(placed.share) if (placed := view.at(point)) else "",
            "modeled" if kind == "modeled" and (title, "measured") in groups else "",
        ]
        found[best] = " ".join(filter(None, words))
    fastest = sorted(found, key=lambda number: -view.points[number].rate)[:MAX_LABELS]
    return {number: found[number] for number in fastest}


def _matters(ceiling, placed: list) -> bool:
    """Return True if a ceiling limits, or nearly limits, a point; ceilings of single points count while points are few."""
    if ceiling.point >= 0 and len(placed) > MAX_POINTS_WITH_CEILINGS:
        return False
    return any(
        at.attainable >= NEAR * ceiling.flops_per_s
        for number, point, at in placed
        if number == ceiling.point or (ceiling.point < 0 and not point.tensor)
    )


def _color(view: Roofline, point: Point) -> int:
    """Return the index of the color of a point's name."""
    return list(dict.fromkeys(p.name for p in view.points)).index(point.name)


def _slope(frame: Frame, rate: float, top: float) -> tuple[float, float, float, float] | None:
    """Return the ends of a slope in pixels, up to the highest roof; None if it is outside."""
    first, last = max(frame.x[0], frame.y[0] / rate), min(frame.x[1], top / rate)
    if first >= last:
        return None
    return frame.px(first), frame.py(first * rate), frame.px(last), frame.py(last * rate)


class _Occupied:
    """The occupied parts of a chart: boxes (x, y, width, height) of labels and markers, and points along lines."""

    def __init__(self, frame: Frame):
        self.frame = frame
        self.boxes: list[tuple[float, float, float, float]] = []
        self.dots: list[tuple[float, float]] = []

    def take(self, x: float, y: float, width: float, height: float) -> None:
        self.boxes.append((x, y, width, height))

    def line(self, ends: tuple[float, float, float, float]) -> None:
        x1, y1, x2, y2 = ends
        steps = max(1, int(max(abs(x2 - x1), abs(y2 - y1)) / 6))
        self.dots += [(x1 + (x2 - x1) * n / steps, y1 + (y2 - y1) * n / steps) for n in range(steps + 1)]

    def cost(self, x: float, y: float, width: float, height: float) -> float:
        """Return the cost of a label here: high for each box it overlaps, low for lines, prohibitive outside the axes."""
        f = self.frame
        if x < f.left + 2 or x + width > f.left + f.width - 2 or y < f.top + 1 or y + height > f.top + f.height - 2:
            return 1e6
        hit = sum(x < bx + bw and bx < x + width and y < by + bh and by < y + height for bx, by, bw, bh in self.boxes)
        return 100 * hit + sum(x <= px <= x + width and y <= py <= y + height for px, py in self.dots)

    def roof_labels(self, flats: Iterable[tuple[str, str, float, float]]) -> Iterator[Label]:
        """Place labels at the right end of roofs that begin at x, above or below, further left if occupied.

        A ceiling without room gets no label.
        """
        right = self.frame.left + self.frame.width - 6
        for kind, text, begins, y in flats:
            wide = _width(text)
            shifts = [shift for shift in (0, 110, 220, 330) if not shift or right - wide - shift > begins + 10]
            tries = [(right - wide - shift, y + dy) for shift in shifts for dy in (-FONT - 4, 3)]
            x, top = min(tries, key=lambda at: self.cost(*at, wide, FONT + 1))
            if "ceiling" in kind and self.cost(x, top, wide, FONT + 1) >= 100:
                continue
            self.take(x, top, wide, FONT + 1)
            yield Label(kind, x + wide, top + FONT - 1, text, "end")

    def slope_labels(self, slopes: Iterable[tuple[Line, Slope]]) -> Iterator[Label]:
        """Place labels along slopes where there is room; only the main slope's label may overlap others."""
        for line, slope in slopes:
            angle = atan2(line.y2 - line.y1, line.x2 - line.x1)
            long = ((line.x2 - line.x1) ** 2 + (line.y2 - line.y1) ** 2) ** 0.5
            wide = _width(slope.label)
            if long < wide + 16:
                continue
            cos, sin = (line.x2 - line.x1) / long, (line.y2 - line.y1) / long
            side = 5 if slope.kind == "peak" else -FONT - 2  # the achieved rate is below the peak

            def at(start: float, line=line, cos=cos, sin=sin, side=side) -> tuple[float, float]:
                return line.x1 + cos * start + sin * side, line.y1 + sin * start - cos * side

            def boxes(start: float, wide=wide, at=at, cos=cos, sin=sin) -> list[tuple[float, float, float, float]]:
                x, y = at(start)
                return [(x + cos * n - 5, y + sin * n - 10, 12, 12) for n in range(0, int(wide), 10)]

            starts = [8 + (long - wide - 16) * share for share in (0.1, 0.25, 0.4, 0.0, 0.55, 0.7, 0.85)]
            hits = {start: sum(self.cost(*box) >= 100 for box in boxes(start)) for start in starts}
            best = min(starts, key=hits.__getitem__)
            if hits[best] and line.kind != "slope":
                continue
            for box in boxes(best):
                self.take(*box)
            x, y = at(best)
            yield Label(line.kind, x, y, slope.label, turn=degrees(angle))

    def point_labels(self, points: Iterable[tuple[Marker, str, float]]) -> tuple[list[Label], list[Line]]:
        """Place labels beside markers, fastest first; further away with a leader where it is crowded."""
        labels, leaders = [], []
        for marker, text, _ in sorted(points, key=lambda one: -one[2]):
            wide, high = _width(text), FONT + 2
            near = [
                (9, -high / 2),
                (-9 - wide, -high / 2),
                (-wide / 2, -high - 8),
                (-wide / 2, 8),
                (8, 6),
                (8, -high - 6),
                (-8 - wide, 6),
                (-8 - wide, -high - 6),
            ]
            far = [
                (dx if dx > 0 else dx - wide, dy)
                for reach in (26, 46, 70, 100)
                for dx, dy in (
                    (reach, -reach - high),
                    (reach, reach),
                    (-reach, reach),
                    (-reach, -reach - high),
                    (reach, -high / 2),
                    (-reach, -high / 2),
                )
            ]
            tries = [
                (
                    self.cost(marker.x + dx, marker.y + dy, wide, high) + (n / 100 if n < len(near) else 2 + n / 100),
                    dx,
                    dy,
                    n >= len(near),
                )
                for n, (dx, dy) in enumerate((*near, *far))
            ]
            cost, dx, dy, away = min(tries, key=lambda one: one[0])
            if cost >= 100:  # no room; the tooltip and the table name the point
                continue
            x, y = marker.x + dx, marker.y + dy
            self.take(x, y, wide, high)
            anchor = ("start", x) if dx > 0 else ("end", x + wide)
            labels.append(Label("name", anchor[1], y + FONT - 1, text, anchor[0]))
            if away:
                leaders.append(Line("leader", marker.x, marker.y, x if dx > 0 else x + wide, y + high / 2))
        return labels, leaders


def _width(text: str) -> float:
    return len(text) * FONT * CHARACTER


def axis_ticks(frame: Frame) -> tuple[tuple[list[float], list[float]], tuple[list[float], list[float]]]:
    """Return (labeled, unlabeled) ticks of x and of y."""
    return ticks(*frame.x), ticks(*frame.y)
