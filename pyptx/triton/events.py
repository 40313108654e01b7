"""Time stamps with the interface of torch.cuda.Event."""

from __future__ import annotations

import time
from typing import Any

__all__ = ["Event"]


class Event:
    """A time stamp; times between events are wall times of the simulation, not of a GPU."""

    def __init__(self, enable_timing: bool = True, **_: Any):
        self.at = 0.0

    def record(self, stream: Any = None) -> None:
        """Take the time."""
        self.at = time.perf_counter()

    def elapsed_time(self, end: Event) -> float:
        """Return the milliseconds to another event."""
        return 1e3 * (end.at - self.at)

    def synchronize(self) -> None:
        """Do nothing: launches return when they are complete."""

    def wait(self, stream: Any = None) -> None:
        """Do nothing: launches return when they are complete."""

    def query(self) -> bool:
        """Return True: launches return when they are complete."""
        return True
