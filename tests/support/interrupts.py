"""Ctrl-C after a time."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["ctrl_c"]

AGAIN_S = 3.0


@contextmanager
def ctrl_c(after_s: float) -> Iterator[None]:
    """Send SIGINT to this process after a time, and once more where the first was lost.

    Python ignores exceptions in callbacks of the garbage collector, such as those of hypothesis, so an interrupt that
    arrives in one has no effect.
    """
    done = threading.Event()

    def send() -> None:
        wait_s = after_s
        while not done.wait(wait_s):
            os.kill(os.getpid(), signal.SIGINT)
            wait_s = AGAIN_S

    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    try:
        yield
    finally:
        done.set()
        sender.join()
