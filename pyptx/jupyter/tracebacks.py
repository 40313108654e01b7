"""Errors of ordinary cells as their reader needs them: the cell and the kernel, not the frames of pyptx between."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType

from pyptx.jupyter.errors import user_traceback

__all__ = ["leave_out_our_frames"]


def leave_out_our_frames(shell) -> Callable[[], None]:
    """From now on errors of cells are shown without frames of pyptx; `%tb` and `%xmode Verbose` show them all.

    Where another extension handles errors already, it goes on doing so.

    Returns:
        What undoes it.
    """
    if shell.custom_exceptions:
        return lambda: None

    def show(shell, kind: type[BaseException], error: BaseException, traceback: TracebackType | None,
             tb_offset: int | None = None) -> None:
        every = shell.InteractiveTB.mode == "Verbose" or hasattr(error, "_render_traceback_")
        ours = 0 if every else _frames(traceback) - _frames(user_traceback(traceback))
        if ours < 2:                                    # IPython's own frame, which it leaves out itself
            shell.showtraceback((kind, error, traceback), tb_offset=tb_offset, running_compiled_code=True)
            return
        lines = shell.InteractiveTB.structured_traceback(kind, error, user_traceback(traceback), tb_offset=0)
        error._render_traceback_ = lambda: [*lines, "(without the frames of pyptx; %tb shows them)"]
        try:
            shell.showtraceback((kind, error, traceback), running_compiled_code=True)
        finally:
            del error._render_traceback_

    shell.set_custom_exc((Exception,), show)
    handler = shell.CustomTB

    def undo() -> None:
        if shell.CustomTB is handler:                   # nobody has put another one in its place
            shell.set_custom_exc((), None)

    return undo


def _frames(traceback: TracebackType | None) -> int:
    count = 0
    while traceback is not None:
        count, traceback = count + 1, traceback.tb_next
    return count
