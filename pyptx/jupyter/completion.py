"""Completion for the magics: options, targets, panes, kernels and versions."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher
from IPython.core.interactiveshell import InteractiveShell

from pyptx import history
from pyptx.jupyter.debug_magics import DebugMagics
from pyptx.jupyter.history_magics import HistoryMagics
from pyptx.jupyter.magic_options import PANES, known_archs
from pyptx.jupyter.magics import PtxMagics
from pyptx.nvrtc.signatures import declared_kernels

__all__ = ["complete_magics", "completions"]

CELL_MAGICS = ("%%ptxkernel", "%%ptx", "%%cuda", "%%tritonkernel")
MAGICS = {
    "%%ptxkernel": PtxMagics.ptxkernel,
    "%%ptx": PtxMagics.ptx,
    "%%cuda": PtxMagics.cuda,
    "%%tritonkernel": PtxMagics.tritonkernel,
    "%ptxconfig": PtxMagics.ptxconfig,
    "%ptxhistory": HistoryMagics.ptxhistory,
    "%ptxdebug": DebugMagics.ptxdebug,
}
_ENTRY = re.compile(r"\.entry\s+([\w$%]+)")
VERSION_OPTIONS = ("--restore", "--view", "--diff")


def complete_magics(shell: InteractiveShell) -> Callable:
    """Return a matcher for `shell.Completer.custom_matchers`."""

    @context_matcher()
    def ptx_magics(context: CompletionContext) -> SimpleMatcherResult:
        line = context.line_with_cursor
        name = line.split(" ")[0]
        if name not in MAGICS or (name in CELL_MAGICS and context.cursor_line != 0):
            return {"completions": []}
        found = completions(line[: context.cursor_position], context.full_text)
        offered = [SimpleCompletion(text=text, type=kind) for text, kind in found]
        return {"completions": offered, "suppress": bool(offered)}

    return ptx_magics


def completions(line: str, cell: str = "") -> Sequence[tuple[str, str]]:
    """Return the completions, (text, kind), at the end of a magic's line; `cell` is the text of the whole cell."""
    name, *before, word = line.split(" ")
    if name not in MAGICS:
        return []
    last = before[-1] if before else ""
    if last == "--arch":
        return _values(sorted(known_archs()), word)
    if last == "--panes":
        given, comma, pane = word.rpartition(",")
        left = [given + comma + other for other in PANES if other not in given.split(",")]
        return _values(left, given + comma + pane)
    if last == "--entry":
        names = [d.name for d in declared_kernels(cell)] if name == "%%cuda" else _ENTRY.findall(cell)
        return _values(names, word)
    if last == "--diff" and name in CELL_MAGICS:
        return _values(["@-1", *history.refs()], word)
    if name == "%ptxhistory" and (last in (*VERSION_OPTIONS, "--name") or before[-2:-1] == ["--diff"]):
        return _values(history.refs(), word)
    if name == "%ptxhistory" and not word.startswith("-") and not before:
        return _values(sorted({version.kernel for version in history.versions()}), word)
    options = [option for action in MAGICS[name].parser._actions for option in action.option_strings]
    return [(option, "option") for option in options if option.startswith(word) and (word or option.startswith("--"))]


def _values(texts: Sequence[str], word: str) -> list[tuple[str, str]]:
    return [(text, "value") for text in texts if text.startswith(word)]
