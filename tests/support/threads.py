"""Threads that start together."""

from __future__ import annotations

from collections.abc import Callable
from threading import Barrier, Thread

__all__ = ["in_threads"]


def in_threads(work: Callable[[int], None], count: int = 8) -> None:
    """Run `work(k)` in so many threads that start together; raise what one of them raised."""
    faults: list[BaseException] = []
    together = Barrier(count)

    def run(k: int) -> None:
        try:
            together.wait()
            work(k)
        except BaseException as fault:  # raised below, in the thread of the test
            faults.append(fault)

    threads = [Thread(target=run, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for fault in faults:
        raise fault
