"""Work in a thread of its own, which is paused, resumed and stopped from others."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from pyptx.tune.control import Clock, Control

__all__ = ["Background"]


class Background:
    """One thread at a time.

    Args:
        name: of the thread.
        work: what it does; it looks at `control` between two steps.
        set_state: told "running", "paused", and how the work ended: "finished", "stopped" or "failed".
        after: called when the work has ended, before those that wait for it go on.
        lock: held while the state changes and `set_state` is told.
    Attributes:
        control: what the work looks at.
        clock: its seconds, without pauses.
        error: what ended it.
    """

    def __init__(self, name: str, work: Callable[[], None], set_state: Callable[[str], None],
                 after: Callable[[], None], lock: Any):
        self.control, self.clock, self.error = Control(), Clock(), None
        self._name, self._work, self._set_state, self._after, self._lock = name, work, set_state, after, lock
        self._ended = threading.Event()                 # not Thread.join, which Ctrl-C may take for the thread's end
        self._ended.set()

    @property
    def running(self) -> bool:
        """Whether the work has begun and not ended, be it paused."""
        return not self._ended.is_set()

    def start(self) -> None:
        """Begin, unless it runs."""
        with self._lock:
            if self.running:
                return
            self._ended.clear()
            self.control.reset()
            self.error = None
            self.clock.reset()
            self._set_state("running")
            threading.Thread(target=self._run, name=self._name, daemon=True).start()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it ends, or so many seconds; whether it has ended. Raises what ended it, when something did."""
        if timeout is None:
            while not self._ended.wait(0.2):            # in slices: Ctrl-C is seen between them
                pass
        elif not self._ended.wait(timeout):
            return False
        if self.error is not None:
            raise self.error
        return True

    def pause(self) -> None:
        """Begin nothing new; what is in work is finished."""
        with self._lock:
            if self.running and not self.control.paused and not self.control.stopped:
                self.control.pause()
                self.clock.hold()
                self._set_state("paused")

    def go_on(self) -> bool:
        """End a pause; False when there was none."""
        with self._lock:
            if not self.running or not self.control.paused:
                return False
            self.clock.start()
            self.control.go_on()
            self._set_state("running")
            return True

    def stop(self) -> None:
        """Ask it to end; `ended` waits for that."""
        self.control.stop()

    def ended(self) -> None:
        """Wait until it ends, however it does."""
        self._ended.wait()

    def _run(self) -> None:
        how = "failed"
        try:
            self.clock.start()
            self._work()
            how = "stopped" if self.control.stopped else "finished"
        except Exception as error:                      # raised by `wait`, where somebody is there to see it
            self.error = error
        finally:
            self.clock.hold()
            with self._lock:
                self._set_state(how)
            self._after()
            self._ended.set()
