"""Completion on the first line of a `%%ptxkernel` cell: options, targets, panes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from IPython.core.completer import SimpleCompletion, SimpleMatcherResult, context_matcher

from pyptx.jupyter.magics import PANES, PtxMagics, known_archs

__all__ = ["complete_ptxkernel", "completions"]

MAGIC = "%%ptxkernel"


def complete_ptxkernel(shell) -> Callable:
    """A matcher for `shell.Completer.custom_matchers`."""
    @context_matcher()
    def ptxkernel_options(context) -> SimpleMatcherResult:
        first = context.full_text.partition("\n")[0]
        if context.cursor_line != 0 or not first.startswith(MAGIC):
            return {"completions": []}
        found = completions(context.line_with_cursor[:context.cursor_position])
        offered = [SimpleCompletion(text=text, type=kind) for text, kind in found]
        return {"completions": offered, "suppress": bool(offered)}
    return ptxkernel_options


def completions(line: str) -> Sequence[tuple[str, str]]:
    """(text, kind) of what may stand at the end of the magic's line."""
    *before, word = line.split(" ")
    if not before:
        return []
    if before[-1] == "--arch":
        return [(arch, "value") for arch in known_archs() if arch.startswith(word)]
    if before[-1] == "--panes":
        given, comma, last = word.rpartition(",")
        panes = [pane for pane in PANES if pane.startswith(last) and pane not in given.split(",")]
        return [(given + comma + pane, "value") for pane in panes]
    options = [option for action in PtxMagics.ptxkernel.parser._actions for option in action.option_strings]
    return [(option, "option") for option in options if option.startswith(word) and (word or option.startswith("--"))]
