"""Two compiled kernels compared, as pure data: both linked views, the rows that stand side by side, and a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pyptx.analysis.diff.rows import CLASSES, Compared, Hunk, Row
from pyptx.analysis.diff.sass import compare_sass
from pyptx.analysis.diff.text import compare_text
from pyptx.views._data import require_kind
from pyptx.views._page import page
from pyptx.views.code.linked import MIME, TEXT_LINES, LinkedView, linked
from pyptx.views.code.locs import with_sources
from pyptx.views.diffs.facts import Fact, facts_of, verdict_of
from pyptx.views.diffs.html import html
from pyptx.views.diffs.operands import compiled_of, operand_of
from pyptx.views.diffs.text import text

__all__ = ["LEVELS", "VERSION", "Diff", "Level", "compiled_of", "diff"]

LEVELS = ("sass", "ptx", "python")
VERSION = 1


@dataclass(frozen=True, slots=True)
class Level:
    """One of "sass", "ptx" and "python" compared: rows and hunks, and one sentence about them."""

    name: str
    compared: Compared
    verdict: str


@dataclass(frozen=True, slots=True)
class Diff:
    """Attributes:
        level: "sass", "ptx" or "python": which lines are compared.
        left, right: the linked views of both sides.
        compared: rows and hunks; lines are rows of the views' pane of that level.
        facts: what both sides use, and how much that differs.
        verdict: one sentence on top.
        others: the other levels.
    """

    level: str
    left: LinkedView
    right: LinkedView
    compared: Compared
    facts: tuple[Fact, ...]
    verdict: str
    others: tuple[Level, ...] = ()

    @property
    def identical(self) -> bool:
        """Nothing differs but, for machine code, addresses and scheduling bits."""
        return all(hunk.kind == 0 for hunk in self.compared.hunks)

    @property
    def counts(self) -> dict[str, tuple[int, int]]:
        """Class -> (lines on the left, lines on the right)."""
        return self.compared.counts()

    def at(self, level: str) -> Diff:
        """The same comparison with another level in front.

        Raises:
            ValueError: there is no such level, or neither side has lines of it.
        """
        if level == self.level:
            return self
        chosen = next((one for one in self.others if one.name == level), None)
        if chosen is None:
            names = [self.level, *(one.name for one in self.others)]
            raise ValueError(f"this diff has no level {level!r}; it has {', '.join(names)}")
        rest = tuple(one for one in self.others if one is not chosen)
        return replace(self, level=level, compared=chosen.compared, verdict=chosen.verdict,
                       others=(Level(self.level, self.compared, self.verdict), *rest))

    def python_of(self, side: str, line: int) -> tuple[str, int] | None:
        """(file, line number) of the Python that caused a line of a side, "left" or "right"."""
        view = getattr(self, side)
        if self.level == "python":
            return _where(view, line)
        ptx = view.sass.ptx[line] if self.level == "sass" else line
        stack = view.ptx.stack[ptx] if ptx >= 0 else -1
        return _where(view, view.stacks[stack][0]) if stack >= 0 else None

    def causes(self, hunk: Hunk) -> dict[str, list[tuple[str, int]]]:
        """For each side the Python lines, (file, line), that caused the lines of a hunk, most of them first."""
        found: dict[str, dict[tuple[str, int], int]] = {"left": {}, "right": {}}
        for row in self.compared.rows[hunk.start:hunk.end]:
            for side, line in (("left", row.a), ("right", row.b)):
                place = self.python_of(side, line) if line >= 0 else None
                if place:
                    found[side][place] = found[side].get(place, 0) + 1
        return {side: sorted(places, key=lambda place, of=places: -of[place]) for side, places in found.items()}

    def to_json(self) -> dict[str, Any]:
        """Plain dicts, lists, strings and integers; what the MIME type holds. `rows` are columns."""
        others = {one.name: {"verdict": one.verdict, **_plain(one.compared)} for one in self.others}
        return {"kind": "diff", "version": VERSION, "level": self.level, "classes": list(CLASSES),
                "verdict": self.verdict, "facts": [list(fact) for fact in self.facts],
                "left": self.left.to_json(), "right": self.right.to_json(), **_plain(self.compared), "others": others}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Diff:
        """The diff that `to_json` wrote.

        Raises:
            ValueError: the data is of another kind, or written by a newer pyptx.
        """
        require_kind(data, "diff", VERSION)
        others = tuple(Level(name, _compared(own), own["verdict"]) for name, own in data.get("others", {}).items())
        return cls(data["level"], LinkedView.from_json(data["left"]), LinkedView.from_json(data["right"]),
                   _compared(data), tuple(Fact(*fact) for fact in data["facts"]), data["verdict"], others)

    def text(self, *, context: int = 3, limit: int | None = None, colour: bool = False) -> str:
        """For a terminal: verdict, what differs in numbers, and each hunk with `context` identical lines around it."""
        return text(self, context, limit, colour)

    def html(self, *, context: int = 3, limit: int = 600) -> str:
        """Without script, style sheet or ids, for GitHub, nbviewer and nbconvert; at most `limit` rows."""
        return html(self, context, limit)

    def page(self) -> str:
        """One HTML file with the live view: scripts, styles and data inside; works offline."""
        return page(self.to_json(), title=f"{self.left.title} | {self.right.title} · {self.level}",
                    without_script=self.html())

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, Any]:
        return {MIME: self.to_json(), "text/html": self.html(), "text/plain": self.text(limit=TEXT_LINES)}

    def __repr__(self) -> str:
        return f"<Diff of {self.left.title} and {self.right.title}, {self.level}: {self.verdict}>"


def _plain(compared: Compared) -> dict[str, Any]:
    columns = {name: [getattr(row, name) for row in compared.rows] for name in ("a", "b", "kind", "partner", "why")}
    return {"rows": columns | {"control": [int(row.control) for row in compared.rows]},
            "hunks": [[hunk.start, hunk.end, hunk.kind] for hunk in compared.hunks]}


def _compared(data: Mapping[str, Any]) -> Compared:
    columns = data["rows"]
    rows = tuple(Row(a, b, kind, why, partner, bool(control)) for a, b, kind, why, partner, control in zip(
        *(columns[name] for name in ("a", "b", "kind", "why", "partner", "control")), strict=True))
    return Compared(rows, tuple(Hunk(*hunk) for hunk in data["hunks"]))


def _where(view: LinkedView, row: int) -> tuple[str, int]:
    section = next((s for s in view.python.sections if s.start <= row < s.start + s.count), None)
    return (section.file if section else "", view.python.line[row])


def diff(a: Any, b: Any, *, level: str = "sass", block: int | tuple[int, ...] | None = None,
         dynamic_shared_bytes: int | None = None, titles: tuple[str | None, str | None] = (None, None),
         counters: tuple[Any, Any] = (None, None)) -> Diff:
    """Compare two kernels: what is identical, renamed, rescheduled or different, and which Python line caused it.

    Args:
        a, b: what `compiled_of` takes: a Compiled, a Kernel, an Entry, a path to a .ptx or .cubin file, PTX text, a
            version's name.
        level: "sass", "ptx" or "python": the lines that come first; the diff has the others too.
        block: threads of a block, for the occupancy; default: what the kernel, the version or the entry says.
        dynamic_shared_bytes: shared memory the launch adds, for the occupancy; default: what the kernel says, or none.
        titles: what the sides are called; default: the name of the kernel, or of the version.
        counters: of a simulated launch of each side, as of `linked`; default: what the version was kept with. With
            both, issue cycles are modelled for what was executed.
    Raises:
        ValueError: another level; and what `compiled_of` raises.
    """
    if level not in LEVELS:
        raise ValueError(f"level is 'sass', 'ptx' or 'python', not {level!r}")
    sides = operand_of(a), operand_of(b)
    one, other = (side.compiled for side in sides)
    left, right = (
        linked(with_sources(side.compiled), title=title, counters=side.counters if counted is None else counted,
               block=side.block if block is None else block,
               dynamic_shared_bytes=side.dynamic_shared_bytes if dynamic_shared_bytes is None else dynamic_shared_bytes)
        for side, title, counted in zip(sides, titles, counters, strict=True))
    compared = {"sass": compare_sass(one.sass, other.sass, (one.target, other.target)),
                "ptx": compare_text(left.ptx.text, right.ptx.text, ptx=True),
                "python": compare_text(left.python.text, right.python.text)}
    facts = facts_of(left, right, one, other)
    verdicts = {name: verdict_of(name, own, facts if name == "sass" else ()) for name, own in compared.items()}
    return Diff(level, left, right, compared[level], facts, verdicts[level], tuple(
        Level(name, own, verdicts[name]) for name, own in compared.items() if name != level and own.rows))
