"""A roofline as pure data: the limits of a GPU and the points of kernels.

    Roofline(gpu("H200"), [Point("gemm", {"wgmma.bf16": 2 * M * N * K}, {"dram": ...}, seconds, "measured")])

A point's work is in operations (an FMA is two) by pipe and type, its traffic in bytes by memory level. Each time is
marked as modeled or measured. Roofs, slopes and ceilings are derived from the GPU and the work of the points.

Source: Williams, Waterman and Patterson, "Roofline: an insightful visual performance model"; levels as in Nsight
Compute's hierarchical charts.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from pyptx._notebook import front_end
from pyptx.analysis.gpus import LEVELS, Gpu, gpu
from pyptx.errors import OptionError, ShapeError
from pyptx.views._document import page, require_kind
from pyptx.views._packed import pack
from pyptx.views.code.linked import MIME
from pyptx.views.rooflines.elements import (
    LEVEL_NAMES,
    Ceiling,
    Placed,
    Point,
    Roof,
    Slope,
    ceilings_of,
    count_of,
    roof_of,
    roofs_of,
    slopes_of,
)
from pyptx.views.rooflines.html import html
from pyptx.views.rooflines.svg import svg
from pyptx.views.rooflines.text import text
from pyptx.views.rooflines.units import number, percent, quantity

__all__ = ["VERSION", "Roofline"]

VERSION = 1


@dataclass(frozen=True, slots=True)
class Roofline:
    """Points on the roofline of a GPU.

    Attributes:
        gpu: the GPU, such as `pyptx.analysis.gpus.gpu("H200")`.
        points: kernels, versions, or configurations of a sweep.
        level: "dram", "l2" or "shared", the memory level of the x axis.
        title: of the chart; default: the names of the points.
        views: LinkedViews, or their JSON form, by the key in a point's `view`.
    """

    gpu: Gpu
    points: tuple[Point, ...] = ()
    level: str = "dram"
    title: str = ""
    views: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "gpu", gpu(self.gpu))
        object.__setattr__(self, "points", tuple(self.points))
        if not self.title:
            object.__setattr__(self, "title", " · ".join(dict.fromkeys(p.name for p in self.points[:4])) or "Roofline")
        if self.level not in LEVELS:
            raise ShapeError(f"unknown memory level {self.level!r}; expected {', '.join(LEVELS)}")

    # limits ---------------------------------------------------------------------------------------------------------

    @property
    def levels(self) -> tuple[str, ...]:
        """Memory levels with traffic, and the one of the x axis."""
        return tuple(name for name in LEVELS if name == self.level or any(p.bytes.get(name) for p in self.points))

    @property
    def slopes(self) -> tuple[Slope, ...]:
        """Bandwidth limits of the memory levels; see `slopes_of`."""
        return slopes_of(self.gpu)

    @property
    def roofs(self) -> tuple[Roof, ...]:
        """Throughput limits of the pipes that the points use; see `roofs_of`."""
        return roofs_of(self.gpu, self.points)

    @property
    def ceilings(self) -> tuple[Ceiling, ...]:
        """Lower limits and their reasons; see `ceilings_of`."""
        return ceilings_of(self.gpu, self.points)

    @property
    def count(self) -> str:
        """Unit of work: "FLOP", or "OP" if all operations are on integers."""
        return count_of(self.points)

    @property
    def unit(self) -> str:
        """Unit of the vertical axis, such as "FLOP/s"."""
        return f"{self.count}/s"

    def at(self, point: Point, level: str | None = None) -> Placed | None:
        """Return the position of a point; None if it has no work, or no bytes of that level."""
        level = level or self.level
        moved, flops = point.bytes.get(level, 0), point.flops
        if not moved or not flops:
            return None
        intensity, slope, (roof, longest) = flops / moved, self.gpu.bytes_per_s(level), roof_of(self.gpu, point)
        memory = intensity * slope
        attainable = min(memory, roof) if roof else memory
        level_name = LEVEL_NAMES[level] if level != "shared" else "shared memory"
        name = f"{level_name} {quantity(slope, 'B/s')}"
        limit = name if not roof or memory <= roof else self._label_of(longest)
        unit, count = self.unit, self.count
        formula = [
            f"{quantity(flops, count)} / {quantity(moved, 'B')} of {level_name} = {number(intensity)} {count}/B",
            f"{quantity(flops, count)} / {quantity(point.seconds, 's')} {point.kind} = {quantity(point.rate, unit)}",
            f"attainable: min({f'{quantity(roof, unit)}, ' if roof else ''}{quantity(slope, 'B/s')} × "
            f"{number(intensity)} {count}/B) = {quantity(attainable, unit)}",
            f"{quantity(point.rate, unit)} of {quantity(attainable, unit)}: {percent(point.rate / attainable)}",
        ]
        return Placed(intensity, point.rate, attainable, point.rate / attainable, limit, tuple(formula))

    def _label_of(self, what: str) -> str:
        """Return the label of the roof of a kind of work, "wgmma.bf16"."""
        pipe, _, kind = what.partition(".")
        flops = self.gpu.flops_per_s(pipe, kind)
        return next(roof.label for roof in self.roofs if roof.flops_per_s == flops and roof.name.startswith(f"{pipe}."))

    # forms ----------------------------------------------------------------------------------------------------------

    def with_points(self, points: Iterable[Point], views: Mapping[str, Any] | None = None) -> Roofline:
        """Return the chart with more points, and more `views`."""
        return replace(self, points=(*self.points, *points), views={**self.views, **(views or {})})

    def __add__(self, other: Roofline) -> Roofline:
        """Return a chart with the points of both.

        Raises:
            ShapeError: the GPUs differ.
        """
        if not isinstance(other, Roofline):
            return NotImplemented
        if other.gpu != self.gpu:
            raise ShapeError(
                f"cannot add rooflines of two GPUs, {self.gpu} and {other.gpu}",
                hint="create them with the same device=",
            )
        names = {key: f"{key} {len(self.points)}" if key in self.views else key for key in other.views}
        points = (replace(point, view=names.get(point.view, point.view)) for point in other.points)
        views = {names[key]: view for key, view in other.views.items()}
        return replace(self.with_points(points, views), title=" · ".join(dict.fromkeys((self.title, other.title))))

    def at_level(self, level: str) -> Roofline:
        """Return the same points over the bytes of another level."""
        return replace(self, level=level)

    def to_json(self) -> dict[str, Any]:
        """Return JSON values, the content of the MIME type, including what is derived from the GPU and the points."""
        return {
            "kind": "roofline",
            "version": VERSION,
            "title": self.title,
            "level": self.level,
            "levels": list(self.levels),
            "unit": self.unit,
            "gpu": _plain(self.gpu),
            "slopes": [_plain(slope) for slope in self.slopes],
            "roofs": [_plain(roof) for roof in self.roofs],
            "ceilings": [_plain(ceiling) for ceiling in self.ceilings],
            "points": [
                _plain(point)
                | {
                    "flops": point.flops,
                    "rate": point.rate,
                    "at": {level: _plain(placed) for level in self.levels if (placed := self.at(point, level))},
                }
                for point in self.points
            ],
            "views": {key: view if isinstance(view, Mapping) else view.to_json() for key, view in self.views.items()},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Roofline:
        """Rebuild a roofline from `to_json`.

        Raises:
            OptionError: the data has another kind, or the version of a newer pyptx.
        """
        data = require_kind(data, "roofline", VERSION)
        names = {one.name for one in fields(Point)}
        points = (Point(**{name: value for name, value in point.items() if name in names}) for point in data["points"])
        return cls(Gpu(**data["gpu"]), tuple(points), data["level"], data["title"], data["views"])

    def text(self, *, width: int = 100, chart: bool = True) -> str:
        """Return text: the chart in characters, then each point with its numbers."""
        return text(self, width, chart)

    def html(self) -> str:
        """Return static HTML for GitHub, nbviewer and nbconvert: the chart as an image, and a table."""
        return html(self)

    def svg(self, *, width: int = 960, height: int = 560, theme: str = "auto") -> str:
        """Return the chart as SVG; `theme` is "light", "dark", or "auto", which follows the system."""
        return svg(self, width, height, theme)

    def csv(self) -> str:
        """Return CSV with a line per point: name, version, kind, seconds and interval, work by pipe, rate, and for each
        level bytes, intensity, attainable rate and share. Units are operations, bytes and seconds."""
        works = sorted({what for point in self.points for what in point.work})
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(
            [
                "name",
                "version",
                "gpu",
                "kind",
                "seconds",
                "low",
                "high",
                "flops",
                "flops_per_s",
                *(f"flops_{what.replace('.', '_')}" for what in works),
                "waves",
                "ctas",
                *(f"{level}_{column}" for level in LEVELS for column in ("bytes", "intensity", "attainable", "share")),
                "bound",
                "note",
            ]
        )
        for point in self.points:
            levels = []
            for level in LEVELS:
                placed = self.at(point, level)
                levels += [
                    point.bytes.get(level, ""),
                    *((placed.intensity, placed.attainable, placed.share) if placed else ("", "", "")),
                ]
            row = [
                point.name,
                point.version,
                self.gpu.name,
                point.kind,
                point.seconds,
                point.low,
                point.high,
                point.flops,
                point.rate,
                *(point.work.get(what, 0) for what in works),
                point.waves,
                point.ctas,
                *levels,
                point.bound,
                point.note,
            ]
            writer.writerow(["" if value is None else value for value in row])
        return file.getvalue()

    def page(self) -> str:
        """Return one HTML file with the live view; works offline."""
        return page(self.to_json(), title=f"{self.title} · roofline of {self.gpu.name}", without_script=self.html())

    def plot(self, ax: Any = None) -> Any:
        """Draw with matplotlib into `ax`, or into a new figure; return the axes.

        Raises:
            MissingToolError: matplotlib is not installed.
        """
        from pyptx.views.rooflines.plot import plot  # imported on use, because matplotlib is slow to load

        return plot(self, ax)

    def save(self, path: str | Path) -> Path:
        """Write a file in the format of its suffix: .svg, .csv, .html (the live page), .json, .png or .pdf.

        Raises:
            OptionError: another suffix.
            MissingToolError: .png or .pdf without matplotlib.
        """
        path = Path(path)
        writers = {".svg": self.svg, ".csv": self.csv, ".html": self.page, ".json": self._json_text}
        if path.suffix in writers:
            path.write_text(writers[path.suffix](), encoding="utf-8")
        elif path.suffix in (".png", ".pdf"):
            from pyptx.views.rooflines.plot import save

            save(self, path)
        else:
            raise OptionError(f"{path}: expected a name that ends in .svg, .png, .pdf, .csv, .html or .json")
        return path

    def _json_text(self) -> str:
        import json

        return json.dumps(self.to_json(), separators=(",", ":"))

    def _display_(self) -> Any:
        """Display in marimo: the live roofline as an anywidget."""
        return front_end().any_widget(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {MIME: pack(self.to_json()), "text/html": self.html(), "text/plain": self.text(chart=False)}

    def __repr__(self) -> str:
        count = len(self.points)
        return f"<Roofline of {self.title} on {self.gpu}: {count} point{'' if count == 1 else 's'}>"

    def __str__(self) -> str:
        return self.text()


def _plain(value: Any) -> dict[str, Any]:
    found = {}
    for one in fields(value):
        item = getattr(value, one.name)
        found[one.name] = (
            dict(item)
            if isinstance(item, Mapping)
            else list(item)
            if isinstance(item, Sequence) and not isinstance(item, str)
            else item
        )
    return found
