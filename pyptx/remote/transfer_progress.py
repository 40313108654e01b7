"""Progress of a long transfer: a line that is updated in a terminal or a notebook, and plain lines in a log."""

from __future__ import annotations

import sys
import time

__all__ = ["TransferProgress"]

_AFTER_S = 1.0  # shorter transfers show nothing
_EACH_S, _EACH_LOGGED_S = 0.5, 10.0


class TransferProgress:
    """Bytes sent so far, of how many, and their rate.

    Args:
        name: of the other machine.
        total: bytes to send, before compression.
    """

    def __init__(self, name: str, total: int):
        self._name, self._total, self._sent = name, total, 0
        self._started = self._shown = time.monotonic()
        self._stream = sys.stdout if "ipykernel" in sys.modules else sys.stderr
        self._updates = "ipykernel" in sys.modules or self._stream.isatty()
        self._width = 0

    def add(self, count: int) -> None:
        """Count bytes that were sent."""
        self._sent += count
        now = time.monotonic()
        each = _EACH_S if self._updates else _EACH_LOGGED_S
        if now - self._started >= _AFTER_S and now - self._shown >= (each if self._width else min(each, _AFTER_S)):
            self._shown = now
            self._show(self._text(now - self._started), last=False)

    def end(self) -> None:
        """Show the result of a transfer that was shown."""
        if self._width:
            self._show(self._text(time.monotonic() - self._started), last=True)

    def _text(self, seconds: float) -> str:
        rate = self._sent / max(seconds, 1e-9)
        left = (self._total - self._sent) / max(rate, 1.0)
        tail = f", {left:.0f} s left (Ctrl-C keeps what was sent)" if self._sent < self._total else ""
        return f"pyptx: {self._name}: sent {self._sent / 1e6:.0f} of {self._total / 1e6:.0f} MB, {rate / 1e6:.1f} MB/s{tail}"

    def _show(self, text: str, *, last: bool) -> None:
        if self._updates:
            self._stream.write("\r" + text.ljust(self._width) + ("\n" if last else ""))
        else:
            self._stream.write(text + "\n")
        self._stream.flush()
        self._width = len(text)
