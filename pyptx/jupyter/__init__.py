"""pyptx in IPython and Jupyter: `%load_ext pyptx`."""

from __future__ import annotations

from pyptx._loc import name_files
from pyptx.jupyter.completion import complete_magics
from pyptx.jupyter.debugging import DebugMagics
from pyptx.jupyter.history import HistoryMagics
from pyptx.jupyter.magics import PtxMagics
from pyptx.jupyter.tracebacks import leave_out_our_frames

__all__ = ["load_ipython_extension", "unload_ipython_extension"]

MAGICS = (("cell", "ptxkernel"), ("cell", "ptx"), ("line", "ptxconfig"), ("line", "ptxhistory"),
          ("line", "ptxdebug"))

_loaded: dict[int, list] = {}                           # id of the shell -> what undoes the loading


def load_ipython_extension(shell) -> None:
    """Register the magics, their completions, the names of cells in views, and how errors of cells are shown."""
    if id(shell) in _loaded:
        return
    shell.register_magics(PtxMagics, HistoryMagics, DebugMagics)
    matcher = complete_magics(shell)
    shell.Completer.custom_matchers.append(matcher)

    def cell_name(file: str) -> str | None:
        label = shell.compile.format_code_name(file)
        return " ".join(label) if label else None

    def forget() -> None:
        for kind, name in MAGICS:
            shell.magics_manager.magics[kind].pop(name, None)

    _loaded[id(shell)] = [name_files(cell_name), lambda: shell.Completer.custom_matchers.remove(matcher), forget,
                          leave_out_our_frames(shell)]


def unload_ipython_extension(shell) -> None:
    """Take back what `load_ipython_extension` did."""
    for undo in _loaded.pop(id(shell), ()):
        undo()
