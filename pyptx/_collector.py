"""Python's garbage collector, put off while a large structure grows that has no cycles, or keeps all that it makes."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["no_collections"]


@contextmanager
def no_collections() -> Iterator[None]:
    """Nothing is looked for: while a tree or a program grows, that would take a fifth to a third of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
