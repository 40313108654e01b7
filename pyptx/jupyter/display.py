"""Widgets for debugging sessions, reports and sweeps: the front end that `pyptx._notebook` describes."""

from __future__ import annotations

import importlib.util
import warnings
from typing import Any

from IPython.display import display

from pyptx._notebook import in_notebook
from pyptx.check import Report
from pyptx.debug import Session
from pyptx.errors import MissingToolError
from pyptx.tune.study import Study
from pyptx.tune.sweeps import Sweep

__all__ = ["any_widget", "show_report", "show_session", "sweep_widget"]


def show_session(session: Session) -> None:
    """Display a session as a widget in a notebook, as text elsewhere."""
    if not in_notebook():
        print(repr(session))
    elif importlib.util.find_spec("anywidget"):
        from pyptx.jupyter.debugger_widget import display_session

        display_session(session)
    else:
        warnings.warn("the live debugger needs anywidget: pip install 'pyptx-workbench[lab]'", stacklevel=2)
        display(session._repr_mimebundle_(), raw=True)


def show_report(report: Report) -> None:
    """Display a report as a widget that replays its findings, where it has any and a notebook shows it."""
    if not in_notebook() or report.replayer is None or importlib.util.find_spec("anywidget") is None:
        display(report._repr_mimebundle_(), raw=True)
    else:
        from pyptx.jupyter.report_widget import ReportWidget

        display(ReportWidget(report))


def any_widget(value: Any) -> Any:
    """Return a view, session or report as an anywidget: what a marimo notebook displays.

    Raises:
        MissingToolError: anywidget is not installed.
    """
    if importlib.util.find_spec("anywidget") is None:
        raise MissingToolError("interactive views need anywidget", hint="pip install 'pyptx-workbench[lab]'")
    if isinstance(value, Session):
        from pyptx.jupyter.debugger_widget import DebuggerWidget

        return DebuggerWidget(value)
    if isinstance(value, Report):
        from pyptx.jupyter.report_widget import ReportWidget

        return ReportWidget(value)
    from pyptx.jupyter.any_view import AnyView

    return AnyView(value)


def sweep_widget(study: Study) -> Sweep | None:
    """Return the widget of a sweep; None and a warning where anywidget is not installed."""
    if importlib.util.find_spec("anywidget") is None:
        warnings.warn("the live view of a sweep needs anywidget: pip install 'pyptx-workbench[lab]'", stacklevel=3)
        return None
    from pyptx.jupyter.sweep_widget import SweepWidget

    return SweepWidget(study)
