"""Many small cases of one table as one test: all run, and the failure names each that failed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["check_each"]


def check_each(check: Callable[..., None], cases: Iterable[tuple[str, tuple[Any, ...]]]) -> None:
    """Call `check` with the arguments of each named case.

    Raises:
        ExceptionGroup: some cases failed; each exception has the name of its case as a note.
    """
    failed, count = [], 0
    for name, arguments in cases:
        count += 1
        try:
            check(*arguments)
        except Exception as error:
            error.add_note(f"case: {name}")
            failed.append(error)
    assert count, "there are no cases"
    if failed:
        raise ExceptionGroup(f"{len(failed)} of {count} cases", failed)
