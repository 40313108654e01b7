"""What a debugger refuses."""

from __future__ import annotations

from pyptx.errors import PtxError

__all__ = ["DebugError"]


class DebugError(PtxError):
    """Something a session cannot do or does not understand; the message says what would do."""
