"""Python | PTX | SASS, linked line by line: pure data, in columns.

Rows are counted from 0; every link is a row of another pane, -1 where there is none. What a reader sees (line numbers,
addresses) stands in columns of its own. The JSON form is these fields by name, with `kind` and `version`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from pyptx.analysis import occupancy
from pyptx.ir.nodes import Module
from pyptx.ir.visit import instructions
from pyptx.isa import OPS
from pyptx.views._html import html
from pyptx.views._page import page
from pyptx.views._text import text
from pyptx.views.counters import by_ptx_line
from pyptx.views.panes import Entry, Note, PtxPane, PythonPane, SassPane, from_plain, plain
from pyptx.views.sassgroups import GROUPS, group_of
from pyptx.views.sources import Section, python_rows

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
    help: dict[str, str] = field(default_factory=dict)      # PTX opcode -> one sentence
    groups: tuple[str, ...] = GROUPS
    panes: tuple[str, ...] = ("python", "ptx", "sass")

    def to_json(self) -> dict[str, Any]:
        """Plain dicts, lists, strings and integers; what the MIME type holds."""
        return {"kind": "linked", "version": VERSION, **plain(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LinkedView:
        """The view that `to_json` wrote.

        Raises:
            ValueError: the data is of another kind, or written by a newer pyptx.
        """
        if data.get("kind") != "linked" or data.get("version") != VERSION:
            raise ValueError(f"expected kind 'linked', version {VERSION}; "
                             f"got {data.get('kind')!r}, {data.get('version')!r}")
        python = data["python"] | {"sections": tuple(Section(**section) for section in data["python"]["sections"])}
        entries = tuple(Entry(**entry) for entry in data["entries"])
        return cls(data["title"], data["target"], data["ptx_version"], entries, from_plain(PythonPane, python),
                   from_plain(PtxPane, data["ptx"]), from_plain(SassPane, data["sass"]),
                   tuple(map(tuple, data["stacks"])), tuple(Note(**note) for note in data["notes"]), data["help"],
                   tuple(data["groups"]), tuple(data["panes"]))

    def text(self, *, limit: int | None = None) -> str:
        """For a terminal: each Python line, its PTX below it, its SASS below that; at most `limit` lines."""
        return text(self, limit)

    def html(self, *, limit: int = 400) -> str:
        """Without script, style sheet or ids, for GitHub, nbviewer and nbconvert; at most `limit` lines of each."""
        return html(self, limit)

    def page(self) -> str:
        """One HTML file with the live view: scripts, styles and data inside; works offline."""
        return page(self.to_json(), title=f"{self.title} · {self.target}", without_script=self.html())

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, Any]:
        return {MIME: self.to_json(), "text/html": self.html(), "text/plain": self.text(limit=TEXT_LINES)}

    def __repr__(self) -> str:
        return (f"LinkedView({self.title!r}, {self.target}: {len(self.python.text)} Python, {len(self.ptx.text)} PTX, "
                f"{len(self.sass.text)} SASS lines)")


def linked(compiled, *, counters=None, title: str | None = None, panes: Sequence[str] = ("python", "ptx", "sass"),
           block: int | Sequence[int] | None = None, dynamic_shared_bytes: int = 0) -> LinkedView:
    """The linked view of a Compiled.

    Args:
        compiled: a `pyptx.compiled.Compiled`.
        counters: of a simulated launch: the simulator's Counters, or name -> one number for each PTX line (-1 where
            nothing is counted).
        title: shown above the view; default: the name of the compiled kernel.
        panes: which panes are shown, of "python", "ptx", "sass"; the data holds all three.
        block: threads of a block, for the occupancy; default: what the entry's .reqntid or .maxntid says.
        dynamic_shared_bytes: shared memory the launch adds to what is declared, for the occupancy.
    Raises:
        ValueError: a pane that does not exist, or a counter column of the wrong length.
    """
    if not panes or set(panes) - {"python", "ptx", "sass"}:
        raise ValueError(f"panes are one or more of 'python', 'ptx' and 'sass', not {', '.join(panes) or 'none'}")
    ptx_text = tuple(compiled.ptx.removesuffix("\n").split("\n"))
    lines = compiled.lines
    places = [lines.python_of_ptx(number) for number in range(1, len(ptx_text) + 1)]
    python = python_rows(places)
    stacks: dict[tuple[int, ...], int] = {}
    stack = tuple(stacks.setdefault(rows, len(stacks)) if (rows := python.stack(place)) else -1 for place in places)
    sass = _sass_pane(compiled)
    ptx_sass, ptx_live = [0] * len(ptx_text), [0] * len(ptx_text)
    for row, live in zip(sass.ptx, sass.live, strict=True):
        if row >= 0:
            ptx_sass[row] += 1
            ptx_live[row] = max(ptx_live[row], live)
    counted = by_ptx_line(counters, compiled.module, ptx_text)
    issued = counted.get("issues", ())
    folded = {"ptx": [0] * len(python.text), "sass": [0] * len(python.text), "live": [0] * len(python.text)}
    if issued:
        folded["issues"] = [0] * len(python.text)
    order = tuple(stacks)
    for row, number in enumerate(stack):
        for line in order[number] if number >= 0 else ():
            folded["ptx"][line] += 1
            folded["sass"][line] += ptx_sass[row]
            folded["live"][line] = max(folded["live"][line], ptx_live[row])
            if issued:
                folded["issues"][line] += max(0, issued[row])
    return LinkedView(
        title=title or compiled.name, target=compiled.target, ptx_version=_version(compiled.module),
        entries=_entries(compiled, sass, block, dynamic_shared_bytes),
        python=PythonPane(python.sections, python.text, python.line, **{k: tuple(v) for k, v in folded.items()}),
        ptx=PtxPane(ptx_text, stack, tuple(ptx_sass), tuple(ptx_live), counted),
        sass=sass, stacks=order, panes=tuple(panes), help=_help(compiled.module),
        notes=tuple(Note(d.severity, d.message, (d.line or 0) - 1, python.row(d.place) if d.place else -1)
                    for d in compiled.warnings))


def _sass_pane(compiled) -> SassPane:
    sass = compiled.sass
    owners = [compiled.lines.owner(index) for index in range(len(sass))]
    row_at = {(line.entry, line.address): row for row, line in enumerate(sass)}
    controls, live = [line.control for line in sass], [line.live for line in sass]
    return SassPane(
        text=tuple(line.text.rstrip(" ;") for line in sass),
        address=tuple(line.address for line in sass),
        ptx=tuple(-1 if owner.added_by_ptxas or owner.ptx_line is None else owner.ptx_line - 1 for owner in owners),
        group=tuple(GROUPS.index(group_of(line.opcode)) for line in sass),
        target=tuple(row_at.get((line.entry, line.target_address), -1) for line in sass),
        stall=tuple(control.stall for control in controls),
        yields=tuple(int(control.yield_) for control in controls),
        write_barrier=tuple(_barrier(control.write_barrier) for control in controls),
        read_barrier=tuple(_barrier(control.read_barrier) for control in controls),
        wait=tuple(control.wait_mask for control in controls),
        reuse=tuple(control.reuse for control in controls),
        live=tuple(registers.gpr if registers else -1 for registers in live),
        live_pred=tuple(registers.pred if registers else -1 for registers in live),
        live_uniform=tuple(registers.ugpr if registers else -1 for registers in live))


def _barrier(number: int | None) -> int:
    return -1 if number is None or number > 5 else number


def _help(module: Module) -> dict[str, str]:
    opcodes = {instruction.opcode for function in module.functions for instruction in instructions(function)}
    return {opcode: OPS[opcode].summary for opcode in sorted(opcodes & OPS.keys())}


def _occupancy(compiled, name: str, block: int | Sequence[int] | None, dynamic_bytes: int) -> dict[str, Any] | None:
    if block is None:
        sizes = (directive.values for entry in compiled.module.entries if entry.name == name
                 for directive in entry.directives if directive.name in ("reqntid", "maxntid"))
        block = next(sizes, None)
    if block is None:
        return None
    used = compiled.resources[name]
    fits = occupancy(compiled.target, threads=block if isinstance(block, int) else prod(map(int, block)),
                     registers=used.registers, shared_bytes=used.shared_bytes, dynamic_shared_bytes=dynamic_bytes)
    return {"threads": fits.threads, "blocks": fits.blocks, "warps": fits.warps, "max_warps": fits.max_warps,
            "limiters": list(fits.limiters), "why": fits.why}


def _entries(compiled, sass: SassPane, block, dynamic_bytes: int) -> tuple[Entry, ...]:
    names = [line.entry for line in compiled.sass]
    entries = []
    for name, used in compiled.resources.items():
        rows = [row for row, entry in enumerate(names) if entry == name]
        mix = Counter(GROUPS[sass.group[row]] for row in rows)
        entries.append(Entry(
            name=name, start=rows[0] if rows else 0, count=len(rows), registers=used.registers,
            spill_stores=used.spill_stores, spill_loads=used.spill_loads, shared_bytes=used.shared_bytes,
            constant_bytes=used.constant_bytes, stack_bytes=used.stack_bytes, barriers=used.barriers,
            live=max((0, *(sass.live[row] for row in rows))), mix=dict(mix.most_common()),
            occupancy=_occupancy(compiled, name, block, dynamic_bytes)))
    return tuple(entries)


def _version(module: Module) -> str:
    return f"{module.version.major}.{module.version.minor}"
