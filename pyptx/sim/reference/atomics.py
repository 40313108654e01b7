"""What an atomic makes of the old value (core/atomic.c)."""

from __future__ import annotations

from pyptx.sim.actions.basic import Atomic
from pyptx.sim.actions.means import Apply, Leaf
from pyptx.sim.reference import alu
from pyptx.sim.reference.bits import signed

__all__ = ["apply"]


def apply(action: Atomic, old: int, value: int, new: int, *, ftz: bool) -> int:
    """The new bits of one element."""
    bits = 8 * action.size
    cut = (1 << bits) - 1
    match action.operation:
        case "exch":
            return value
        case "cas":
            return new if old == value else old
        case "and":
            return old & value
        case "or":
            return old | value
        case "xor":
            return old ^ value
        case "inc":
            return 0 if old >= value else old + 1
        case "dec":
            return value if old == 0 or old > value else old - 1
    if action.type in ("f16", "bf16"):
        low = _float(action, old & 0xFFFF, value & 0xFFFF, ftz=False)
        return low | _float(action, old >> 16, value >> 16, ftz=False) << 16 if action.packed else low
    if action.type in ("f32", "f64"):
        return _float(action, old, value, ftz=ftz and action.type == "f32")
    if action.type[0] == "s":
        old, value = signed(old, bits), signed(value, bits)
    return {"add": old + value, "min": min(old, value), "max": max(old, value)}[action.operation] & cut


def _float(action: Atomic, old: int, value: int, *, ftz: bool) -> int:
    if action.operation != "add":
        return alu.minimum(old, value, action.type, largest=action.operation == "max")
    flags = frozenset({"ftz"} if ftz else ())
    none = Leaf(None, action.type)
    return alu.FLOAT["add"](Apply("add", (none, none), action.type, action.type, flags), old, value)
