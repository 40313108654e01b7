"""Answers of a far machine, which arrive while the caller does other things."""

from __future__ import annotations

import queue
import threading
from collections.abc import Mapping
from typing import Any

from pyptx.errors import PtxError

__all__ = ["Reply"]


class Reply:
    """The answer to a request, when it has arrived.

    Attributes:
        message, parts: the answer.
        reports: what the far side said meanwhile: positions in the queue, and output of kernels.
    """

    def __init__(self) -> None:
        self._arrived, self.message, self.parts = threading.Event(), {}, {}
        self.error: PtxError | None = None
        self.reports: queue.SimpleQueue[Mapping[str, Any]] = queue.SimpleQueue()

    def set(self, message: Mapping[str, Any], parts: Mapping[str, bytes]) -> None:
        self.message, self.parts = message, parts
        self._arrived.set()

    def fail(self, error: PtxError) -> None:
        self.error = error
        self._arrived.set()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the answer; return False after `timeout` seconds. Raises the error that ended the connection."""
        if not self._arrived.wait(timeout):
            return False
        if self.error is not None:
            raise self.error
        return True
