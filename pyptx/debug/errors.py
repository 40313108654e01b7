"""The error of the debugger."""

from __future__ import annotations

from pyptx.errors import PtxError

__all__ = ["DebugError"]


class DebugError(PtxError, ValueError):
    """A debugger command, location, or expression is invalid, or does not apply to the current stop."""
