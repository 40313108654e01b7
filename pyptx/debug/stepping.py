"""Stepping: forward to the next reason to stop, and backward by running again from an earlier step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from pyptx.debug.accesses import locate_accesses
from pyptx.debug.breakpoints.table import Breakpoint
from pyptx.debug.breakpoints.watchpoints import change_source
from pyptx.debug.errors import DebugError
from pyptx.debug.inspect.launch import StoppedLaunch
from pyptx.debug.inspect.warp_state import WarpState
from pyptx.debug.session_state import SessionState
from pyptx.debug.stops import Stop
from pyptx.sim.actions import Exit, Return
from pyptx.sim.core.debug_state import Position, Reason

__all__ = ["Stepper"]

_LINE_TRAIL = 2048  # most recent instructions of a warp in which `back_line` searches the previous line


class Stepper:
    """Moves a session; see Session for what each movement does. Each returns the Stop at which it ends."""

    launch: StoppedLaunch
    state: SessionState

    def __init__(self, state: SessionState):
        self.state, self.launch = state, state.launch
        self._interrupted = False

    # forward ----------------------------------------------------------------------------------------------------------

    def step(self, n: int) -> Stop:
        with self._moving():
            self._require_live_warp()
            warp = self.launch.focus.cta_warp
            stop = self._run(follow="warp")
            for _ in range(1, n):
                if stop.reason != "step" or self.launch.focus.cta_warp != warp:
                    break
                stop = self._run(follow="warp")
            return stop

    def next(self, *, into: bool) -> Stop:
        with self._moving():
            self._require_live_warp()
            group, warp, lines = self.launch.focused_group, self.launch.focus.cta_warp, self.launch.lines
            if group is None:
                return self._run(follow="warp")  # raises: the run is over
            here = group.instruction
            level = None
            if not into:
                level = self.state.level if self.state.level is not None else len(lines.stack(here)) - 1
            count = len(self.launch.program.instructions)
            passing = np.array([lines.on_same_line(here, level, i) for i in range(count)], bool)
            stop = self._run(follow="warp", passing=passing)
            turn = self.launch.machine.position
            if level is not None and stop.reason == "step" and self.launch.focus.cta_warp == warp and turn is not None:
                stop = self.state.stop_at_level(lines.level(here, level, turn.instruction))
            return stop

    def next_warp(self) -> Stop:
        with self._moving():
            return self._run(follow="others")

    def resume(self) -> Stop:
        with self._moving():
            return self._run()

    def finish(self) -> Stop:
        with self._moving():
            self._require_live_warp()
            passing = np.array([not isinstance(kind, Exit | Return) for kind in self.launch.program.kinds], bool)
            return self._run(follow="warp", passing=passing)

    def run_to(self, place: str) -> Stop:
        with self._moving():
            made = self.state.breakpoints.add(place, temporary=True)
            stop = self._run()
            if made in list(self.state.breakpoints):
                self.state.breakpoints.remove(made.id)
            return stop

    # backward ---------------------------------------------------------------------------------------------------------

    def back(self, n: int) -> Stop:
        with self._moving():
            now, trail = self.launch.step_number, self._trail(n)
            return self._replay(int(trail["step"][max(len(trail) - n, 0)]) if len(trail) else max(0, now - n))

    def back_line(self) -> Stop:
        with self._moving():
            lines, group = self.launch.lines, self.launch.focused_group
            trail = self._trail(_LINE_TRAIL)
            if not len(trail):
                raise DebugError(
                    f"{self._focused_warp_text()} has not run yet",
                    hint="`goto STEP` and `rewind` go back by the steps of all warps",
                )
            here = lines.line(group.instruction) if group is not None else None
            k = len(trail) - 1
            while k > 0 and lines.line(int(trail["instr"][k])) == here:
                k -= 1
            there = lines.line(int(trail["instr"][k]))
            while k > 0 and lines.line(int(trail["instr"][k - 1])) == there:
                k -= 1
            return self._replay(int(trail["step"][k]))

    def rewind(self) -> Stop:
        with self._moving():
            return self._replay(0, "start")

    def goto(self, step: int) -> Stop:
        with self._moving():
            if step < 0:
                raise DebugError(f"no step {step}; steps count from 0")
            now = self.launch.step_number
            near = [c.step for c in self.launch.machine.checkpoints if now < c.step <= step]
            if step < now or self.state.stop.over or near:
                return self._replay(step)
            return self._run(until=step, past_breakpoints=True)

    def reverse(self) -> Stop:
        with self._moving():
            breakpoints = self.state.breakpoints
            now, hits = self.launch.step_number, {b.id: list(b.steps) for b in breakpoints}
            found = None
            self._restart(0)
            while not (stop := self._run(until=now)).over and stop.step < now and stop.reason != "interrupt":
                found = stop
            for breakpoint in breakpoints:
                breakpoint.steps = hits.get(breakpoint.id, [])
            if stop.reason == "interrupt":
                return stop
            if found is None:
                return self._replay(0, "start")
            self._replay(found.step)
            self.state.stop = found
            breakpoints.forget_after(found.step + 1)
            return found

    def interrupt(self) -> None:
        self._interrupted = True
        self.launch.machine.interrupt()

    # how a movement runs ----------------------------------------------------------------------------------------------

    @contextmanager
    def _moving(self) -> Iterator[None]:
        """Hold the lock during one movement, and notify the subscribers at its end."""
        with self.state.lock:
            self._interrupted = False
            self.state.remember()
            try:
                yield
            finally:
                self.state.last_step = max(self.state.last_step, self.launch.step_number)
                self.state.notify()

    def _focused_warp_text(self) -> str:
        focus = self.launch.focus
        return f"warp {focus.warp} of CTA {self.launch.cta_text(focus.cta)}"

    def _require_live_warp(self) -> None:
        if self.state.stop.over:
            return  # `_run` explains that
        resident = self.launch.resident(self.launch.focus.cta)
        if resident is None or not resident.live_lanes(self.launch.focus.warp):
            raise DebugError(
                f"{self._focused_warp_text()} has exited",
                hint="`warp` runs until another warp is scheduled, `focus` selects another warp",
            )

    def _run(
        self,
        *,
        follow: str | None = None,
        passing: np.ndarray | None = None,
        until: int | None = None,
        past_breakpoints: bool = False,
    ) -> Stop:
        """Run until there is a reason to stop.

        Args:
            follow, passing, until: as for DebugLaunch.run.
            past_breakpoints: ignore breakpoints and watchpoints.
        """
        launch, machine = self.launch, self.launch.machine
        if machine.ended or machine.error is not None:
            raise DebugError(
                "the run is over" if machine.ended else "the run ended with an error",
                hint="`back` and `rewind` go back",
            )
        warp = launch.focus.cta_warp
        try:
            while True:
                reason = launch.run.run(
                    until=machine.step if self._interrupted else until,
                    follow=follow,
                    warp=warp,
                    passing=passing,
                    findings=not past_breakpoints,
                )
                turn = machine.position
                if reason == Reason.NONE or turn is None:
                    return self.state.stop_at_end()
                if self._interrupted:
                    return self.state.stop_here("interrupt", "interrupted")
                stop = None if past_breakpoints else self._triggered(reason, turn)
                if stop is not None:
                    return stop
                if until is not None and machine.step >= until:
                    return self.state.stop_here("step")
                own = (turn.cta, turn.warp) == warp
                at = turn.instruction
                if follow == "warp" and own and (passing is None or at >= len(passing) or not passing[at]):
                    return self.state.stop_here("step")
                if follow == "others" and not own:
                    return self.state.stop_here("step")
                if follow == "warp" and reason == Reason.OTHER:
                    return self.state.stop_here("step", f"warp {warp[1]} of CTA {launch.cta_text(warp[0])} has exited")
        except KeyboardInterrupt:
            if not machine.stopped and not machine.ended and machine.error is None:
                launch.run.run(until=machine.step)  # between two turns: on to the next instruction
            if machine.ended or machine.error is not None:
                return self.state.stop_at_end()
            return self.state.stop_here("interrupt", "interrupted")

    def _triggered(self, reason: Reason, turn: Position) -> Stop | None:
        """Return the stop of a finding, watchpoint, or breakpoint that triggers at this instruction, or None."""
        state, machine = self.state, self.launch.machine
        if reason == Reason.FINDING:
            text = state.new_findings_text()
            if text:
                newest = machine.last_instruction
                self._locate_accesses()
                state.stop_here("finding", text)
                return state.stop_after(newest)
        if reason == Reason.CHANGE:
            number, before, after = machine.change()
            found, k = state.breakpoints.spots()[number]
            if self._condition_holds(found, turn):
                change = found.describe(k, before, after) if found.describe is not None else found.text
                self._hit(found, turn, "watchpoint", change + change_source(self.launch))
                return state.stop_after(machine.last_instruction)
        for found in state.breakpoints.at(turn.instruction, turn.cta, turn.warp):
            if self._condition_holds(found, turn):
                if found.temporary:
                    return self._hit(found, turn, "step", "")
                condition = f" if {found.condition}" if found.condition else ""
                return self._hit(found, turn, "breakpoint", f"breakpoint {found.id}, {found.text}{condition}")
        return None

    def _locate_accesses(self) -> None:
        """Determine the steps of the accesses of the newest finding, for the timeline."""
        now = self.launch.step_number

        def trail(warp: tuple[int, int], instruction: int) -> np.ndarray:
            earlier = 0
            while True:
                steps = self._restart(now, trail=warp, earlier=earlier)
                assert steps is not None, "a trail was requested"
                if instruction in steps["instr"] or not self.launch.run.began or self._interrupted:
                    return steps
                earlier = 2 * earlier + 1

        seen, found = self.state.findings[0]
        self.state.accesses = locate_accesses(self.launch, seen, found, trail)

    def _condition_holds(self, found: Breakpoint, turn: Position) -> bool:
        """Evaluate the condition of a breakpoint; disable a breakpoint whose condition cannot be evaluated."""
        resident = self.launch.resident(turn.cta)
        if found.expression is None or resident is None:
            return True
        launch = self.launch
        state = WarpState(launch.run, launch.names, launch.arguments, resident, turn.warp, turn.instruction, turn.lanes)
        try:
            return bool(found.expression.lanes(state.lookup, turn.lanes))
        except DebugError as error:
            found.enabled = False
            self.state.update_marks()
            raise DebugError(f"breakpoint {found.id} is disabled: {error.message}", hint=error.hint) from None

    def _hit(self, found: Breakpoint, turn: Position, reason: str, text: str) -> Stop:
        """Count a hit and record the stop."""
        if not found.steps or found.steps[-1] != self.launch.step_number:
            found.steps.append(self.launch.step_number)
        stop = self.state.stop_here(reason, text, None if found.temporary else found.id)
        level = None if found.watches else self.launch.lines.level_of(turn.instruction, found.text)
        if level is not None:
            stop = self.state.stop_at_level(level)
        if found.temporary:
            self.state.breakpoints.remove(found.id)
        return stop

    def _trail(self, most: int) -> np.ndarray:
        """Return the most recent steps of the focused warp, at least `most` or all; the run is then where it was."""
        now, warp, earlier = self.launch.step_number, self.launch.focus.cta_warp, 0
        while True:
            trail = self._restart(now, trail=warp, earlier=earlier)
            if trail is None:
                return np.zeros(0, [("step", "<u8"), ("instr", "<u8")])
            if len(trail) >= most or not self.launch.run.began or self._interrupted:
                return trail
            earlier = 2 * earlier + 1

    def _restart(self, until: int, trail: tuple[int, int] | None = None, earlier: int = 0) -> np.ndarray | None:
        found = self.launch.run.restart(until, trail=trail, earlier=earlier)
        self.state.mark_findings_reported()
        if self._interrupted:
            self.launch.machine.interrupt()
        return found

    def _replay(self, step: int, reason: str = "step") -> Stop:
        """Run again up to a step, past all breakpoints."""
        self._restart(step)
        machine = self.launch.machine
        self.state.breakpoints.forget_after(machine.step + 1)
        if machine.ended or machine.error is not None:
            return self.state.stop_at_end()
        if self._interrupted:
            return self.state.stop_here("interrupt", "interrupted")
        return self.state.stop_here("start" if machine.step == 0 else reason)
