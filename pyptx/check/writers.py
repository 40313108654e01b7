"""Who may write an array: read off the program, by which parameters an address can come from."""

from __future__ import annotations

from pyptx.sim.actions.basic import Atomic, Call, Compute, Load, Move, Store
from pyptx.sim.actions.uses import sources, targets
from pyptx.sim.program.program import Program

__all__ = ["only_float_sums", "takes_tickets"]

_UNKNOWN = "?"
_SUMS = frozenset(("f16", "bf16", "f16x2", "bf16x2", "f32", "f64"))


def only_float_sums(program: Program, tensor: str) -> bool:
    """Whether everything that may write to the memory of a parameter adds floating-point numbers atomically.

    False where the program cannot be followed: calls, addresses out of memory, asynchronous stores.
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
        elif getattr(action, "way", None) == "store" or getattr(action, "direction", None) in ("store", "reduce"):
            return False
        elif type(action).__name__ in ("StoreFragment", "Send") and _may_write_anywhere(action):
            return False
    return sums > 0


def takes_tickets(program: Program) -> bool:
    """Whether the old value of an atomic is used, so that threads may divide work by the order they come in."""
    return any(isinstance(action, Atomic) and any(r is not None for r in action.data) for action in program.actions)


def _may_write(action: Store | Atomic, origins: dict[int, set[str]], tensor: str) -> bool:
    if action.address.space not in ("global", "generic"):
        return False
    found = origins.get(action.address.base.index, set()) if action.address.base is not None else {_UNKNOWN}
    return tensor in found or _UNKNOWN in found or not found


def _may_write_anywhere(action: object) -> bool:
    address = getattr(action, "address", None) or getattr(action, "to", None)
    return address is None or address.space in ("global", "generic")


def _origins(program: Program) -> dict[int, set[str]]:
    """Parameters that the value of each register may be made of; `?` where an address may come out of memory."""
    origins: dict[int, set[str]] = {}
    slots = program.names.params
    changed = True
    while changed:
        changed = False
        for action in program.actions:
            if isinstance(action, Load):
                found = {_UNKNOWN} if action.size == 8 else set()
                if action.address.space == "param":
                    found = {s.name for s in slots if action.address.base is None
                             and s.offset <= action.address.offset < s.offset + s.size} or {_UNKNOWN}
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
