"""The sweep as a widget: the view of `pyptx.views.sweeps.sweep`, live, with buttons. Nothing here blocks the kernel."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import traitlets

from pyptx.jupyter.widget import ViewWidget, failure
from pyptx.views._page import bundle
from pyptx.views.sweeps.studies import Sweep

__all__ = ["Follower", "SweepWidget"]

EVERY_S = 0.25                                          # between updates, of a small sweep
ROWS_A_SECOND = 4000                                    # larger ones are updated more rarely


class Follower:
    """Calls a function soon after a study has changed: at most every `every_s()` seconds, never for nothing, from a
    thread of its own, which lives as long as there is something to tell."""

    def __init__(self, study, tell: Callable[[], None], every_s: Callable[[], float]):
        self.study, self.tell, self.every_s = study, tell, every_s
        self._changed, self._lock, self._thread = threading.Event(), threading.Lock(), None
        study.subscribe(lambda event: self.poke())

    def poke(self) -> None:
        """Something has changed."""
        self._changed.set()
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._follow, name="sweep display", daemon=True)
                self._thread.start()

    def _follow(self) -> None:
        try:
            while True:
                self._changed.clear()
                self.tell()
                time.sleep(self.every_s())
                with self._lock:
                    if not self._changed.is_set() and self.study.state != "running":
                        self._thread = None
                        return
                self._changed.wait(1.0)                 # the time left changes by itself
        except BaseException:
            self._thread = None                         # the next change begins anew; this one is reported by Python
            raise


class SweepWidget(Sweep, ViewWidget):
    """A sweep with heat maps that fill while it runs; see `Sweep` for what it is asked from Python.

    Saved without its state it is the view as it stood last: interactive in JupyterLab with the extension of pyptx,
    elsewhere HTML.
    """

    _esm = f"{bundle('sweeps/widget')}\nexport default {{ render: module_sweeps_widget.render }};\n"
    _output = "sweep"
    data = traitlets.Dict().tag(sync=True)
    actions = traitlets.List(traitlets.Unicode()).tag(sync=True)

    def __init__(self, study):
        Sweep.__init__(self, study)
        self._saved, self._rows = None, len(study.trials)
        ViewWidget.__init__(self, data=self.view().to_json(),
                           actions=["pause", "resume", "stop", "use", "view", "diff", "roofline"])
        self._follower = Follower(study, self._tell, lambda: max(EVERY_S, self._rows / ROWS_A_SECOND))

    def use(self, config=None) -> dict[str, Any]:
        choice = Sweep.use(self, config)
        self._follower.poke()
        return choice

    def _tell(self) -> None:
        """Send how it stands; what is saved with the notebook follows when the run pauses or ends."""
        view = self.view()
        self._rows = len(view.points)
        self.data = view.to_json()
        now = view.progress.state, view.progress.done, view.choice
        if view.progress.state != "running" and now != self._saved:
            self._saved = now
            self._save(view)

    # what the front end asks ------------------------------------------------------------------------------------------

    def _asked(self, _widget, message: Any, _buffers) -> None:
        """Answer in a thread: assembling takes a second, and a stop waits for what is in work."""
        if isinstance(message, dict) and message.get("ask") in self.actions:
            threading.Thread(target=self._answer, args=(message,), name=f"sweep {message['ask']}", daemon=True).start()

    def _answer(self, message: dict[str, Any]) -> None:
        try:
            answer = {"data": self._reply(message["ask"], [int(point) for point in message.get("points", ())])}
        except Exception as error:                      # who clicked is told; there is nobody else to raise it to
            answer = {"error": failure(error)}
        self.send({"number": message.get("number"), **answer})

    def _reply(self, what: str, points: list[int]) -> dict[str, Any] | None:
        match what:
            case "pause":
                self.pause()
            case "resume":
                self.resume()
            case "stop":
                self.stop()
            case "use":
                self.use(*points)
            case "view":
                return self.linked(*points).to_json()
            case "diff":
                return self.diff(*points).to_json()
            case "roofline":
                return self.roofline().to_json()
        return None

    _repr_mimebundle_ = ViewWidget._repr_mimebundle_

    def __repr__(self) -> str:
        return Sweep.__repr__(self)
