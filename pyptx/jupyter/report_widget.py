"""The report of a check as a widget: *Show me* opens the debugger at a finding, below it."""

from __future__ import annotations

import threading
from typing import Any

import traitlets

from pyptx.check import Report
from pyptx.check._view import ReportView
from pyptx.jupyter.debugger_widget import DebuggerWidget
from pyptx.jupyter.view_widget import ViewWidget, error_message
from pyptx.renderer import bundle

__all__ = ["ReportWidget"]


class ReportWidget(ViewWidget):
    """A report whose findings are replayed on request, each in a session of its own.

    A notebook saved without widget state holds the report itself.
    """

    _esm = f"{bundle('reports/widget')}\nexport default {{ render: module_reports_widget.render }};\n"
    _output = "report"
    data = traitlets.Dict().tag(sync=True)

    def __init__(self, report: Report):
        self.report = report
        self._debuggers: dict[int, DebuggerWidget] = {}
        self._lock = threading.Lock()
        ViewWidget.__init__(self, data=self.view().to_json())

    def view(self) -> ReportView:
        """Return the report as a view."""
        return ReportView(self.report)

    def close(self) -> None:
        for debugger in self._debuggers.values():
            debugger.close()
        ViewWidget.close(self)

    def _on_message(self, widget: Any, message: Any, buffers: Any) -> None:
        if isinstance(message, dict) and message.get("request") == "replay":
            self.send({"number": message.get("number"), "working": True})  # a replay may exceed the request timeout
            threading.Thread(target=self._replay, args=(message,), name="replay", daemon=True).start()

    def _replay(self, message: dict[str, Any]) -> None:
        try:
            with self._lock:
                number = int(message.get("finding", 0))
                if number not in self._debuggers:
                    self._debuggers[number] = DebuggerWidget(self.report.replay(number))
            answer: dict[str, Any] = {"data": {"model_id": self._debuggers[number].model_id}}
        except Exception as error:  # reported to the user who clicked
            answer = {"error": error_message(error)}
        self.send({"number": message.get("number"), **answer})

    def __repr__(self) -> str:
        return repr(self.report)
