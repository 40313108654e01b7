"""States of a configuration in a sweep."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["NAMES", "SIGNS", "STATES", "State"]


@dataclass(frozen=True, slots=True)
class State:
    """The state of a configuration. The sign distinguishes states without color."""

    name: str
    sign: str
    words: str


STATES = tuple(
    State(*row)
    for row in (
        ("queued", "·", "waits in the queue"),
        ("compiling", "…", "is being traced and assembled"),
        ("compiled", "◇", "is assembled, not timed yet"),
        ("refused", "✕", "cannot run, or was pruned"),
        ("modeled", "○", "timed by the model"),
        ("measured", "●", "timed on the device"),
        ("wrong", "≠", "result differs from the reference"),
        ("failed", "!", "stopped with an error"),
        ("duplicate", "=", "same machine code as another point"),
    )
)
NAMES = tuple(state.name for state in STATES)
SIGNS = {state.name: state.sign for state in STATES}
