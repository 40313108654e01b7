"""A kernel under the debugger: moves, and what each of them ends with."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from pyptx._loc import Place
from pyptx.check.trial import copies_of
from pyptx.debug.barriers import named
from pyptx.debug.breakpoints import CTA, Breakpoint, Breakpoints
from pyptx.debug.commands import run_command
from pyptx.debug.document import document_of
from pyptx.debug.errors import DebugError
from pyptx.debug.expressions import Expression
from pyptx.debug.found import found_text
from pyptx.debug.lines import Lines
from pyptx.debug.names import Names, names_of
from pyptx.debug.shown import Shown
from pyptx.debug.sources import sources_of
from pyptx.debug.state import State
from pyptx.debug.stops import Focus, Stop
from pyptx.debug.timeline import interesting
from pyptx.debug.watched import changed_by, watched
from pyptx.kernel.variant import Variant
from pyptx.runtime import LaunchPlan, runtime_for
from pyptx.sim.actions import Exit, Return
from pyptx.sim.core.debug import Happened, Mark, Reason, Resident, Turn
from pyptx.sim.deadlocks import Group
from pyptx.sim.debug import Debugged
from pyptx.sim.plan import SCHEDULES
from pyptx.tensor_map import TensorMap

__all__ = ["Session"]

_OF_A_LINE = 2048                                       # instructions of a warp among which the line before begins
_SETTINGS = ("max_steps", "tensor_cores", "sanitize")   # of the simulator


class Session:
    """A launch on the simulator that goes on and back as told; made by `kernel.debug(...)`.

    It runs on copies of the arrays; `outputs()` has them as they are now. All moves return a Stop. Ctrl-C, or
    `interrupt()` of another thread, ends a move and leaves the session usable.

    Attributes:
        stop: where it stands, and why.
        focus: the CTA, warp and lane that are looked at; a stop takes it along.
        breakpoints: places and bytes to stop at.
        watches: expressions whose values are shown at each stop.
        shown: fragments, tiles of memory and columns of tensor memory that are shown at each stop.
    """

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

    # what there is ----------------------------------------------------------------------------------------------------

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
                found[parameter.name] = arg.source if isinstance(arg, TensorMap) else arg
        return found

    def outputs(self) -> dict[str, np.ndarray]:
        """Copies of the arrays as they are now, by parameter."""
        with self._lock:
            return {name: np.array(value) for name, value in self.arguments.items() if isinstance(value, np.ndarray)}

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

    def evaluate(self, text: str) -> Any:
        """The value of an expression for the focused warp.

        Raises:
            DebugError: it cannot be read, or a name stands for nothing.
        """
        with self._lock:
            return Expression(text).value(self.state().lookup)

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

    # moves ------------------------------------------------------------------------------------------------------------

    def step(self, n: int = 1) -> Stop:
        """Execute `n` instructions of the focused warp; others run on as the schedule says."""
        with self._moving():
            self._alive()
            cta, warp = self.focus.cta, self.focus.warp
            for _ in range(max(1, n)):
                stop = self._go(follow="warp")
                if stop.reason != "step" or (self.focus.cta, self.focus.warp) != (cta, warp):
                    break
            return stop

    def next(self, *, into: bool = False) -> Stop:
        """Go on until the focused warp stands at another Python line (of PTX that was loaded, at another PTX line).

        Args:
            into: stop in the helper functions that write a part of this line too.
        """
        with self._moving():
            self._alive()
            here, warp = self.group(self.focus.cta, self.focus.warp).instruction, (self.focus.cta, self.focus.warp)
            level = None if into else self.level if self.level is not None else len(self.lines.stack(here)) - 1
            passing = np.array([self.lines.passes(here, level, i) for i in range(self._count)], bool)
            stop = self._go(follow="warp", passing=passing)
            if level is not None and stop.reason == "step" and (self.focus.cta, self.focus.warp) == warp \
                    and self.run.machine.turn is not None:
                stop = self._shown_at(self.lines.level(here, level, self.run.machine.turn.instruction))
            return stop

    def next_warp(self) -> Stop:
        """Go on until another warp has its turn."""
        with self._moving():
            return self._go(follow="others")

    def resume(self) -> Stop:
        """Go on to the next breakpoint, watchpoint, error, or the end."""
        with self._moving():
            return self._go()

    def finish(self) -> Stop:
        """Go on until the focused warp is about to exit, or to return from the function it is in."""
        with self._moving():
            self._alive()
            ends = np.array([not isinstance(kind, Exit | Return) for kind in self.run.program.kinds], bool)
            return self._go(follow="warp", passing=ends)

    def run_to(self, place: str) -> Stop:
        """Go on until a warp comes to a place, written as for a breakpoint."""
        with self._moving():
            made = self.breakpoints.add(place, temporary=True)
            stop = self._go()
            if made in list(self.breakpoints):
                self.breakpoints.remove(made.id)
            return stop

    def back(self, n: int = 1) -> Stop:
        """Go back `n` instructions of the focused warp, or to its first; of all warps, when it has not run yet."""
        with self._moving():
            now, trail = self.step_number, self._trail(n)
            return self._replay(int(trail["step"][max(len(trail) - n, 0)]) if len(trail) else max(0, now - n))

    def back_line(self) -> Stop:
        """Go back to where the focused warp came to the Python line before this one."""
        with self._moving():
            group = self.group(self.focus.cta, self.focus.warp)
            trail = self._trail(_OF_A_LINE)
            if not len(trail):
                raise DebugError(f"warp {self.focus.warp} of CTA {self.cta_text(self.focus.cta)} has not run yet; "
                                 "`goto STEP` and `rewind` go back by the steps of all warps")
            here = self.lines.line(group.instruction) if group is not None else None
            k = len(trail) - 1
            while k > 0 and self.lines.line(int(trail["instr"][k])) == here:
                k -= 1
            there = self.lines.line(int(trail["instr"][k]))
            while k > 0 and self.lines.line(int(trail["instr"][k - 1])) == there:
                k -= 1
            return self._replay(int(trail["step"][k]))

    def rewind(self) -> Stop:
        """Go back to the start."""
        with self._moving():
            return self._replay(0, "start")

    def goto(self, step: int) -> Stop:
        """Go, back or on, to where so many instructions were begun; breakpoints on the way do not stop it."""
        with self._moving():
            if step < 0:
                raise DebugError(f"there is no step {step}; steps count from 0")
            if step < self.step_number or self.stop.over:
                return self._replay(step)
            return self._go(until=step, past=True)

    def reverse(self) -> Stop:
        """Go back to the last breakpoint or watchpoint before this step, or to the start."""
        with self._moving():
            now, kept = self.step_number, {b.id: list(b.steps) for b in self.breakpoints}
            found = None
            self._restart(0)
            while not (stop := self._go(until=now)).over and stop.step < now and stop.reason != "interrupt":
                found = stop
            for breakpoint in self.breakpoints:
                breakpoint.steps = kept.get(breakpoint.id, [])
            if stop.reason == "interrupt":
                return stop
            if found is None:
                return self._replay(0, "start")
            self._replay(found.step)
            self.stop = found
            self.breakpoints.forget_after(found.step + 1)
            return found

    def interrupt(self) -> None:
        """End the move under way, from any thread; it returns with the reason "interrupt"."""
        self._interrupted = True
        self.run.machine.interrupt()

    def look_at(self, *, cta: CTA = None, warp: int | None = None, lane: int | None = None) -> Focus:
        """Look at another CTA, warp or lane; nothing moves.

        Raises:
            DebugError: there is none.
        """
        with self._lock:
            number = self.focus.cta if cta is None else self.cta_number(cta)
            warp = self.focus.warp if warp is None else int(warp)
            lane = self.focus.lane if lane is None else int(lane)
            if not 0 <= warp < self.run.plan.warps:
                raise DebugError(f"no warp {warp}; a CTA has warps 0 to {self.run.plan.warps - 1}")
            if not 0 <= lane < 32:
                raise DebugError(f"no lane {lane}; a warp has lanes 0 to 31")
            if self.resident(number) is None:
                running = ", ".join(self.cta_text(r.id) for r in self.run.machine.residents()[:12]) or "none"
                raise DebugError(f"CTA {self.cta_text(number)} does not run now; running: {running}")
            self.focus = Focus(number, warp, lane)
            self._tell()
            return self.focus

    def watch(self, text: str) -> Any:
        """Show the value of an expression at each stop; its value now.

        Raises:
            DebugError: it is no expression.
        """
        Expression(text)
        if text not in self.watches:
            self.watches.append(text)
        self._tell()
        try:
            return self.evaluate(text)
        except DebugError as error:
            return str(error)

    def unwatch(self, text: str) -> None:
        """Show it no longer."""
        if text not in self.watches:
            raise DebugError(f"{text!r} is not watched; watched: {', '.join(self.watches) or 'nothing'}")
        self.watches.remove(text)
        self._tell()

    def show_memory(self, what: str | int, **options: Any) -> None:
        """Show a tile of memory at each stop; options as of pyptx.debug.memory.tile."""
        self.shown.memory(self, what, **options)
        self._tell()

    def show_fragment(self, name: str, **options: Any) -> None:
        """Show registers as the matrix they hold at each stop; options as of pyptx.debug.fragments.fragment."""
        self.shown.fragment(self, name, **options)
        self._tell()

    def show_tmem(self, column: int | None = None, columns: int = 32, type: str = "b32", **options: Any) -> None:
        """Show columns of the focused CTA's tensor memory at each stop."""
        self.shown.tmem(self, column, columns, type, **options)
        self._tell()

    def hide(self, kind: str, name: str) -> None:
        """Show a "memory", "fragment" or "tmem" item no longer.

        Raises:
            DebugError: it is not shown.
        """
        self.shown.hide(kind, name)
        self._tell()

    def document(self) -> dict[str, Any]:
        """How things stand, as plain JSON: what every view shows."""
        with self._lock:
            return document_of(self)

    def sources(self) -> dict[str, Any]:
        """The Python and the PTX the document speaks of, as plain JSON."""
        return sources_of(self.lines)

    def command(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """One command of a widget; the document afterwards, or {"error": text}."""
        return run_command(self, name, arguments)

    def subscribe(self, call: Callable[[], None]) -> Callable[[], None]:
        """Let `call` know of each move and change, in the thread that made it; the function returned ends this."""
        self._listeners.append(call)
        return lambda: self._listeners.remove(call) if call in self._listeners else None

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return import_module("pyptx.views.debugger").DebugView(self.sources(), self.document())._repr_mimebundle_()

    def _ipython_display_(self) -> None:
        """In a notebook the widget, as far as anywidget is installed; elsewhere the view as it stands."""
        import_module("pyptx.jupyter.showing").show_session(self)

    def close(self) -> None:
        """Give the memory of the run back."""
        with self._lock:
            self.run.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        stop = self.stop
        where = f" at {stop.file}:{stop.line}" if stop.line else f" at PTX {stop.ptx}" if stop.ptx else ""
        return f"<debug session of {self.name}: {stop.reason}{where}, step {stop.step}>"

    # how --------------------------------------------------------------------------------------------------------------

    @property
    def _count(self) -> int:
        return len(self.run.program.instructions)

    @contextmanager
    def _moving(self) -> Iterator[None]:
        """One move at a time; its end is told."""
        with self._lock:
            self._interrupted = False
            self._before = self._snapshot()
            self.shown.remember(self)
            try:
                yield
            finally:
                self.last = max(self.last, self.step_number)
                self._tell()

    def _snapshot(self) -> dict[tuple[int, int], np.ndarray]:
        """Registers of the focused warp, to tell what changes."""
        resident = self.resident(self.focus.cta)
        if resident is None:
            return {}
        return {(self.focus.cta, self.focus.warp): resident.registers(self.focus.warp).copy()}

    def _tell(self) -> None:
        for call in list(self._listeners):
            call()

    def _alive(self) -> None:
        if self.stop.over:
            return
        resident = self.resident(self.focus.cta)
        if resident is None or not resident.warp(self.focus.warp)[0]:
            raise DebugError(f"warp {self.focus.warp} of CTA {self.cta_text(self.focus.cta)} has exited; `warp` goes "
                             "on to the next one that runs, `focus` looks at another")

    def _log(self) -> None:
        """Keep the executions that a timeline shows."""
        self.run.marks |= np.where([*map(interesting, self.run.program.kinds), False], Mark.LOG, 0).astype(np.uint8)

    def _marked(self) -> None:
        """Breakpoints have changed."""
        self.run.marks &= ~np.uint8(Mark.STOP)
        for instruction in self.breakpoints.instructions():
            self.run.marks[instruction] |= Mark.STOP
        self.run.watch([b.spots[k] for b, k in self.breakpoints.spots()])
        self._tell()

    def _go(self, *, follow: str | None = None, passing: np.ndarray | None = None, until: int | None = None,
            past: bool = False) -> Stop:
        """Run until there is a reason to stand.

        Args:
            follow, passing, until: as of Debugged.run.
            past: breakpoints and watchpoints do not count.
        """
        machine = self.run.machine
        if machine.ended or machine.error is not None:
            raise DebugError("the run is over; `back` and `rewind` go back" if machine.ended else
                             "the run ended with an error; `back` and `rewind` go back")
        warp = (self.focus.cta, self.focus.warp)
        try:
            while True:
                reason = self.run.run(until=machine.step if self._interrupted else until, follow=follow, warp=warp,
                                      passing=passing, findings=not past)
                if reason == Reason.NONE:
                    return self._over()
                if self._interrupted:
                    return self._stopped("interrupt", "interrupted")
                stop = None if past else self._caught(reason)
                if stop is not None:
                    return stop
                if until is not None and machine.step >= until:
                    return self._stopped("step", "")
                turn = machine.turn
                own = (turn.cta, turn.warp) == warp
                at = turn.instruction
                if follow == "warp" and own and (passing is None or at >= len(passing) or not passing[at]):
                    return self._stopped("step", "")
                if follow == "others" and not own:
                    return self._stopped("step", "")
                if follow == "warp" and reason == Reason.OTHER:
                    return self._stopped("step", f"warp {warp[1]} of CTA {self.cta_text(warp[0])} has exited")
        except KeyboardInterrupt:
            if not machine.stopped and not machine.ended and machine.error is None:
                self.run.run(until=machine.step)                # between two turns: on to the next instruction
            if machine.ended or machine.error is not None:
                return self._over()
            return self._stopped("interrupt", "interrupted")

    def _caught(self, reason: Reason) -> Stop | None:
        """The stop of a watchpoint or breakpoint at this instruction, if one holds."""
        turn = self.run.machine.turn
        if reason == Reason.FOUND:
            said = found_text(self)
            if said:
                self._stopped("finding", said)
                return self._with(self.run.machine.newest)
        if reason == Reason.CHANGE:
            number, before, after = self.run.machine.change()
            found, k = self.breakpoints.spots()[number]
            if self._holds(found, turn):
                self._hit(found, "watchpoint", found.describe(k, before, after) + changed_by(self))
                return self._with(self.run.machine.newest)
        for found in self.breakpoints.at(turn.instruction, turn.cta, turn.warp):
            if self._holds(found, turn):
                told = f"breakpoint {found.id}, {found.text}" + (f" if {found.condition}" if found.condition else "")
                return self._hit(found, "step" if found.temporary else "breakpoint", "" if found.temporary else told)
        return None

    def _holds(self, found: Breakpoint, turn: Turn) -> bool:
        """Whether its condition does; one that cannot be asked stops the run, and says why."""
        if found.expression is None:
            return True
        state = State(self.run, self.names, self.arguments, self.resident(turn.cta), turn.warp, turn.instruction,
                      turn.lanes)
        try:
            return bool(found.expression.lanes(state.lookup, turn.lanes))
        except DebugError as error:
            found.enabled = False
            self._marked()
            raise DebugError(f"breakpoint {found.id} is disabled: {error.message}") from None

    def _hit(self, found: Breakpoint, reason: str, text: str) -> Stop:
        if not found.steps or found.steps[-1] != self.step_number:
            found.steps.append(self.step_number)
        stop = self._stopped(reason, text, None if found.temporary else found.id)
        level = None if found.watches else self.lines.level_of(self.run.machine.turn.instruction, found.text)
        if level is not None:
            stop = self._shown_at(level)
        if found.temporary:
            self.breakpoints.remove(found.id)
        return stop

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

    def _trail(self, most: int) -> np.ndarray:
        """The newest steps of the focused warp, at least `most` or all; the run is back where it was."""
        now, warp, earlier = self.step_number, (self.focus.cta, self.focus.warp), 0
        while True:
            trail = self._restart(now, trail=warp, earlier=earlier)
            if len(trail) >= most or not self.run.began or self._interrupted:
                return trail
            earlier = 2 * earlier + 1

    def _restart(self, until: int, trail: tuple[int, int] | None = None, earlier: int = 0) -> np.ndarray | None:
        found = self.run.restart(until, trail=trail, earlier=earlier)
        self.told = len(self.run.machine.sightings()) if self.run.sanitize else 0
        if self._interrupted:
            self.run.machine.interrupt()
        return found

    def _replay(self, step: int, reason: str = "step") -> Stop:
        """Stand where so many instructions were begun."""
        self._restart(step)
        machine = self.run.machine
        self.breakpoints.forget_after(machine.step + 1)
        if machine.ended or machine.error is not None:
            return self._over()
        if self._interrupted:
            return self._stopped("interrupt", "interrupted")
        return self._stopped("start" if machine.step == 0 else reason, "")


def _lane_among(lanes: int, wanted: int) -> int:
    """A lane of a mask: the wanted one, else the lowest."""
    return wanted if lanes >> wanted & 1 or not lanes else (lanes & -lanes).bit_length() - 1
