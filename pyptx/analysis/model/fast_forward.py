"""Skipping of iterations in a replay: when the iterations of all loops repeat themselves, all slices advance together.

A slice, the leader, is observed. When its iterations have taken equally long in two successive windows, the replay is
steady: every slice skips iterations of the loop it is in, and all times move by the cycles of the skipped iterations.
Slices that synchronize skip as many phases of each mbarrier and barrier, so that each role keeps its work and its place
relative to the others, whatever their numbers of iterations; the loop that ends first limits the skip. The others skip in
proportion to their progress. Then the replay continues until it is steady again. Outer loops are skipped in the same way.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import NamedTuple

from pyptx.analysis.model.operations import OpKind
from pyptx.analysis.model.replay_state import Recorder, SliceState, Stall, Turn
from pyptx.analysis.model.resources import SmResources
from pyptx.analysis.model.slice_program import LoopRun, Segment
from pyptx.analysis.model.synchronization import CtaBarriers, MbarrierRings

__all__ = ["FastForward"]

TOLERANCE = 0.003  # relative difference of windows that count as equal at first
LEAST_ITERATIONS = 2  # of a window, in a loop without inner loops
LEAST_CYCLES = 2000.0  # of a window
SNAPSHOTS = 48  # of a loop; then windows become longer

Key = tuple  # of a ring or barrier of a CTA
Phases = dict[Key, float]


class _Place(NamedTuple):
    """Progress of a slice: its segment, operations of it that are done and their part of it, and attributed cycles."""

    segment: int
    at: int
    part: float
    attributed: float
    executions: dict[int, float]
    stalls: dict[Stall, float]


class _Snapshot(NamedTuple):
    """The replay at the start of an iteration of the leader."""

    time: float
    iteration: int
    places: list[_Place]


@dataclass(eq=False, slots=True)
class _Move:
    """Iterations that one slice skips.

    Attributes:
        run: the loop whose iterations it skips.
        progress: iterations since the snapshot.
        phases: phases of each key per iteration.
        rate: iterations per iteration of the leader; 0: not known yet.
        skipped: iterations to skip.
        to: segment behind them.
    """

    state: SliceState
    run: LoopRun
    progress: float
    phases: Phases
    rate: float = 0.0
    skipped: int = 0
    to: int = 0

    @property
    def left(self) -> int:
        """Iterations that can be skipped; the last one is replayed."""
        return len(self.run.starts) - 2 - self.run.iteration(self.state.segment)

    def skip(self, iterations: int) -> None:
        """Choose the number of iterations to skip."""
        run, at = self.run, self.state.segment
        now = run.iteration(at)
        self.skipped = iterations
        to = run.starts[now + iterations] + at - run.starts[now]
        self.to = min(to, run.starts[now + iterations + 1] - 1) if iterations else at


@dataclass(eq=False)
class FastForward:
    """Observes the leader of a replay and skips iterations.

    Args:
        states, resources, rings, barriers, ready, record: of the replay.
        patience: operations after which windows may differ more, so that each replay ends; infinite: nothing is skipped.
    Attributes:
        leader: number of the observed slice: the one with the most work among those with the deepest loops.
    """

    states: Sequence[SliceState]
    resources: SmResources
    rings: MbarrierRings
    barriers: CtaBarriers
    ready: list[Turn]
    record: Recorder
    patience: float
    leader: int = -1
    _replayed: int = 0
    _histories: dict[int, tuple[LoopRun, list[_Snapshot]]] = field(default_factory=dict)  # by depth

    def __post_init__(self) -> None:
        self._choose()

    def _choose(self) -> None:
        """Choose a leader."""
        self._histories.clear()
        if isfinite(self.patience):
            candidates = [state for state in self.states if not state.over and state.program.runs]
            most = max(candidates, key=lambda state: (len(state.program.runs), state.program.size), default=None)
            self.leader = -1 if most is None else most.number

    def end(self, state: SliceState) -> None:
        """Note that a slice is done."""
        if state.number == self.leader:
            self._choose()

    def enter(self, state: SliceState) -> None:
        """Note that the leader starts a segment; skip iterations if the replay is steady."""
        self._replayed += len(self.states) * len(state.operations)
        runs = list(state.program.runs_at(state.segment))
        for depth, run in enumerate(runs):
            iteration = run.iteration(state.segment)
            if run.starts[iteration] != state.segment:
                continue
            known, history = self._histories.get(depth, (None, []))
            if known is not run:
                history = []
                self._histories[depth] = run, history
            inner = depth + 1 == len(runs)
            if self._is_due(history, state.now, iteration, inner):
                history.append(self._snapshot(state.now, iteration))
                if self._forward(state, run, history, inner):
                    self._histories = {k: known for k, known in self._histories.items() if k < depth}
                    return

    def _is_due(self, history: list[_Snapshot], now: float, iteration: int, inner: bool) -> bool:
        if not history:
            return True
        last, spread = history[-1], 1.0
        if len(history) > SNAPSHOTS:
            del history[1::2]
        if len(history) > SNAPSHOTS // 2:
            spread = history[-1].iteration - history[-2].iteration
        least = max(LEAST_ITERATIONS if inner else 1, spread)
        return iteration - last.iteration >= least and now - last.time >= LEAST_CYCLES

    def _snapshot(self, time: float, iteration: int) -> _Snapshot:
        return _Snapshot(
            time,
            iteration,
            [
                _Place(
                    state.segment,
                    state.at,
                    state.at / (len(state.operations) or 1),
                    state.attributed,
                    dict(state.executions),
                    dict(state.stalls),
                )
                for state in self.states
            ],
        )

    def _forward(self, leader: SliceState, run: LoopRun, history: list[_Snapshot], inner: bool) -> bool:
        """Skip iterations if two windows took equally long; return True if so."""
        last, width, first = len(history) - 1, 1, 1 if inner else 0
        tolerance = TOLERANCE * (1 + (self._replayed / self.patience) ** 2)
        while last - 2 * width >= first:
            before, middle, now = history[last - 2 * width], history[last - width], history[last]
            early, late = _period(before, middle), _period(middle, now)
            if abs(early - late) <= tolerance * late and self._skip(leader, run, before, now, inner):
                return True
            width *= 2
        return False

    def _skip(self, leader: SliceState, run: LoopRun, before: _Snapshot, now: _Snapshot, inner: bool) -> bool:
        """Skip iterations like those between two snapshots; return False when the slices do not advance together."""
        moves = self._moves(run, leader, before, now, inner)
        if moves is None:
            return False
        width = now.iteration - before.iteration
        iterations = int(min(move.left / move.rate for move in moves))
        while iterations >= max(1, width // 2):
            for move in moves:
                move.skip(min(move.left, int(move.rate * iterations + 0.5)))
            arrivals, waits = self._skipped_phases(moves)
            phases = self._balanced(arrivals, waits)
            if phases is not None:
                self._apply(moves, before, iterations * _period(before, now), phases, arrivals, waits)
                return True
            iterations //= 2
        return False

    def _moves(
        self, run: LoopRun, leader: SliceState, before: _Snapshot, now: _Snapshot, inner: bool
    ) -> list[_Move] | None:
        """Return the slices in loops and how fast they advance; None when some do something else.

        Args:
            inner: the leader's loop has no inner loops.
        """
        moves: dict[int, _Move] = {}
        idle: list[SliceState] = []
        for state, place, current in zip(self.states, before.places, now.places, strict=True):
            if state.over:
                continue
            if (place.segment, place.at) == (current.segment, current.at):
                idle.append(state)
                continue
            own = list(state.program.runs_at(state.segment))
            advanced = [
                one
                for one in own
                if one.starts[0] <= place.segment and one.iteration(place.segment) != one.iteration(state.segment)
            ]
            if not own or (not inner and not advanced):
                return None
            inside = run if state is leader else (advanced or own)[-1]
            start, end = max(0, inside.iteration(place.segment)), inside.iteration(state.segment)
            if start == end:
                return None
            crossed = place.segment < inside.starts[0]
            progress = 0.0 if crossed else _progress(inside, current) - _progress(inside, place)
            segments = state.program.segments[inside.starts[start] : inside.starts[end]]
            phases = {key: times / (end - start) for key, times in self._phases(state, Counter(segments)).items()}
            moves[state.number] = _Move(state, inside, progress, phases)
        touched = {key for move in moves.values() for key in move.phases}
        runnable = {number for *_, number in self.ready}
        if any(state.number in runnable or self._awaited(state) in touched for state in idle):
            return None
        moves[leader.number].rate = 1.0
        width = now.iteration - before.iteration
        _spread_rates(moves, [moves[leader.number]])
        alike: dict[tuple[int, int], list[_Move]] = defaultdict(list)
        for move in moves.values():
            if not move.rate:
                alike[id(move.state.program), move.run.starts[0]].append(move)
        for group in alike.values():
            mean = sum(move.progress for move in group) / len(group) / width
            if not mean:
                return None
            for move in group:
                if not move.rate:
                    move.rate = mean
                    _spread_rates(moves, [move])
        found = list(moves.values())
        steady = all(
            move.rate and (not move.progress or abs(move.rate * width - move.progress) <= 2 + 0.15 * move.progress)
            for move in found
        )
        return found if steady else None

    def _phases(self, state: SliceState, executed: Mapping[Segment, int]) -> Phases:
        """Return the phases that executions of segments advance each ring and barrier by."""
        arrivals, waits = self._synchronizations(state, executed)
        found = {key: times / self.rings.rings[key].parts[state.number] for key, times in arrivals.items()}
        return found | {key: float(times) for key, times in waits.items()}

    def _synchronizations(
        self, state: SliceState, executed: Mapping[Segment, int]
    ) -> tuple[dict[Key, int], dict[Key, int]]:
        """Return the arrivals at rings, and the waits for rings and barriers, of executions of segments."""
        arrivals: dict[Key, int] = {}
        waits: dict[Key, int] = {}
        for segment, times in executed.items():
            for op in segment.synchronizing:
                if op.kind == OpKind.BARRIER:
                    key = state.cta, op.detail[0], "barrier"
                    waits[key] = waits.get(key, 0) + times
                elif op.kind == OpKind.MBARRIER_WAIT:
                    key = state.cta, op.detail.number
                    if self.rings.rings[key].parts:
                        waits[key] = waits.get(key, 0) + times
                else:
                    for key in self.rings.keys(state, state.cta, op):
                        arrivals[key] = arrivals.get(key, 0) + times
        return arrivals, waits

    def _awaited(self, state: SliceState) -> Key | None:
        """Return the ring or barrier that a sleeping slice waits for."""
        if state.at >= len(state.operations):
            return None
        op = state.operations[state.at]
        if op.kind == OpKind.BARRIER:
            return state.cta, op.detail[0], "barrier"
        return (state.cta, op.detail.number) if op.kind == OpKind.MBARRIER_WAIT and op.detail is not None else None

    def _skipped_phases(self, moves: Iterable[_Move]) -> tuple[dict[Key, dict[int, int]], dict[Key, dict[int, int]]]:
        """Return for each key the arrivals and the waits that each slice skips."""
        arrivals: dict[Key, dict[int, int]] = defaultdict(dict)
        waits: dict[Key, dict[int, int]] = defaultdict(dict)
        for move in moves:
            state = move.state
            executed = Counter(state.program.segments[state.segment : move.to])
            for found, own in zip((arrivals, waits), self._synchronizations(state, executed), strict=True):
                for key, times in own.items():
                    found[key][state.number] = times
        return arrivals, waits

    def _balanced(
        self, arrivals: Mapping[Key, Mapping[int, int]], waits: Mapping[Key, Mapping[int, int]]
    ) -> dict[Key, int] | None:
        """Return the phases that each key advances by; None when they differ between slices."""
        found: dict[Key, int] = {}
        for key in arrivals.keys() | waits.keys():
            parts = self.rings.rings[key].parts if len(key) == 2 else {}
            own = [times // parts[number] for number, times in arrivals.get(key, {}).items()]
            both = own + list(waits.get(key, {}).values())
            if max(both) - min(both) > 1 + 0.01 * max(both):
                return None
            found[key] = int(min(own or both))
        return found

    def _apply(
        self,
        moves: Sequence[_Move],
        before: _Snapshot,
        cycles: float,
        phases: Mapping[Key, int],
        arrivals: Mapping[Key, Mapping[int, int]],
        waits: Mapping[Key, Mapping[int, int]],
    ) -> None:
        """Advance all slices and times."""
        for key, count in phases.items():
            if len(key) == 2:
                self.rings.skip(key, count, arrivals.get(key, {}), waits.get(key, {}), cycles)
        for move in moves:
            _advance(move.state, move.to, before.places[move.state.number], cycles)
        self.resources.shift(cycles)
        self.barriers.shift(cycles)
        self.rings.shift({move.state.number for move in moves}, cycles)
        self.ready[:] = [(time + cycles, order, asked, number) for time, order, asked, number in self.ready]
        self.record.skipped += cycles
        self.rings.settle(key for key in phases if len(key) == 2)
        self._replayed = 0


def _period(before: _Snapshot, after: _Snapshot) -> float:
    """Return the cycles of an iteration between two snapshots."""
    return (after.time - before.time) / (after.iteration - before.iteration)


def _progress(run: LoopRun, place: _Place) -> float:
    """Return the iterations of a run that precede a place."""
    number = run.iteration(place.segment)
    start = run.starts[number]
    end = run.starts[number + 1] if number + 1 < len(run.starts) else run.end
    return number + (place.segment - start + place.part) / (end - start)


def _spread_rates(moves: Mapping[int, _Move], known: list[_Move]) -> None:
    """Set the rates of slices that synchronize with those of known rate: all advance by as many phases."""
    by_key: dict[Key, list[_Move]] = defaultdict(list)
    for move in moves.values():
        for key in move.phases:
            by_key[key].append(move)
    while known:
        move = known.pop()
        for key, own in move.phases.items():
            for other in by_key[key]:
                if not other.rate and move.rate * own * other.phases[key]:
                    other.rate = move.rate * own / other.phases[key]
                    known.append(other)


def _advance(state: SliceState, to: int, since: _Place, cycles: float) -> None:
    """Move a slice to another segment and by some cycles, like those since a place."""
    state.segment = to
    if state.at == 0:
        state.operations = state.program.segments[to].operations
    state.now += cycles
    state.scoreboards[:] = [(clear + cycles, why, row) for clear, why, row in state.scoreboards]
    state.pending, state.stored, state.ends = state.pending + cycles, state.stored + cycles, state.ends + cycles
    for times in (state.groups, state.products):
        times[:] = [time + cycles for time in times]
    for unit in state.parts:
        state.parts[unit] += cycles
    passed = state.attributed - since.attributed
    if passed <= 0:
        return
    factor = cycles / passed
    state.attributed += cycles
    for row, times in state.executions.items():
        state.executions[row] += factor * (times - since.executions.get(row, 0.0))
    for stall, time in state.stalls.items():
        state.stalls[stall] += factor * (time - since.stalls.get(stall, 0.0))
