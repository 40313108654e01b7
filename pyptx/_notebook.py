"""The notebook front end, seen from below: `pyptx/__init__.py` connects it to the widgets of `pyptx.jupyter`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Protocol

__all__ = ["FrontEnd", "connect", "first_in_notebook", "front_end", "in_notebook"]


class FrontEnd(Protocol):
    """Widgets for values that change while they are displayed."""

    def show_session(self, session: Any) -> None:
        """Display a debugging session."""
        ...

    def show_report(self, report: Any) -> None:
        """Display the report of a check."""
        ...

    def any_widget(self, value: Any) -> Any:
        """Return a view, session or report as an anywidget, for marimo."""
        ...

    def sweep_widget(self, study: Any) -> Any:
        """Return a `Sweep` of the study that displays itself as a widget; None when no widget can be displayed."""
        ...


_provider: Callable[[], FrontEnd] | None = None


def connect(provider: Callable[[], FrontEnd]) -> None:
    """Set the function that loads the front end; it is called on first use."""
    global _provider
    _provider = provider


def front_end() -> FrontEnd:
    """Return the connected front end."""
    assert _provider is not None, "pyptx/__init__.py connects a front end when it is imported"
    return _provider()


def in_notebook() -> bool:
    """Return whether a notebook front end is connected to this process."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return getattr(shell, "kernel", None) is not None


_carriers: dict[str, tuple[str | None, int]] = {}  # what a notebook contains once -> cell and execution that contain it


def first_in_notebook(name: str) -> bool:
    """Return whether the next output is to contain what a notebook contains once, such as a script.

    This is the first output that asks, and the first one of each later execution of the same cell, which replaces it.
    Outside a notebook it is every output, and in Colab, where each output is a page of its own.
    """
    if not in_notebook() or "google.colab" in sys.modules:
        return True
    shell: Any = sys.modules["IPython"].get_ipython()
    cell, execution = shell.get_parent().get("metadata", {}).get("cellId"), shell.execution_count
    if name in _carriers and (cell is None or _carriers[name][0] != cell or _carriers[name][1] == execution):
        return False
    _carriers[name] = cell, execution
    return True
