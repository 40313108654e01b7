"""Commands that save results, show help, and quit."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyptx.cli.debugging.prompt import Prompt, Quit
from pyptx.cli.debugging.registry import command, help_text
from pyptx.debug import DebugError


@command("save FILE.npz", "write the current arrays, by parameter", group="other", examples=(("save now.npz", ""),))
def _save(prompt: Prompt, rest: str) -> None:
    if not rest.endswith(".npz"):
        raise DebugError("save FILE.npz: expected a file name ending in .npz")
    arrays: dict[str, Any] = dict(prompt.session.outputs())
    np.savez(rest, **arrays)
    prompt.say(f"wrote {', '.join(arrays)} to {rest}")


@command(
    "help [COMMAND]",
    "list the commands, or show the help of one",
    "h",
    "?",
    group="other",
    examples=(("help break", ""), ("h tile", "")),
)
def _help(prompt: Prompt, rest: str) -> None:
    prompt.say(help_text(rest))


@command("quit", "quit the debugger", "q", "exit", group="other", examples=(("q", ""),))
def _quit(prompt: Prompt, rest: str) -> None:
    raise Quit
