"""A sweep: the points of a space of parameters, what became of each, and how far the work is. Pure data, in columns.

A point is what became of one configuration; a hole is a configuration of the grid that a restriction left out. The JSON
form is these fields by name, with `kind` and `version`.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from pyptx.views._data import require_kind
from pyptx.views._page import page
from pyptx.views.sweeps.html import html
from pyptx.views.sweeps.states import NAMES, STATES, State
from pyptx.views.sweeps.text import text

__all__ = ["MIME", "STATES", "VERSION", "Hole", "Parameter", "Point", "Progress", "State", "SweepView"]

MIME = "application/vnd.pyptx.view+json"                # of all views; the kind tells them apart
VERSION = 1
TEXT_ROWS = 40                                          # of the text form in a mime bundle


@dataclass(frozen=True, slots=True)
class Parameter:
    """One axis of the grid. Values are JSON's: numbers, strings, booleans."""

    name: str
    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Point:
    """One configuration. What is not known is None, or the empty string.

    Attributes:
        config: for each parameter, which of its values.
        state: a name of STATES.
        reason: why it was refused, failed or is wrong.
        seconds, low, high: time of one call, and the ends of its interval.
        kind: "modelled" or "measured": where the time comes from.
        bound: what holds it up, in words.
        registers: of a thread.
        spill_bytes: stored and loaded by a thread.
        shared_bytes: of a block.
        occupancy: share of the warps that an SM can hold, 0 to 1.
        rate: floating-point operations a second.
        twin: the point with the same machine code, of a duplicate; -1: none.
    """

    config: tuple[int, ...]
    state: str = "queued"
    reason: str = ""
    seconds: float | None = None
    low: float | None = None
    high: float | None = None
    kind: str = ""
    bound: str = ""
    registers: int | None = None
    spill_bytes: int | None = None
    shared_bytes: int | None = None
    occupancy: float | None = None
    rate: float | None = None
    twin: int = -1

    def __post_init__(self):
        if self.state not in NAMES:
            raise ValueError(f"a point is {', '.join(NAMES)}; not {self.state!r}")


@dataclass(frozen=True, slots=True)
class Hole:
    """A configuration of the grid that is no point, and why."""

    config: tuple[int, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the work is.

    Attributes:
        state: "new", "running", "paused", "stopped", "finished" or "failed".
        seconds_left: an estimate; None when there is none.
    """

    done: int
    total: int
    seconds_left: float | None = None
    state: str = "new"


@dataclass(frozen=True, slots=True)
class SweepView:
    """The grid, its points and holes, the progress.

    Attributes:
        device: where times come from, in words: "model of H200", "NVIDIA H200".
        best: the point with the shortest time; -1: none yet.
        choice: the point that the user has chosen; -1: none.
        notes: sentences about the whole sweep.
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

    def __post_init__(self):
        sizes = [len(parameter.values) for parameter in self.parameters]
        for one in (*self.points, *self.holes):
            if len(one.config) != len(sizes) or any(not 0 <= at < sizes[axis] for axis, at in enumerate(one.config)):
                raise ValueError(f"{one.config} is no place in a grid of {' x '.join(map(str, sizes))} values")

    def config(self, number: int) -> dict[str, Any]:
        """Names and values of a point."""
        return {parameter.name: parameter.values[at]
                for parameter, at in zip(self.parameters, self.points[number].config, strict=True)}

    @property
    def counts(self) -> dict[str, int]:
        """State -> how many points; only states that occur, in the order of STATES."""
        found = Counter(point.state for point in self.points)
        return {name: found[name] for name in NAMES if found[name]}

    @property
    def order(self) -> tuple[int, ...]:
        """Points that have a time, the fastest first, then the others as they stand."""
        late = float("inf")
        return tuple(sorted(range(len(self.points)), key=lambda at: (
            late if self.points[at].seconds is None else self.points[at].seconds, at)))

    def to_json(self) -> dict[str, Any]:
        """Plain dicts, lists, strings and numbers; what the MIME type holds. `points` are columns."""
        columns = {one.name: [getattr(point, one.name) for point in self.points] for one in fields(Point)}
        columns["config"] = [list(config) for config in columns["config"]]
        columns["state"] = [NAMES.index(state) for state in columns["state"]]
        progress = self.progress
        return {"kind": "sweep", "version": VERSION, "title": self.title, "target": self.target, "device": self.device,
                "states": [[state.name, state.sign, state.words] for state in STATES],
                "parameters": [{"name": one.name, "values": list(one.values)} for one in self.parameters],
                "points": columns, "holes": [[list(hole.config), hole.reason] for hole in self.holes],
                "progress": {one.name: getattr(progress, one.name) for one in fields(Progress)},
                "best": self.best, "choice": self.choice, "notes": list(self.notes)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SweepView:
        """The view that `to_json` wrote.

        Raises:
            ValueError: the data is of another kind, or written by a newer pyptx.
        """
        require_kind(data, "sweep", VERSION)
        columns = data["points"] | {"config": [tuple(config) for config in data["points"]["config"]],
                                    "state": [data["states"][at][0] for at in data["points"]["state"]]}
        points = [Point(**dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True)]
        return cls(data["title"], data["target"], data["device"],
                   tuple(Parameter(one["name"], tuple(one["values"])) for one in data["parameters"]), tuple(points),
                   tuple(Hole(tuple(config), reason) for config, reason in data["holes"]),
                   Progress(**data["progress"]), data["best"], data["choice"], tuple(data["notes"]))

    def csv(self) -> str:
        """One line for each point, in the order of the space: parameters, state, times in seconds, resources."""
        out = io.StringIO()
        table = csv.writer(out, lineterminator="\n")
        columns = [one.name for one in fields(Point) if one.name not in ("config", "twin")]
        table.writerow([*(parameter.name for parameter in self.parameters), *columns])
        for number, point in enumerate(self.points):
            table.writerow([*self.config(number).values(), *(getattr(point, name) for name in columns)])
        return out.getvalue()

    def text(self, *, limit: int | None = None) -> str:
        """For a terminal: how far it is, the points with their times, why others were refused; `limit` points."""
        return text(self, limit)

    def html(self, *, limit: int = 200) -> str:
        """Without script, style sheet or ids, for GitHub, nbviewer and nbconvert: heat maps, and `limit` points."""
        return html(self, limit)

    def page(self) -> str:
        """One HTML file with the live view: scripts, styles and data inside; works offline."""
        return page(self.to_json(), title=f"{self.title} · sweep", without_script=self.html())

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, Any]:
        return {MIME: self.to_json(), "text/html": self.html(), "text/plain": self.text(limit=TEXT_ROWS)}

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {name}" for name, count in self.counts.items())
        return f"SweepView({self.title!r}, {self.target}: {len(self.points)} points; {counts})"

    def __iter__(self) -> Iterator[Point]:
        return iter(self.points)
