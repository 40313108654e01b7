"""The moves of a session: on to the next reason to stand, and back by running again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from pyptx.debug.errors import DebugError
from pyptx.debug.looking.state import State
from pyptx.debug.standing import Standing
from pyptx.debug.stopping.breakpoints import Breakpoint
from pyptx.debug.stopping.found import found_text
from pyptx.debug.stopping.stops import Stop
from pyptx.debug.stopping.watched import changed_by
from pyptx.debug.timeline import interesting
from pyptx.sim.actions.basic import Exit, Return
from pyptx.sim.core.stopped import Mark, Reason, Turn

__all__ = ["Moving"]

_OF_A_LINE = 2048                                       # instructions of a warp among which the line before begins


class Moving(Standing):
    """What goes on and back, each with the Stop where it ends."""

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
            near = [c.step for c in self.run.machine.checkpoints if self.step_number < c.step <= step]
            if step < self.step_number or self.stop.over or near:
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
