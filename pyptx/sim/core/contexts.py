"""Contexts of launches that ended, kept to run these again: opening one takes longer than a small kernel."""

from __future__ import annotations

import threading
from collections.abc import Mapping

import numpy as np

from pyptx.sim.core.library import core

__all__ = ["Repeatable"]

MOST_BYTES = 64 << 20  # of all idle contexts

_idle: dict[Repeatable, tuple[int, int]] = {}  # context and bytes, the longest idle one first
_lock = threading.Lock()


class Repeatable:
    """A launch that is repeated with the same arguments but for the places of its arrays.

    Args:
        arrays: the arrays that its contexts point to.
    """

    def __init__(self, arrays: Mapping[str, np.ndarray]):
        self.arrays = arrays

    def take(self) -> int | None:
        """Return a context that no other thread uses, to be reopened; None: open one."""
        with _lock:
            return _idle.pop(self, (None, 0))[0]

    def keep(self, context: int) -> None:
        """Keep a context whose launch is done; closes it, and others, when all together are too large."""
        kept = context, core().core_bytes(context)
        with _lock:
            closed = [_idle.pop(self)] if self in _idle else []
            _idle[self] = kept
            excess = sum(size for _, size in _idle.values()) - MOST_BYTES
            while excess > 0:
                closed.append(_idle.pop(next(iter(_idle))))
                excess -= closed[-1][1]
        for one, _ in closed:
            core().core_close(one)
