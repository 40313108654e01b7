"""A terminal that keeps what is written to it."""

from __future__ import annotations

import io

__all__ = ["Terminal"]


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True
