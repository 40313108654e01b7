"""A view that lives: what the widgets of sweeps and of the debugger have in common."""

from __future__ import annotations

from typing import Any

from anywidget import AnyWidget
from IPython.display import display, update_display

from pyptx.errors import PtxError
from pyptx.views._page import STATIC, STYLES

__all__ = ["LIVE_MIME", "WIDGET_MIME", "ViewWidget", "failure"]

LIVE_MIME = "application/vnd.pyptx.live+json"           # a widget by its model, and the view when there is none
WIDGET_MIME = "application/vnd.jupyter.widget-view+json"


class ViewWidget(AnyWidget):
    """A widget with `view()`, how it stands, and `_asked`, for messages of the front end. What is saved is the view.

    `_output` is how its outputs are called: with the model and a number behind it, the id of one.
    """

    _css = "\n".join((STATIC / name).read_text(encoding="utf-8") for name in STYLES)

    def __init__(self, **traits: Any):
        self._displayed: list[str] = []
        AnyWidget.__init__(self, **traits)
        self.on_msg(self._asked)

    def _save(self, view: Any) -> None:
        """Bring the saved outputs up to date."""
        for name in self._displayed:
            update_display(self._bundle(view), raw=True, display_id=name)

    def _bundle(self, view: Any) -> dict[str, Any]:
        plain = view._repr_mimebundle_()
        return {LIVE_MIME: {"model_id": self.model_id, "view": view.to_json()},
                WIDGET_MIME: {"version_major": 2, "version_minor": 0, "model_id": self.model_id},
                "text/html": plain["text/html"], "text/plain": plain["text/plain"]}

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        return self._bundle(self.view())

    def _ipython_display_(self) -> None:
        """Display with a name, so that the saved output follows."""
        name = f"pyptx-{self._output}-{self.model_id}-{len(self._displayed)}"
        self._displayed.append(name)
        display(self._bundle(self.view()), raw=True, display_id=name)


def failure(error: Exception) -> str:
    """An error in words, for who clicked; of one that is not ours with its type."""
    kind = "" if isinstance(error, PtxError | ValueError) else f"{type(error).__name__}: "
    return f"{kind}{error}"
