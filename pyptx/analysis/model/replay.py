"""Replay of the resident CTAs of one SM: instructions issue by their stall counts and compete for units.

Each warp slice executes its operations in order. An instruction starts when the stall count of its predecessor has
elapsed, its scoreboards are clear, and its unit is free. Operations that do not complete through scoreboards (wgmma,
tcgen05, bulk copies, memory traffic) use the SM's `resources`; waits for mbarriers and barriers (`synchronization`) are
dependences between slices. Slices advance in the order of their clocks. When a slot of the SM runs several CTAs, the next
one starts when all slices of its predecessor are done, so its loads overlap the arithmetic in other slots.

An instruction holds the issue slot while it reads its operands, and delays wgmma that are under way, whose steps read their
accumulators, until its operands are dispatched (`register_reads`).

The slice with the earliest clock issues; yield hints are not modeled. An operation that takes longer than the queue of its unit
holds waits outside; when the queue has room, that of the CTA which started first goes first. So CTAs that compute for long do not
stay in step: the older one is done early, and the next one in its slot loads while the younger one computes. Schedulers prefer
warps by their age (Huerta et al. 2025, arXiv 2503.20481); convolutions that end in f64 on GTX 1650 and RTX 3080, scans with two
barriers on four GPUs and attention on A100 imply it. Where products of several warps wait for the tensor cores, the
warp that issued the last one goes on, as a scheduler prefers that warp among eligible ones (the same):
warps multiply one after the other, and the first ones load their next operands meanwhile. Products with wmma on RTX 4090, whose
CTAs load by elements between barriers, imply it.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappushpop
from math import inf

from pyptx.analysis.model.constants import Constants
from pyptx.analysis.model.fast_forward import FastForward
from pyptx.analysis.model.operations import Operation, OpKind
from pyptx.analysis.model.replay_state import UNITS, Memory, Recorder, ReplayResult, SliceCycles, SliceState, Span
from pyptx.analysis.model.resources import SmResources
from pyptx.analysis.model.slice_program import SliceProgram
from pyptx.analysis.model.synchronization import CtaBarriers, MbarrierRings, wait_reason

__all__ = ["replay"]

_PLAIN, _WGMMA, _ITERATION = OpKind.PLAIN, OpKind.WGMMA, OpKind.ITERATION
QUEUE = 8  # cycles of operations that wait in the queue of a unit, and not in the slices
_WAITS = frozenset((OpKind.GROUP_WAIT, OpKind.WGMMA_WAIT, OpKind.MBARRIER_WAIT, OpKind.BARRIER))
_QUEUED = frozenset((OpKind.PLAIN, OpKind.LOAD, OpKind.STORE, OpKind.ASYNC_COPY))
_THROTTLES = {"shared": "MIO", "mufu": "MIO"}  # full queue of a unit; other units: "pipe busy"
_CAUSES = {
    "shared": "shared memory",
    "mufu": "special functions",
    "tensor": "matrix products",
    "fp64": "f64",
    "tmem": "tensor memory",
}


def replay(
    slices: Sequence[tuple[int, int, SliceProgram | Sequence[Operation]]],
    memory: Memory,
    constants: Constants,
    log: list[Span] | None = None,
    delays: Sequence[float] = (),
    patience: float = inf,
    starts: Sequence[float] = (),
) -> ReplayResult:
    """Replay warp slices on their SMs.

    Args:
        slices: (slot, SM, program or operations) of each slice. CTAs of a cluster are on different SMs, copies of a cluster on the
            same ones.
        memory: the memory system as seen by one SM.
        constants: latencies and rates.
        log: intervals are appended to it.
        delays: cycles from the start of a CTA to that of each slice; default: none.
        patience: operations after which iterations are skipped although they still differ slightly (`fast_forward`);
            default: no iterations are skipped.
        starts: cycles until the first CTA of each slice's slot starts; default: none.
    """
    none = [0.0] * len(slices)
    return _Replay(slices, memory, constants, log, delays or none, patience, starts or none).run()


class _Replay:
    def __init__(
        self,
        slices: Sequence[tuple[int, int, SliceProgram | Sequence[Operation]]],
        memory: Memory,
        constants: Constants,
        log: list[Span] | None,
        delays: Sequence[float],
        patience: float,
        starts: Sequence[float],
    ):
        self.memory, self.constants, self.record = memory, constants, Recorder(log)
        self.sms, self.slots = 1 + max(sm for _, sm, _ in slices), 1 + max(slot for slot, _, _ in slices)
        self.several = self.slots > self.sms  # CTAs on an SM
        self.states = [
            SliceState(k, sm, (slot, 0), own if isinstance(own, SliceProgram) else SliceProgram.of(own), delay, start)
            for k, ((slot, sm, own), delay, start) in enumerate(zip(slices, delays, starts, strict=True))
        ]
        self.ready = [state.turn for state in self.states]
        heapify(self.ready)
        self.resources = SmResources(self.sms, memory, constants.shared_cycles, self.record)
        self.rings = MbarrierRings(self.states, self.sms, self.ready, memory.remote_cycles, self.record)
        self.barriers = CtaBarriers(self.states, self.ready, constants.barrier_cycles, self.record)
        self.forward = FastForward(
            self.states, self.resources, self.rings, self.barriers, self.ready, self.record, patience
        )
        uses = [state.program.units for state in self.states]
        main_units = next(
            (units for units in ({"tensor"}, {"fma", "fp64", "mufu"}) if any(map(units.intersection, uses))), set(UNITS)
        )
        for state, units in zip(self.states, uses, strict=True):
            state.computes = bool(main_units & units)

    def run(self) -> ReplayResult:
        """Replay all slices to their ends."""
        while self.ready or self.rings.unblock() or self.barriers.unblock():
            self._advance(self.states[heappop(self.ready)[-1]])
        extra, run = max(state.extra for state in self.states), self.record.run
        run.cycles = max(state.now for state in self.states) + extra
        run.replayed = run.cycles - extra - self.record.skipped
        run.slices = [
            SliceCycles(dict(state.executions), dict(state.stalls), state.now + state.extra) for state in self.states
        ]
        run.drained = max(run.cycles, *(max(free.values()) + extra for free in self.resources.free))
        return run

    def _advance(self, state: SliceState) -> None:
        """Execute a slice, and the next ones whenever its clock passes theirs, until one sleeps or is done."""
        ready, resources, busy = self.ready, self.resources, self.record.run.busy
        operations, free, scoreboards = state.operations, resources.free[state.rank], state.scoreboards
        while True:
            if state.at >= len(operations):
                if not state.next_segment():
                    break
                if state.number == self.forward.leader:
                    self.forward.enter(state)
                operations = state.operations
                continue
            op = operations[state.at]
            kind = op.kind
            if kind >= _ITERATION:  # a mark, not an instruction
                self._mark(state, op)
                state.at += 1
                continue
            now = state.now
            for k in op.mask:
                clear, why, row = scoreboards[k]
                if clear > now:
                    self.record.stall(state, why, now, clear)
                    state.attribute(op.row, "scoreboard", clear, row)
                    now = clear
            if op.apart and state.parts[op.unit] - QUEUE > now:  # the queue of the sub-core is full
                now = state.parts[op.unit] - QUEUE
                state.attribute(op.row, _THROTTLES.get(op.unit, "pipe busy"), now)
            ahead = bool(ready) and now > ready[0][0]
            others_first = ahead and (  # another slice is behind
                op.unit != "tensor"
                or kind != _PLAIN
                or now > free["tensor"]
                or resources.multiplies[state.rank] is not state
            )
            if not others_first and self.several and op.cycles > QUEUE and kind in _QUEUED and op.unit != "tensor":
                room = free[op.unit] - QUEUE
                others_first = room > now and bool(ready)  # the queue of the unit is full
                if others_first:
                    state.asked, now = state.asked or now, room
                    state.attribute(op.row, _THROTTLES.get(op.unit, "pipe busy"), room)
                else:
                    state.asked = 0.0
            if others_first:
                state.now = now
                state = self.states[heappushpop(ready, state.turn)[-1]]
                operations, free, scoreboards = state.operations, resources.free[state.rank], state.scoreboards
                continue
            start, issue, reads = free["issue"], op.issue, op.reads
            if start < now or ahead:
                start = now
            if ahead:  # slices that are behind issue before, in the slots that are left
                free["issue"] += max(reads, issue)
            else:
                free["issue"] = start + (reads if reads > issue and kind != _WGMMA else issue)
            busy["issue"] += issue
            issued = start
            if kind in _WAITS:
                after = self._wait(state, op, start)
                if after is None:
                    state.now = start
                    return
                start = after
                state.attribute(op.row, wait_reason(op), start)
            elif start > now:
                state.attribute(op.row, "dispatch", start)
            end = start
            if kind == _WGMMA:
                end = resources.multiply(state.rank, op.cycles, reads, start)
            elif reads and issued < resources.accumulators[state.rank]:
                resources.read_registers(state.rank, issued, op.dispatch if op.dispatch > reads else reads)
            if op.unit and kind != _WGMMA:
                begin = resources.serve(state.rank, op.unit, op.cycles, start)
                if op.unit == "tensor":
                    resources.multiplies[state.rank] = state
                end = begin + op.cycles
                if op.pending:
                    end = resources.admit(state.rank, op.pending, end)
                    begin = end - op.cycles
                if kind in _QUEUED:
                    if begin - QUEUE > start:  # the queue of the unit is bounded
                        start = begin - QUEUE
                        state.attribute(op.row, _THROTTLES.get(op.unit, "pipe busy"), start)
            if kind == _PLAIN:
                if op.write >= 0:
                    scoreboards[op.write] = end + op.latency, _CAUSES.get(op.unit, "fixed latencies"), op.row
                if op.read >= 0:
                    scoreboards[op.read] = end + 8, "operands read", op.row
            else:
                self._special(state, op, start, end)
            if op.apart:
                state.parts[op.unit] = max(start, state.parts[op.unit]) + op.apart
            state.executions[op.row] += 1
            state.attributed = state.now = start + op.stall
            state.at += 1
        self.record.wait(state, "", state.now, state.now)
        state.now = max(state.now, state.pending, state.ends)
        state.attribute(state.operations[-1].row if state.operations else -1, "outstanding work", state.now)
        self.rings.end_arrivals(state)
        self.forward.end(state)

    def _special(self, state: SliceState, op: Operation, start: float, end: float) -> None:
        """Execute the memory, tensor core and mbarrier effects of an operation.

        Args:
            start: issue time.
            end: time at which its unit is done.
        """
        kind, scoreboards, resources, rank = op.kind, state.scoreboards, self.resources, state.rank
        if kind == OpKind.LOAD:
            done = self._load(state, op, end)
            if op.pending:
                resources.wait_in_queue(rank, op.pending, done - self.memory.lead_cycles)
            if op.write >= 0:
                scoreboards[op.write] = done, "global loads", op.row
        elif kind == OpKind.STORE:
            resources.write(rank, op.bytes, end)
            state.stored = end + self.memory.store_cycles
            if op.read >= 0:
                scoreboards[op.read] = end + 8, "stores", op.row
        elif kind == OpKind.ASYNC_COPY:
            done = resources.read(rank, op.bytes, end, self.memory.load_cycles)
            state.pending = max(state.pending, done, resources.serve_to_end(rank, "shared", op.shared, end))
            if op.read >= 0:
                scoreboards[op.read] = end + 8, "copies", op.row
        elif kind == OpKind.BULK_LOAD:
            done = resources.read(rank, op.bytes, end, self.memory.copy_cycles)
            for other in range(self.sms) if op.sms > 1 else (rank,):
                resources.arrives(other, op.shared, done)
            if op.read >= 0:
                scoreboards[op.read] = end + 8, "copies", op.row
            self.rings.arrive(state, op, done)
        elif kind == OpKind.BULK_STORE:
            done = resources.serve_to_end(rank, "shared", op.shared, end)
            resources.write(rank, op.bytes, done)
            state.pending = max(state.pending, done)  # time of the reads; completion of the writes is rarely awaited
            if op.read >= 0:
                scoreboards[op.read] = end + 8, "copies", op.row
        elif kind == OpKind.COMMIT:
            state.groups.append(state.pending)
        elif kind == OpKind.WGMMA:
            done = max(end, resources.products(rank, op.shared, end - op.cycles))
            state.ends = max(state.ends, done)
            if op.detail:
                state.products.append(state.ends)
        elif kind == OpKind.TCGEN05_MMA:
            for other in range(self.sms) if op.sms > 1 else (rank,):
                end = max(end, resources.products(other, op.shared, end - op.cycles))
            state.ends = max(state.ends, end)
        elif kind == OpKind.ARRIVE:
            self.rings.arrive(state, op, start)
        elif kind == OpKind.ARRIVE_AFTER_TENSOR:
            self.rings.arrive(state, op, state.ends + self.constants.product_cycles)
        elif kind == OpKind.ARRIVE_AFTER_COPIES:
            self.rings.arrive(state, op, max(start, state.pending))
        elif kind == OpKind.MBARRIER_WAIT and op.write >= 0:
            scoreboards[op.write] = start + op.latency, "the test of an mbarrier", op.row

    def _load(self, state: SliceState, op: Operation, start: float) -> float:
        """Return the time at which a load completes: those that do not wait for L2 or DRAM hit L1."""
        waits: float = 1.0 if op.detail is None else op.detail
        if waits < 1.0:
            state.misses += waits
            if state.misses < 1.0:
                return start + self.resources.shared_cycles
            state.misses %= 1.0
        return self.resources.read(state.rank, op.bytes / max(waits, 1e-6), start, self.memory.load_cycles)

    def _wait(self, state: SliceState, op: Operation, start: float) -> float | None:
        """Return the time at which a waiting slice resumes; None: unknown, the slice sleeps."""
        if op.kind == OpKind.GROUP_WAIT:
            return self._groups(state, state.groups, op, start, "copies")
        if op.kind == OpKind.WGMMA_WAIT:
            return self._groups(state, state.products, op, start, "matrix products")
        if op.kind == OpKind.BARRIER:
            return self.barriers.wait(state, op, start)
        return start if op.detail is None else self.rings.wait(state, op.detail, start)

    def _groups(self, state: SliceState, groups: list[float], op: Operation, start: float, why: str) -> float:
        """Wait until at most as many groups are pending as the operation permits."""
        pending: int = op.detail
        if len(groups) <= pending:
            return start
        done = max(groups[: len(groups) - pending]) + op.latency
        if done > start:
            self.record.stall(state, why, start, done)
        return max(start, done)

    def _mark(self, state: SliceState, op: Operation) -> None:
        """Handle a mark: the duration of the last CTAs is extrapolated to skipped ones; or a CTA ends."""
        if op.kind == OpKind.NEXT_CTA:
            self._next(state)
            return
        if op.kind == OpKind.ITERATION:
            state.start_steady(op.detail[0])
        else:
            state.skip(*op.detail)

    def _next(self, state: SliceState) -> None:
        """Continue a slice as one of the next CTA in its slot, which has no pending operations."""
        slot, number = state.cta
        state.cta = slot, number + 1
        state.order += self.slots
        self.rings.end_arrivals(state, number)
        state.now = max(state.now, state.stored) + self.constants.start_cycles + state.delay
        state.attribute(-1, "start of the next CTA", state.now)
        state.scoreboards[:] = [(0.0, "", -1)] * 6
        for pending in (state.waits, state.groups, state.products):
            pending.clear()
