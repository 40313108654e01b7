"""Immutable record classes: `@frozen` behaves like `@dataclass(frozen=True, slots=True)`, at a fraction of the cost.

The IR, the instruction table and the decoded actions of the simulator comprise some 160 small classes. `dataclass`
compiles six methods per class, which took a sixth of the import time of pyptx; `frozen` compiles `__init__` only and
shares the rest. Measured on Python 3.11 (`dataclass` in parentheses): 80 us to create a class (430), 1.0 us to
construct an object of six fields (2.8), 0.7 us to compare two (0.5).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform

__all__ = ["frozen"]

T = TypeVar("T")
_slotted = dataclass(init=False, repr=False, eq=False, slots=True)


@dataclass_transform(frozen_default=True, field_specifiers=(field, Field))
def frozen(cls: type[T]) -> type[T]:
    """Make `cls` an immutable dataclass with slots, compared and hashed by its fields as `field` says.

    `dataclasses.fields`, `replace`, `asdict`, `match` statements, copying and pickling work as for any dataclass.
    Methods that the class defines are kept, and `__post_init__` is called.

    Examples:
        >>> @frozen
        ... class Point:
        ...     x: int
        ...     y: int = 0
        >>> Point(1)
        Point(x=1, y=0)
        >>> Point(1) == Point(1, 0)
        True
    """
    made: Any = _slotted(cls)
    members = fields(made)
    key = _getter([f.name for f in members if f.compare])
    hashed = _getter([f.name for f in members if (f.compare if f.hash is None else f.hash)])

    def __eq__(self: Any, other: object) -> bool:
        return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(hashed(self))

    made.__init__ = _init(made, members)
    for method in (__eq__, __hash__, _repr):
        name = "__repr__" if method is _repr else method.__name__
        if cls.__dict__.get(name) is None:  # a class that defines `__eq__` has the `__hash__` None
            setattr(made, name, method)
    made.__setattr__, made.__delattr__ = _setattr, _delattr
    made.__getstate__, made.__setstate__ = _getstate, _setstate
    params = made.__dataclass_params__
    params.init = params.repr = params.eq = params.frozen = True
    return made


def _getter(names: list[str]) -> Callable[[Any], Any]:
    return attrgetter(*names) if names else lambda self: ()


def _init(cls: type, members: tuple[Field, ...]) -> Callable[..., None]:
    """Compile `__init__`, which stores through the slot descriptors because `__setattr__` raises."""
    names: dict[str, Any] = {"__name__": cls.__module__}
    positional, keywords, body = [], [], []
    for f in members:
        names[f"_set_{f.name}"] = getattr(cls, f.name).__set__
        parameter = value = f.name
        if f.default_factory is not MISSING:
            names["_MISSING"], names[f"_make_{f.name}"] = MISSING, f.default_factory
            parameter += "=_MISSING"
            value = f"_make_{f.name}() if {f.name} is _MISSING else {f.name}"
        elif f.default is not MISSING:
            names[f"_default_{f.name}"] = f.default
            parameter += f"=_default_{f.name}"
        body.append(f"_set_{f.name}(self, {value})")
        (keywords if f.kw_only else positional).append(parameter)
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    parameters = ["self", *positional, *(["*", *keywords] if keywords else [])]
    exec(f"def __init__({', '.join(parameters)}):\n " + "\n ".join(body or ["pass"]), names)
    init = names.pop("__init__")
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = {f.name: f.type for f in members} | {"return": None}
    return init


def _repr(self: Any) -> str:
    shown = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
    return f"{self.__class__.__qualname__}({shown})"


def _setattr(self: Any, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delattr(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _getstate(self: Any) -> list[Any]:
    return [getattr(self, f.name) for f in fields(self)]


def _setstate(self: Any, state: list[Any]) -> None:
    for f, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, f.name, value)
