"""What happened so far: which warp ran and waited when, and the life of each asynchronous operation.

Time is counted in warp-instructions of the whole grid: the simulator's order, not a clock.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from pyptx.sim.actions.asynchronous import AsyncGroup, ClusterArrive, ClusterWait, MbarrierArrive
from pyptx.sim.actions.basic import Action, BarrierOp
from pyptx.sim.actions.products import WgmmaGroup
from pyptx.sim.actions.tcgen05 import TmemWait
from pyptx.sim.core.stopped import TRACKS, Happened

__all__ = ["Operation", "Row", "Span", "Timeline", "interesting", "timeline_of"]

_KEPT = (AsyncGroup, WgmmaGroup, TmemWait, BarrierOp, ClusterArrive, ClusterWait, MbarrierArrive)
_CTAS = 16                                              # whose rows are kept
_GROUPS = {"cp": "cp.async", "bulk": "bulk"}


def interesting(action: Action) -> bool:
    """Whether its executions are kept."""
    return isinstance(action, _KEPT)


@dataclass(slots=True)
class Span:
    """From one step to another (None: not over) something went on, of one kind of the views' words."""

    start: int
    end: int | None
    kind: str                       # run, wait, issued, in flight, completed, waited
    text: str
    instruction: int | None = None


@dataclass(slots=True)
class Row:
    """The spans of a warp, or of what one unit of a CTA does for it."""

    name: str
    cta: int
    warp: int | None
    spans: list[Span] = field(default_factory=list)


@dataclass(slots=True)
class Operation:
    """One asynchronous operation: the steps at which it was started, landed and waited for; None: not yet."""

    number: int
    instruction: int
    cta: int
    warp: int
    track: str
    barrier: tuple[int, int] | None
    issued: int
    landed: int | None = None
    waited: int | None = None
    lanes: int = 0
    group: int | None = None


@dataclass(slots=True)
class Timeline:
    rows: list[Row]
    operations: list[Operation]
    now: int
    lost: int = 0                   # events that are not kept any more


def timeline_of(session: Any) -> Timeline:
    """The timeline of a session so far, CTA by CTA: warps, then what is asynchronous."""
    machine, lines = session.run.machine, session.lines
    events, lost = machine.events()
    kinds = session.run.program.kinds
    warps: dict[tuple[int, int], Row] = {}
    operations: dict[int, Operation] = {}
    open_by_barrier: dict[tuple[int, int], list[Operation]] = defaultdict(list)
    groups = _Groups()
    running: dict[tuple[int, int], Span] = {}
    for event in events.tolist():
        step, cta, kind, warp, instr, lanes, a, b = event
        who = cta, warp
        if kind == Happened.RUN:
            row = warps.setdefault(who, Row("", cta, warp))
            if row.spans and row.spans[-1].end is None:
                row.spans[-1].end = step
            running[who] = Span(step, None, "run", "runs", instr)
            row.spans.append(running[who])
        elif kind == Happened.LEFT:
            span = running.pop(who, None)
            row = warps.setdefault(who, Row("", cta, warp))
            if span is not None:
                span.end = step
            if a & 16:
                continue
            if not a & 1:
                row.spans.append(Span(step, None, "wait", _waits(lines, instr), instr))
        elif kind == Happened.ISSUED:
            barrier = (b >> 32 & 0x7FFFFFFF, b & 0xFFFFFFFF) if b >> 63 else None
            made = Operation(a & (1 << 56) - 1, instr, cta, warp, TRACKS[a >> 56], barrier, step, lanes=lanes)
            operations[made.number] = made
            if barrier is not None:
                open_by_barrier[barrier].append(made)
            groups.issued(made)
        elif kind == Happened.LANDED and not b and a in operations:
            operations[a].landed = step
        elif kind == Happened.WAITED:
            at = a >> 32, a & 0xFFFFFFFF
            rest = []
            for made in open_by_barrier[at]:
                if made.landed is not None and made.landed <= step:
                    made.waited = step
                else:
                    rest.append(made)
            open_by_barrier[at] = rest
        elif kind == Happened.EXECUTED and instr < len(kinds):
            groups.executed(kinds[instr], session.run.program.actions[instr], cta, warp, step)
    rows = _rows(session, warps, list(operations.values()))
    return Timeline(rows, list(operations.values()), machine.step, lost)


class _Groups:
    """Groups of cp.async, bulk copies and wgmma of a warp: which operations a wait of it waited for."""

    def __init__(self):
        self._open: dict[tuple[int, int, str], list[Operation]] = defaultdict(list)
        self._groups: dict[tuple[int, int, str], list[list[Operation]]] = defaultdict(list)

    def issued(self, made: Operation) -> None:
        self._open[made.cta, made.warp, made.track].append(made)

    def executed(self, kind: Action, action: Action, cta: int, warp: int, step: int) -> None:
        if isinstance(kind, TmemWait):
            self._wait((cta, warp, f"tcgen05.{action.what}"), 0, step, whole=True)
            return
        if isinstance(kind, WgmmaGroup):
            track, what, most = "wgmma", {"commit_group": "commit", "wait_group": "wait"}.get(action.mode), \
                action.pending
        elif isinstance(kind, AsyncGroup):
            track, what, most = _GROUPS.get(action.track, action.track), action.what, action.most
        else:
            return
        key = cta, warp, track
        if what == "commit":
            self._groups[key].append(self._open.pop(key, []))
        elif what in ("wait", "all", "read"):
            self._wait(key, 0 if what == "all" else most, step, whole=what == "all")

    def _wait(self, key: tuple[int, int, str], most: int, step: int, *, whole: bool) -> None:
        if whole:
            self._groups[key].append(self._open.pop(key, []))
        groups = self._groups[key]
        for group in groups[:len(groups) - most]:
            for made in group:
                if made.waited is None:
                    made.waited = step
        self._groups[key] = groups[len(groups) - most:]


def _waits(lines: Any, instruction: int) -> str:
    text = lines.text(instruction)
    return f"waits at {text}"


def _rows(session: Any, warps: dict[tuple[int, int], Row], operations: list[Operation]) -> list[Row]:
    """Rows of the CTAs around the focus, and one for each track of their operations."""
    ctas = sorted({cta for cta, _ in warps} | {made.cta for made in operations})
    if len(ctas) > _CTAS:
        focus = session.focus.cta
        ctas = sorted(sorted(ctas, key=lambda cta: abs(cta - focus))[:_CTAS])
    found = []
    for cta in ctas:
        name = f"CTA {session.cta_text(cta)}"
        for (other, warp), row in sorted(warps.items()):
            if other == cta:
                row.name = f"{name} warp {warp}"
                found.append(row)
        tracks: dict[str, Row] = {}
        for made in operations:
            if made.cta == cta:
                unit = _unit(session, made)
                row = tracks.setdefault(unit, Row(f"{name} {unit}", cta, None))
                row.spans += _life(session, made)
        found += tracks.values()
    return found


def _unit(session: Any, made: Operation) -> str:
    mnemonic = session.lines.text(made.instruction)
    if "cp.async.bulk" in mnemonic or "cp.reduce.async.bulk" in mnemonic:
        return "TMA" if "tensor" in mnemonic else "bulk copies"
    return next((unit for unit in ("tcgen05.commit", "tcgen05", "wgmma", "cp.async", "st.async", "red.async")
                 if unit in mnemonic), made.track or "asynchronous")


def _life(session: Any, made: Operation) -> list[Span]:
    """An operation as spans: in flight until it has landed, completed until somebody has waited for it."""
    text = f"{session.lines.text(made.instruction)} of warp {made.warp}"
    spans = [Span(made.issued, made.issued, "issued", f"issued: {text}", made.instruction)]
    spans.append(Span(made.issued, made.landed, "in flight", f"in flight: {text}", made.instruction))
    if made.landed is not None:
        spans.append(Span(made.landed, made.waited, "completed", f"completed, not waited for yet: {text}",
                          made.instruction))
    if made.waited is not None:
        spans.append(Span(made.waited, made.waited, "waited", f"waited for: {text}", made.instruction))
    return spans
