"""Classes of values: `@dataclass(frozen=True, slots=True)` in what it does, made and filled several times as fast.

The tree of a module, the table and the actions of the simulator are some 160 small classes. `dataclass` compiles six
methods for each, which was a sixth of the time that importing pyptx took; here one is compiled, the others
are shared. Python 3.11, microseconds: 80 a class (430), 1.0 an object of six fields (2.8), 0.7 a comparison (0.5).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform

__all__ = ["value"]

T = TypeVar("T")
_bare = dataclass(init=False, repr=False, eq=False, slots=True)


@dataclass_transform(frozen_default=True, field_specifiers=(field, Field))
def value(cls: type[T]) -> type[T]:
    """The class with its fields as slots, equal and hashed by those that are compared, never changed once made.

    `fields`, `replace`, `asdict`, `match` and copies work as for any dataclass; there is no `__post_init__`, and no
    default that a factory makes.

    Examples:
        >>> @value
        ... class Point:
        ...     x: int
        ...     y: int = 0
        >>> Point(1)
        Point(x=1, y=0)
        >>> Point(1) == Point(1, 0)
        True
    """
    made: Any = _bare(cls)
    found = fields(made)
    compared = [f.name for f in found if f.compare]
    parts: Callable[[Any], Any] = attrgetter(*compared) if compared else lambda self: ()

    def __eq__(self: Any, other: object) -> bool:
        return parts(self) == parts(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(parts(self))

    made.__init__ = _init(made, found)
    made.__eq__, made.__hash__, made.__repr__ = __eq__, __hash__, _repr
    made.__setattr__, made.__delattr__ = _set, _delete
    made.__getstate__, made.__setstate__ = _state, _fill
    said = made.__dataclass_params__
    said.init = said.repr = said.eq = said.frozen = True
    return made


def _init(cls: type, found: tuple[Field, ...]) -> Callable[..., None]:
    """`__init__`, which sets the slots themselves, past the `__setattr__` that refuses."""
    names: dict[str, Any] = {}
    positional, keywords = [], []
    for f in found:
        names[f"_set_{f.name}"] = getattr(cls, f.name).__set__
        parameter = f.name
        if f.default is not MISSING:
            names[f"_default_{f.name}"] = f.default
            parameter += f"=_default_{f.name}"
        (keywords if f.kw_only else positional).append(parameter)
    parameters = ["self", *positional, *(["*", *keywords] if keywords else [])]
    body = [f"_set_{f.name}(self, {f.name})" for f in found] or ["pass"]
    exec(f"def __init__({', '.join(parameters)}):\n " + "\n ".join(body), names)
    init = names.pop("__init__")
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = {f.name: f.type for f in found} | {"return": None}
    return init


def _repr(self: Any) -> str:
    shown = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
    return f"{self.__class__.__qualname__}({shown})"


def _set(self: Any, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, f.name) for f in fields(self)]


def _fill(self: Any, state: list[Any]) -> None:
    for f, part in zip(fields(self), state, strict=True):
        object.__setattr__(self, f.name, part)
