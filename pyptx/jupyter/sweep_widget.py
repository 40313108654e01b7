"""The sweep widget: a live `pyptx.views.sweeps.sweep` view with buttons. No request blocks the kernel."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import traitlets

from pyptx._loc import given_name
from pyptx.jupyter.view_widget import ViewWidget, error_message
from pyptx.renderer import bundle
from pyptx.tune import Study
from pyptx.tune.sweeps import Sweep

__all__ = ["ChangeNotifier", "SweepWidget"]

MIN_INTERVAL_S = 0.25  # between updates
ROWS_PER_SECOND = 4000  # a large sweep is updated less often


class ChangeNotifier:
    """Calls `publish` after a study has changed, at most once every `interval_s()` seconds, from a thread that ends when
    the study is idle."""

    def __init__(self, study: Study, publish: Callable[[], None], interval_s: Callable[[], float]):
        self.study, self.publish, self.interval_s = study, publish, interval_s
        self._changed, self._lock = threading.Event(), threading.Lock()
        self._thread: threading.Thread | None = None
        study.subscribe(lambda event: self.notify())

    def notify(self) -> None:
        """Schedule a call of `publish`."""
        self._changed.set()
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="sweep display", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        try:
            while True:
                self._changed.clear()
                self.publish()
                time.sleep(self.interval_s())
                with self._lock:
                    if not self._changed.is_set() and self.study.state != "running":
                        self._thread = None
                        return
                self._changed.wait(1.0)  # the estimated time left changes without an event
        except BaseException:
            self._thread = None  # the next change starts another thread; Python reports this exception
            raise


class SweepWidget(Sweep, ViewWidget):
    """A sweep with heat maps that fill while it runs; see `Sweep` for its methods.

    A notebook saved without widget state holds the last view: interactive in JupyterLab with the pyptx extension,
    elsewhere HTML.
    """

    _esm = f"{bundle('sweeps/widget')}\nexport default {{ render: module_sweeps_widget.render }};\n"
    _output = "sweep"
    data = traitlets.Dict().tag(sync=True)
    actions = traitlets.List(traitlets.Unicode()).tag(sync=True)

    def __init__(self, study: Study):
        Sweep.__init__(self, study)
        self._saved: tuple[Any, ...] | None = None
        self._rows = len(study.trials)
        in_cell = given_name(study.kernel.declaration.function.__code__.co_filename) is not None
        edit = "write" if in_cell else "edit"
        actions = ["pause", "resume", "stop", "use", "restore", edit, "view", "diff", "roofline"]
        ViewWidget.__init__(self, data=self.view().to_json(), actions=actions)
        self._notifier = ChangeNotifier(study, self._publish, lambda: max(MIN_INTERVAL_S, self._rows / ROWS_PER_SECOND))

    def pause(self) -> None:
        Sweep.pause(self)
        self._update_outputs(self.view())

    def stop(self) -> None:
        Sweep.stop(self)
        self._update_outputs(self.view())

    def wait(self, timeout: float | None = None) -> bool:
        ended = Sweep.wait(self, timeout)
        self._update_outputs(self.view())
        return ended

    def use(self, config: Mapping[str, Any] | int | None = None) -> dict[str, Any]:
        choice = Sweep.use(self, config)
        self._notifier.notify()
        return choice

    def restore_defaults(self) -> None:
        Sweep.restore_defaults(self)
        self._notifier.notify()

    def _publish(self) -> None:
        """Send the current view; update the saved outputs when the run pauses or ends.

        nbconvert drops what this thread sends after the end of a cell, so `pause`, `stop` and `wait` update them as well.
        """
        view = self.view()
        self._rows = len(view.points)
        self.data = view.to_json()
        now = view.progress.state, view.progress.done, view.choice
        if view.progress.state != "running" and now != self._saved:
            self._saved = now
            self._update_outputs(view)

    # requests of the front end ----------------------------------------------------------------------------------------

    def _on_message(self, widget: Any, message: Any, buffers: Any) -> None:
        """Answer in a thread: assembling takes a second, and a stop waits for running trials."""
        if isinstance(message, dict) and message.get("request") in self.actions:
            threading.Thread(
                target=self._answer, args=(message,), name=f"sweep {message['request']}", daemon=True
            ).start()

    def _answer(self, message: dict[str, Any]) -> None:
        try:
            answer = {"data": self._reply(message["request"], [int(point) for point in message.get("points", ())])}
        except Exception as error:  # reported to the user who clicked
            answer = {"error": error_message(error)}
        self.send({"number": message.get("number"), **answer})

    def _reply(self, request: str, points: list[int]) -> dict[str, Any] | None:
        match request:
            case "pause":
                self.pause()
            case "resume":
                self.resume()
            case "stop":
                self.stop()
            case "use":
                self.use(*points)
            case "restore":
                self.restore_defaults()
            case "edit" | "write":
                return self.edit(*points).to_json()
            case "view":
                return self.linked(*points).to_json()
            case "diff":
                return self.diff(*points).to_json()
            case "roofline":
                return self.roofline().to_json()
        return None

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return ViewWidget._repr_mimebundle_(self, include, exclude)

    def __repr__(self) -> str:
        return Sweep.__repr__(self)
