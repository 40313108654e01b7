"""The debugger as a widget: the view of `pyptx.views.debugger`, live. Commands run in threads: a run can be paused."""

from __future__ import annotations

import threading
import time
import weakref
from typing import Any

import traitlets
from IPython.display import display

from pyptx.jupyter.widget import ViewWidget, failure
from pyptx.views._page import bundle
from pyptx.views.debugger import DebugView

__all__ = ["DebuggerWidget", "display_session"]

SHOW_S, SAVE_S = 0.05, 1.0                              # after a change it is shown; after the last one, saved


class DebuggerWidget(ViewWidget):
    """A debugging session: code, warps, timeline and values. What a cell does with the session is seen here too.

    Saved without its state it is the view as it stood last: in JupyterLab with the extension of pyptx with all that
    needs no simulator, elsewhere HTML.
    """

    _esm = f"{bundle('debugger/widget')}\nexport default {{ render: module_debugger_widget.render }};\n"
    _output = "debugger"
    sources = traitlets.Dict().tag(sync=True)
    document = traitlets.Dict().tag(sync=True)
    help = traitlets.Dict().tag(sync=True)

    def __init__(self, session: Any):
        self.session = session
        self._working = threading.local()               # set in a thread that answers the front end
        self._changed, self._lock, self._thread = threading.Event(), threading.Lock(), None
        view = DebugView(session.sources(), session.document())
        ViewWidget.__init__(self, sources=dict(view.sources), document=dict(view.document), help=dict(view.help))
        self._forget = session.subscribe(self._poke)

    def view(self) -> DebugView:
        """How it stands, as a value."""
        return DebugView(self.sources, self.document, self.help)

    def close(self) -> None:
        forget, self._forget = self._forget, lambda: None               # it is closed again when it is forgotten
        forget()
        ViewWidget.close(self)

    # what the front end asks ------------------------------------------------------------------------------------------

    def _asked(self, _widget: Any, message: Any, _buffers: Any) -> None:
        if not isinstance(message, dict) or not isinstance(message.get("ask"), str):
            return
        if message["ask"] == "pause":
            self.session.interrupt()
            self.send({"number": message.get("number"), "data": None})
            return
        self.send({"number": message.get("number"), "working": True})   # a run may take longer than a front end waits
        threading.Thread(target=self._answer, args=(message,), name=f"debugger {message['ask']}", daemon=True).start()

    def _answer(self, message: dict[str, Any]) -> None:
        self._working.now = True
        try:
            found = self.session.command(message["ask"], **(message.get("values") or {}))
            answer = {"error": found["error"]} if "error" in found else {"data": None}
            if "error" not in found:
                self.document = found
        except Exception as error:                      # who clicked is told; there is nobody else to raise it to
            answer = {"error": failure(error)}
        self.send({"number": message.get("number"), **answer})
        self._follow_up()

    # what cells do with the session -----------------------------------------------------------------------------------

    def _poke(self) -> None:
        """The session has changed; the thread that answers a command sends the document itself."""
        if not getattr(self._working, "now", False):
            self._changed.set()
            self._follow_up()

    def _follow_up(self) -> None:
        with self._lock:
            self._last = time.monotonic()
            if self._thread is None:
                self._thread = threading.Thread(target=self._follow, name="debugger display", daemon=True)
                self._thread.start()

    def _follow(self) -> None:
        """Show what a cell changed, soon; save what is shown once nothing has changed for a while."""
        try:
            while True:
                time.sleep(SHOW_S)
                if self._changed.is_set():
                    self._changed.clear()
                    self.document = self.session.document()
                with self._lock:
                    if time.monotonic() - self._last >= SAVE_S and not self._changed.is_set():
                        self._thread = None
                        break
            self._save(self.view())
        except BaseException:
            self._thread = None                         # the next change begins anew; this one is reported by Python
            raise

    def __repr__(self) -> str:
        return f"DebuggerWidget({self.view()!r})"


_widgets: weakref.WeakKeyDictionary[Any, DebuggerWidget] = weakref.WeakKeyDictionary()


def display_session(session: Any) -> None:
    """Display the widget of a session; the same one each time."""
    widget = _widgets.get(session)
    if widget is None:
        widget = _widgets[session] = DebuggerWidget(session)
    display(widget)
