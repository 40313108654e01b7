"""How IPython shows a debugging session: as the widget where a front end can have one, else as it stands."""

from __future__ import annotations

import importlib.util
import warnings
from importlib import import_module
from typing import Any

from IPython.display import display

from pyptx.tune.sweeping import in_notebook

__all__ = ["show_session"]


def show_session(session: Any) -> None:
    """Display a session of pyptx.debug."""
    if in_notebook():
        if importlib.util.find_spec("anywidget"):
            import_module("pyptx.jupyter.debugger").display_session(session)
            return
        warnings.warn("the live debugger needs anywidget: pip install anywidget", stacklevel=2)
        display(session._repr_mimebundle_(), raw=True)
        return
    print(repr(session))
