"""A launch on the C core that stops between instructions, and what lies in it then (core/debug.h)."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from pyptx.errors import SimulationError
from pyptx.sim.core.encode import Flags, places
from pyptx.sim.core.engine import DONE, HOST, RUNNING, STOPPED, Job, Part, encoded
from pyptx.sim.core.library import core
from pyptx.sim.core.stopped import EVENT, Reason, Resident, Space, Spot, Turn
from pyptx.sim.memory.host import Heap
from pyptx.sim.memory.spaces import Segment
from pyptx.sim.plan import Plan
from pyptx.sim.program.program import Program
from pyptx.sim.watch import WORDS, Sighting, sightings

__all__ = ["Checkpoint", "Machine"]

EVENTS = 1 << 18                # that are kept, the newest
TRAIL = 1 << 16                 # newest instructions of the followed warp that are kept
EVERY_S = 0.3                   # of running, between two checkpoints at first
KEPT_BYTES = 512 << 20          # of checkpoints, at most
_SLICE_SECONDS = 0.05           # between two looks at signals
_NEVER = (1 << 64) - 1
_FOLLOW = {None: 0, "warp": 1, "others": 2}

_BEGUN = np.dtype([("step", "<u8"), ("instr", "<u8")])


class _Spot(ctypes.Structure):
    _fields_ = [(n, ctypes.c_uint64) for n in ("space", "cta", "warp", "offset", "bytes")] + \
        [(n, ctypes.c_void_p) for n in ("kept", "before", "host")]


class _Debug(ctypes.Structure):
    _fields_ = [(n, ctypes.c_void_p) for n in ("marks", "spots", "events", "trail")] + \
        [(n, ctypes.c_uint64) for n in ("nspots", "nevents", "events_room", "ntrail", "trail_room", "step", "until",
                                        "follow", "cta", "warp", "reason", "changed", "goes_on", "turn", "runs",
                                        "serial", "last_cta", "last_warp", "last_instr", "stops_found", "found")]


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A launch as it was between two turns: what the core has, memory, counters, events."""

    step: int
    state: int
    memory: list[np.ndarray]
    heaps: dict[int, dict[int, int]]
    counters: list[np.ndarray]
    events: np.ndarray


class Machine:
    """One launch from its start: runs until a reason to stop, and shows what is there.

    Attributes:
        marks: bits of Mark for each instruction; may be changed between runs.
        error: what ended it; `ended`: whether it came to its end.
    """

    def __init__(self, program: Program, plan: Plan, params: bytes, segments: list[Segment], sanitize: bool = False):
        self._context = None
        self.program, self.plan, self.segments = program, plan, segments
        self.marks = np.zeros(len(program.instructions) + 1, np.uint8)
        self._events = np.zeros(EVENTS, EVENT)
        self._trail = np.zeros(TRAIL, _BEGUN)
        self._debug = _Debug(marks=_address(self.marks), events=_address(self._events), events_room=EVENTS,
                             trail_room=TRAIL, until=_NEVER)
        self.checkpoints: list[Checkpoint] = []
        self.every = EVERY_S
        self._since = 0.0
        self._residents: list[Resident] | None = None           # as they are now
        self._turn: Turn | None = None
        self._spots: tuple[Spot, ...] = ()
        self._kept: list[tuple[np.ndarray, np.ndarray]] = []
        self.job = Job(program, encoded(program), plan, params, segments, found=[] if sanitize else None,
                       debug=np.frombuffer(self._debug, np.uint8))
        self.part = Part(self.job)
        self.offsets = places(program)[0]
        self.error: SimulationError | None = None
        self.ended = False
        self._library = core()
        self._context = self._library.core_open(ctypes.byref(self.part.launch))
        if not self._context:
            raise SimulationError("out of memory for the simulated registers")

    def close(self) -> None:
        """Give its memory back; nothing can be looked at any more."""
        if self._context:
            for checkpoint in self.checkpoints:
                self._library.core_debug_forget(checkpoint.state)
            self.checkpoints = []
            self._library.core_close(self._context)
            self._context = None

    __del__ = close

    @property
    def step(self) -> int:
        """Warp-instructions begun so far."""
        return self._debug.step

    @property
    def stopped(self) -> bool:
        """Whether it stands before an instruction."""
        return not self.ended and self.error is None and self._library.core_status(self._context) == STOPPED

    def run(self, *, until: int | None = None, follow: str | None = None, warp: tuple[int, int] = (0, 0),
            trail: bool = False, findings: bool = False) -> Reason:
        """Go on until there is a reason to stop, an error or the end (then NONE, as when it cannot go on).

        Args:
            until: stop before the instruction of that number.
            follow: stop at instructions without Mark.PASS of `warp` ("warp"), or at those of all others ("others").
            warp: (CTA, warp).
            trail: keep the steps of that warp, see `trail`.
            findings: what the sanitizer finds is a reason too.
        Raises:
            KeyboardInterrupt: it stands between two turns then, and can go on.
        """
        if self.ended or self.error is not None:
            return Reason.NONE
        self._residents = self._turn = None
        debug = self._debug
        debug.until = _NEVER if until is None else until
        debug.follow, (debug.cta, debug.warp) = _FOLLOW[follow], warp
        debug.trail, debug.ntrail = _address(self._trail) if trail else None, 0
        debug.stops_found = findings
        if self._library.core_status(self._context) == STOPPED:
            debug.goes_on = 1
            self._library.core_resume(self._context)
        budget = 20_000
        while (status := self._library.core_status(self._context)) in (RUNNING, HOST):
            if status == HOST:
                self._call_host()
                if self.error is not None:
                    return Reason.NONE
                continue
            started = time.perf_counter()
            self._library.core_run(self._context, budget)
            seconds = max(time.perf_counter() - started, 1e-6)
            self._since += seconds
            if self._since >= self.every:
                self.keep()
            budget = int(min(max(budget * _SLICE_SECONDS / seconds, budget / 8, 100), budget * 8, 1 << 40))
        if status == STOPPED:
            return Reason(debug.reason)
        self.ended = status == DONE
        if not self.ended:
            self.error = self.part.error(self._library, self._context, status)[1]
        return Reason.NONE

    # checkpoints ------------------------------------------------------------------------------------------------------

    def keep(self) -> None:
        """Put a checkpoint aside, when there is none as late already; of too many every second is dropped."""
        self._since = 0.0
        if self.checkpoints and self.checkpoints[-1].step >= self.step:
            return
        buffers = [s.buffer for s in self.segments if not s.buffer.read_only]
        size = sum(b.array.nbytes for b in buffers) + self._library.core_debug_bytes(self._context)
        if size > KEPT_BYTES // 4:
            return
        state = self._library.core_debug_keep(self._context)
        if not state:
            return                                              # an operation under way cannot be copied
        events, _ = self.events()
        self.checkpoints.append(Checkpoint(
            self.step, state, [b.bytes.copy() for b in buffers],
            {id(b): dict(b.used) for b in buffers if isinstance(b, Heap)},
            [getattr(self.part.counters, f.name).copy() for f in fields(self.part.counters)], events))
        while len(self.checkpoints) > 2 and len(self.checkpoints) * (size + events.nbytes) > KEPT_BYTES:
            for dropped in self.checkpoints[::2]:
                self._library.core_debug_forget(dropped.state)
            self.checkpoints = self.checkpoints[1::2]
            self.every *= 2

    def restore(self, checkpoint: Checkpoint) -> None:
        """Stand where a checkpoint was made, which stays."""
        if not self._library.core_debug_restore(self._context, checkpoint.state):
            raise SimulationError("out of memory for the simulated CTAs")
        buffers = [s.buffer for s in self.segments if not s.buffer.read_only]
        for buffer, kept in zip(buffers, checkpoint.memory, strict=True):
            buffer.bytes[:] = kept
            if isinstance(buffer, Heap):
                buffer.used.clear()
                buffer.used.update(checkpoint.heaps[id(buffer)])
        for field, kept in zip(fields(self.part.counters), checkpoint.counters, strict=True):
            getattr(self.part.counters, field.name)[:] = kept
        count = self._debug.nevents
        rows = np.arange(count - len(checkpoint.events), count) % EVENTS
        self._events[rows] = checkpoint.events
        self.error, self.ended, self._since = None, False, 0.0
        self._residents = self._turn = None

    def interrupt(self) -> None:
        """Stop before the next instruction; from any thread."""
        self._debug.until = 0

    def _call_host(self) -> None:
        try:
            self.part.call_host(self._library, self._context)
        except SimulationError as error:
            self.error = error
        else:
            self._library.core_resume(self._context)

    @property
    def turn(self) -> Turn | None:
        """Where it stopped, or what failed; None before the first instruction and behind the last."""
        if self.ended or not self.residents():
            return None
        if self._turn is None:
            out = (ctypes.c_uint64 * 8)()
            self._library.core_fault(self._context, out)
            _, lane, op, warp, active, cta, *_ = out
            self._turn = Turn(cta, warp, self.instruction_of(op), active if self.error is None else 1 << lane)
        return self._turn

    def instruction_of(self, op: int) -> int:
        """The instruction an operation belongs to; the number behind the last for what is none."""
        ops = self.job.code.ops
        if op >= len(ops) or ops[op]["flags"] & (Flags.EXIT | Flags.COUNT) == Flags.EXIT:
            return len(self.program.instructions)
        return int(ops[op]["instr"])

    def residents(self) -> list[Resident]:
        """The CTAs that run, in the order they were started."""
        if self._residents is None:
            found: list[Resident] = []
            while (row := self.look("cta", 10, len(found))) is not None:
                found.append(Resident(self, len(found), row))
            self._residents = found
        return self._residents

    def look(self, what: str, words: int, *at: int) -> list[int] | None:
        """What `core_debug_<what>` tells; None: there is none."""
        out = (ctypes.c_uint64 * words)()
        return list(out) if getattr(self._library, f"core_debug_{what}")(self._context, *at, out) else None

    @property
    def newest(self) -> Turn | None:
        """The instruction that was begun last, by all lanes."""
        debug = self._debug
        return Turn(debug.last_cta, debug.last_warp, debug.last_instr, 0xFFFFFFFF) if debug.step else None

    # what changes -----------------------------------------------------------------------------------------------------

    def set_spots(self, spots: Sequence[Spot]) -> None:
        """Stop from now on when one of these changes; they are what they are now."""
        self._spots = tuple(spots)
        self._kept = [(np.zeros(s.bytes, np.uint8), np.zeros(s.bytes, np.uint8)) for s in spots]
        self._rows = (_Spot * max(1, len(spots)))()
        for row, spot, (kept, before) in zip(self._rows, spots, self._kept, strict=False):
            row.space, row.cta, row.warp, row.bytes = spot.space, spot.cta, spot.warp, spot.bytes
            row.offset, row.kept, row.before = spot.offset, _address(kept), _address(before)
            if spot.space == Space.GLOBAL:
                row.host, row.offset = spot.offset, 0
        self._debug.spots, self._debug.nspots = ctypes.addressof(self._rows), len(spots)
        for k in range(len(spots)):
            self._library.core_debug_spot(self._context, k)

    def change(self) -> tuple[int, np.ndarray, np.ndarray]:
        """Which spot changed, of several the first; its bytes before and now."""
        k = self._debug.changed
        kept, before = self._kept[k]
        return k, before.copy(), kept.copy()

    def sightings(self, first: int = 0) -> tuple[Sighting, ...]:
        """What the sanitizer found so far, without the first ones."""
        rows, out = [], (ctypes.c_uint64 * WORDS)()
        while first + len(rows) < self._debug.found and self._library.core_found(self._context, first + len(rows), out):
            rows.append(list(out))
        return sightings(rows, self.plan.warps, self.job.ordered)

    # what happened ----------------------------------------------------------------------------------------------------

    def events(self) -> tuple[np.ndarray, int]:
        """What happened, as rows of EVENT in order, and how many older ones are not kept."""
        count = self._debug.nevents
        if count <= EVENTS:
            return self._events[:count].copy(), 0
        return np.roll(self._events, -(count % EVENTS)), count - EVENTS

    def trail(self) -> np.ndarray:
        """(step, instruction) of the newest instructions of the warp that was followed in the last run with a trail."""
        count = self._debug.ntrail
        return self._trail[:count].copy() if count <= TRAIL else np.roll(self._trail, -(count % TRAIL))


def _address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]
