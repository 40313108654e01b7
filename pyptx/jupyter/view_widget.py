"""The base of the widgets of sweeps and of the debugger: a view that updates."""

from __future__ import annotations

from typing import Any

from anywidget import AnyWidget
from IPython.display import display, update_display

from pyptx.errors import PtxError
from pyptx.renderer import stylesheet
from pyptx.views._packed import pack

__all__ = ["LIVE_MIME", "WIDGET_MIME", "ViewWidget", "error_message"]

LIVE_MIME = "application/vnd.pyptx.live+json"  # a widget model's id, and the view to show without it
WIDGET_MIME = "application/vnd.jupyter.widget-view+json"


class ViewWidget(AnyWidget):
    """A widget of a view. A saved notebook holds the view itself.

    A subclass defines `view()`, the current view; `_on_message`, the handler of messages from the front end; and
    `_output`, the prefix of the display ids of its outputs.
    """

    _css = stylesheet()
    _output = "view"

    def __init__(self, **traits: Any):
        self._display_ids: list[str] = []
        AnyWidget.__init__(self, **traits)
        self.on_msg(self._on_message)

    def view(self) -> Any:
        """Return the current view."""
        raise NotImplementedError

    def _on_message(self, widget: Any, message: Any, buffers: Any) -> None:
        """Handle a message from the front end."""
        raise NotImplementedError

    def _update_outputs(self, view: Any) -> None:
        """Replace the view in the outputs saved with the notebook."""
        for name in self._display_ids:
            update_display(self._bundle(view), raw=True, display_id=name)

    def _bundle(self, view: Any) -> dict[str, Any]:
        plain = view._repr_mimebundle_()
        return {
            LIVE_MIME: {"model_id": self.model_id, "view": pack(view.to_json())},
            WIDGET_MIME: {"version_major": 2, "version_minor": 0, "model_id": self.model_id},
            "text/html": plain["text/html"],
            "text/plain": plain["text/plain"],
        }

    def _repr_mimebundle_(  # pyright: ignore[reportIncompatibleMethodOverride]  (IPython accepts a dict alone)
        self, include: Any = None, exclude: Any = None
    ) -> dict[str, Any]:
        return self._bundle(self.view())

    def _ipython_display_(self) -> None:
        """Display under an id, so that the saved output can be updated."""
        name = f"pyptx-{self._output}-{self.model_id}-{len(self._display_ids)}"
        self._display_ids.append(name)
        display(self._bundle(self.view()), raw=True, display_id=name)


def error_message(error: Exception) -> str:
    """Return the text of an error for the front end, with the type of an error that is not a PtxError or ValueError."""
    kind = "" if isinstance(error, PtxError | ValueError) else f"{type(error).__name__}: "
    return f"{kind}{error}"
