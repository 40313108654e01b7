"""Results of a function of a code object, kept by the object."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import CodeType
from typing import TypeVar

__all__ = ["per_code"]

_CAPACITY = 4096
_T = TypeVar("_T")


def per_code(function: Callable[[CodeType], _T]) -> Callable[[CodeType], _T]:
    """Make a function of a code object compute its result once for each of the latest ones.

    Results are kept by id, since hashing a code object reads its constants.
    """
    known: dict[int, tuple[CodeType, _T]] = {}

    @wraps(function)
    def result(code: CodeType) -> _T:
        found = known.get(id(code))
        if found is None or found[0] is not code:
            if len(known) >= _CAPACITY:
                known.clear()
            found = known[id(code)] = code, function(code)
        return found[1]

    return result
