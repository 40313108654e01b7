"""A kernel under the debugger: what a user of it calls."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from pyptx.debug.commands import run_command
from pyptx.debug.document import document_of
from pyptx.debug.errors import DebugError
from pyptx.debug.moving import Moving
from pyptx.debug.sources import sources_of
from pyptx.debug.stopping.breakpoints import CTA
from pyptx.debug.stopping.expressions import Expression
from pyptx.debug.stopping.stops import Focus

__all__ = ["Session"]


class Session(Moving):
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

    def outputs(self) -> dict[str, np.ndarray]:
        """Copies of the arrays as they are now, by parameter."""
        with self._lock:
            return {name: np.array(value) for name, value in self.arguments.items() if isinstance(value, np.ndarray)}

    def evaluate(self, text: str) -> Any:
        """The value of an expression for the focused warp; where that runs no more, one of the arguments.

        Raises:
            DebugError: it cannot be read, or a name stands for nothing.
        """
        with self._lock:
            runs = self.resident(self.focus.cta) is not None
            return Expression(text).value(self.state().lookup if runs else self._argument)

    def _argument(self, name: str) -> Any:
        return self.arguments[name] if name in self.arguments else self.state().lookup(name)

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
        """Show a tile of memory at each stop; options as of pyptx.debug.looking.memory.tile."""
        self.shown.memory(self, what, **options)
        self._tell()

    def show_fragment(self, name: str, **options: Any) -> None:
        """Show registers as the matrix they hold at each stop; options as of pyptx.debug.looking.fragments.fragment."""
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
