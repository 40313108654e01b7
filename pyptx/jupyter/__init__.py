"""The IPython extension, `%load_ext pyptx`: magics, completion, error display and widgets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from pyptx._loc import name_files
from pyptx.jupyter.background.service import TypingService
from pyptx.jupyter.completion import complete_magics
from pyptx.jupyter.debug_magics import DebugMagics
from pyptx.jupyter.errors import hide_internal_frames
from pyptx.jupyter.history_magics import HistoryMagics
from pyptx.jupyter.magics import PtxMagics

__all__ = ["load_ipython_extension", "unload_ipython_extension"]

MAGICS = (
    ("cell", "ptxkernel"),
    ("cell", "ptx"),
    ("cell", "cuda"),
    ("cell", "tritonkernel"),
    ("line", "ptxconfig"),
    ("line", "ptxhistory"),
    ("line", "ptxdebug"),
)

_loaded: dict[int, list[Callable[[], Any]]] = {}  # id of the shell -> functions that undo the loading


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Register the magics, their completion, the display names of cells, and the handler of errors."""
    if id(shell) in _loaded:
        return
    magics = PtxMagics(shell)
    shell.register_magics(magics, HistoryMagics, DebugMagics)
    matcher = complete_magics(shell)
    shell.Completer.custom_matchers.append(matcher)

    def cell_name(file: str) -> str | None:
        label = shell.compile.format_code_name(file)
        return " ".join(label) if label else None

    def remove_magics() -> None:
        for kind, name in MAGICS:
            shell.magics_manager.magics[kind].pop(name, None)

    _loaded[id(shell)] = [
        name_files(cell_name),
        lambda: shell.Completer.custom_matchers.remove(matcher),
        remove_magics,
        TypingService(shell, magics.recorder.last).connect(),
        hide_internal_frames(shell),
    ]


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Undo `load_ipython_extension`."""
    for undo in _loaded.pop(id(shell), ()):
        undo()
