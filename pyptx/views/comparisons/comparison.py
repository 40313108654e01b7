"""A comparison of several kernels as pure data: one column for each, one row for each number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from pyptx._notebook import front_end
from pyptx.errors import OptionError
from pyptx.views._document import page, require_kind
from pyptx.views.comparisons.html import html
from pyptx.views.comparisons.text import text

__all__ = ["MIME", "Column", "ComparisonTable", "Measure"]

MIME = "application/vnd.pyptx.view+json"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Column:
    """A kernel of a comparison.

    Attributes:
        title: what distinguishes it: a version, a target, parameters.
        target: the target it is compiled for.
        problem: why it has no numbers, such as an instruction that the target does not have; None if it has.
    """

    title: str
    target: str
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Measure:
    """A number of each kernel, None where unknown.

    Attributes:
        unit: "", "B", "%" or "s".
        good: 1 if more is better, -1 if less is better, 0 if neither.
        kind: "use", or "group" for the instructions of a group.
    """

    label: str
    unit: str
    good: int
    values: tuple[float | None, ...]
    kind: str = "use"

    @property
    def best(self) -> tuple[int, ...]:
        """Columns with the best value; empty if no value is better than another."""
        known = [value for value in self.values if value is not None]
        if not self.good or len(set(known)) < 2:
            return ()
        top = max(known) if self.good > 0 else min(known)
        return tuple(number for number, value in enumerate(self.values) if value == top)


@dataclass(frozen=True, slots=True)
class ComparisonTable:
    """Several kernels side by side.

    Attributes:
        title: what they have in common, such as the name of the kernel.
        columns: the kernels.
        measures: their numbers.
        baseline: the column that changes refer to.
    """

    title: str
    columns: tuple[Column, ...]
    measures: tuple[Measure, ...]
    baseline: int = 0

    def against(self, column: int | str) -> ComparisonTable:
        """Return the table with changes from another column, given by number or title.

        Raises:
            OptionError: there is no such column.
        """
        titles = [one.title for one in self.columns]
        number = titles.index(column) if column in titles else column
        if not isinstance(number, int) or not 0 <= number < len(titles):
            raise OptionError(f"there is no column {column!r}; the columns are {', '.join(titles)}")
        return replace(self, baseline=number)

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "kind": "comparison",
            "version": VERSION,
            "title": self.title,
            "columns": [asdict(column) for column in self.columns],
            "measures": [{**asdict(measure), "values": list(measure.values)} for measure in self.measures],
            "baseline": self.baseline,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ComparisonTable:
        """Rebuild a table from `to_json`.

        Raises:
            OptionError: the data has another kind, or the version of a newer pyptx.
        """
        data = require_kind(data, "comparison", VERSION)
        columns = tuple(Column(**column) for column in data["columns"])
        measures = tuple(Measure(**{**one, "values": tuple(one["values"])}) for one in data["measures"])
        return cls(data["title"], columns, measures, data["baseline"])

    def text(self) -> str:
        """Return the table as text, with a bar for each number."""
        return text(self)

    def html(self) -> str:
        """Return the table as static HTML."""
        return html(self)

    def page(self) -> str:
        """Return one HTML file with the live view; works offline."""
        return page(self.to_json(), title=self.title, without_script=self.html())

    def _display_(self) -> Any:
        """Display in marimo: the live table as an anywidget."""
        return front_end().any_widget(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {MIME: self.to_json(), "text/html": self.html(), "text/plain": self.text()}

    def __repr__(self) -> str:
        return self.text()
