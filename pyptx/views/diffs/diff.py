"""The diff of two compiled kernels as pure data: both linked views, aligned rows, and a verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyptx._notebook import front_end
from pyptx.analysis.diff.comparison import CLASSES, Comparison, Hunk, Row
from pyptx.analysis.diff.sass import compare_sass
from pyptx.analysis.diff.text import compare_text
from pyptx.assembly import Assembly
from pyptx.errors import OptionError
from pyptx.views._document import page, require_kind
from pyptx.views._packed import pack
from pyptx.views.code.linked import MIME, TEXT_LINES, LinkedView, linked
from pyptx.views.code.source_locations import with_sources
from pyptx.views.diffs.facts import Fact, facts_of, verdict_of
from pyptx.views.diffs.html import html
from pyptx.views.diffs.text import text

__all__ = ["LEVELS", "VERSION", "Diff", "Level", "DiffOperand", "compare"]

LEVELS = ("sass", "ptx", "python")
VERSION = 1


@dataclass(frozen=True, slots=True)
class DiffOperand:
    """One side of a comparison.

    Attributes:
        block: threads of a block; None if unknown.
        dynamic_shared_bytes: shared memory added by the launch.
        counters: of a launch, per PTX line; None without counters.
    """

    compiled: Assembly
    block: tuple[int, ...] | None = None
    dynamic_shared_bytes: int = 0
    counters: Mapping[str, Sequence[int]] | None = None


@dataclass(frozen=True, slots=True)
class Level:
    """The comparison of one level, "sass", "ptx" or "python": rows, hunks and a verdict."""

    name: str
    compared: Comparison
    verdict: str


@dataclass(frozen=True, slots=True)
class Diff:
    """The difference between two kernels.

    Attributes:
        level: the level shown first, "sass", "ptx" or "python".
        left, right: the linked views of both sides.
        compared: rows and hunks; lines are rows of the views' pane of that level.
        facts: resources of both sides.
        verdict: one sentence.
        others: the other levels.
    """

    level: str
    left: LinkedView
    right: LinkedView
    compared: Comparison
    facts: tuple[Fact, ...]
    verdict: str
    others: tuple[Level, ...] = ()

    @property
    def identical(self) -> bool:
        """True if nothing differs except, in machine code, addresses and scheduling bits."""
        return all(hunk.kind == 0 for hunk in self.compared.hunks)

    @property
    def counts(self) -> dict[str, tuple[int, int]]:
        """Number of lines by class: (left, right)."""
        return self.compared.counts()

    def at(self, level: str) -> Diff:
        """Return the diff with another level shown first.

        Raises:
            OptionError: an unknown level, or one without lines.
        """
        if level == self.level:
            return self
        chosen = next((one for one in self.others if one.name == level), None)
        if chosen is None:
            names = [self.level, *(one.name for one in self.others)]
            raise OptionError(f"this diff has no level {level!r}; expected {', '.join(names)}")
        rest = tuple(one for one in self.others if one is not chosen)
        return replace(
            self,
            level=level,
            compared=chosen.compared,
            verdict=chosen.verdict,
            others=(Level(self.level, self.compared, self.verdict), *rest),
        )

    def python_of(self, side: str, line: int) -> tuple[str, int] | None:
        """Return (file, line number) of the Python that caused a line of a side, "left" or "right"."""
        view = getattr(self, side)
        if self.level == "python":
            return _where(view, line)
        ptx = view.sass.ptx[line] if self.level == "sass" else line
        stack = view.ptx.stack[ptx] if ptx >= 0 else -1
        return _where(view, view.stacks[stack][0]) if stack >= 0 else None

    def causes(self, hunk: Hunk) -> dict[str, list[tuple[str, int]]]:
        """Return the Python lines, (file, line), that caused the lines of a hunk, by side, most frequent first."""
        found: dict[str, dict[tuple[str, int], int]] = {"left": {}, "right": {}}
        for row in self.compared.rows[hunk.start : hunk.end]:
            for side, line in (("left", row.a), ("right", row.b)):
                place = self.python_of(side, line) if line >= 0 else None
                if place:
                    found[side][place] = found[side].get(place, 0) + 1
        return {side: sorted(places, key=lambda place, of=places: -of[place]) for side, places in found.items()}

    def to_json(self) -> dict[str, Any]:
        """Return JSON values, the content of the MIME type; `rows` are columns."""
        others = {one.name: {"verdict": one.verdict, **_plain(one.compared)} for one in self.others}
        return {
            "kind": "diff",
            "version": VERSION,
            "level": self.level,
            "classes": list(CLASSES),
            "verdict": self.verdict,
            "facts": [list(fact) for fact in self.facts],
            "left": self.left.to_json(),
            "right": self.right.to_json(),
            **_plain(self.compared),
            "others": others,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Diff:
        """Rebuild a diff from `to_json`.

        Raises:
            OptionError: the data has another kind, or the version of a newer pyptx.
        """
        data = require_kind(data, "diff", VERSION)
        others = tuple(Level(name, _compared(own), own["verdict"]) for name, own in data.get("others", {}).items())
        return cls(
            data["level"],
            LinkedView.from_json(data["left"]),
            LinkedView.from_json(data["right"]),
            _compared(data),
            tuple(Fact(*fact) for fact in data["facts"]),
            data["verdict"],
            others,
        )

    def text(self, *, context: int = 3, limit: int | None = None, color: bool = False) -> str:
        """Return text: the verdict, the resources, and each hunk with `context` identical lines around it."""
        return text(self, context, limit, color)

    def html(self, *, context: int = 3, limit: int = 600) -> str:
        """Return static HTML for GitHub, nbviewer and nbconvert; at most `limit` rows."""
        return html(self, context, limit)

    def page(self) -> str:
        """Return one HTML file with the live view; works offline."""
        return page(
            self.to_json(), title=f"{self.left.title} | {self.right.title} · {self.level}", without_script=self.html()
        )

    def _display_(self) -> Any:
        """Display in marimo: the live diff as an anywidget."""
        return front_end().any_widget(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {MIME: pack(self.to_json()), "text/html": self.html(), "text/plain": self.text(limit=TEXT_LINES)}

    def __repr__(self) -> str:
        return f"<Diff of {self.left.title} and {self.right.title}, {self.level}: {self.verdict}>"


def _plain(compared: Comparison) -> dict[str, Any]:
    columns = {name: [getattr(row, name) for row in compared.rows] for name in ("a", "b", "kind", "partner", "why")}
    return {
        "rows": columns | {"control": [int(row.control) for row in compared.rows]},
        "hunks": [[hunk.start, hunk.end, hunk.kind] for hunk in compared.hunks],
    }


def _compared(data: Mapping[str, Any]) -> Comparison:
    columns = data["rows"]
    rows = tuple(
        Row(a, b, kind, why, partner, bool(control))
        for a, b, kind, why, partner, control in zip(
            *(columns[name] for name in ("a", "b", "kind", "why", "partner", "control")), strict=True
        )
    )
    return Comparison(rows, tuple(Hunk(*hunk) for hunk in data["hunks"]))


def _where(view: LinkedView, row: int) -> tuple[str, int]:
    section = next((s for s in view.python.sections if s.start <= row < s.start + s.count), None)
    return (section.file if section else "", view.python.line[row])


def compare(
    a: DiffOperand,
    b: DiffOperand,
    *,
    level: str = "sass",
    block: int | tuple[int, ...] | None = None,
    dynamic_shared_bytes: int | None = None,
    titles: tuple[str | None, str | None] = (None, None),
    counters: tuple[Any, Any] = (None, None),
) -> Diff:
    """Compare two kernels: classify lines as identical, renamed, rescheduled or different, and find their Python lines.

    Args:
        a, b: the sides.
        level: the level shown first, "sass", "ptx" or "python"; the diff contains all three.
        block: threads of a block, for the occupancy; default: that of each side.
        dynamic_shared_bytes: shared memory added by the launch, for the occupancy; default: that of each side.
        titles: names of the sides; default: the name of the kernel or version, with the parameters and options in
            which two configurations of one kernel differ.
        counters: of a simulated launch of each side, as for `linked`; default: those recorded with a version. With
            both, issue cycles are modeled for the executed instructions.
    Raises:
        OptionError: an unknown level.
    """
    if level not in LEVELS:
        raise OptionError(f"level={level!r}; expected 'sass', 'ptx' or 'python'")
    sides = a, b
    one, other = (side.compiled for side in sides)
    names = _names(one, other)
    titles = titles[0] or names[0], titles[1] or names[1]
    left, right = (
        linked(
            with_sources(side.compiled),
            title=title,
            counters=side.counters if counted is None else counted,
            block=side.block if block is None else block,
            dynamic_shared_bytes=side.dynamic_shared_bytes if dynamic_shared_bytes is None else dynamic_shared_bytes,
        )
        for side, title, counted in zip(sides, titles, counters, strict=True)
    )
    compared = {
        "sass": compare_sass(one.sass, other.sass, (one.target, other.target)),
        "ptx": compare_text(left.ptx.text, right.ptx.text, ptx=True),
        "python": compare_text(left.python.text, right.python.text),
    }
    facts = facts_of(left, right, one, other)
    verdicts = {name: verdict_of(name, own, facts if name == "sass" else ()) for name, own in compared.items()}
    return Diff(
        level,
        left,
        right,
        compared[level],
        facts,
        verdicts[level],
        tuple(Level(name, own, verdicts[name]) for name, own in compared.items() if name != level and own.rows),
    )


def _names(one: Assembly, other: Assembly) -> tuple[str, str]:
    """Return the names of two sides; configurations of one kernel with what they differ in: "scale(BY=2.0, -O1)". The target is
    shown beside the name."""
    if one.name != other.name:
        return one.name, other.name
    differ = [name for name in {**one.params, **other.params} if one.params.get(name) != other.params.get(name)]

    def named(side: Assembly) -> str:
        parts = [f"{name}={side.params[name]}" for name in differ if name in side.params]
        parts += side.options if one.options != other.options else []
        return f"{side.name}({', '.join(parts)})" if parts else side.name

    return named(one), named(other)
