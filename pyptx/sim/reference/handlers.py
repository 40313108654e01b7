"""Which function does which action of other files: `handles` registers it.

    @handles(MbarrierInit)
    def _init(runner, action, mask): ...            # a Blocking one: whether it is done; False changes nothing
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["HANDLERS", "handles"]

HANDLERS: dict[type, Callable[..., bool | None]] = {}


def handles(*kinds: type):
    """Register a handler of actions."""
    def register(function):
        for kind in kinds:
            HANDLERS[kind] = function
        return function
    return register
