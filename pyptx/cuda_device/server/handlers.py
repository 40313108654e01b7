"""The functions that handle entry points, by symbol."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["HANDLERS", "handles"]

HANDLERS: dict[str, Callable[..., Any]] = {}


def handles(*symbols: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function for entry points.

    It is called with the session and the arguments of the entry point that are no results, in order, and returns the
    results: None, one value, or a tuple.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for symbol in symbols:
            assert symbol not in HANDLERS, symbol
            HANDLERS[symbol] = function
        return function

    return register
