"""Captures of a kernel function: the values it reads from its closure and its module.

They affect the PTX as parameters do, so changing one selects another specialization.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from enum import Enum
from functools import cached_property
from types import CellType, FunctionType
from typing import Any

from pyptx._loc import PACKAGE_DIR
from pyptx.jit.code_reads import reads_of
from pyptx.types import PtxType

__all__ = ["Captures", "hashable"]

_PLAIN = (bool, int, float, str, bytes, type(None), tuple, list, dict, frozenset, set, PtxType, Enum)
_EXACT = (bool, int, str, bytes, type(None))  # equal values of one of these types are the same value
_MISSING = object()


def hashable(value: Any) -> Hashable:
    """Return a value as part of a cache key: with its type, because 1, 1.0 and True are different, or as its repr."""
    kind = value.__class__
    return (kind, value) if kind in _EXACT else (kind, repr(value))


class Captures:
    """The plain values that a function, and the functions it calls outside pyptx, read by name.

    Functions, modules and other objects are taken to be constant, as is a PTX type under its own name.
    """

    def __init__(self, function: Callable[..., Any]):
        self._function = function
        self._last: tuple[tuple, Hashable] = ((), None)

    def key(self) -> Hashable:
        """Return a key of the current values; equal for equal values."""
        if not self._variables:
            return ()
        before, key = self._last
        for (scope, name), value in zip(self._variables, before, strict=False):
            if (_contents(scope) if name is None else scope.get(name, _MISSING)) is not value:
                break
        else:
            if key is not None:
                return key
        values = tuple(
            _contents(scope) if name is None else scope.get(name, _MISSING) for scope, name in self._variables
        )
        key = tuple(map(hashable, values))
        self._last = values, None if any(isinstance(value, _MUTABLE) for value in values) else key
        return key

    @cached_property
    def _variables(self) -> tuple[tuple[Any, str | None], ...]:
        """The variables with plain values: a closure cell and None, or a module namespace and a name."""
        return tuple(
            (scope, name)
            for scope, name, value in _reads(self._function, set())
            if isinstance(value, _PLAIN) and not (isinstance(value, PtxType) and value.name == name)
        )


_MUTABLE = (tuple, list, dict, set)  # the same object may hold other values later; a tuple through its items


def _reads(function: Any, seen: set[int]) -> Iterator[tuple[Any, str | None, Any]]:
    """Yield scope, name and value of each variable that a function and the functions it names read."""
    if not isinstance(function, FunctionType) or id(function) in seen:
        return
    seen.add(id(function))
    module = function.__globals__
    found: list[tuple[Any, str | None, Any]] = [(cell, None, _contents(cell)) for cell in function.__closure__ or ()]
    found += [(module, name, module[name]) for name in reads_of(function.__code__).globals if name in module]
    yield from found
    for _, _, value in found:
        if isinstance(value, FunctionType) and not value.__code__.co_filename.startswith(PACKAGE_DIR):
            yield from _reads(value, seen)


def _contents(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return _MISSING
