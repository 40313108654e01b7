"""Pointer provenance: the parameters that an address may be derived from, and the instructions that may write them."""

from __future__ import annotations

from pyptx.sim.actions import (
    AsyncStore,
    Atomic,
    BulkCopy,
    Call,
    Compute,
    Load,
    Move,
    Store,
    StoreFragment,
    TensorCopy,
)
from pyptx.sim.actions.dataflow import sources, targets
from pyptx.sim.program.program import Program

__all__ = ["only_float_sums", "uses_atomic_results"]

_UNKNOWN = "?"
_SUMS = frozenset(("f16", "bf16", "f16x2", "bf16x2", "f32", "f64"))


def only_float_sums(program: Program, tensor: str) -> bool:
    """Return whether only floating-point atomic adds may write to the memory of a parameter.

    False if the analysis is not possible: calls, addresses loaded from memory, asynchronous stores.
    """
    if any(isinstance(action, Call) for action in program.actions):
        return False
    origins, sums = _origins(program), 0
    for action in program.actions:
        if isinstance(action, Atomic) and _may_write(action, origins, tensor):
            if action.operation != "add" or action.type not in _SUMS:
                return False
            sums += 1
        elif isinstance(action, Store):
            if _may_write(action, origins, tensor):
                return False
        elif isinstance(action, BulkCopy | TensorCopy) and action.direction in ("store", "reduce"):
            return False
        elif isinstance(action, StoreFragment | AsyncStore) and _may_write_global(action):
            return False
    return sums > 0


def uses_atomic_results(program: Program) -> bool:
    """Return whether the program uses values that atomics return, for example to distribute work dynamically."""
    return any(isinstance(action, Atomic) and any(r is not None for r in action.data) for action in program.actions)


def _may_write(action: Store | Atomic, origins: dict[int, set[str]], tensor: str) -> bool:
    if action.address.space not in ("global", "generic"):
        return False
    found = origins.get(action.address.base.index, set()) if action.address.base is not None else {_UNKNOWN}
    return tensor in found or _UNKNOWN in found or not found


def _may_write_global(action: StoreFragment | AsyncStore) -> bool:
    address = action.address if isinstance(action, StoreFragment) else action.to
    return address.space in ("global", "generic")


def _origins(program: Program) -> dict[int, set[str]]:
    """Return the parameters that each register may be derived from; `?` for an address that may come from memory."""
    origins: dict[int, set[str]] = {}
    slots = program.symbols.params
    changed = True
    while changed:
        changed = False
        for action in program.actions:
            found: set[str]
            if isinstance(action, Load):
                found = {_UNKNOWN} if action.size == 8 else set()
                if action.address.space == "param":
                    found = {
                        s.name
                        for s in slots
                        if action.address.base is None and s.offset <= action.address.offset < s.offset + s.size
                    } or {_UNKNOWN}
            elif isinstance(action, Compute | Move):
                found = set().union(*(origins.get(r.index, ()) for r in sources(action)))
            else:
                found = {_UNKNOWN} if any(r.width == 64 for r in targets(action)) else set()
            for register in targets(action):
                known = origins.setdefault(register.index, set())
                if not found <= known:
                    known |= found
                    changed = True
    return origins
