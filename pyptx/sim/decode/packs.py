"""Arithmetic on four numbers of eight bits or less at once: each is widened, computed with, and rounded once.

Done in f64, where products of these numbers are exact, and sums as well but for those with ue8m0: there one of the two
is then too small to move the other, which has the format of the result, or too large for it. Results beyond the
largest number become it with .satfinite; without, NaN in e4m3 and infinity in e5m2.

Source: PTX ISA, "Alternate Floating-Point Instructions".
"""

from __future__ import annotations

from pyptx.sim.actions.basic import Compute, Value
from pyptx.sim.actions.means import Apply, Leaf, Node
from pyptx.sim.decode.types import element
from pyptx.sim.symbols.operands import Operands

__all__ = ["TARGETS", "packed"]

TARGETS = frozenset(("e4m3x4", "e5m2x4"))
_PADDED = {"e2m1p4": "e2m1"}                    # in bytes of its own


def packed(o: Operands) -> Compute | None:
    """The action of add, sub, mul or fma whose dtype is one of TARGETS."""
    target, opcode = o.choices["dtype"], o.instruction.opcode
    types = {"a": o.choices["atype"], "b": o.choices.get("btype"), "c": o.choices.get("ctype") or target}
    sources = [(o.value(name), types[name]) for name in ("abc" if opcode == "fma" else "ac")]
    flags = frozenset({"satfinite"} if ".satfinite" in o.instruction.modifiers else ())
    data = o.target("d")
    if data is None:
        return None
    lanes = []
    for k in range(4):
        result = Apply.of(opcode, *[_widened(value, name, k) for value, name in sources], type="f64")
        lanes.append(Apply.of("cvt", result, type="f64", result=element(target), flags=flags))
    return Compute(((data, Apply.of("join", *lanes, type="u8", result="b32")),))


def _widened(value: Value, type_name: str, lane: int) -> Node:
    """One lane of a pack as f64."""
    plain, bits = element(type_name), "b16" if type_name == "e2m1x4" else "b32"
    kind = _PADDED.get(plain, plain)
    at = Apply("lane", (Leaf(value, bits),), bits, "u8" if plain in _PADDED else kind, number=lane)
    return Apply.of("cvt", at, type=kind, result="f64")
