"""Timeline: when each warp ran and waited, and the stages of each asynchronous operation.

Time is counted in warp-instructions of the whole grid: the simulator's order, not a clock.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from pyptx.debug.inspect.launch import StoppedLaunch
from pyptx.sim.abi import TRACKS
from pyptx.sim.actions import (
    Action,
    AsyncGroup,
    ClusterArrive,
    ClusterWait,
    CtaBarrier,
    MbarrierArrive,
    TmemWait,
    WgmmaGroup,
)
from pyptx.sim.core.debug_state import EventKind

__all__ = ["Operation", "Row", "Span", "Timeline", "is_logged", "session_timeline"]

_LOGGED = (AsyncGroup, WgmmaGroup, TmemWait, CtaBarrier, ClusterArrive, ClusterWait, MbarrierArrive)
_MOST_CTAS = 16  # that have rows
_GROUPS = {"cp": "cp.async", "bulk": "bulk"}


def is_logged(action: Action) -> bool:
    """Return whether executions of an action are logged."""
    return isinstance(action, _LOGGED)


@dataclass(slots=True)
class Span:
    """An activity from one step to another (None: not finished); its kind is one that views draw."""

    start: int
    end: int | None
    kind: str  # run, wait, issued, in flight, completed, waited
    text: str
    instruction: int | None = None


@dataclass(slots=True)
class Row:
    """The spans of a warp, or of one asynchronous unit of a CTA."""

    name: str
    cta: int
    warp: int | None
    spans: list[Span] = field(default_factory=list)


@dataclass(slots=True)
class Operation:
    """One asynchronous operation: the steps at which it was issued, completed, and waited for; None: not yet."""

    number: int
    instruction: int
    cta: int
    warp: int
    track: str
    barrier: tuple[int, int] | None
    issued: int
    completed: int | None = None
    waited: int | None = None
    lanes: int = 0
    group: int | None = None


@dataclass(slots=True)
class Timeline:
    """Rows of a timeline, and all operations."""

    rows: list[Row]
    operations: list[Operation]
    now: int
    dropped: int = 0  # events that were dropped, the oldest


def session_timeline(launch: StoppedLaunch) -> Timeline:
    """Return the timeline so far, CTA by CTA: warps first, then asynchronous units."""
    machine, lines = launch.machine, launch.lines
    events, dropped = machine.events()
    kinds = launch.program.kinds
    warps: dict[tuple[int, int], Row] = {}
    operations: dict[int, Operation] = {}
    open_by_barrier: dict[tuple[int, int], list[Operation]] = defaultdict(list)
    groups = _Groups()
    running: dict[tuple[int, int], Span] = {}
    for event in events.tolist():
        step, cta, kind, warp, instr, lanes, a, b = event
        who = cta, warp
        if kind == EventKind.TURN_STARTED:
            row = warps.setdefault(who, Row("", cta, warp))
            if row.spans and row.spans[-1].end is None:
                row.spans[-1].end = step
            running[who] = Span(step, None, "run", "runs", instr)
            row.spans.append(running[who])
        elif kind == EventKind.TURN_ENDED:
            span = running.pop(who, None)
            row = warps.setdefault(who, Row("", cta, warp))
            if span is not None:
                span.end = step
            if a & 16:
                continue
            if not a & 1:
                row.spans.append(Span(step, None, "wait", f"waits at {lines.text(instr)}", instr))
        elif kind == EventKind.ISSUED:
            barrier = (b >> 32 & 0x7FFFFFFF, b & 0xFFFFFFFF) if b >> 63 else None
            made = Operation(a & (1 << 56) - 1, instr, cta, warp, TRACKS[a >> 56], barrier, step, lanes=lanes)
            operations[made.number] = made
            if barrier is not None:
                open_by_barrier[barrier].append(made)
            groups.issued(made)
        elif kind == EventKind.LANDED and not b and a in operations:
            operations[a].completed = step
        elif kind == EventKind.WAITED:
            at = a >> 32, a & 0xFFFFFFFF
            rest = []
            for made in open_by_barrier[at]:
                if made.completed is not None and made.completed <= step:
                    made.waited = step
                else:
                    rest.append(made)
            open_by_barrier[at] = rest
        elif kind == EventKind.EXECUTED and instr < len(kinds):
            groups.executed(launch.program.actions[instr], cta, warp, step)
    rows = _rows(launch, warps, list(operations.values()))
    return Timeline(rows, list(operations.values()), machine.step, dropped)


class _Groups:
    """Groups of cp.async, bulk copies, and wgmma of each warp, to find the operations that a wait covers."""

    def __init__(self):
        self._open: dict[tuple[int, int, str], list[Operation]] = defaultdict(list)
        self._groups: dict[tuple[int, int, str], list[list[Operation]]] = defaultdict(list)

    def issued(self, made: Operation) -> None:
        self._open[made.cta, made.warp, made.track].append(made)

    def executed(self, action: Action, cta: int, warp: int, step: int) -> None:
        if isinstance(action, TmemWait):
            self._wait((cta, warp, f"tcgen05.{action.direction}"), 0, step, whole=True)
            return
        if isinstance(action, WgmmaGroup):
            track, what, most = (
                "wgmma",
                {"commit_group": "commit", "wait_group": "wait"}.get(action.mode),
                action.pending,
            )
        elif isinstance(action, AsyncGroup):
            track, what, most = _GROUPS.get(action.track, action.track), action.operation, action.pending
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
        for group in groups[: len(groups) - most]:
            for made in group:
                if made.waited is None:
                    made.waited = step
        self._groups[key] = groups[len(groups) - most :]


def _rows(launch: StoppedLaunch, warps: dict[tuple[int, int], Row], operations: list[Operation]) -> list[Row]:
    """Return rows of the CTAs around the focus, and one for each of their asynchronous units."""
    ctas = sorted({cta for cta, _ in warps} | {made.cta for made in operations})
    if len(ctas) > _MOST_CTAS:
        focus = launch.focus.cta
        ctas = sorted(sorted(ctas, key=lambda cta: abs(cta - focus))[:_MOST_CTAS])
    found = []
    for cta in ctas:
        name = f"CTA {launch.cta_text(cta)}"
        for (other, warp), row in sorted(warps.items()):
            if other == cta:
                row.name = f"{name} warp {warp}"
                found.append(row)
        tracks: dict[str, Row] = {}
        for made in operations:
            if made.cta == cta:
                unit = _unit(launch, made)
                row = tracks.setdefault(unit, Row(f"{name} {unit}", cta, None))
                row.spans += _stages(launch, made)
        found += tracks.values()
    return found


def _unit(launch: StoppedLaunch, made: Operation) -> str:
    mnemonic = launch.lines.text(made.instruction)
    if "cp.async.bulk" in mnemonic or "cp.reduce.async.bulk" in mnemonic:
        return "TMA" if "tensor" in mnemonic else "bulk copies"
    return next(
        (
            unit
            for unit in ("tcgen05.commit", "tcgen05", "wgmma", "cp.async", "st.async", "red.async")
            if unit in mnemonic
        ),
        made.track or "asynchronous",
    )


def _stages(launch: StoppedLaunch, made: Operation) -> list[Span]:
    """Return the spans of an operation: in flight until it completes, completed until it is waited for."""
    text = f"{launch.lines.text(made.instruction)} of warp {made.warp}"
    spans = [Span(made.issued, made.issued, "issued", f"issued: {text}", made.instruction)]
    spans.append(Span(made.issued, made.completed, "in flight", f"in flight: {text}", made.instruction))
    if made.completed is not None:
        spans.append(
            Span(made.completed, made.waited, "completed", f"completed, not waited for yet: {text}", made.instruction)
        )
    if made.waited is not None:
        spans.append(Span(made.waited, made.waited, "waited", f"waited for: {text}", made.instruction))
    return spans
