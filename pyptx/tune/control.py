"""Pause, go on, stop: what the threads of a run look at between two steps."""

from __future__ import annotations

import threading
import time

__all__ = ["Clock", "Control", "StopRun"]


class StopRun(Exception):
    """The run was stopped; what was not finished waits for another one."""


class Control:
    """Shared by the thread that runs a study and those that want it paused or stopped."""

    def __init__(self):
        self._go, self._stop = threading.Event(), threading.Event()
        self._go.set()

    @property
    def paused(self) -> bool:
        return not self._go.is_set()

    @property
    def stopped(self) -> bool:
        return self._stop.is_set()

    def pause(self) -> None:
        self._go.clear()

    def go_on(self) -> None:
        self._go.set()

    def stop(self) -> None:
        self._stop.set()
        self._go.set()

    def reset(self) -> None:
        self._stop.clear()
        self._go.set()

    def step(self) -> None:
        """Wait while the run is paused.

        Raises:
            StopRun: it is stopped.
        """
        self._go.wait()
        if self._stop.is_set():
            raise StopRun


class Clock:
    """Seconds of work: what passes while the clock is held does not count."""

    def __init__(self):
        self._sum, self._since = 0.0, None

    @property
    def seconds(self) -> float:
        return self._sum + (time.monotonic() - self._since if self._since is not None else 0.0)

    def start(self) -> None:
        if self._since is None:
            self._since = time.monotonic()

    def hold(self) -> None:
        self._sum, self._since = self.seconds, None

    def reset(self) -> None:
        self._sum, self._since = 0.0, None
