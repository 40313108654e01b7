"""What an action reads and writes."""

from __future__ import annotations

from dataclasses import fields
from functools import cache

from pyptx.sim.actions.basic import Action, Address, Call, Compute, Const, HostCall, Reg, Return, Special, Store
from pyptx.sim.actions.means import Leaf, walk

__all__ = ["sources", "targets", "values"]

_WRITTEN = frozenset(("data", "inside", "equal", "leader", "report"))


def targets(action: Action) -> list[Reg]:
    """Registers an action writes."""
    if action.__class__ is Compute:
        return [t for t, _ in action.assignments if t is not None]
    found: list[Reg | Const | Special] = []
    for part in _inner(action):
        found += targets(part)
    for name in _parts(action.__class__)[0]:
        _collect(getattr(action, name), found)
    return [v for v in found if v.__class__ is Reg]


def sources(action: Action) -> list[Reg]:
    """Registers an action reads."""
    return [v for v in values(action) if v.__class__ is Reg]


def values(action: Action) -> list[Reg | Const | Special]:
    """Values an action reads."""
    if action.__class__ is Compute:
        return [n.value for _, expression in action.assignments for n in walk(expression) if n.__class__ is Leaf]
    found: list[Reg | Const | Special] = []
    for part in _inner(action):
        found += values(part)
    for name in _parts(action.__class__)[1]:
        _collect(getattr(action, name), found)
    return found


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


def _collect(item, found: list[Reg | Const | Special]) -> None:
    kind = item.__class__
    if kind is Reg or kind is Const or kind is Special:
        found.append(item)
    elif kind is Address:
        if item.base is not None:
            found.append(item.base)
    elif isinstance(item, tuple):
        for part in item:
            _collect(part, found)
