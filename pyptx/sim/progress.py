"""Progress of a long launch: one line in a terminal or a notebook, removed when the launch ends."""

from __future__ import annotations

import sys
import time
from typing import TextIO

__all__ = ["AFTER_S", "Progress"]

AFTER_S = 1.0  # shorter launches show nothing
EACH_S = 0.5


class Progress:
    """Callback of an engine with the number of clusters (or CTAs) started and their total.

    It shows nothing if standard error is not a terminal and no notebook is running.
    """

    name: str
    started: float
    stream: TextIO
    wanted: bool
    shown: float
    width: int

    def __init__(self, name: str):
        self.name, self.started, self.shown, self.width = name, time.monotonic(), 0.0, 0
        self.stream = sys.stdout if "ipykernel" in sys.modules else sys.stderr
        self.wanted = "ipykernel" in sys.modules or self.stream.isatty()

    def __call__(self, started: int, total: int) -> None:
        now = time.monotonic()
        if self.wanted and now - self.started >= AFTER_S and now - self.shown >= EACH_S:
            self.shown = now
            self._write(
                f"{self.name}: {min(started, total)} of {total} CTAs or clusters started, "
                f"{now - self.started:.0f} s (Ctrl-C or interrupt stops it)"
            )

    def say(self, activity: str) -> None:
        """Show what is being done, unless it only began."""
        if self.wanted and time.monotonic() - self.started >= AFTER_S:
            self._write(f"{self.name}: {activity} (Ctrl-C or interrupt stops it)")

    def end(self) -> None:
        """Remove the line."""
        if self.width:
            self._write("")
            self.stream.write("\r")
            self.stream.flush()

    def _write(self, text: str) -> None:
        self.stream.write("\r" + text.ljust(self.width))
        self.stream.flush()
        self.width = len(text)
