"""Registry of handlers: action class -> function that executes the action.

    @handles(MbarrierInit)
    def _init(runner: Runner, action: MbarrierInit, mask: int) -> None: ...

The handler of a `Blocking` action returns whether it completed; if it returns False, it has changed nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["HANDLERS", "handles"]

Handler = Callable[[Any, Any, int], bool | None]  # Runner, an action of the registered class, mask of lanes
HANDLERS: dict[type, Handler] = {}


def handles(*kinds: type) -> Callable[[Handler], Handler]:
    """Register a handler for action classes."""

    def register(function: Handler) -> Handler:
        for kind in kinds:
            HANDLERS[kind] = function
        return function

    return register
