"""A sweep as pure data: the points of a parameter space, their results, and the progress.

A point is the result of one configuration; a hole is a configuration of the grid excluded by a restriction. The JSON
form has these fields by name, with `kind` and `version`; points are columns.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from pyptx.errors import OptionError, ShapeError
from pyptx.views._document import page, require_kind
from pyptx.views._packed import pack
from pyptx.views.sweeps.html import html
from pyptx.views.sweeps.states import NAMES, STATES, State
from pyptx.views.sweeps.text import bytes_text, percent, shown, text

__all__ = [
    "MIME",
    "POINT_RESULTS",
    "STATES",
    "VERSION",
    "Hole",
    "Parameter",
    "Point",
    "Progress",
    "State",
    "SweepView",
    "point_columns",
]

MIME = "application/vnd.pyptx.view+json"  # of all views; the kind tells them apart
VERSION = 1
TEXT_ROWS = 40  # of the text form in a mime bundle


@dataclass(frozen=True, slots=True)
class Parameter:
    """One axis of the grid. Values are JSON's: numbers, strings, booleans."""

    name: str
    values: tuple[Any, ...]


def _column(label: str, shown: Callable[[Any], str]) -> Any:
    """Return a field that has a column in tables."""
    return field(default=None, metadata={"column": (label, shown)})


@dataclass(frozen=True, slots=True)
class Point:
    """The result of one configuration. Unknown values are None, or the empty string.

    Attributes:
        config: index of the value of each parameter.
        state: a name of STATES.
        reason: why it was refused, failed or is wrong.
        seconds, low, high: time of one call, and the ends of its interval.
        kind: "modeled" or "measured", the source of the time.
        bound: the bottleneck, as text.
        registers: per thread.
        spill_bytes: stored and loaded per thread.
        shared_bytes: per block.
        occupancy: active warps over the maximum of an SM, 0 to 1.
        confidence: of the modeled time, "normal" or "low"; tables show "low".
        rate: floating-point operations per second.
        twin: for a duplicate, the point with the same machine code; -1: none.
    """

    config: tuple[int, ...]
    state: str = "queued"
    reason: str = ""
    seconds: float | None = None
    low: float | None = None
    high: float | None = None
    kind: str = ""
    bound: str = ""
    registers: int | None = _column("registers", shown)
    spill_bytes: int | None = _column("spills", lambda size: bytes_text(size or None))
    shared_bytes: int | None = _column("shared", bytes_text)
    occupancy: float | None = _column("occupancy", percent)
    confidence: str | None = _column("confidence", lambda confidence: "low" if confidence == "low" else "")
    rate: float | None = None
    twin: int = -1

    def __post_init__(self) -> None:
        if self.state not in NAMES:
            raise OptionError(f"unknown state {self.state!r} of a point; expected {', '.join(NAMES)}")


POINT_RESULTS = tuple(f.name for f in fields(Point) if f.name not in ("config", "twin"))  # the fields of exports


def point_columns() -> tuple[tuple[str, str, Callable[[Any], str]], ...]:
    """Return the fields of points that have a column in tables: name, heading, and text of a value."""
    return tuple((f.name, *f.metadata["column"]) for f in fields(Point) if "column" in f.metadata)


@dataclass(frozen=True, slots=True)
class Hole:
    """A configuration of the grid that was excluded, and the reason."""

    config: tuple[int, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a sweep.

    Attributes:
        state: "new", "running", "paused", "stopped", "finished" or "failed".
        seconds_left: an estimate; None if unknown.
    """

    done: int
    total: int
    seconds_left: float | None = None
    state: str = "new"


@dataclass(frozen=True, slots=True)
class SweepView:
    """The grid of a sweep, its points and holes, and the progress.

    Attributes:
        device: the source of times: "model of H200", "NVIDIA H200".
        best: the fastest point; -1: none yet.
        choice: the point chosen by the user; -1: none.
        notes: remarks on the sweep.
    """

    title: str
    target: str
    device: str
    parameters: tuple[Parameter, ...]
    points: tuple[Point, ...]
    holes: tuple[Hole, ...] = ()
    progress: Progress = field(default=Progress(0, 0))
    best: int = -1
    choice: int = -1
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        sizes = [len(parameter.values) for parameter in self.parameters]
        for one in (*self.points, *self.holes):
            if len(one.config) != len(sizes) or any(not 0 <= at < sizes[axis] for axis, at in enumerate(one.config)):
                raise ShapeError(
                    f"configuration {one.config} is outside the grid of {' x '.join(map(str, sizes))} values"
                )

    @property
    def columns(self) -> tuple[tuple[str, str, Callable[[Any], str]], ...]:
        """`point_columns`, without those that are empty for every point."""
        return tuple(one for one in point_columns() if any(one[2](getattr(p, one[0])) for p in self.points))

    def config(self, number: int) -> dict[str, Any]:
        """Return the parameters of a point by name."""
        return {
            parameter.name: parameter.values[at]
            for parameter, at in zip(self.parameters, self.points[number].config, strict=True)
        }

    @property
    def counts(self) -> dict[str, int]:
        """Number of points by state; only states that occur, in the order of STATES."""
        found = Counter(point.state for point in self.points)
        return {name: found[name] for name in NAMES if found[name]}

    @property
    def order(self) -> tuple[int, ...]:
        """Indices of the points with a time, fastest first, then of the others."""
        late = float("inf")
        return tuple(
            sorted(
                range(len(self.points)),
                key=lambda at: (late if self.points[at].seconds is None else self.points[at].seconds, at),
            )
        )

    def to_json(self) -> dict[str, Any]:
        """Return JSON values, the content of the MIME type; `points` are columns."""
        columns = {one.name: [getattr(point, one.name) for point in self.points] for one in fields(Point)}
        columns["config"] = [list(config) for config in columns["config"]]
        columns["state"] = [NAMES.index(state) for state in columns["state"]]
        progress = self.progress
        return {
            "kind": "sweep",
            "version": VERSION,
            "title": self.title,
            "target": self.target,
            "device": self.device,
            "states": [[state.name, state.sign, state.words] for state in STATES],
            "parameters": [{"name": one.name, "values": list(one.values)} for one in self.parameters],
            "points": columns,
            "holes": [[list(hole.config), hole.reason] for hole in self.holes],
            "progress": {one.name: getattr(progress, one.name) for one in fields(Progress)},
            "best": self.best,
            "choice": self.choice,
            "notes": list(self.notes),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SweepView:
        """Rebuild a view from `to_json`.

        Raises:
            OptionError: the data has another kind, or the version of a newer pyptx.
        """
        data = require_kind(data, "sweep", VERSION)
        columns = data["points"] | {
            "config": [tuple(config) for config in data["points"]["config"]],
            "state": [data["states"][at][0] for at in data["points"]["state"]],
        }
        points = [Point(**dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True)]
        return cls(
            data["title"],
            data["target"],
            data["device"],
            tuple(Parameter(one["name"], tuple(one["values"])) for one in data["parameters"]),
            tuple(points),
            tuple(Hole(tuple(config), reason) for config, reason in data["holes"]),
            Progress(**data["progress"]),
            data["best"],
            data["choice"],
            tuple(data["notes"]),
        )

    def csv(self) -> str:
        """Return CSV with a line per point, in the order of the space: parameters, state, times in seconds, resources."""
        out = io.StringIO()
        table = csv.writer(out, lineterminator="\n")
        table.writerow([*(parameter.name for parameter in self.parameters), *POINT_RESULTS])
        for number, point in enumerate(self.points):
            table.writerow([*self.config(number).values(), *(getattr(point, name) for name in POINT_RESULTS)])
        return out.getvalue()

    def text(self, *, limit: int | None = None) -> str:
        """Return text: the progress, at most `limit` points with times, and why others were refused."""
        return text(self, limit)

    def html(self, *, limit: int = 200) -> str:
        """Return static HTML for GitHub, nbviewer and nbconvert: heat maps, and at most `limit` points."""
        return html(self, limit)

    def page(self) -> str:
        """Return one HTML file with the live view; works offline."""
        return page(self.to_json(), title=f"{self.title} · sweep", without_script=self.html())

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {MIME: pack(self.to_json()), "text/html": self.html(), "text/plain": self.text(limit=TEXT_ROWS)}

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {name}" for name, count in self.counts.items())
        return f"SweepView({self.title!r}, {self.target}: {len(self.points)} points; {counts})"

    def __iter__(self) -> Iterator[Point]:
        return iter(self.points)
