"""Immutable record classes: `@frozen` behaves like `@dataclass(frozen=True, slots=True)`, at a fraction of the cost.

The IR, the instruction table and the decoded actions of the simulator comprise some 200 small classes. `dataclass`
compiles six methods per class, which took a sixth of the import time of pyptx. `frozen` compiles `__init__` once for all
classes with as many fields, shares the other methods, and has `dataclass` describe the fields when they are asked for.
Measured on Python 3.11 (`dataclass` in parentheses): 25 us to create a class (430), 1.0 us to construct an object of six
fields (2.8), 0.7 us to compare two (0.5).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields, replace
from functools import cache, partial
from inspect import get_annotations
from operator import attrgetter
from types import CodeType, FunctionType
from typing import Any, NamedTuple, TypeVar, dataclass_transform, overload

__all__ = ["frozen"]

T = TypeVar("T")


class _Members(NamedTuple):
    """The fields of a class and its bases: their annotations, and for some a default or the Field of the class body."""

    annotations: dict[str, Any]
    values: dict[str, Any]


@overload
def frozen(cls: type[T], /) -> type[T]: ...
@overload
def frozen(*, eq: bool) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field, Field))
def frozen(cls: Any = None, /, *, eq: bool = True) -> Any:
    """Make `cls` an immutable dataclass with slots, compared and hashed by its fields as `field` says.

    `dataclasses.fields`, `replace`, `asdict`, `match` statements, copying and pickling work as for any dataclass.
    Methods that the class defines are kept, and `__post_init__` is called. A base may be another such class. With
    `eq=False`, objects are compared and hashed by identity, as for `dataclass`.

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
    return partial(_frozen, eq=eq) if cls is None else _frozen(cls, eq)


def _frozen(cls: type, eq: bool) -> type:
    own = get_annotations(cls)
    inherited = _inherited(cls)
    members = _Members(inherited.annotations | own, {k: v for k, v in inherited.values.items() if k not in own})
    members.values.update({name: cls.__dict__[name] for name in own if name in cls.__dict__})
    options = {name: value for name, value in members.values.items() if isinstance(value, Field)}
    compared = [name for name in members.annotations if name not in options or options[name].compare]
    hashed = [
        name
        for name in members.annotations
        if (name in compared if name not in options or options[name].hash is None else options[name].hash)
    ]
    key, hash_key = _getter(compared), _getter(hashed)

    def __eq__(self: Any, other: object) -> bool:
        return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(hash_key(self))

    keywords = [name for name, value in options.items() if value.kw_only is True]
    positional = [name for name in members.annotations if name not in keywords]
    body = {name: value for name, value in cls.__dict__.items() if name not in own and name not in _OF_INSTANCES}
    body["__slots__"] = tuple([name for name in own if name not in inherited.annotations])
    body.setdefault("__match_args__", tuple(positional))
    compares = {"__eq__": __eq__, "__hash__": __hash__} if eq else {}
    for name, method in (compares | {"__repr__": _repr}).items():
        if body.get(name) is None:  # a class that defines `__eq__` has the `__hash__` None
            body[name] = method
    made: Any = type(cls)(cls.__name__, cls.__bases__, body | _METHODS)
    made.__qualname__ = cls.__qualname__
    made.__init__ = _init(made, members, positional, keywords)
    made.__frozen_members__ = members
    made.__dataclass_fields__, made.__dataclass_params__ = (
        _Description("fields", made, eq),
        _Description("params", made, eq),
    )
    return made


_OF_INSTANCES = frozenset({"__dict__", "__weakref__"})


def _inherited(cls: type) -> _Members:
    """Return the fields of the bases.

    Raises:
        TypeError: A base is a dataclass that `frozen` did not make.
    """
    found = _Members({}, {})
    for base in reversed(cls.__mro__[1:]):
        members: _Members | None = base.__dict__.get("__frozen_members__")
        if members is not None:
            found.annotations.update(members.annotations)
            found.values.update(members.values)
        elif "__dataclass_fields__" in base.__dict__:
            raise TypeError(f"{cls.__name__} derives from the dataclass {base.__name__}; decorate both with @frozen")
    return found


_described = dataclass(init=False, repr=False, eq=False)  # its methods take most of the time of `dataclass`


class _Description:
    """An attribute of dataclasses, made by `dataclass` when it is first read."""

    def __init__(self, name: str, cls: type, eq: bool):
        self.name, self.eq = f"__dataclass_{name}__", eq
        self.cls: Any = cls

    def __get__(self, instance: object, owner: type) -> Any:
        members: _Members = self.cls.__dict__["__frozen_members__"]
        body = {**members.values, "__annotations__": members.annotations, "__module__": self.cls.__module__}
        body["__doc__"] = "Fields only."  # without one, `dataclass` parses a signature for it
        described: Any = _described(type(self.cls.__name__, (), body))
        params = described.__dataclass_params__
        params.init = params.repr = params.frozen = True
        params.eq = self.eq
        self.cls.__dataclass_fields__, self.cls.__dataclass_params__ = described.__dataclass_fields__, params
        return getattr(described, self.name)


def _getter(names: list[str]) -> Callable[[Any], Any]:
    return attrgetter(*names) if names else lambda self: ()


def _init(cls: type, members: _Members, positional: list[str], keywords: list[str]) -> Callable[..., None]:
    """Return `__init__`, which stores through the slot descriptors because `__setattr__` raises."""
    parameters = [*positional, *keywords]
    names: dict[str, Any] = {"__name__": cls.__module__, "_MISSING": MISSING}
    defaults, factories = {}, []
    for i, name in enumerate(parameters):
        names[f"_set_{i}"] = getattr(cls, name).__set__
        value = members.values.get(name, MISSING)
        if isinstance(value, Field) and value.default_factory is not MISSING:
            names[f"_make_{i}"] = value.default_factory
            factories.append(i)
            defaults[name] = MISSING
        elif (default := value.default if isinstance(value, Field) else value) is not MISSING:
            defaults[name] = default
        elif defaults and name not in keywords:
            raise TypeError(f"{cls.__name__}: field {name!r} without a default follows one with a default")
    code = _init_code(len(positional), len(keywords), tuple(factories), hasattr(cls, "__post_init__"))
    init = FunctionType(
        code.replace(co_varnames=("self", *parameters)),
        names,
        "__init__",
        tuple([defaults[name] for name in positional if name in defaults]),
    )
    init.__kwdefaults__ = {name: defaults[name] for name in keywords if name in defaults} or None
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = {name: members.annotations[name] for name in parameters} | {"return": None}
    return init


@cache
def _init_code(positional: int, keywords: int, factories: tuple[int, ...], post: bool) -> CodeType:
    """Compile `__init__` for a number of fields, which are called a0, a1, ...: its names and defaults are set later."""
    names = [f"a{i}" for i in range(positional + keywords)]
    parameters = ["self", *names[:positional], *(["*", *names[positional:]] if keywords else [])]
    body = [
        f"_set_{i}(self, {f'_make_{i}() if a{i} is _MISSING else a{i}' if i in factories else f'a{i}'})"
        for i in range(len(names))
    ]
    body += ["self.__post_init__()"] if post else [] if body else ["pass"]
    space: dict[str, Any] = {}
    exec(f"def __init__({', '.join(parameters)}):\n " + "\n ".join(body), space)
    return space["__init__"].__code__


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


def _replace(self: Any, /, **changes: Any) -> Any:
    return replace(self, **changes)


_METHODS = {
    "__setattr__": _setattr,
    "__delattr__": _delattr,
    "__getstate__": _getstate,
    "__setstate__": _setstate,
    "__replace__": _replace,  # Python 3.13: copy.replace
}
