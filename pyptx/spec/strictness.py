"""Whether typed wrappers refuse at once what the table does not take: one setting for each thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["is_strict", "set_strict", "strict"]

_thread = threading.local()


def is_strict() -> bool:
    """Whether a typed wrapper raises PtxValidationError while tracing. True unless told otherwise."""
    return getattr(_thread, "strict", True)


def set_strict(value: bool) -> None:
    """Turn raising while tracing on or off in this thread. Compiling and launching check the module either way."""
    _thread.strict = bool(value)


@contextmanager
def strict(value: bool) -> Iterator[None]:
    """`set_strict(value)` for the length of a `with`."""
    before = is_strict()
    set_strict(value)
    try:
        yield
    finally:
        set_strict(before)
