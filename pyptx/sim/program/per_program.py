"""Results of an analysis that are kept as long as the program that was analyzed."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from pyptx.sim.program.program import Program

__all__ = ["per_program"]

_T = TypeVar("_T")


def per_program(analyze: Callable[[Program], _T]) -> Callable[[Program], _T]:
    """Make a function of a program compute its result once for each program."""
    results: WeakKeyDictionary[Program, _T] = WeakKeyDictionary()

    @wraps(analyze)
    def result(program: Program) -> _T:
        try:
            return results[program]
        except KeyError:
            return results.setdefault(program, analyze(program))

    return result
