"""What can become of a configuration of a sweep."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["NAMES", "SIGNS", "STATES", "State"]


@dataclass(frozen=True, slots=True)
class State:
    """What can become of a configuration. The sign tells states apart where colours do not."""

    name: str
    sign: str
    words: str


STATES = tuple(State(*row) for row in (
    ("queued", "·", "waits for its turn"),
    ("compiling", "…", "is being traced and assembled"),
    ("compiled", "◇", "is assembled, not timed yet"),
    ("refused", "✕", "cannot run, or is not worth it"),
    ("modelled", "○", "timed by the model"),
    ("measured", "●", "timed on the device"),
    ("wrong", "≠", "gives other numbers than the reference"),
    ("failed", "!", "stopped with an error"),
    ("duplicate", "=", "the same machine code as another point"),
))
NAMES = tuple(state.name for state in STATES)
SIGNS = {state.name: state.sign for state in STATES}
