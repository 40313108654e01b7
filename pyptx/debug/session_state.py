"""State of a debug session: the stopped launch, the last stop, breakpoints, and everything that is displayed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pyptx._loc import SourceLocation
from pyptx.check.finding import Finding
from pyptx.check.locations import Locations, ptx_lines
from pyptx.check.sanitizer_findings import finding_of
from pyptx.debug.accesses import LocatedAccess
from pyptx.debug.breakpoints.table import Breakpoints
from pyptx.debug.breakpoints.watchpoints import watchpoint_at
from pyptx.debug.inspect.barriers import with_barrier_names
from pyptx.debug.inspect.displays import Displays
from pyptx.debug.inspect.launch import StoppedLaunch
from pyptx.debug.stops import Focus, Stop
from pyptx.debug.timeline import is_logged
from pyptx.sim.core.debug_state import EventKind, Mark, Position
from pyptx.sim.sanitizer import AccessFinding

__all__ = ["SessionState"]


class SessionState:
    """State of a debug session.

    Attributes:
        launch: the stopped launch; a stop moves its focus along.
        stop: the last stop.
        breakpoints: breakpoints and watchpoints.
        watches: expressions evaluated at each stop.
        displays: tiles and fragments shown at each stop.
        findings: findings of the sanitizer at the last stop that has any, each with the accesses behind it.
        accesses: the accesses of the first of them, for the timeline.
        last_step: the furthest step reached so far.
        ended: True once the end of the run was reached, even if the session went back since.
        lock: held while the session moves or is read as a whole.
    """

    displays: Displays
    lock: threading.RLock
    breakpoints: Breakpoints
    stop: Stop
    ended: bool
    last_step: int

    def __init__(self, launch: StoppedLaunch):
        self.launch = launch
        self.watches: list[str] = []
        self.displays = Displays()
        self.last_step, self.ended = 0, False
        self.lock = threading.RLock()
        self.findings: list[tuple[AccessFinding, Finding]] = []
        self.accesses: list[LocatedAccess] = []
        self._reported = 0  # findings of the sanitizer that were reported
        self._level: int | None = None
        self._level_at: tuple[int, int, int] | None = None
        self._listeners: list[Callable[[], None]] = []
        self._registers_before: dict[tuple[int, int], np.ndarray] = {}
        self.breakpoints = Breakpoints(
            launch.lines, lambda place: watchpoint_at(launch, place), launch.cta_number, self.update_marks
        )
        logged = [*map(is_logged, launch.program.kinds), False]
        launch.run.marks |= np.where(logged, Mark.LOG, 0).astype(np.uint8)
        launch.run.run(until=0)
        self.stop = self.stop_here("start")

    # source levels ----------------------------------------------------------------------------------------------------

    @property
    def level(self) -> int | None:
        """Call depth of the Python function that is stepped through: 0 is the kernel's own, None the innermost."""
        return self._level if (*self.launch.focus.cta_warp, self.launch.step_number) == self._level_at else None

    @property
    def frame(self) -> SourceLocation | None:
        """Python line of the focused warp, in the function that is stepped through."""
        group = self.launch.focused_group
        return None if group is None else self.launch.lines.frame(group.instruction, self.level)

    # changes ----------------------------------------------------------------------------------------------------------

    def registers_before(self, cta: int, warp: int) -> np.ndarray | None:
        """Return the registers of a warp at the previous stop; None when it was not focused then."""
        return self._registers_before.get((cta, warp))

    def remember(self) -> None:
        """Record the focused warp's registers and all displayed values, so that changes can be highlighted."""
        focus = self.launch.focus
        resident = self.launch.resident(focus.cta)
        self._registers_before = {} if resident is None else {focus.cta_warp: resident.registers(focus.warp).copy()}
        self.displays.remember(self.launch)

    def update_marks(self) -> None:
        """Pass the breakpoints and watchpoints on to the simulator."""
        self.launch.run.marks &= ~np.uint8(Mark.STOP)
        for instruction in self.breakpoints.instructions():
            self.launch.run.marks[instruction] |= Mark.STOP
        self.launch.run.watch([b.spots[k] for b, k in self.breakpoints.spots()])
        self.notify()

    def subscribe(self, call: Callable[[], None]) -> Callable[[], None]:
        """Call `call` after each change; the returned function unsubscribes."""
        self._listeners.append(call)
        return lambda: self._listeners.remove(call) if call in self._listeners else None

    def notify(self) -> None:
        """Call all subscribers."""
        for call in list(self._listeners):
            call()

    # stops ------------------------------------------------------------------------------------------------------------

    def stop_here(self, reason: str, text: str = "", breakpoint: int | None = None) -> Stop:
        """Record a stop at the warp that is about to run, and focus on it."""
        turn = self.launch.machine.position
        if turn is None:
            self.stop = Stop(reason, text, self.launch.step_number, breakpoint=breakpoint)
            return self.stop
        if reason == "deadlock":
            turn = self._first_waiting(turn)
        self.launch.focus = Focus(turn.cta, turn.warp, _lane_among(turn.lanes, self.launch.focus.lane))
        self.stop = self._at(Stop(reason, text, self.launch.step_number, breakpoint=breakpoint), turn.instruction)
        return self.stop

    def stop_after(self, newest: Position | None) -> Stop:
        """Move the recorded stop to the warp that executed the last instruction, unless it has exited."""
        group = self.launch.group(newest.cta, newest.warp) if newest is not None else None
        if newest is not None and group is not None:
            self.launch.focus = Focus(newest.cta, newest.warp, _lane_among(group.lanes, self.launch.focus.lane))
            self.stop = self._at(self.stop, group.instruction)
        return self.stop

    def stop_at_level(self, level: int) -> Stop:
        """Show the recorded stop from the Python function at a call depth."""
        self._level, self._level_at = level, (*self.launch.focus.cta_warp, self.launch.step_number)
        frame = self.frame
        if frame is not None:
            self.stop = replace(self.stop, file=frame.file, line=frame.line)
        return self.stop

    def stop_at_end(self) -> Stop:
        """Record the end of the run: an exit, a fault, or a deadlock."""
        machine = self.launch.machine
        self.ended, self.last_step = True, max(self.last_step, machine.step)
        findings = f"\n{found}" if self.launch.run.sanitize and (found := self.new_findings_text()) else ""
        if machine.error is None:
            events, _ = machine.events()
            ran = events[events["kind"] == EventKind.TURN_STARTED]
            if len(ran):
                self.launch.focus = Focus(int(ran[-1]["cta"]), int(ran[-1]["warp"]), self.launch.focus.lane)
            return self.stop_here("exit", f"the kernel exited after {machine.step} warp-instructions{findings}")
        error = machine.error
        text = with_barrier_names(self.launch, error.message + (f"\nhint: {error.hint}" if error.hint else ""))
        return self.stop_here("deadlock" if error.kind == "deadlock" else "fault", text + findings)

    def _at(self, stop: Stop, instruction: int) -> Stop:
        """Return the stop with the focused warp and the source lines of an instruction."""
        place = self.launch.lines.place(instruction)
        return replace(
            stop,
            cta=self.launch.cta_coordinates(self.launch.focus.cta),
            warp=self.launch.focus.warp,
            file=place.file if place else None,
            line=place.line if place else None,
            ptx=self.launch.lines.ptx(instruction),
            instruction=self.launch.lines.text(instruction),
        )

    def _first_waiting(self, turn: Position) -> Position:
        """Return the first lanes that wait in a deadlock of this cluster."""
        resident = self.launch.resident(turn.cta)
        cluster = resident.cluster if resident is not None else None
        for other in self.launch.machine.residents():
            for warp in range(self.launch.plan.warps if other.cluster == cluster else 0):
                for group in other.groups(warp):
                    if group.state == "waiting" or group.state == "barrier":
                        return Position(other.id, warp, group.instruction, group.lanes)
        return turn

    # findings of the sanitizer ----------------------------------------------------------------------------------------

    def new_findings_text(self) -> str:
        """Return the sanitizer findings that were not reported yet, with their lines and fixes; "" if none."""
        seen = self.launch.machine.access_findings(self._reported)
        self._reported += len(seen)
        program, specialization = self.launch.program, self.launch.specialization
        locations = Locations(program, lambda: ptx_lines(specialization))
        findings = [(one, found) for one in seen if (found := finding_of(program, one, locations)) is not None]
        if findings:
            self.findings, self.accesses = findings, []
        return "\n".join(line for _, found in findings for line in _finding_lines(found))

    def mark_findings_reported(self) -> None:
        """Treat every finding up to the current step as reported."""
        self._reported = len(self.launch.machine.access_findings()) if self.launch.run.sanitize else 0


def _finding_lines(found: Finding) -> list[str]:
    lines = [f"{found.severity}[{found.rule}]: {found.message}"]
    for at in found.places:
        where = f"PTX line {at.ptx_line}" if at.place is None else str(at.place)
        lines.append(f"  {at.role}: {where}: {at.ptx if at.place is None else at.place.source_line.strip() or at.ptx}")
    return [*lines, *([f"  fix: {found.fix}"] if found.fix else [])]


def _lane_among(lanes: int, preferred: int) -> int:
    """Return the preferred lane if the mask has it, else the lowest lane of the mask."""
    return preferred if lanes >> preferred & 1 or not lanes else (lanes & -lanes).bit_length() - 1
