"""A launch on the C core that can stop between instructions (core/src/debug.h)."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from pyptx.errors import SimulationError
from pyptx.sim import abi, abi_structures
from pyptx.sim.abi import OpFlag, Reason, Space, Status
from pyptx.sim.core.debug_state import EVENT, Position, ResidentCta, WatchedRange
from pyptx.sim.core.encoding.encoder import register_offsets
from pyptx.sim.core.engine import Worker, encoded_program, findings_of
from pyptx.sim.core.launch_arguments import CoreLaunch, address_of
from pyptx.sim.core.library import core
from pyptx.sim.memory.address_space import Segment
from pyptx.sim.memory.host_functions import Heap
from pyptx.sim.plan import Plan
from pyptx.sim.program.program import Program
from pyptx.sim.sanitizer import AccessFinding, access_findings

__all__ = ["Checkpoint", "Machine"]

EVENTS = 1 << 18  # newest events recorded
TRAIL = 1 << 16  # newest instructions of the followed warp recorded
CHECKPOINT_SECONDS = 0.3  # of running, between two checkpoints at first
CHECKPOINT_BYTES = 512 << 20  # limit of all checkpoints
_SLICE_SECONDS = 0.05  # between two checks for signals
_NEVER = (1 << 64) - 1

_TRAIL_ENTRY = np.dtype(abi_structures.TrailEntry)


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """The state of a launch between two turns: `state` is that of the core."""

    step: int
    state: int
    memory: list[np.ndarray]
    heaps: dict[int, dict[int, int]]
    counters: list[np.ndarray]
    events: np.ndarray


class Machine:
    """A launch that runs until there is a reason to stop, and whose state can then be inspected.

    Attributes:
        marks: bits of Mark for each instruction; may be changed between runs.
        error: the error that ended the launch; `ended`: it completed.
        register_offsets: offset of each register in those of a warp, by its index.
    """

    plan: Plan
    program: Program
    segments: list[Segment]
    marks: np.ndarray
    launch: CoreLaunch
    worker: Worker
    register_offsets: dict[int, int]
    checkpoint_interval: float
    ended: bool

    def __init__(self, program: Program, plan: Plan, params: bytes, segments: list[Segment], sanitize: bool = False):
        self._context: int | None = None
        self.program, self.plan, self.segments = program, plan, segments
        self.marks = np.zeros(len(program.instructions) + 1, np.uint8)
        self._events = np.empty(EVENTS, EVENT)  # zeros would touch megabytes
        self._trail = np.empty(TRAIL, _TRAIL_ENTRY)
        self._debug = abi_structures.Debug(
            marks=address_of(self.marks),
            events=address_of(self._events),
            events_room=EVENTS,
            trail_room=TRAIL,
            until=_NEVER,
        )
        self.checkpoints: list[Checkpoint] = []
        self.checkpoint_interval = CHECKPOINT_SECONDS
        self._since = 0.0
        self._residents: list[ResidentCta] | None = None
        self._position: Position | None = None
        self._watched: list[tuple[np.ndarray, np.ndarray]] = []
        self.launch = CoreLaunch(
            program,
            encoded_program(program),
            plan,
            params,
            segments,
            findings=[] if sanitize else None,
            debug=np.frombuffer(memoryview(self._debug), np.uint8),
        )
        self.worker = Worker(self.launch)
        self.register_offsets = register_offsets(program)[0]
        self.error: SimulationError | None = None
        self.ended = False
        self._library = core()
        self._context = self._library.core_open(ctypes.byref(self.worker.arguments))
        if not self._context:
            raise SimulationError("out of memory for the simulated registers")

    def close(self) -> None:
        """Free the memory of the launch; its state can no longer be inspected."""
        if self._context:
            for checkpoint in self.checkpoints:
                self._library.core_debug_discard(checkpoint.state)
            self.checkpoints = []
            self._library.core_close(self._context)
            self._context = None

    __del__ = close

    @property
    def _open_context(self) -> int:
        assert self._context is not None, "the launch was closed"
        return self._context

    @property
    def step(self) -> int:
        """Number of warp-instructions that began."""
        return self._debug.step

    @property
    def stopped(self) -> bool:
        """True when it is stopped before an instruction."""
        return not self.ended and self.error is None and self._library.core_status(self._context) == Status.STOPPED

    def run(
        self,
        *,
        until: int | None = None,
        follow: str | None = None,
        warp: tuple[int, int] = (0, 0),
        trail: bool = False,
        findings: bool = False,
    ) -> Reason:
        """Run until there is a reason to stop; NONE: an error or the end of the launch.

        Args:
            until: stop before step `until`.
            follow: stop at instructions without Mark.PASS of `warp` ("warp"), or at those of all others ("others").
            warp: (CTA, warp).
            trail: record the steps of that warp, see `trail`.
            findings: stop at findings of the sanitizer.
        Raises:
            KeyboardInterrupt: the launch is between two turns and can be resumed.
        """
        if self.ended or self.error is not None:
            return Reason.NONE
        self._residents = self._position = None
        debug = self._debug
        debug.until = _NEVER if until is None else until
        debug.follow, (debug.cta, debug.warp) = abi.FOLLOWED.index(follow or "none"), warp
        debug.trail, debug.ntrail = address_of(self._trail) if trail else None, 0
        debug.stop_at_findings = findings
        if self._library.core_status(self._context) == Status.STOPPED:
            debug.resuming = 1
            self._library.core_resume(self._context)
        budget = 20_000
        while (status := self._library.core_status(self._context)) in (Status.RUNNING, Status.HOST_CALL):
            if status == Status.HOST_CALL:
                self._call_host()
                if self.error is not None:
                    return Reason.NONE
                continue
            started = time.perf_counter()
            self._library.core_run(self._context, budget)
            seconds = max(time.perf_counter() - started, 1e-6)
            self._since += seconds
            if self._since >= self.checkpoint_interval:
                self.checkpoint()
            budget = int(min(max(budget * _SLICE_SECONDS / seconds, budget / 8, 100), budget * 8, 1 << 40))
        if status == Status.STOPPED:
            return Reason(debug.reason)
        self.ended = status == Status.DONE
        if not self.ended:
            self.error = self.worker.error(self._library, self._open_context, status)[1]
        return Reason.NONE

    # checkpoints ------------------------------------------------------------------------------------------------------

    def checkpoint(self) -> None:
        """Save a checkpoint unless one of this step exists; drop every second one when they take too much memory."""
        self._since = 0.0
        if self.checkpoints and self.checkpoints[-1].step >= self.step:
            return
        buffers = [s.buffer for s in self.segments if not s.buffer.read_only]
        size = sum(b.array.nbytes for b in buffers) + self._library.core_debug_bytes(self._context)
        if size > CHECKPOINT_BYTES // 4:
            return
        state = self._library.core_debug_checkpoint(self._context)
        if not state:
            return  # an operation in flight cannot be copied
        events, _ = self.events()
        self.checkpoints.append(
            Checkpoint(
                self.step,
                state,
                [b.bytes.copy() for b in buffers],
                {id(b): dict(b.used) for b in buffers if isinstance(b, Heap)},
                [getattr(self.worker.counters, f.name).copy() for f in fields(self.worker.counters)],
                events,
            )
        )
        while len(self.checkpoints) > 2 and len(self.checkpoints) * (size + events.nbytes) > CHECKPOINT_BYTES:
            for dropped in self.checkpoints[::2]:
                self._library.core_debug_discard(dropped.state)
            self.checkpoints = self.checkpoints[1::2]
            self.checkpoint_interval *= 2

    def restore(self, checkpoint: Checkpoint) -> None:
        """Return to a checkpoint, which stays valid."""
        if not self._library.core_debug_restore(self._context, checkpoint.state):
            raise SimulationError("out of memory for the simulated CTAs")
        buffers = [s.buffer for s in self.segments if not s.buffer.read_only]
        for buffer, kept in zip(buffers, checkpoint.memory, strict=True):
            buffer.bytes[:] = kept
            if isinstance(buffer, Heap):
                buffer.used.clear()
                buffer.used.update(checkpoint.heaps[id(buffer)])
        for field, kept in zip(fields(self.worker.counters), checkpoint.counters, strict=True):
            getattr(self.worker.counters, field.name)[:] = kept
        count = self._debug.nevents
        rows = np.arange(count - len(checkpoint.events), count) % EVENTS
        self._events[rows] = checkpoint.events
        self.error, self.ended, self._since = None, False, 0.0
        self._residents = self._position = None

    def interrupt(self) -> None:
        """Stop before the next instruction; callable from any thread."""
        self._debug.until = 0

    def _call_host(self) -> None:
        try:
            self.worker.call_host(self._library, self._open_context)
        except SimulationError as error:
            self.error = error
        else:
            self._library.core_resume(self._context)

    @property
    def position(self) -> Position | None:
        """The stop, or the instruction that failed; None before the first instruction and after the last."""
        if self.ended or not self.residents():
            return None
        if self._position is None:
            self._library.core_fault(self._context, ctypes.byref(fault := abi_structures.FaultInfo()))
            lanes = fault.active if self.error is None else 1 << fault.lane
            self._position = Position(fault.cta, fault.warp, self.instruction_of(fault.op), lanes)
        return self._position

    def instruction_of(self, op: int) -> int:
        """The instruction that an operation belongs to; the number of instructions for the implicit exit at the end."""
        ops = self.launch.code.ops
        if op >= len(ops) or ops[op]["flags"] & (OpFlag.EXIT | OpFlag.COUNT) == OpFlag.EXIT:
            return len(self.program.instructions)
        return int(ops[op]["instr"])

    def residents(self) -> list[ResidentCta]:
        """The resident CTAs, in the order they started."""
        if self._residents is None:
            found: list[ResidentCta] = []
            while self.inspect("cta", info := abi_structures.CtaInfo(), len(found)):
                found.append(ResidentCta(self, len(found), info))
            self._residents = found
        return self._residents

    def inspect(self, what: str, into: ctypes.Structure, *at: int) -> bool:
        """Fill a structure with `core_debug_<what>`; False if there is nothing of these numbers."""
        return bool(getattr(self._library, f"core_debug_{what}")(self._context, *at, ctypes.byref(into)))

    @property
    def last_instruction(self) -> Position | None:
        """The instruction that began last, with all lanes."""
        debug = self._debug
        return Position(debug.last_cta, debug.last_warp, debug.last_instr, 0xFFFFFFFF) if debug.step else None

    # watched bytes -----------------------------------------------------------------------------------------------------

    def set_watched(self, ranges: Sequence[WatchedRange]) -> None:
        """Stop from now on when bytes of one of these ranges change from their present values."""
        self._watched = [(np.zeros(r.bytes, np.uint8), np.zeros(r.bytes, np.uint8)) for r in ranges]
        self._rows = (abi_structures.WatchedBytes * max(1, len(ranges)))()
        for row, watched, (current, before) in zip(self._rows, ranges, self._watched, strict=False):
            row.space, row.cta, row.warp, row.bytes = watched.space, watched.cta, watched.warp, watched.bytes
            row.offset, row.current, row.before = watched.offset, address_of(current), address_of(before)
            if watched.space == Space.GLOBAL:
                row.host, row.offset = watched.offset, 0
        self._debug.watched, self._debug.nwatched = ctypes.addressof(self._rows), len(ranges)
        for k in range(len(ranges)):
            self._library.core_debug_watch(self._context, k)

    def change(self) -> tuple[int, np.ndarray, np.ndarray]:
        """The index of the watched range that changed (the first of several), its bytes before and now."""
        k = self._debug.changed
        current, before = self._watched[k]
        return k, before.copy(), current.copy()

    def access_findings(self, first: int = 0) -> tuple[AccessFinding, ...]:
        """The findings of the sanitizer so far, from number `first` on."""
        rows = findings_of(self._library, self._open_context, first)[: max(0, self._debug.findings - first)]
        return access_findings(rows, self.plan.warps, self.plan.index_of, self.launch.segments)

    # events ----------------------------------------------------------------------------------------------------

    def events(self) -> tuple[np.ndarray, int]:
        """Rows of EVENT in order, and the number of older ones that were dropped."""
        count = self._debug.nevents
        if count <= EVENTS:
            return self._events[:count].copy(), 0
        return np.roll(self._events, -(count % EVENTS)), count - EVENTS

    def trail(self) -> np.ndarray:
        """(step, instruction) of the newest instructions of the warp followed in the last run with a trail."""
        count = self._debug.ntrail
        return self._trail[:count].copy() if count <= TRAIL else np.roll(self._trail, -(count % TRAIL))
