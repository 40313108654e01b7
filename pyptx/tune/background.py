"""Background execution of a study: a thread that can be paused, resumed and stopped, and its subscribers."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

__all__ = ["BackgroundRun", "Clock", "Control", "StopRun", "Subscribers"]


class StopRun(Exception):
    """Raised in the threads of a run that was stopped."""


class Control:
    """Pause and stop requests for a run, polled by its threads."""

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

    def resume(self) -> None:
        self._go.set()

    def stop(self) -> None:
        self._stop.set()
        self._go.set()

    def reset(self) -> None:
        self._stop.clear()
        self._go.set()

    def checkpoint(self) -> None:
        """Block while the run is paused.

        Raises:
            StopRun: the run was stopped.
        """
        self._go.wait()
        if self._stop.is_set():
            raise StopRun


class Clock:
    """A stopwatch that can be held."""

    def __init__(self):
        self._sum: float = 0.0
        self._since: float | None = None

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


class BackgroundRun:
    """A task in a thread of its own, one run at a time.

    Args:
        name: name of the thread.
        work: the task; it polls `control`.
        set_state: called with "running", "paused", and at the end "finished", "stopped" or "failed".
        after: called at the end of the task, before `wait` and `join` return.
        lock: held around changes of the state and calls of `set_state`.
    Attributes:
        control: pause and stop requests.
        clock: time spent in the task, pauses excluded.
        error: the exception that ended the last run, or None.
    """

    clock: Clock
    control: Control

    def __init__(
        self,
        name: str,
        work: Callable[[], None],
        set_state: Callable[[str], None],
        after: Callable[[], None],
        lock: AbstractContextManager[Any],
    ):
        self.control, self.clock = Control(), Clock()
        self.error: BaseException | None = None
        self._name, self._work, self._set_state, self._after, self._lock = name, work, set_state, after, lock
        self._ended = threading.Event()  # not Thread.join: it may take Ctrl-C for the end of the thread
        self._ended.set()

    @property
    def running(self) -> bool:
        """True from the start of a run to its end, pauses included."""
        return not self._ended.is_set()

    def start(self) -> None:
        """Start a run, unless one is in progress."""
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
        """Wait for the end of the run; return False after `timeout` seconds. Raises the error that ended the run."""
        if timeout is None:
            while not self._ended.wait(0.2):  # in slices, to handle Ctrl-C between them
                pass
        elif not self._ended.wait(timeout):
            return False
        if self.error is not None:
            raise self.error
        return True

    def pause(self) -> None:
        """Request a pause; work in progress is completed."""
        with self._lock:
            if self.running and not self.control.paused and not self.control.stopped:
                self.control.pause()
                self.clock.hold()
                self._set_state("paused")

    def resume(self) -> bool:
        """End a pause; return False when the run is not paused."""
        with self._lock:
            if not self.running or not self.control.paused:
                return False
            self.clock.start()
            self.control.resume()
            self._set_state("running")
            return True

    def stop(self) -> None:
        """Request the end of the run; `join` waits for it."""
        self.control.stop()

    def join(self) -> None:
        """Wait for the end of the run; never raises its error."""
        self._ended.wait()

    def _run(self) -> None:
        outcome = "failed"
        try:
            self.clock.start()
            self._work()
            outcome = "stopped" if self.control.stopped else "finished"
        except Exception as error:  # raised by `wait`
            self.error = error
        finally:
            self.clock.hold()
            with self._lock:
                self._set_state(outcome)
            self._after()
            self._ended.set()


class Subscribers:
    """Callbacks for events, called by the thread that caused the event."""

    def __init__(self):
        self._callbacks: list[Callable[[Any], None]] = []
        self._local = threading.local()

    @property
    def active_in_this_thread(self) -> bool:
        """True inside a callback."""
        return getattr(self._local, "active", False)

    def add(self, callback: Callable[[Any], None]) -> Callable[[], None]:
        """Subscribe a function; the returned function unsubscribes it."""
        self._callbacks.append(callback)
        return lambda: self._callbacks.remove(callback) if callback in self._callbacks else None

    def notify(self, event: Any) -> None:
        """Call all callbacks; one that raises causes a warning and ends nothing."""
        for callback in list(self._callbacks):
            outer, self._local.active = self.active_in_this_thread, True
            try:
                callback(event)
            except Exception as error:  # a display that breaks does not end the sweep
                warnings.warn(
                    f"a subscriber of the study failed: {type(error).__name__}: {error}", RuntimeWarning, stacklevel=3
                )
            finally:
                self._local.active = outer
