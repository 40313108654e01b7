"""Conversions (cvt), and packed arithmetic on four numbers of eight bits or less, which is built on them.

Packed numbers are widened to f64, computed and rounded once. In f64 products of these numbers are exact, and so are
sums unless a ue8m0 is involved: then one of the two is too small to change the other, which has the format of the
result, or too large for it. Results beyond the largest number saturate with .satfinite; without it they become NaN in
e4m3 and infinity in e5m2.

Source: PTX ISA, "Alternate Floating-Point Instructions".
"""

from __future__ import annotations

from collections.abc import Sequence

from pyptx.sim.actions import Apply, Compute, Const, Leaf, Node, Value
from pyptx.sim.decode._registry import UnsupportedFormError
from pyptx.sim.symbols.operands import Operands
from pyptx.sim.value_types import element, is_float, lanes_of, width

__all__ = ["TARGETS", "conversion", "lane_of", "packed", "stochastic"]


def conversion(sources: Sequence[Node], target: str, flags: frozenset[str], scale: Node | None = None) -> Node:
    """Convert one source, or the high and low lane from two, to `target`; `scale` is a ue8m0 value or two packed ones.

    Raises:
        UnsupportedFormError: a format is not simulated.
    """
    count = lanes_of(target)
    if count == 1:
        return one(sources[0], _type(sources[0]), target, flags)
    inner = element(target)
    lane_bits = width(target) // count
    if len(sources) == 2:
        pairs = [(sources[1], _type(sources[1])), (sources[0], _type(sources[0]))]
    else:
        packed = _type(sources[0])
        pairs = [(lane_of(sources[0], k), element(packed)) for k in range(lanes_of(packed))]
    lanes = [one(node, source, inner, flags, _scale(scale, k)) for k, (node, source) in enumerate(pairs)]
    return Apply.of("join", *lanes, type=f"u{lane_bits}", result=f"b{width(target)}")


def _scale(scale: Node | None, lane: int) -> Node | None:
    """Scale of a lane: its byte of two packed scales, or the only one."""
    if scale is None:
        return None
    value, bits = _leaf(scale).value, width(_type(scale))
    if bits != 16:
        return Leaf(value, "u8")
    return Apply("lane", (Leaf(value, f"b{bits}"),), f"b{bits}", "u8", number=lane)


# random bits of a stochastic rounding: how many, and where those of each source start
_RANDOM = {"f16x2": (13, (16, 0)), "bf16x2": (16, (16, 0)), "e2m1x4": (8, (24, 8, 16, 0))}
_RANDOM_OF_FOUR = 16, (16, 16, 0, 0)


def stochastic(sources: Sequence[Node], random: Node, target: str, flags: frozenset[str]) -> Node:
    """Convert two or four sources, the first into the top lane, each with its share of the random bits."""
    bits, places = _RANDOM.get(target, _RANDOM_OF_FOUR)
    inner, count = element(target), lanes_of(target)
    lanes = []
    for source, place in zip(sources, places, strict=True):
        shifted = Apply.of("shr", Leaf(_leaf(random).value, "u32"), Leaf(Const(place, 32), "u32"), type="u32")
        part = Apply.of("and", shifted, Leaf(Const((1 << bits) - 1, 32), "u32"), type="u32")
        lanes.append(Apply.of("cvtrandom", source, part, type=_type(source), result=inner, flags=flags, number=bits))
    return Apply.of("join", *lanes[::-1], type=f"u{width(target) // count}", result=f"b{width(target)}")


def lane_of(source: Node, lane: int) -> Apply:
    """Select a lane of a packed source."""
    leaf = _leaf(source)
    bits = f"b{width(leaf.type)}"
    return Apply("lane", (Leaf(leaf.value, bits),), bits, element(leaf.type), number=lane)


def one(node: Node, source: str, target: str, flags: frozenset[str], scale: Node | None = None) -> Node:
    """Convert a single value."""
    if not all(is_float(t) or t[1:].isdigit() for t in (source, target)):
        raise UnsupportedFormError(f"{source} to {target}")
    if scale is not None:  # widening multiplies, narrowing divides
        wide = {"f32", "f16", "bf16"}
        return Apply.of("cvtscaled", node, scale, type=source, result=target, flags=flags, number=int(target in wide))
    if (is_float(source) and not is_float(target)) or (not is_float(source) and is_float(target)):
        flags = flags - {"whole"}
    return Apply.of("cvt", node, type=source, result=target, flags=flags)


def _leaf(node: Node) -> Leaf:
    """An operand of the instruction, not an expression."""
    if not isinstance(node, Leaf):
        raise UnsupportedFormError
    return node


def _type(node: Node) -> str:
    return node.type if isinstance(node, Leaf) else node.result


# packed arithmetic --------------------------------------------------------------------------------------------------

TARGETS = frozenset(("e4m3x4", "e5m2x4"))
_PADDED = {"e2m1p4": "e2m1"}  # in bytes of its own


def packed(o: Operands) -> Compute | None:
    """Decode add, sub, mul or fma whose dtype is one of TARGETS."""
    target, opcode = o.choice("dtype"), o.instruction.opcode
    types = {"a": o.choice("atype"), "b": o.choices.get("btype"), "c": o.choices.get("ctype") or target}
    sources = [(o.value(name), types[name] or target) for name in ("abc" if opcode == "fma" else "ac")]
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
    """Convert a lane of a packed value to f64."""
    plain, bits = element(type_name), "b16" if type_name == "e2m1x4" else "b32"
    kind = _PADDED.get(plain, plain)
    at = Apply("lane", (Leaf(value, bits),), bits, "u8" if plain in _PADDED else kind, number=lane)
    return Apply.of("cvt", at, type=kind, result="f64")
