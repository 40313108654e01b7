"""What an action reads and writes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from functools import cache

from pyptx.sim.actions.basic import Action, Address, Call, Compute, Const, HostCall, Reg, Return, Special, Store
from pyptx.sim.actions.means import Leaf, walk

__all__ = ["sources", "targets", "values"]

_WRITTEN = frozenset(("data", "inside", "equal", "leader", "report"))


def targets(action: Action) -> Iterator[Reg]:
    """Registers an action writes."""
    if isinstance(action, Compute):
        yield from (t for t, _ in action.assignments if t is not None)
        return
    for part in _inner(action):
        yield from targets(part)
    for name in _parts(type(action))[0]:
        yield from _registers(getattr(action, name))


def sources(action: Action) -> Iterator[Reg]:
    """Registers an action reads."""
    return (v for v in values(action) if isinstance(v, Reg))


def values(action: Action) -> Iterator[Reg | Const | Special]:
    """Values an action reads."""
    if isinstance(action, Compute):
        for _, expression in action.assignments:
            yield from (n.value for n in walk(expression) if isinstance(n, Leaf))
        return
    for part in _inner(action):
        yield from values(part)
    for name in _parts(type(action))[1]:
        yield from _values(getattr(action, name))


def _inner(action: Action) -> tuple[Action, ...]:
    """Actions within an action."""
    match action:
        case Call() | HostCall():
            return (*action.before, *action.after)
        case Return(stores):
            return stores
    return ()


@cache
def _parts(kind: type) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Fields of an action that it writes, and those it reads."""
    written = tuple(f.name for f in fields(kind) if f.name in _WRITTEN and kind is not Store)
    return written, tuple(f.name for f in fields(kind) if f.name not in written)


def _values(item) -> Iterator[Reg | Const | Special]:
    if isinstance(item, (Reg, Const, Special)):
        yield item
    elif isinstance(item, Address):
        if item.base is not None:
            yield item.base
    elif isinstance(item, tuple):
        for part in item:
            yield from _values(part)


def _registers(item) -> Iterator[Reg]:
    return (v for v in _values(item) if isinstance(v, Reg))
