"""Synchronization in the replay: phases of mbarriers, and named barriers of a CTA.

Waits for mbarriers form a max-plus system: a phase is complete when the slowest contributor has arrived. The mbarriers of
a pipeline are a ring; a ring of S stages lets the producer run S phases ahead. A warp slice that waits for a phase of
unknown completion time sleeps until the time is known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from heapq import heappush

from pyptx.analysis.model.mbarrier_rings import Ring
from pyptx.analysis.model.operations import Operation, OpKind
from pyptx.analysis.model.replay_state import Cta, Recorder, SliceState, Turn
from pyptx.analysis.model.trip_counts import SLICE_WARPS

__all__ = ["CtaBarriers", "MbarrierRings", "RingKey", "wait_reason"]

RingKey = tuple[Cta, int]  # a ring of a CTA, by its number
BarrierKey = tuple[Cta, object]  # a barrier of a CTA, by its name
_ARRIVALS = frozenset((OpKind.BULK_LOAD, OpKind.ARRIVE, OpKind.ARRIVE_AFTER_TENSOR, OpKind.ARRIVE_AFTER_COPIES))


LAG = 256  # phases by which a slice may be behind those who complete them, when iterations are skipped
_REASONS = {OpKind.GROUP_WAIT: "copies", OpKind.WGMMA_WAIT: "wgmma", OpKind.BARRIER: "barrier"}


def wait_reason(op: Operation) -> str:
    """Return the reason that a waiting operation's stall is attributed to."""
    if op.kind != OpKind.MBARRIER_WAIT:
        return _REASONS[op.kind]
    ring: Ring | None = op.detail
    return "TMA" if ring is not None and ring.filled_by == "TMA" and not ring.starts_free else "mbarrier"


class RingPhases:
    """Phases of one ring of one CTA."""

    __slots__ = ("arrived", "done", "parts", "sleepers", "times")

    def __init__(self):
        self.parts: dict[int, int] = {}  # slice -> its arrivals for one phase
        self.arrived: dict[int, int] = {}  # slice -> its arrivals so far
        self.times: list[float] = []  # latest arrival of each phase so far
        self.done: list[float] = []  # completion of each phase, as far as known
        self.sleepers: list[tuple[SliceState, int]] = []


class MbarrierRings:
    """The mbarrier rings of all CTAs.

    Args:
        states: all slices, by number.
        sms: CTAs of a cluster.
        ready: heap of the turns of the runnable slices; woken ones are pushed there.
        remote_cycles: latency of an arrival at the mbarrier of another CTA of the cluster.
        record: records waits.
    """

    def __init__(
        self,
        states: Sequence[SliceState],
        sms: int,
        ready: list[Turn],
        remote_cycles: float,
        record: Recorder,
    ):
        self.states, self.sms, self.ready, self.remote_cycles, self.record = states, sms, ready, remote_cycles, record
        self.asleep: dict[int, float] = {}  # slice -> start of its sleep
        self.rings: dict[RingKey, RingPhases] = {}
        expects: dict[RingKey, int] = {}
        for state in states:
            for key, count in self._prepare(state).items():
                expects[key] = max(expects.get(key, 1), count)
        for key, phases in self.rings.items():
            phases.parts = {number: max(1, round(n / expects.get(key, 1))) for number, n in phases.arrived.items()}
            phases.arrived = dict.fromkeys(phases.arrived, 0)

    def _prepare(self, state: SliceState) -> dict[RingKey, int]:
        """Count a slice's arrivals at each ring; return the number of its waits for each."""
        waits: dict[RingKey, int] = {}
        for cta, op, times in state.synchronization():
            if op.kind in _ARRIVALS:
                for key in self.keys(state, cta, op):
                    phases = self.rings.setdefault(key, RingPhases())
                    phases.arrived[state.number] = phases.arrived.get(state.number, 0) + times
            elif op.kind == OpKind.MBARRIER_WAIT:
                key = cta, op.detail.number
                waits[key] = waits.get(key, 0) + times
        for key in waits:
            self.rings.setdefault(key, RingPhases())
        return waits

    def keys(self, state: SliceState, cta: Cta, op: Operation) -> list[RingKey]:
        """Return the rings that an arrival is for: of its own CTA, or of all CTAs of the cluster.

        A ring that the slice itself waits for passes a turn on to the next CTA.
        """
        if not op.everywhere:
            return [(cta, op.detail.number)]
        first, number = cta[0] - state.rank, cta[1]
        if op.kind == OpKind.ARRIVE and op.detail.number in state.waited_rings:
            return [((first + (state.rank + 1) % self.sms, number), op.detail.number)]
        return [((first + rank, number), op.detail.number) for rank in range(self.sms)]

    def wait(self, state: SliceState, ring: Ring, start: float) -> float | None:
        """Return the time at which a waiting slice resumes; None: unknown, the slice sleeps."""
        phases = self.rings[state.cta, ring.number]
        waited = state.waits.get(ring.number, 0)
        phase = waited - (ring.stages if ring.starts_free else 0)
        if phase >= len(phases.done) and phases.parts:
            phases.sleepers.append((state, phase))
            self.asleep.setdefault(state.number, start)
            return None
        state.waits[ring.number] = waited + 1
        if phase < 0 or not phases.parts:
            return start
        slept = self.asleep.pop(state.number, start)
        if slept < start:
            self.record.wait(state, _stall_reason(ring), slept, start)
        complete = phases.done[phase]
        if complete > start:
            self.record.stall(state, _stall_reason(ring), start, complete)
        return max(start, complete)

    def arrive(self, state: SliceState, op: Operation, time: float) -> None:
        """Record an arrival; slices whose phase completes wake up."""
        if op.detail is None:
            return
        for key in self.keys(state, state.cta, op):
            arrival = time if key[0] == state.cta else time + self.remote_cycles
            phases = self.rings[key]
            number = phases.arrived[state.number]
            phases.arrived[state.number] = number + 1
            phase = number // phases.parts[state.number]
            phases.times += [0.0] * (phase + 1 - len(phases.times))
            phases.times[phase] = max(phases.times[phase], arrival)
            self._settle(key, phases)

    def end_arrivals(self, state: SliceState, number: int | None = None) -> None:
        """Note that a slice arrives no more: in any CTA, or in CTA `number` of its slot."""
        for key, phases in self.rings.items():
            if state.number in phases.parts and (number is None or key[0][1] == number):
                self._settle(key, phases)

    def _settle(self, key: RingKey, phases: RingPhases) -> None:
        """Complete the phases at which all contributors have arrived, or can no longer arrive."""
        while len(phases.done) < len(phases.times):
            phase = len(phases.done)
            if any(
                phases.arrived[k] < (phase + 1) * part
                and not self.states[k].over
                and self.states[k].cta[1] <= key[0][1]
                for k, part in phases.parts.items()
            ):
                break
            before = phases.done[-1] if phases.done else 0.0
            phases.done.append(max(before, phases.times[phase]))
        if phases.sleepers:
            awake = [pair for pair in phases.sleepers if pair[1] < len(phases.done)]
            phases.sleepers = [pair for pair in phases.sleepers if pair[1] >= len(phases.done)]
            for state, _ in awake:
                heappush(self.ready, state.turn)

    def skip(
        self, key: RingKey, phases: int, arrivals: Mapping[int, int], waits: Mapping[int, int], cycles: float
    ) -> None:
        """Skip iterations: add phases that complete in `cycles`, the ones under way after that.

        Args:
            key: the ring.
            phases: number of phases.
            arrivals: slice -> its skipped arrivals.
            waits: slice -> its skipped waits.
            cycles: of the skipped iterations.
        """
        ring = self.rings[key]
        for number, times in arrivals.items():
            ring.arrived[number] += times
        for number, times in waits.items():
            own = self.states[number].waits
            own[key[1]] = own.get(key[1], 0) + times
        ring.sleepers = [(state, phase + waits.get(state.number, 0)) for state, phase in ring.sleepers]
        kept = max(0, len(ring.done) - LAG)
        if ring.done:
            step, first = cycles / (phases + 1), ring.done[kept]
            between = [first + step * k for k in range(phases)]
            ring.done = [*ring.done[:kept], *between, *(time + cycles for time in ring.done[kept:])]
            ring.times = [*ring.times[:kept], *between, *(time + cycles for time in ring.times[kept:])]
        else:
            ring.times = [0.0] * phases + [time + cycles for time in ring.times]

    def shift(self, skipping: Collection[int], cycles: float) -> None:
        """Move the times of skipping slices by the cycles of their skipped iterations."""
        for number in self.asleep.keys() & skipping:
            self.asleep[number] += cycles

    def settle(self, keys: Iterable[RingKey]) -> None:
        """Complete the phases of rings, as far as known, after skipped iterations."""
        for key in keys:
            self._settle(key, self.rings[key])

    def unblock(self) -> bool:
        """Resolve a deadlock: trip counts that do not match left a wait without its completion.

        The earliest sleeper resumes as if its phase were complete. Return False when no slice sleeps here.
        """
        asleep = [(state.now, state.number, phases) for phases in self.rings.values() for state, _ in phases.sleepers]
        if not asleep:
            return False
        _, number, phases = min(asleep, key=lambda entry: entry[:2])
        latest = max(state.now for state in self.states)
        phases.sleepers = [pair for pair in phases.sleepers if pair[0].number != number]
        phases.done.append(max(latest, phases.done[-1] if phases.done else 0.0))
        heappush(self.ready, self.states[number].turn)
        return True


def _stall_reason(ring: Ring) -> str:
    if ring.starts_free:
        return "a free stage"
    if ring.filled_by == "warps":
        return "other warps"
    return f"{ring.filled_by}, {ring.stages} stage{'s' * (ring.stages > 1)}"


class CtaBarriers:
    """The named barriers of all CTAs (bar.sync and bar.arrive): the last expected warp releases the others.

    Args:
        states: all slices, by number.
        ready: heap of the turns of the runnable slices; woken ones are pushed there.
        cycles: latency from the last arrival to the next instruction.
        record: records waits.
    """

    def __init__(self, states: Sequence[SliceState], ready: list[Turn], cycles: float, record: Recorder):
        self.states, self.ready, self.cycles, self.record = states, ready, cycles, record
        self.arrivals: dict[BarrierKey, dict[int, tuple[float, bool]]] = {}  # slice -> (time, sleeps)
        self.members: dict[BarrierKey, dict[int, float]] = {}  # slice -> number of its warps that take part
        for state in states:
            for cta, op, _ in state.synchronization():
                if op.kind == OpKind.BARRIER:
                    self.members.setdefault((cta, op.detail[0]), {})[state.number] = op.width

    def wait(self, state: SliceState, op: Operation, start: float) -> float | None:
        """Return the time at which a slice resumes; None: unknown, the slice sleeps."""
        name, count, only_arrives = op.detail
        key = state.cta, name
        members = self.members[key]
        expected = min(count or SLICE_WARPS * len(members), sum(members.values()))
        if expected <= op.width:
            return start + self.cycles
        arrivals = self.arrivals.setdefault(key, {})
        if state.number in arrivals:  # a second arrival in the same phase: the others will not come
            arrivals.pop(state.number)
            return start
        arrivals[state.number] = start, not only_arrives
        if sum(members[number] for number in arrivals) < expected:
            return start if only_arrives else None
        latest = max(time for time, _ in arrivals.values())
        del self.arrivals[key]
        for number, (time, sleeps) in arrivals.items():
            other = self.states[number]
            if other is not state and sleeps:
                self.record.stall(other, "the others at a barrier", time, latest)
                other.now = latest + self.cycles
                released = other.operations[other.at]
                other.executions[released.row] += 1
                other.attribute(released.row, wait_reason(released), other.now - released.stall)
                other.attributed = other.now
                other.at += 1
                heappush(self.ready, other.turn)
        return start if only_arrives else latest + self.cycles

    def shift(self, cycles: float) -> None:
        """Move all arrivals by the cycles of skipped iterations."""
        for arrivals in self.arrivals.values():
            for number, (time, sleeps) in arrivals.items():
                arrivals[number] = time + cycles, sleeps

    def unblock(self) -> bool:
        """Resolve a deadlock: the earliest sleeper resumes alone. Return False when no slice sleeps here."""
        waiting = [
            (time, number)
            for arrivals in self.arrivals.values()
            for number, (time, sleeps) in arrivals.items()
            if sleeps
        ]
        if not waiting:
            return False
        _, number = min(waiting)
        heappush(self.ready, self.states[number].turn)
        return True
