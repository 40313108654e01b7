"""Debug sessions: the public interface of the debugger."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pyptx._notebook import front_end
from pyptx.debug.breakpoints.table import Breakpoints
from pyptx.debug.document import session_document
from pyptx.debug.errors import DebugError
from pyptx.debug.expressions import Expression
from pyptx.debug.inspect.displays import Displays
from pyptx.debug.inspect.launch import CTA, StoppedLaunch
from pyptx.debug.session_state import SessionState
from pyptx.debug.source_lines import session_sources
from pyptx.debug.stepping import Stepper
from pyptx.debug.stops import Focus, Stop
from pyptx.errors import PtxError
from pyptx.jit.specialization import Specialization
from pyptx.runtime import LaunchPlan

__all__ = ["Session"]


class Session:
    """A launch on the simulator that is stepped forward and backward; created by `kernel.debug(...)`.

    It runs on copies of the arrays; `outputs()` returns their current contents. Every movement returns a Stop. Ctrl-C,
    or `interrupt()` from another thread, ends a movement and leaves the session usable.

    Attributes:
        launch: the stopped launch: CTAs, warps, names, arguments.
        state: what the session knows about the launch: the last stop, breakpoints, displays.
    """

    launch: StoppedLaunch
    state: SessionState

    def __init__(
        self,
        specialization: Specialization,
        plan: LaunchPlan,
        args: Sequence[Any],
        *,
        schedule: str = "eager",
        seed: int = 0,
        settings: Mapping[str, Any] | None = None,
        trace: Callable[[], Specialization] | None = None,
    ):
        self.launch = StoppedLaunch(
            specialization, plan, args, schedule=schedule, seed=seed, settings=settings, trace=trace
        )
        self.state = SessionState(self.launch)
        self._stepper = Stepper(self.state)

    @property
    def name(self) -> str:
        """Name of the kernel."""
        return self.launch.name

    @property
    def stop(self) -> Stop:
        """The last stop: where the session is, and why."""
        return self.state.stop

    @property
    def focus(self) -> Focus:
        """The CTA, warp, and lane that are inspected; a stop moves the focus along."""
        return self.launch.focus

    @property
    def breakpoints(self) -> Breakpoints:
        """Breakpoints and watchpoints."""
        return self.state.breakpoints

    @property
    def watches(self) -> list[str]:
        """Expressions whose values are shown at each stop."""
        return self.state.watches

    @property
    def displays(self) -> Displays:
        """Fragments, tiles of memory, and columns of tensor memory shown at each stop."""
        return self.state.displays

    # forward ----------------------------------------------------------------------------------------------------------

    def step(self, n: int = 1) -> Stop:
        """Execute `n` instructions of the focused warp; other warps run as the schedule decides."""
        return self._stepper.step(n)

    def next(self, *, into: bool = False) -> Stop:
        """Run until the focused warp reaches another Python line (another PTX line, if the kernel was loaded from PTX).

        Args:
            into: also stop in the helper functions that emit part of this line.
        """
        return self._stepper.next(into=into)

    def next_warp(self) -> Stop:
        """Run until another warp is scheduled."""
        return self._stepper.next_warp()

    def resume(self) -> Stop:
        """Run to the next breakpoint, watchpoint, or error, or to the end."""
        return self._stepper.resume()

    def finish(self) -> Stop:
        """Run until the focused warp is about to exit, or to return from its current function."""
        return self._stepper.finish()

    def run_to(self, place: str) -> Stop:
        """Run until a warp reaches a location, written as for a breakpoint."""
        return self._stepper.run_to(place)

    # backward ---------------------------------------------------------------------------------------------------------

    def back(self, n: int = 1) -> Stop:
        """Go back `n` instructions of the focused warp, or to its first; of all warps, if it has not run yet."""
        return self._stepper.back(n)

    def back_line(self) -> Stop:
        """Go back to where the focused warp entered the previous Python line."""
        return self._stepper.back_line()

    def rewind(self) -> Stop:
        """Go back to the start."""
        return self._stepper.rewind()

    def goto(self, step: int) -> Stop:
        """Go forward or backward to a step, past all breakpoints; steps count warp-instructions of the whole grid."""
        return self._stepper.goto(step)

    def reverse(self) -> Stop:
        """Go back to the last breakpoint or watchpoint before this step, or to the start."""
        return self._stepper.reverse()

    def interrupt(self) -> None:
        """End the current movement, from any thread; it returns a Stop with the reason "interrupt"."""
        self._stepper.interrupt()

    # inspection -------------------------------------------------------------------------------------------------------

    def outputs(self) -> dict[str, np.ndarray]:
        """Return copies of the arrays with their current contents, by parameter name."""
        with self.state.lock:
            return {k: np.array(value) for k, value in self.launch.arguments.items() if isinstance(value, np.ndarray)}

    def evaluate(self, text: str) -> Any:
        """Return the value of an expression for the focused warp; of arguments only, when its CTA is not running.

        Raises:
            DebugError: the expression is invalid, or a name is not defined.
        """
        with self.state.lock:
            return self.launch.evaluate(text)

    def look_at(self, *, cta: CTA = None, warp: int | None = None, lane: int | None = None) -> Focus:
        """Focus on another CTA, warp, or lane; nothing runs.

        Raises:
            DebugError: it does not exist, or its CTA is not running.
        """
        launch = self.launch
        with self.state.lock:
            number = launch.cta_number(cta)
            number = launch.focus.cta if number is None else number
            warp = launch.focus.warp if warp is None else int(warp)
            lane = launch.focus.lane if lane is None else int(lane)
            if not 0 <= warp < launch.plan.warps:
                raise DebugError(f"no warp {warp}; a CTA has warps 0 to {launch.plan.warps - 1}")
            if not 0 <= lane < 32:
                raise DebugError(f"no lane {lane}; a warp has lanes 0 to 31")
            if launch.resident(number) is None:
                running = ", ".join(launch.cta_text(r.id) for r in launch.machine.residents()[:12]) or "none"
                raise DebugError(f"CTA {launch.cta_text(number)} is not running; running CTAs: {running}")
            launch.focus = Focus(number, warp, lane)
            self.state.notify()
            return launch.focus

    # displays ---------------------------------------------------------------------------------------------------------

    def watch(self, text: str) -> Any:
        """Show the value of an expression at each stop; return its current value, or an error text.

        Raises:
            DebugError: the expression is invalid.
        """
        Expression(text)
        if text not in self.watches:
            self.watches.append(text)
        self.state.notify()
        try:
            return self.evaluate(text)
        except DebugError as error:
            return str(error)

    def unwatch(self, text: str) -> None:
        """Stop showing an expression.

        Raises:
            DebugError: it is not shown.
        """
        if text not in self.watches:
            raise DebugError(f"{text!r} is not watched; watched: {', '.join(self.watches) or 'nothing'}")
        self.watches.remove(text)
        self.state.notify()

    def show_memory(self, what: str | int, **options: Any) -> None:
        """Show a tile of memory at each stop; options as for pyptx.debug.inspect.memory.tile."""
        self.displays.memory(self.launch, what, **options)
        self.state.notify()

    def show_fragment(self, name: str, **options: Any) -> None:
        """Show registers as the matrix they hold at each stop; options as for pyptx.debug.inspect.fragments.fragment."""
        self.displays.fragment(self.launch, name, **options)
        self.state.notify()

    def show_tmem(self, column: int | None = None, columns: int = 32, type: str = "b32", **options: Any) -> None:
        """Show columns of the focused CTA's tensor memory at each stop."""
        self.displays.tmem(self.launch, column, columns, type, **options)
        self.state.notify()

    def hide(self, kind: str, name: str) -> None:
        """Stop showing a "memory", "fragment", or "tmem" item.

        Raises:
            DebugError: it is not shown.
        """
        self.displays.hide(kind, name)
        self.state.notify()

    # front ends -------------------------------------------------------------------------------------------------------

    def document(self) -> dict[str, Any]:
        """Return the state of the session as plain JSON, from which every view is drawn."""
        with self.state.lock:
            return session_document(self.state)

    def sources(self) -> dict[str, Any]:
        """Return the Python and the PTX that the document refers to, as plain JSON."""
        return session_sources(self.launch.lines)

    def command(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """Run one command of a widget; return the new document, or {"error": message}."""
        command = _COMMANDS.get(name)
        if command is None:
            return {"error": f"no command {name!r}; expected one of {', '.join(_COMMANDS)}"}
        try:
            command(self, **arguments)
            return self.document()
        except PtxError as error:
            return {"error": str(error)}
        except TypeError as error:
            return {"error": f"{name}: {error}"}

    def subscribe(self, call: Callable[[], None]) -> Callable[[], None]:
        """Call `call` after each movement and change, in the thread that made it; the returned function unsubscribes."""
        return self.state.subscribe(call)

    def _display_(self) -> Any:
        """Display in marimo: the live debugger as an anywidget."""
        return front_end().any_widget(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        from pyptx.views.debugger import DebugView

        return DebugView(self.sources(), self.document())._repr_mimebundle_()

    def _ipython_display_(self) -> None:
        """Display the live widget in a notebook that has anywidget, else a static view."""
        front_end().show_session(self)

    def close(self) -> None:
        """Free the memory of the run."""
        with self.state.lock:
            self.launch.run.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        stop = self.stop
        where = f" at {stop.file}:{stop.line}" if stop.line else f" at PTX {stop.ptx}" if stop.ptx else ""
        return f"<debug session of {self.name}: {stop.reason}{where}, step {stop.step}>"


def _show(session: Session, kind: str, name: str | None = None, address: int | None = None, **options: Any) -> None:
    options = {key: value for key, value in options.items() if value is not None}
    what = name if name is not None else address
    if kind == "memory" and name == "tmem":
        kind = "tmem"
    if kind == "memory":
        if what is None:
            raise DebugError("`show memory` needs name= or address=")
        session.show_memory(what, **options)
    elif kind == "fragment":
        session.show_fragment(str(what), **{k: v for k, v in options.items() if k in ("rows", "columns")})
    elif kind == "tmem":
        first, count = options.pop("columns", (None, 32))
        session.show_tmem(
            first if first is not None else address, count, options.get("type", "b32"), rows=options.get("rows")
        )
    else:
        raise DebugError(f"cannot show {kind!r}; expected memory, fragment, or tmem")


# Commands of widgets, by name.
_COMMANDS: dict[str, Callable[..., Any]] = {
    "step": lambda s, n=1: s.step(int(n)),
    "next": lambda s, into=False: s.next(into=into),
    "next_warp": lambda s: s.next_warp(),
    "resume": lambda s: s.resume(),
    "finish": lambda s: s.finish(),
    "run_to": lambda s, place: s.run_to(place),
    "back": lambda s, n=1: s.back(int(n)),
    "back_line": lambda s: s.back_line(),
    "rewind": lambda s: s.rewind(),
    "goto": lambda s, step: s.goto(int(step)),
    "reverse": lambda s: s.reverse(),
    "interrupt": lambda s: s.interrupt(),
    "focus": lambda s, cta=None, warp=None, lane=None: s.look_at(cta=cta, warp=warp, lane=lane),
    "break": lambda s, place, condition=None, warp=None, cta=None: s.breakpoints.add(
        place, condition, warp=warp, cta=cta
    ),
    "unbreak": lambda s, id: s.breakpoints.remove(int(id)),
    "enable": lambda s, id, on=True: s.breakpoints.enable(int(id), on),
    "condition": lambda s, id, condition=None: s.breakpoints.condition(int(id), condition),
    "watchpoint": lambda s, place, condition=None: s.breakpoints.watch(place, condition),
    "watch": lambda s, text: s.watch(text),
    "unwatch": lambda s, text: s.unwatch(text),
    "show": _show,
    "hide": lambda s, kind, name: s.hide(kind, name),
}
