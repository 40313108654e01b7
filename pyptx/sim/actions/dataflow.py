"""Registers and values that an action reads and writes."""

from __future__ import annotations

from dataclasses import fields
from functools import cache

from pyptx.sim.actions import (
    Action,
    Address,
    Call,
    Compute,
    Const,
    HostCall,
    Leaf,
    Reg,
    Return,
    Special,
    Store,
    Sum,
    walk,
)

__all__ = ["sources", "targets", "values"]

_WRITTEN = frozenset(("data", "inside", "equal", "leader", "report"))  # fields with destinations


def targets(action: Action) -> list[Reg]:
    """Return the registers that an action writes."""
    if isinstance(action, Compute):
        return [t for t, _ in action.assignments if t is not None]
    found: list[Reg | Const | Special] = []
    for part in _nested(action):
        found += targets(part)
    for name in _field_names(action.__class__)[0]:
        _collect(getattr(action, name), found)
    return [v for v in found if isinstance(v, Reg)]


def sources(action: Action) -> list[Reg]:
    """Return the registers that an action reads."""
    return [v for v in values(action) if isinstance(v, Reg)]


def values(action: Action) -> list[Reg | Const | Special]:
    """Return the values that an action reads."""
    if isinstance(action, Compute):
        leaves = (n.value for _, expression in action.assignments for n in walk(expression) if isinstance(n, Leaf))
        return [value.register if isinstance(value, Sum) else value for value in leaves]
    found: list[Reg | Const | Special] = []
    for part in _nested(action):
        found += values(part)
    for name in _field_names(action.__class__)[1]:
        _collect(getattr(action, name), found)
    return found


def _nested(action: Action) -> tuple[Action, ...]:
    """Actions within an action."""
    match action:
        case Call() | HostCall():
            return (*action.before, *action.after)
        case Return(stores):
            return stores
    return ()


@cache
def _field_names(kind: type) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the fields of an action class that are written, and of those that are read."""
    written = tuple(f.name for f in fields(kind) if f.name in _WRITTEN and kind is not Store)
    return written, tuple(f.name for f in fields(kind) if f.name not in written)


def _collect(item: object, found: list[Reg | Const | Special]) -> None:
    if isinstance(item, Reg | Const | Special):
        found.append(item)
    elif isinstance(item, Sum):
        found.append(item.register)
    elif isinstance(item, Address):
        if item.base is not None:
            found.append(item.base)
    elif isinstance(item, tuple):
        for part in item:
            _collect(part, found)
