"""Any view as an anywidget, for front ends that run no scripts of outputs: marimo, VS Code, Colab."""

from __future__ import annotations

from typing import Any

import traitlets

from pyptx.jupyter.view_widget import ViewWidget
from pyptx.renderer import bundle
from pyptx.views._packed import pack

__all__ = ["AnyView"]


class AnyView(ViewWidget):
    """A view that can be explored and does not change.

    Args:
        view: a view of `pyptx.views`, such as the result of `kernel.view()`.
    """

    _esm = f"{bundle('widget')}\nexport default {{ render: module_widget.render }};\n"
    _output = "still"
    data = traitlets.Dict().tag(sync=True)

    def __init__(self, view: Any):
        self._view = view
        ViewWidget.__init__(self, data=pack(view.to_json()))

    def view(self) -> Any:
        """Return the view."""
        return self._view

    def _on_message(self, widget: Any, message: Any, buffers: Any) -> None:
        """Ignore messages: the view sends none."""

    def __repr__(self) -> str:
        return repr(self._view)
