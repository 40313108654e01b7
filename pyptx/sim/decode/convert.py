"""cvt: which primitive conversion each lane goes through."""

from __future__ import annotations

from pyptx.sim.actions.basic import Const
from pyptx.sim.actions.means import Apply, Leaf, Node
from pyptx.sim.decode.types import Unknown, element, is_float, lanes_of, width

__all__ = ["conversion", "lane_of", "stochastic"]


def conversion(sources: list[Node], target: str, flags: frozenset[str], scale: Node | None = None) -> Node:
    """`target` from one source, or its high and low lane from two; `scale` is one of ue8m0, or two packed.

    Raises:
        Unknown: a format that is not simulated.
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
    """The scale of a lane: its byte of two, or the one there is."""
    if scale is None:
        return None
    bits = width(_type(scale))
    whole = Leaf(scale.value, f"b{bits}")
    return Apply("lane", (whole,), f"b{bits}", "u8", number=lane) if bits == 16 else Leaf(scale.value, "u8")


# bits of a stochastic rounding: how many, and where those of each source start
_RANDOM = {"f16x2": (13, (16, 0)), "bf16x2": (16, (16, 0)), "e2m1x4": (8, (24, 8, 16, 0))}
_RANDOM_OF_FOUR = 16, (16, 16, 0, 0)


def stochastic(sources: list[Node], random: Node, target: str, flags: frozenset[str]) -> Node:
    """Two or four sources, the first in the top lane, each with its part of the random bits."""
    bits, places = _RANDOM.get(target, _RANDOM_OF_FOUR)
    inner, count = element(target), lanes_of(target)
    lanes = []
    for source, place in zip(sources, places, strict=True):
        shifted = Apply.of("shr", Leaf(random.value, "u32"), Leaf(Const(place, 32), "u32"), type="u32")
        part = Apply.of("and", shifted, Leaf(Const((1 << bits) - 1, 32), "u32"), type="u32")
        lanes.append(Apply.of("cvtrandom", source, part, type=_type(source), result=inner, flags=flags, number=bits))
    return Apply.of("join", *lanes[::-1], type=f"u{width(target) // count}", result=f"b{width(target)}")


def lane_of(leaf: Leaf, lane: int) -> Apply:
    """One lane of a packed source."""
    bits = f"b{width(leaf.type)}"
    return Apply("lane", (Leaf(leaf.value, bits),), bits, element(leaf.type), number=lane)


def one(node: Node, source: str, target: str, flags: frozenset[str], scale: Node | None = None) -> Node:
    if not all(is_float(t) or t[1:].isdigit() for t in (source, target)):
        raise Unknown(f"{source} to {target}")
    if scale is not None:                                   # widening multiplies, narrowing divides
        wide = {"f32", "f16", "bf16"}
        return Apply.of("cvtscaled", node, scale, type=source, result=target, flags=flags, number=int(target in wide))
    if (is_float(source) and not is_float(target)) or (not is_float(source) and is_float(target)):
        flags = flags - {"whole"}
    return Apply.of("cvt", node, type=source, result=target, flags=flags)


def _type(node: Node) -> str:
    return node.type if isinstance(node, Leaf) else node.result
