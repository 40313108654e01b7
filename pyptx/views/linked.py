"""Python | PTX | SASS, linked line by line: pure data, in columns.

Rows are counted from 0; every link is a row of another pane, -1 where there is none. What a reader sees (line numbers,
addresses) stands in columns of its own. The JSON form is these fields by name, with `kind` and `version`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from pyptx.ir.nodes import Module
from pyptx.views._html import html
from pyptx.views._page import page
from pyptx.views._text import text
from pyptx.views.counters import by_ptx_line
from pyptx.views.sassgroups import GROUPS, group_of
from pyptx.views.sources import Section, python_rows

__all__ = ["MIME", "VERSION", "Entry", "LinkedView", "PtxPane", "PythonPane", "SassPane", "linked"]

MIME = "application/vnd.pyptx.view+json"
VERSION = 1
TEXT_LINES = 160                                        # of the text form in a mime bundle


@dataclass(frozen=True, slots=True)
class PythonPane:
    """The kernel's function and the helpers it called. Numbers are of all PTX written by the line or below it."""

    sections: tuple[Section, ...]
    text: tuple[str, ...]
    line: tuple[int, ...]
    ptx: tuple[int, ...]                # PTX lines
    sass: tuple[int, ...]               # SASS instructions
    live: tuple[int, ...]               # most general registers live at any of them


@dataclass(frozen=True, slots=True)
class PtxPane:
    """`stack[i]` numbers the call stack (in LinkedView.stacks) that wrote line i, -1 where no Python line did."""

    text: tuple[str, ...]
    stack: tuple[int, ...]
    sass: tuple[int, ...]               # SASS instructions
    live: tuple[int, ...]
    counters: dict[str, tuple[int, ...]] = field(default_factory=dict)      # of a simulated launch; -1: no instruction


@dataclass(frozen=True, slots=True)
class SassPane:
    """Control fields as in the encoding: a barrier is 0..5, -1 for none; `wait` and `reuse` are bit masks."""

    text: tuple[str, ...]
    address: tuple[int, ...]
    ptx: tuple[int, ...]                # PTX row, -1: added by ptxas
    group: tuple[int, ...]              # index into LinkedView.groups
    target: tuple[int, ...]             # row a branch goes to
    stall: tuple[int, ...]              # cycles
    yields: tuple[int, ...]             # 0 | 1
    write_barrier: tuple[int, ...]
    read_barrier: tuple[int, ...]
    wait: tuple[int, ...]
    reuse: tuple[int, ...]
    live: tuple[int, ...]               # general registers; -1: not known
    live_pred: tuple[int, ...]
    live_uniform: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry point: its SASS rows [start, start + count), what it uses, and its instruction mix."""

    name: str
    start: int
    count: int
    registers: int
    spill_stores: int                   # bytes
    spill_loads: int                    # bytes
    shared_bytes: int
    constant_bytes: int
    stack_bytes: int
    barriers: int
    live: int                           # most general registers live at once
    mix: dict[str, int]
    occupancy: dict[str, Any] | None = None     # block_threads, warps, max_warps, blocks, limit; None: size not known


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
    groups: tuple[str, ...] = GROUPS
    panes: tuple[str, ...] = ("python", "ptx", "sass")

    def to_json(self) -> dict[str, Any]:
        """Plain dicts, lists, strings and integers; what the MIME type holds."""
        return {"kind": "linked", "version": VERSION, **_plain(self)}

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
        return cls(data["title"], data["target"], data["ptx_version"], entries, _columns(PythonPane, python),
                   _columns(PtxPane, data["ptx"]), _columns(SassPane, data["sass"]),
                   tuple(map(tuple, data["stacks"])), tuple(data["groups"]), tuple(data["panes"]))

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
           ) -> LinkedView:
    """The linked view of a Compiled.

    Args:
        compiled: a `pyptx.compiled.Compiled`.
        counters: of a simulated launch: the simulator's Counters, or name -> one number for each PTX line (-1 where
            nothing is counted).
        title: shown above the view; default: the name of the compiled kernel.
        panes: which panes are shown, of "python", "ptx", "sass"; the data holds all three.
    Raises:
        ValueError: a pane that does not exist, or a counter column of the wrong length.
    """
    if not panes or set(panes) - {"python", "ptx", "sass"}:
        raise ValueError(f"panes are one or more of 'python', 'ptx' and 'sass', not {', '.join(panes) or 'none'}")
    ptx_text = tuple(compiled.ptx.splitlines())
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
    python_ptx, python_sass, python_live = ([0] * len(python.text) for _ in range(3))
    order = tuple(stacks)
    for row, number in enumerate(stack):
        for line in order[number] if number >= 0 else ():
            python_ptx[line] += 1
            python_sass[line] += ptx_sass[row]
            python_live[line] = max(python_live[line], ptx_live[row])
    return LinkedView(
        title=title or compiled.name, target=compiled.target, ptx_version=_version(compiled.module),
        entries=_entries(compiled, sass),
        python=PythonPane(python.sections, python.text, python.line,
                          tuple(python_ptx), tuple(python_sass), tuple(python_live)),
        ptx=PtxPane(ptx_text, stack, tuple(ptx_sass), tuple(ptx_live),
                    by_ptx_line(counters, compiled.module, ptx_text)),
        sass=sass, stacks=order, panes=tuple(panes))


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


def _entries(compiled, sass: SassPane) -> tuple[Entry, ...]:
    names = [line.entry for line in compiled.sass]
    entries = []
    for name, used in compiled.resources.items():
        rows = [row for row, entry in enumerate(names) if entry == name]
        mix = Counter(GROUPS[sass.group[row]] for row in rows)
        entries.append(Entry(
            name=name, start=rows[0] if rows else 0, count=len(rows), registers=used.registers,
            spill_stores=used.spill_stores, spill_loads=used.spill_loads, shared_bytes=used.shared_bytes,
            constant_bytes=used.constant_bytes, stack_bytes=used.stack_bytes, barriers=used.barriers,
            live=max((sass.live[row] for row in rows), default=0), mix=dict(mix.most_common())))
    return tuple(entries)


def _version(module: Module) -> str:
    return f"{module.version.major}.{module.version.minor}"


def _plain(value: Any) -> Any:
    """The value as JSON knows it: dataclasses and dicts become dicts, tuples lists."""
    if is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return list(value) if not value or isinstance(value[0], (int, str)) else [_plain(item) for item in value]
    return value


def _columns(kind: type, data: Mapping[str, Any]) -> Any:
    values = {f.name: data[f.name] for f in fields(kind)}
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})
