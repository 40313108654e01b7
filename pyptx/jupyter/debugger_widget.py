"""The debugger widget: a live `pyptx.views.debugger` view. Commands run in threads, so that a run can be paused."""

from __future__ import annotations

import threading
import time
import weakref
from typing import Any

import traitlets
from IPython.display import display

from pyptx.jupyter.view_widget import ViewWidget, error_message
from pyptx.renderer import bundle
from pyptx.views.debugger import DebugView

__all__ = ["DebuggerWidget", "display_session"]

UPDATE_DELAY_S, SAVE_DELAY_S = 0.05, 1.0  # after a change; after the last change


class DebuggerWidget(ViewWidget):
    """A debugging session: code, warps, timeline and values. It follows commands that cells give to the session.

    A notebook saved without widget state holds the last view: in JupyterLab with the pyptx extension everything that
    needs no simulator, elsewhere HTML.
    """

    _esm = f"{bundle('debugger/widget')}\nexport default {{ render: module_debugger_widget.render }};\n"
    _output = "debugger"
    sources = traitlets.Dict().tag(sync=True)
    document = traitlets.Dict().tag(sync=True)
    help = traitlets.Dict().tag(sync=True)

    def __init__(self, session: Any):
        self.session = session
        self._in_command = threading.local()  # set in a thread that executes a command of the front end
        self._changed, self._lock = threading.Event(), threading.Lock()
        self._publisher: threading.Thread | None = None
        view = DebugView(session.sources(), session.document())
        ViewWidget.__init__(self, sources=dict(view.sources), document=dict(view.document), help=dict(view.help))
        self._unsubscribe = session.subscribe(self._on_change)

    def view(self) -> DebugView:
        """Return the current state as a view."""
        return DebugView(self.sources, self.document, self.help)

    def close(self) -> None:
        unsubscribe, self._unsubscribe = self._unsubscribe, lambda: None  # close() runs again in the finalizer
        unsubscribe()
        ViewWidget.close(self)

    # commands of the front end ----------------------------------------------------------------------------------------

    def _on_message(self, widget: Any, message: Any, buffers: Any) -> None:
        if not isinstance(message, dict) or not isinstance(message.get("request"), str):
            return
        if message["request"] == "pause":
            self.session.interrupt()
            self.send({"number": message.get("number"), "data": None})
            return
        self.send({"number": message.get("number"), "working": True})  # a run may exceed the request timeout
        threading.Thread(
            target=self._execute, args=(message,), name=f"debugger {message['request']}", daemon=True
        ).start()

    def _execute(self, message: dict[str, Any]) -> None:
        self._in_command.active = True
        try:
            found = self.session.command(message["request"], **(message.get("values") or {}))
            answer = {"error": found["error"]} if "error" in found else {"data": None}
            if "error" not in found:
                self.document = found
        except Exception as error:  # reported to the user who clicked
            answer = {"error": error_message(error)}
        self.send({"number": message.get("number"), **answer})
        self._schedule()

    # commands of cells ------------------------------------------------------------------------------------------------

    def _on_change(self) -> None:
        """Publish a change of the session, unless `_execute` made it and sends the document itself."""
        if not getattr(self._in_command, "active", False):
            self._changed.set()
            self._schedule()

    def _schedule(self) -> None:
        with self._lock:
            self._last = time.monotonic()
            if self._publisher is None:
                self._publisher = threading.Thread(target=self._publish, name="debugger display", daemon=True)
                self._publisher.start()

    def _publish(self) -> None:
        """Send changes to the front end; update the saved outputs after a pause."""
        try:
            while True:
                time.sleep(UPDATE_DELAY_S)
                if self._changed.is_set():
                    self._changed.clear()
                    self.document = self.session.document()
                with self._lock:
                    if time.monotonic() - self._last >= SAVE_DELAY_S and not self._changed.is_set():
                        self._publisher = None
                        break
            self._update_outputs(self.view())
        except BaseException:
            self._publisher = None  # the next change starts another thread; Python reports this exception
            raise

    def __repr__(self) -> str:
        return f"DebuggerWidget({self.view()!r})"


_widgets: weakref.WeakKeyDictionary[Any, DebuggerWidget] = weakref.WeakKeyDictionary()


def display_session(session: Any) -> None:
    """Display the widget of a session, one widget for each session."""
    widget = _widgets.get(session)
    if widget is None:
        widget = _widgets[session] = DebuggerWidget(session)
    display(widget)
