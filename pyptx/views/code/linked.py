"""Python | PTX | SASS, linked line by line: pure data in columns; between Python and PTX an IR, where there is one.

Rows count from 0; a link is a row of another pane, or -1. Line numbers and addresses are separate columns. The JSON form
has these fields by name, with `kind` and `version`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from pyptx._frozen import frozen
from pyptx._gc import gc_paused
from pyptx._loc import SourceLocation
from pyptx._notebook import front_end
from pyptx.analysis.sass.dependences import SassDataflow
from pyptx.analysis.sass.opcodes import GROUPS
from pyptx.assembly import Assembly
from pyptx.errors import OptionError, ShapeError
from pyptx.views.code.counters import by_ptx_line, by_sass_row
from pyptx.views.code.entry_summary import entries_of, limits_of
from pyptx.views.code.ir_pane import IrLines, ir_pane
from pyptx.views.code.modeled_time import modeled_rows, stall_sources, stall_texts
from pyptx.views.code.opcode_help import opcode_help, opcode_reference
from pyptx.views.code.panes import Entry, IrPane, Note, PtxPane, PythonPane, SassPane, from_plain, plain
from pyptx.views.code.ptx_flow import ptx_flow
from pyptx.views.code.python_sources import Section, python_rows
from pyptx.views.code.sass_pane import sass_pane

if TYPE_CHECKING:
    from pyptx.analysis.model.prediction import Prediction
    from pyptx.profiles import MatchedProfile
    from pyptx.views.diffs.diff import Diff

__all__ = ["MIME", "VERSION", "LinkedView", "linked"]

PANES = ("python", "ir", "ptx", "sass")
MIME = "application/vnd.pyptx.view+json"
VERSION = 1
TEXT_LINES, HTML_LINES = 40, 30  # in a mime bundle; HTML: of PTX, and of SASS


@frozen
class LinkedView:
    """Three linked panes and a summary of each entry.

    What writes text and HTML is imported on use: many views are only kept or compared.
    """

    title: str
    target: str
    ptx_version: str
    entries: tuple[Entry, ...]
    python: PythonPane
    ptx: PtxPane
    sass: SassPane
    stacks: tuple[tuple[int, ...], ...]  # Python rows, innermost first
    notes: tuple[Note, ...] = ()
    help: dict[str, str] = field(default_factory=dict)  # PTX opcode or, in capitals, SASS opcode -> description
    groups: tuple[str, ...] = GROUPS
    panes: tuple[str, ...] = ("python", "ptx", "sass")
    limits: dict[str, int] = field(default_factory=dict)  # of the hardware: fields of pyptx.isa.targets.Limits
    reference: dict[str, dict[str, Any]] = field(default_factory=dict)  # of `opcode_reference`: syntax, section, pipe
    modeled: dict[str, Any] = field(default_factory=dict)  # of an estimate: gpu, seconds
    check: dict[str, Any] = field(default_factory=dict)  # of `check_rows`: headline, ok, findings
    ir: IrPane | None = None
    diff: Any = None  # a pyptx.views.Diff with an earlier version, the left side
    profiled: dict[str, Any] = field(
        default_factory=dict
    )  # of a profiler report: source, kernel, gpu, samples, counters

    @gc_paused()
    def to_json(self) -> dict[str, Any]:
        """Return JSON values; notebooks hold them packed."""
        data = {"kind": "linked", "version": VERSION, **plain(replace(self, diff=None))}
        if self.ir is None:
            del data["ir"]
        if self.diff is None:
            del data["diff"]
        else:  # its right side is this view
            data["diff"] = self.diff.to_json() | {"right": {"title": self.diff.right.title}}
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LinkedView:
        """Rebuild a view from `to_json`, or from the packed form in notebooks.

        Raises:
            OptionError: the data has another kind, or the version of a newer pyptx.
        """
        from pyptx.views._document import require_kind

        data = require_kind(data, "linked", VERSION)
        python = data["python"] | {"sections": tuple(Section(**section) for section in data["python"]["sections"])}
        entries = tuple(
            Entry(**entry | {"holders": tuple(map(tuple, entry.get("holders", ())))}) for entry in data["entries"]
        )
        view = cls(
            data["title"],
            data["target"],
            data["ptx_version"],
            entries,
            from_plain(PythonPane, python),
            from_plain(PtxPane, data["ptx"]),
            from_plain(SassPane, data["sass"]),
            tuple(map(tuple, data["stacks"])),
            tuple(Note(**note) for note in data["notes"]),
            data["help"],
            tuple(data["groups"]),
            tuple(data["panes"]),
            data.get("limits", {}),
            data.get("reference", {}),
            data.get("modeled", {}),
            data.get("check", {}),
            from_plain(IrPane, data["ir"]) if "ir" in data else None,
            profiled=data.get("profiled", {}),
        )
        if "diff" not in data:
            return view
        from pyptx.views.diffs.diff import Diff  # imported on use, because it loads the comparison

        right = replace(view, title=data["diff"]["right"]["title"])
        return replace(view, diff=Diff.from_json(data["diff"] | {"right": right.to_json()}))

    def text(self, *, limit: int | None = None, color: bool = False) -> str:
        """Return text: each Python line, its PTX below it, its SASS below that; at most `limit` lines."""
        from pyptx.views.code.text import text

        own = text(self, limit, color)
        return own if self.diff is None else f"{own}\n\n{self.diff.text(limit=limit, color=color)}"

    def explain(self, line: int, *, pane: str = "python") -> str:
        """Return the machine instructions of a line with a sentence about each, and cheaper forms with what they give up.

        Args:
            line: number of a Python line, or of a PTX line with pane="ptx".
        Raises:
            OptionError: there is no such line or pane.
        """
        from pyptx.views.code.expansion import expansion_text

        return expansion_text(self, line, pane)

    def html(self, *, limit: int = 400) -> str:
        """Return static HTML for GitHub, nbviewer and nbconvert; at most `limit` lines of PTX and of SASS."""
        from pyptx.views.code.html import html

        return html(self, limit) + ("" if self.diff is None else self.diff.html())

    def page(self) -> str:
        """Return one HTML file with the live view; works offline."""
        from pyptx.views._document import page

        return page(self.to_json(), title=f"{self.title} · {self.target}", without_script=self.html())

    def _display_(self) -> Any:
        """Display in marimo: the live view as an anywidget."""
        return front_end().any_widget(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        from pyptx.views._embedded import embedded
        from pyptx.views._packed import pack
        from pyptx.views.code.html import html

        still = embedded(html(self, HTML_LINES), replace(self, diff=None).to_json())
        return {
            MIME: pack(self.to_json()),
            "text/html": still + ("" if self.diff is None else self.diff.html()),
            "text/plain": self.text(limit=TEXT_LINES),
        }

    def __repr__(self) -> str:
        return (
            f"LinkedView({self.title!r}, {self.target}: {len(self.python.text)} Python, {len(self.ptx.text)} PTX, "
            f"{len(self.sass.text)} SASS lines)"
        )


@gc_paused()
def linked(
    compiled: Assembly,
    *,
    counters: Any = None,
    title: str | None = None,
    panes: Sequence[str] = ("python", "ptx", "sass"),
    block: int | Sequence[int] | None = None,
    dynamic_shared_bytes: int = 0,
    diff: Diff | None = None,
    estimate: Prediction | None = None,
    check: Mapping[str, Any] | None = None,
    ir: IrLines | None = None,
    profile: MatchedProfile | None = None,
) -> LinkedView:
    """Return the linked view of a compiled module.

    Args:
        compiled: the module, such as the result of `kernel.compile()`.
        counters: of a simulated launch: the simulator's Counters, or name -> one number per PTX line (-1: not counted).
        title: of the view; default: the name of the compiled kernel.
        panes: panes to show, of "python", "ptx", "sass"; the data includes all three. That of `ir` is always shown.
        block: threads of a block, for the occupancy; default: .reqntid or .maxntid of the entry.
        dynamic_shared_bytes: shared memory added by the launch, for the occupancy.
        diff: a `pyptx.views.Diff` of an earlier version (left) with this kernel (right), shown in a second tab.
        estimate: of a launch of this machine code, shown as the modeled time of each line and the reasons of stalls.
        check: the verdict of a check of this PTX, of `check_rows`; its findings mark the lines that take part.
        ir: an IR of the compiler that made the PTX, shown in a pane of its own.
        profile: a profiler report matched with this machine code, shown as measured counters of each line.
    Raises:
        OptionError: an unknown pane.
        ShapeError: counters, a diff or an estimate of another kernel.
    """
    if not panes or set(panes) - {"python", "ptx", "sass"}:
        raise OptionError(f"panes={tuple(panes)}; expected one or more of 'python', 'ptx' and 'sass'")
    ptx_text = tuple(compiled.ptx.removesuffix("\n").split("\n"))
    lines = compiled.lines
    places = [lines.python_of_ptx(number) for number in range(1, len(ptx_text) + 1)]
    python = python_rows(places if ir is None else [*places, *ir.places])
    stacks: dict[tuple[int, ...], int] = {}

    def stack_of(place: SourceLocation | None) -> int:
        return stacks.setdefault(rows, len(stacks)) if (rows := python.stack(place)) else -1

    stack = tuple(map(stack_of, places))
    ir_data = None if ir is None else ir_pane(ir, places, stack_of)
    dataflow = SassDataflow(compiled.sass)
    sass = sass_pane(compiled, dataflow)
    made = {"sass": [0] * len(ptx_text), "live": [0] * len(ptx_text), "spill": [0] * len(ptx_text)}
    for row, live, spill in zip(sass.ptx, sass.live, sass.spill, strict=True):
        if row >= 0:
            made["sass"][row] += 1
            made["live"][row] = max(made["live"][row], live)
            made["spill"][row] += spill
    if not any(made["spill"]):
        del made["spill"]
    counted = by_ptx_line(counters, compiled.module, ptx_text)
    issued = by_sass_row(sass.ptx, [line.entry for line in compiled.sass], counted.get("issues", ()))
    if issued:
        sass, made["issues"] = replace(sass, issues=issued), [0] * len(ptx_text)
        for row, count in zip(sass.ptx, issued, strict=True):
            made["issues"][row] += count if row >= 0 else 0
    modeled: dict[str, Any] = {}
    if estimate is not None and estimate.attribution is not None:
        modeled = {"gpu": estimate.gpu, "seconds": estimate.seconds}
        times = modeled_rows(estimate.attribution, compiled.sass)
        sass = replace(
            sass,
            modeled=times,
            stalls=stall_texts(estimate.attribution, compiled.sass),
            stalled_on=stall_sources(estimate.attribution, compiled.sass),
        )
        made["modeled"] = [0] * len(ptx_text)
        for row, time in zip(sass.ptx, times, strict=True):
            made["modeled"][row] += time if row >= 0 else 0
    measured = None
    if profile is not None:
        from pyptx.views.code.profile_rows import profile_rows  # late: most views have no profile

        measured = profile_rows(profile)
    by_line: dict[str, tuple[int, ...]] = {}
    if measured is not None:
        sass = replace(sass, profile=dict(measured.columns), profile_stalls=measured.stalls)
        by_line = measured.at_ptx_lines(sass.ptx, len(ptx_text))
    order = tuple(stacks)
    others = {name: column for name, column in counted.items() if name != "issues"}
    folded = _folded(order, stack, len(python.text), {"ptx": [1] * len(ptx_text), **made, **others}, "live")
    counts = {name: folded.pop(name) for name in others}
    profile_of_python = _folded(order, stack, len(python.text), by_line, "live")
    flow, links = ptx_flow(compiled.module, ptx_text)
    view = LinkedView(
        title=title or compiled.name,
        target=compiled.target,
        ptx_version=f"{compiled.module.version.major}.{compiled.module.version.minor}",
        entries=entries_of(compiled, sass, dataflow, GROUPS, block, dynamic_shared_bytes),
        python=PythonPane(
            python.sections, python.text, python.line, **folded, counters=counts, profile=profile_of_python
        ),
        ptx=PtxPane(
            ptx_text,
            stack,
            **{name: tuple(column) for name, column in made.items()},
            counters=counted,
            flow=flow,
            links=links,
            profile=by_line,
        ),
        sass=sass,
        stacks=order,
        panes=tuple(panes) if ir is None else tuple(name for name in PANES if name == "ir" or name in panes),
        help=opcode_help(compiled.module, (line.opcode for line in compiled.sass)),
        reference=opcode_reference(compiled.module, (line.opcode for line in compiled.sass), compiled.target),
        notes=tuple(
            Note(d.severity, d.message, (d.line or 0) - 1, python.row(d.place) if d.place else -1)
            for d in compiled.warnings
        )
        + tuple(Note("profile", note, -1, -1) for note in (profile.notes if profile else ())),
        limits=limits_of(compiled.target),
        modeled=modeled,
        check=dict(check or {}),
        ir=ir_data,
        profiled={} if measured is None else measured.about,
    )
    if diff is None:
        return view
    if diff.right.sass.text != sass.text or diff.right.ptx.text != ptx_text:
        raise ShapeError(
            f"the right side of the diff is {diff.right.title}; expected the kernel of the view, {view.title}"
        )
    return replace(view, diff=replace(diff, right=replace(view, title=diff.right.title)))


def _folded(
    order: Sequence[tuple[int, ...]], stack: Sequence[int], rows: int, columns: Mapping[str, Sequence[int]], most: str
) -> dict[str, tuple[int, ...]]:
    """Fold columns of PTX lines onto the Python lines of their call stacks: the sum, or for `most` the maximum."""
    folded = {name: [0] * rows for name in columns}
    for row, number in enumerate(stack):
        for line in order[number] if number >= 0 else ():
            for name, column in columns.items():
                value = max(0, column[row])
                folded[name][line] = max(folded[name][line], value) if name == most else folded[name][line] + value
    return {name: tuple(column) for name, column in folded.items()}
