"""What a kernel's function reads besides its parameters: numbers, names and types of its closure and its module.

They decide about the kernel's text as parameters do, so a change of one of them is another kernel.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Hashable, Iterator
from enum import Enum
from functools import cached_property
from types import CellType, CodeType, FunctionType
from typing import Any

from pyptx._loc import PACKAGE_DIR
from pyptx.types import PtxType

__all__ = ["Outside", "hashable"]

_PLAIN = (bool, int, float, str, bytes, type(None), tuple, list, dict, frozenset, set, PtxType, Enum)
_EXACT = (bool, int, str, bytes, type(None))                # equal values of one of these types are the same value
_MISSING = object()


def hashable(value: Any) -> Hashable:
    """A value as part of a key: with its type (1, 1.0 and True are three kernels), by its repr where that is safer."""
    kind = value.__class__
    return (kind, value) if kind in _EXACT else (kind, repr(value))


class Outside:
    """What one function, and the functions it calls outside pyptx, read by name when they run.

    Functions, modules and other objects that are named count as unchanging, and so does a type under its own name.
    """

    def __init__(self, function: Callable):
        self._function = function
        self._last: tuple[tuple, Hashable] = ((), None)

    def key(self) -> Hashable:
        """The values now; equal for equal values."""
        if not self._watched:
            return ()
        before, key = self._last
        for (place, name), value in zip(self._watched, before, strict=False):
            if (_contents(place) if name is None else place.get(name, _MISSING)) is not value:
                break
        else:
            if key is not None:
                return key
        values = tuple(_contents(place) if name is None else place.get(name, _MISSING)
                       for place, name in self._watched)
        key = tuple(map(hashable, values))
        self._last = values, None if any(isinstance(value, _CHANGING) for value in values) else key
        return key

    @cached_property
    def _watched(self) -> tuple[tuple[Any, str | None], ...]:
        """Places that hold something plain: a cell and None, or a module's names and one of them."""
        return tuple((place, name) for place, name, value in _reads(self._function, set())
                     if isinstance(value, _PLAIN) and not (isinstance(value, PtxType) and value.name == name))


_CHANGING = (tuple, list, dict, set)                        # the same object may hold other values


def _reads(function: Any, seen: set[int]) -> Iterator[tuple[Any, str | None, Any]]:
    """Place, name and value of what a function reads, and of what the functions read that it names."""
    if not isinstance(function, FunctionType) or id(function) in seen:
        return
    seen.add(id(function))
    space = function.__globals__
    found: list[tuple[Any, str | None, Any]] = [(cell, None, _contents(cell)) for cell in function.__closure__ or ()]
    found += [(space, name, space[name]) for name in _globals(function.__code__) if name in space]
    yield from found
    for _, _, value in found:
        if isinstance(value, FunctionType) and not value.__code__.co_filename.startswith(PACKAGE_DIR):
            yield from _reads(value, seen)


def _globals(code: CodeType) -> list[str]:
    """Names of globals in a body and the functions written in it."""
    names = {i.argval: None for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names.update(dict.fromkeys(_globals(constant)))
    return list(names)


def _contents(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:                                      # not assigned yet
        return _MISSING
