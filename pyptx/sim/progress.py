"""How far a long launch is: one line, rewritten in a terminal or a notebook, and gone when the launch ends."""

from __future__ import annotations

import sys
import time

__all__ = ["AFTER_S", "Progress"]

AFTER_S = 2.0                   # launches that end sooner show nothing
EACH_S = 0.5


class Progress:
    """Called while a launch runs with the clusters (CTAs, where there are none) that were started and all there are.

    Shows nothing where nobody looks: the error output is no terminal and no notebook runs.
    """

    def __init__(self, name: str):
        self.name, self.started, self.shown, self.width = name, time.monotonic(), 0.0, 0
        self.stream = sys.stdout if "ipykernel" in sys.modules else sys.stderr
        self.wanted = "ipykernel" in sys.modules or self.stream.isatty()

    def __call__(self, started: int, total: int) -> None:
        now = time.monotonic()
        if self.wanted and now - self.started >= AFTER_S and now - self.shown >= EACH_S:
            self.shown = now
            self._write(f"{self.name}: {min(started, total)} of {total} CTAs or clusters started, "
                        f"{now - self.started:.0f} s (Ctrl-C or interrupt stops it)")

    def end(self) -> None:
        """Take the line away."""
        if self.width:
            self._write("")
            self.stream.write("\r")
            self.stream.flush()

    def _write(self, text: str) -> None:
        self.stream.write("\r" + text.ljust(self.width))
        self.stream.flush()
        self.width = len(text)
