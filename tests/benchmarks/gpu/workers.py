"""A process that does pieces of work one after the other and answers each with a line of JSON; it may hang or die.

What it prints otherwise is passed on. Standard library only.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from typing import Any

__all__ = ["Lost", "Worker", "answered"]

MARK = "@answer "
ENDS_S = 30  # seconds that an ended process may take


def answered(what: Any) -> None:
    """Called by the worker: an answer to the one who started it."""
    print(MARK + json.dumps(what), flush=True)


class Lost(Exception):
    """The worker gave no answer; the message says why, with the end of what it printed."""


class Worker:
    """A worker and what it says."""

    def __init__(self, command: list[str]):
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            process_group=0,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._last: deque[str] = deque(maxlen=30)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for text in self.process.stdout:
            self._lines.put(text)
        self._lines.put(None)

    def send(self, piece: Any) -> None:
        """Ask for a piece of work."""
        try:
            self.process.stdin.write(f"{piece}\n")
            self.process.stdin.flush()
        except (BrokenPipeError, OSError):
            self._lose(f"the process ended with {self.process.wait()}")

    def answer(self, limit: float) -> Any:
        """The next answer.

        Raises:
            Lost: none came within `limit` seconds, or the process ended. It is ended then.
        """
        until = time.monotonic() + limit
        while True:
            try:
                text = self._lines.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                self._lose(f"no answer in {limit:.0f} s")
            if text is None:
                self._lose(f"the process ended with {self.process.wait()}")
            if text.startswith(MARK):
                return json.loads(text[len(MARK) :])
            self._last.append(text)
            sys.stdout.write(text)
            sys.stdout.flush()

    def close(self) -> None:
        """No more work; one that does not end is ended."""
        try:
            self.process.stdin.close()
            self.process.wait(timeout=3)
        except (OSError, subprocess.TimeoutExpired):
            self._end()

    def _lose(self, why: str) -> None:
        self._end()
        raise Lost(f"{why}: {''.join(self._last)[-800:].strip()}".rstrip(": "))

    def _end(self) -> None:
        """The process and those that it started."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:  # it is gone already
            pass
        try:
            self.process.wait(timeout=ENDS_S)
        except subprocess.TimeoutExpired:  # a driver that hangs holds it; the others go on
            print(f"process {self.process.pid} cannot be ended", flush=True)
