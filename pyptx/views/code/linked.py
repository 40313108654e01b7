"""Python | PTX | SASS, linked line by line: pure data, in columns.

Rows are counted from 0; every link is a row of another pane, -1 where there is none. What a reader sees (line numbers,
addresses) stands in columns of its own. The JSON form is these fields by name, with `kind` and `version`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pyptx.analysis.sass.ops import GROUPS, meaning_of
from pyptx.ir.nodes import Module
from pyptx.ir.visit import instructions
from pyptx.isa import OPS
from pyptx.views._data import require_kind
from pyptx.views._page import page
from pyptx.views.code.counters import by_ptx_line
from pyptx.views.code.entries import entries_of, limits_of
from pyptx.views.code.flows import ptx_flow
from pyptx.views.code.html import html
from pyptx.views.code.panes import Entry, Note, PtxPane, PythonPane, SassPane, from_plain, plain
from pyptx.views.code.sassrows import sass_pane
from pyptx.views.code.sources import Section, python_rows
from pyptx.views.code.text import text

__all__ = ["MIME", "VERSION", "LinkedView", "linked"]

MIME = "application/vnd.pyptx.view+json"
VERSION = 1
TEXT_LINES = 160                                        # of the text form in a mime bundle


@dataclass(frozen=True, slots=True)
class LinkedView:
    """Three linked panes and a summary of each entry."""

    title: str
    target: str
    ptx_version: str
    entries: tuple[Entry, ...]
    python: PythonPane
    ptx: PtxPane
    sass: SassPane
    stacks: tuple[tuple[int, ...], ...]         # Python rows, innermost first
    notes: tuple[Note, ...] = ()
    help: dict[str, str] = field(default_factory=dict)      # opcode of PTX or, in capitals, of SASS -> one sentence
    groups: tuple[str, ...] = GROUPS
    panes: tuple[str, ...] = ("python", "ptx", "sass")
    limits: dict[str, int] = field(default_factory=dict)    # of the hardware: fields of pyptx.isa.targets.Limits
    diff: Any = None                            # a pyptx.views.Diff with an earlier version; this is its right side

    def to_json(self) -> dict[str, Any]:
        """Plain dicts, lists, strings and integers; what the MIME type holds."""
        data = {"kind": "linked", "version": VERSION, **plain(replace(self, diff=None))}
        if self.diff is None:
            del data["diff"]
        else:                                   # its right side is this view
            data["diff"] = self.diff.to_json() | {"right": {"title": self.diff.right.title}}
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LinkedView:
        """The view that `to_json` wrote.

        Raises:
            ValueError: the data is of another kind, or written by a newer pyptx.
        """
        require_kind(data, "linked", VERSION)
        python = data["python"] | {"sections": tuple(Section(**section) for section in data["python"]["sections"])}
        entries = tuple(Entry(**entry | {"holders": tuple(map(tuple, entry.get("holders", ())))})
                        for entry in data["entries"])
        view = cls(data["title"], data["target"], data["ptx_version"], entries, from_plain(PythonPane, python),
                   from_plain(PtxPane, data["ptx"]), from_plain(SassPane, data["sass"]),
                   tuple(map(tuple, data["stacks"])), tuple(Note(**note) for note in data["notes"]), data["help"],
                   tuple(data["groups"]), tuple(data["panes"]), data.get("limits", {}))
        if "diff" not in data:
            return view
        from pyptx.views.diffs.diff import Diff  # on use: it loads what compiles and aligns

        right = replace(view, title=data["diff"]["right"]["title"])
        return replace(view, diff=Diff.from_json(data["diff"] | {"right": right.to_json()}))

    def text(self, *, limit: int | None = None, colour: bool = False) -> str:
        """For a terminal: each Python line, its PTX below it, its SASS below that; at most `limit` lines."""
        own = text(self, limit, colour)
        return own if self.diff is None else f"{own}\n\n{self.diff.text(limit=limit, colour=colour)}"

    def html(self, *, limit: int = 400) -> str:
        """Without script, style sheet or ids, for GitHub, nbviewer and nbconvert; at most `limit` lines of each."""
        return html(self, limit) + ("" if self.diff is None else self.diff.html())

    def page(self) -> str:
        """One HTML file with the live view: scripts, styles and data inside; works offline."""
        return page(self.to_json(), title=f"{self.title} · {self.target}", without_script=self.html())

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, Any]:
        return {MIME: self.to_json(), "text/html": self.html(), "text/plain": self.text(limit=TEXT_LINES)}

    def __repr__(self) -> str:
        return (f"LinkedView({self.title!r}, {self.target}: {len(self.python.text)} Python, {len(self.ptx.text)} PTX, "
                f"{len(self.sass.text)} SASS lines)")


def linked(compiled, *, counters=None, title: str | None = None, panes: Sequence[str] = ("python", "ptx", "sass"),
           block: int | Sequence[int] | None = None, dynamic_shared_bytes: int = 0, diff=None) -> LinkedView:
    """The linked view of a Compiled.

    Args:
        compiled: a `pyptx.compiled.Compiled`.
        counters: of a simulated launch: the simulator's Counters, or name -> one number for each PTX line (-1 where
            nothing is counted).
        title: shown above the view; default: the name of the compiled kernel.
        panes: which panes are shown, of "python", "ptx", "sass"; the data holds all three.
        block: threads of a block, for the occupancy; default: what the entry's .reqntid or .maxntid says.
        dynamic_shared_bytes: shared memory the launch adds to what is declared, for the occupancy.
        diff: a `pyptx.views.Diff` of an earlier version (left) with this kernel (right), shown beside the panes.
    Raises:
        ValueError: a pane that does not exist, a counter column of the wrong length, or a diff of another kernel.
    """
    if not panes or set(panes) - {"python", "ptx", "sass"}:
        raise ValueError(f"panes are one or more of 'python', 'ptx' and 'sass', not {', '.join(panes) or 'none'}")
    ptx_text = tuple(compiled.ptx.removesuffix("\n").split("\n"))
    lines = compiled.lines
    places = [lines.python_of_ptx(number) for number in range(1, len(ptx_text) + 1)]
    python = python_rows(places)
    stacks: dict[tuple[int, ...], int] = {}
    stack = tuple(stacks.setdefault(rows, len(stacks)) if (rows := python.stack(place)) else -1 for place in places)
    sass = sass_pane(compiled)
    made = {"sass": [0] * len(ptx_text), "live": [0] * len(ptx_text), "spill": [0] * len(ptx_text)}
    for row, live, spill in zip(sass.ptx, sass.live, sass.spill, strict=True):
        if row >= 0:
            made["sass"][row] += 1
            made["live"][row] = max(made["live"][row], live)
            made["spill"][row] += spill
    if not any(made["spill"]):
        del made["spill"]
    counted = by_ptx_line(counters, compiled.module, ptx_text)
    order = tuple(stacks)
    folded = _folded(order, stack, len(python.text), {"ptx": [1] * len(ptx_text), **made, **counted}, "live")
    counts = {name: folded.pop(name) for name in counted}
    flow, links = ptx_flow(compiled.module, ptx_text)
    view = LinkedView(
        title=title or compiled.name, target=compiled.target,
        ptx_version=f"{compiled.module.version.major}.{compiled.module.version.minor}",
        entries=entries_of(compiled, sass, GROUPS, block, dynamic_shared_bytes),
        python=PythonPane(python.sections, python.text, python.line, **folded, issues=counts.pop("issues", ()),
                          counters=counts),
        ptx=PtxPane(ptx_text, stack, **{name: tuple(column) for name, column in made.items()}, counters=counted,
                    flow=flow, links=links),
        sass=sass, stacks=order, panes=tuple(panes),
        help=_help(compiled.module, (line.opcode for line in compiled.sass)),
        notes=tuple(Note(d.severity, d.message, (d.line or 0) - 1, python.row(d.place) if d.place else -1)
                    for d in compiled.warnings),
        limits=limits_of(compiled.target))
    if diff is None:
        return view
    if diff.right.sass.text != sass.text or diff.right.ptx.text != ptx_text:
        raise ValueError(f"the diff's right side is {diff.right.title}, which is not what is shown: {view.title}")
    return replace(view, diff=replace(diff, right=replace(view, title=diff.right.title)))


def _folded(order: Sequence[tuple[int, ...]], stack: Sequence[int], rows: int, columns: Mapping[str, Sequence[int]],
            most: str) -> dict[str, tuple[int, ...]]:
    """Numbers of PTX lines, put on each Python line that a line's call stack names: sums, of `most` the largest."""
    folded = {name: [0] * rows for name in columns}
    for row, number in enumerate(stack):
        for line in order[number] if number >= 0 else ():
            for name, column in columns.items():
                value = max(0, column[row])
                folded[name][line] = max(folded[name][line], value) if name == most else folded[name][line] + value
    return {name: tuple(column) for name, column in folded.items()}


def _help(module: Module, sass: Iterable[str]) -> dict[str, str]:
    opcodes = {instruction.opcode for function in module.functions for instruction in instructions(function)}
    ptx = {opcode: OPS[opcode].summary for opcode in sorted(opcodes & OPS.keys())}
    words = sorted({opcode.partition(".")[0] for opcode in sass})
    return ptx | {word: f"{meaning[0].upper()}{meaning[1:]}." for word in words if (meaning := meaning_of(word))}
