"""Where a session stands: the launch, what runs, what is looked at, and the stop that says why."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pyptx._loc import Place
from pyptx.check.trial import copies_of
from pyptx.debug.errors import DebugError
from pyptx.debug.looking.barriers import named
from pyptx.debug.looking.names import Names, names_of
from pyptx.debug.looking.shown import Shown
from pyptx.debug.looking.state import State
from pyptx.debug.stopping.breakpoints import CTA, Breakpoints
from pyptx.debug.stopping.found import found_text
from pyptx.debug.stopping.lines import Lines
from pyptx.debug.stopping.stops import Focus, Stop
from pyptx.debug.stopping.watched import watched
from pyptx.kernel.variant import Variant
from pyptx.runtime import LaunchPlan, runtime_for
from pyptx.sim.core.stopped import Happened, Resident, Turn
from pyptx.sim.debug import Debugged
from pyptx.sim.faults.deadlocks import Group
from pyptx.sim.plan import SCHEDULES
from pyptx.tensor_map import TensorMap
from pyptx.texture import Surface, Texture

__all__ = ["Standing"]

_SETTINGS = ("max_steps", "tensor_cores", "sanitize")   # of the simulator


class Standing:
    """A launch under the debugger, stopped; what it needs to know of itself. See Session."""

    def __init__(self, variant: Variant, plan: LaunchPlan, args: Sequence[Any], *, schedule: str = "eager",
                 seed: int = 0, settings: Mapping[str, Any] | None = None,
                 trace: Callable[[], Variant] | None = None):
        if schedule not in SCHEDULES:
            raise DebugError(f"schedule {schedule!r}; expected {', '.join(map(repr, SCHEDULES))}")
        variant.require_valid()
        self.variant, self._trace = variant, trace
        program = variant.program(runtime_for((), "sim"))
        self._args = copies_of(args)
        settings = {k: v for k, v in (settings or {}).items() if k in _SETTINGS and v is not None}
        self.run = Debugged(program, plan.grid, plan.block, self._args, cluster=plan.cluster,
                            smem_bytes=plan.smem_bytes, schedule=schedule, seed=seed, **settings)
        self.lines = Lines(variant, program)
        self.watches: list[str] = []
        self.shown = Shown()
        self.last, self.ended, self.told = 0, False, 0
        self._level: int | None = None
        self._level_at: tuple[int, int, int] | None = None
        self._names: Names | None = None
        self._named = trace is None
        self._lock = threading.RLock()
        self._listeners: list[Callable[[], None]] = []
        self._interrupted = False
        self._before: dict[tuple[int, int], np.ndarray] = {}
        self.breakpoints = Breakpoints(self.lines, lambda place: watched(self, place), self.cta_number, self._marked)
        self._log()
        self.run.run(until=0)
        self.focus = Focus(0, 0)
        self.stop = self._stopped("start", "")

    @property
    def name(self) -> str:
        return self.variant.entry.name

    @property
    def step_number(self) -> int:
        """Warp-instructions begun so far, in the whole grid."""
        return self.run.machine.step

    @property
    def names(self) -> Names | None:
        """What the Python names of the kernel stand for; None for PTX that was loaded."""
        if not self._named:
            self._named = True
            self._names = names_of(self._trace, self.variant, self.run.program)
        return self._names

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments by parameter; arrays are the session's own."""
        found: dict[str, Any] = {}
        for parameter, arg in zip(self.variant.entry.params, self._args, strict=False):
            if not isinstance(arg, TensorMap) or parameter.name.removesuffix("_tma_desc") not in found:
                found[parameter.name] = arg.source if isinstance(arg, (TensorMap, Texture, Surface)) else arg
        return found

    def resident(self, cta: int) -> Resident | None:
        """A CTA that runs now."""
        return next((r for r in self.run.machine.residents() if r.id == cta), None)

    def group(self, cta: int, warp: int) -> Group | None:
        """The lanes of a warp to look at: those whose turn it is, else those that can go on, else those that wait."""
        resident = self.resident(cta)
        if resident is None or not 0 <= warp < self.run.plan.warps:
            return None
        groups = list(resident.groups(warp))
        turn = self.run.machine.turn
        if turn is not None and (turn.cta, turn.warp) == (cta, warp):
            here = [g for g in groups if g.instruction == turn.instruction]
            return here[0] if here else Group(cta, warp, turn.lanes, turn.instruction, "ready")
        return next((g for g in groups if g.state == "ready"), groups[0] if groups else None)

    def state(self, cta: int | None = None, warp: int | None = None) -> State:
        """Registers and memory of a warp, the focused one by default.

        Raises:
            DebugError: it does not run.
        """
        cta, warp = self.focus.cta if cta is None else cta, self.focus.warp if warp is None else warp
        resident, group = self.resident(cta), self.group(cta, warp)
        if resident is None:
            raise DebugError(f"CTA {self.cta_text(cta)} does not run now; going back may help: back, rewind, goto STEP")
        turn = self.run.machine.turn
        at = group.instruction if group is not None else turn.instruction if turn else 0
        return State(self.run, self.names, self.arguments, resident, warp, at, group.lanes if group is not None else 0)

    def cta_number(self, cta: CTA) -> int | None:
        """The number of a CTA, given as that or as its place in the grid.

        Raises:
            DebugError: the grid has none there.
        """
        if cta is None:
            return None
        grid = self.run.plan.grid
        if isinstance(cta, Sequence):
            at = (*map(int, cta), 0, 0)[:3]
            number = at[0] + grid[0] * (at[1] + grid[1] * at[2])
            inside = all(0 <= k < size for k, size in zip(at, grid, strict=True))
        else:
            number = int(cta)
            inside = 0 <= number < self.run.plan.ctas
        if not inside:
            raise DebugError(f"no CTA {cta}; the grid is {' x '.join(map(str, grid))}")
        return number

    def cta_place(self, cta: int) -> tuple[int, int, int]:
        """Where a CTA lies in the grid."""
        x, y, _ = self.run.plan.grid
        return cta % x, cta // x % y, cta // (x * y)

    def cta_text(self, cta: int) -> str:
        """A CTA as it is written: its number where the grid has one dimension."""
        place = self.cta_place(cta)
        return str(place[0]) if self.run.plan.grid[1:] == (1, 1) else f"({', '.join(map(str, place))})"

    @property
    def level(self) -> int | None:
        """The level of the Python function that is stepped through, from the kernel's own (0) inwards; None: the
        innermost.
        """
        return self._level if (self.focus.cta, self.focus.warp, self.step_number) == self._level_at else None

    @property
    def frame(self) -> Place | None:
        """The Python place that is looked at: of the focused warp, in the function that is stepped through."""
        group = self.group(self.focus.cta, self.focus.warp)
        return None if group is None else self.lines.frame(group.instruction, self.level)

    def warp_steps(self) -> dict[tuple[int, int], int]:
        """Instructions each warp began so far, by (CTA, warp); of events that are kept."""
        events, _ = self.run.machine.events()
        found: dict[tuple[int, int], int] = {}
        began: dict[tuple[int, int], int] = {}
        for step, cta, kind, warp, *_ in events.tolist():
            if kind == Happened.RUN:
                began[cta, warp] = step
            elif kind == Happened.LEFT and (cta, warp) in began:
                found[cta, warp] = found.get((cta, warp), 0) + step - began.pop((cta, warp))
        for key, step in began.items():
            found[key] = found.get(key, 0) + self.step_number - step
        return found

    def changed_since(self, cta: int, warp: int) -> np.ndarray | None:
        """The registers of a warp as they were at the stop before; None where nobody looked."""
        return self._before.get((cta, warp))

    def _snapshot(self) -> dict[tuple[int, int], np.ndarray]:
        """Registers of the focused warp, to tell what changes."""
        resident = self.resident(self.focus.cta)
        if resident is None:
            return {}
        return {(self.focus.cta, self.focus.warp): resident.registers(self.focus.warp).copy()}

    def _stopped(self, reason: str, text: str, breakpoint: int | None = None) -> Stop:
        """Stand here: the focus goes along."""
        turn = self.run.machine.turn
        if turn is None:
            self.stop = Stop(reason, text, self.step_number, breakpoint=breakpoint)
            return self.stop
        if reason == "deadlock":
            turn = self._waiting(turn)
        self.focus = Focus(turn.cta, turn.warp, _lane_among(turn.lanes, self.focus.lane))
        self.stop = self._at(Stop(reason, text, self.step_number, breakpoint=breakpoint), turn.instruction)
        return self.stop

    def _with(self, newest: Turn | None) -> Stop:
        """The stop in the warp whose instruction was the last, if it goes on: it stands behind that."""
        group = self.group(newest.cta, newest.warp) if newest is not None else None
        if group is not None:
            self.focus = Focus(newest.cta, newest.warp, _lane_among(group.lanes, self.focus.lane))
            self.stop = self._at(self.stop, group.instruction)
        return self.stop

    def _at(self, stop: Stop, instruction: int) -> Stop:
        """A stop of the focused warp at an instruction."""
        place = self.lines.place(instruction)
        return replace(stop, cta=self.cta_place(self.focus.cta), warp=self.focus.warp,
                       file=place.file if place else None, line=place.line if place else None,
                       ptx=self.lines.ptx(instruction), instruction=self.lines.text(instruction))

    def _shown_at(self, level: int) -> Stop:
        """The stop as seen from the function of a level."""
        self._level, self._level_at = level, (self.focus.cta, self.focus.warp, self.step_number)
        frame = self.frame
        if frame is not None:
            self.stop = replace(self.stop, file=frame.file, line=frame.line)
        return self.stop

    def _waiting(self, turn: Turn) -> Turn:
        """The first lanes that wait in a deadlock."""
        resident = self.resident(turn.cta)
        cluster = resident.cluster if resident is not None else None
        for other in self.run.machine.residents():
            for warp in range(self.run.plan.warps if other.cluster == cluster else 0):
                for group in other.groups(warp):
                    if group.state == "waiting" or group.state == "barrier":
                        return Turn(other.id, warp, group.instruction, group.lanes)
        return turn

    def _over(self) -> Stop:
        """The end of the run, or its error."""
        machine = self.run.machine
        self.ended, self.last = True, max(self.last, machine.step)
        said = f"\n{found}" if self.run.sanitize and (found := found_text(self)) else ""
        if machine.ended:
            events, _ = machine.events()
            ran = events[events["kind"] == Happened.RUN]
            if len(ran):
                self.focus = Focus(int(ran[-1]["cta"]), int(ran[-1]["warp"]), self.focus.lane)
            return self._stopped("exit", f"the kernel has ended after {machine.step} warp-instructions{said}")
        error = machine.error
        text = named(self, error.message + (f"\nhint: {error.hint}" if error.hint else ""))
        return self._stopped("deadlock" if error.kind == "deadlock" else "fault", text + said)

    def _tell(self) -> None:
        for call in list(self._listeners):
            call()


def _lane_among(lanes: int, wanted: int) -> int:
    """A lane of a mask: the wanted one, else the lowest."""
    return wanted if lanes >> wanted & 1 or not lanes else (lanes & -lanes).bit_length() - 1
