"""Those who want to know of every change of a study."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import Any

__all__ = ["Listeners"]


class Listeners:
    """Functions that are called with each event, by the thread that made it."""

    def __init__(self):
        self._callbacks: list[Callable[[Any], None]] = []
        self._here = threading.local()

    @property
    def called_here(self) -> bool:
        """Whether this thread is in one of the functions."""
        return getattr(self._here, "now", False)

    def add(self, callback: Callable[[Any], None]) -> Callable[[], None]:
        """Call a function from now on; the function returned ends that."""
        self._callbacks.append(callback)
        return lambda: self._callbacks.remove(callback) if callback in self._callbacks else None

    def tell(self, event: Any) -> None:
        """Call them all. One that breaks is warned of, and ends nothing."""
        for callback in list(self._callbacks):
            outer, self._here.now = self.called_here, True
            try:
                callback(event)
            except Exception as error:                  # a display that breaks does not end the sweep
                warnings.warn(f"a subscriber of the study failed: {type(error).__name__}: {error}", RuntimeWarning,
                              stacklevel=3)
            finally:
                self._here.now = outer
