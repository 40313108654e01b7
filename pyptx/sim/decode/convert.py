"""cvt: which primitive conversion each lane goes through."""

from __future__ import annotations

from pyptx.sim.decode.types import Unknown, element, is_float, lanes_of, width
from pyptx.sim.means import Apply, Leaf, Node

__all__ = ["conversion", "lane_of"]


def conversion(sources: list[Node], target: str, flags: frozenset[str]) -> Node:
    """`target` from one source, or its high and low lane from two.

    Raises:
        Unknown: a format that is not simulated.
    """
    count = lanes_of(target)
    if count == 1:
        return one(sources[0], _type(sources[0]), target, flags)
    inner = element(target)
    lane_bits = width(target) // count
    if len(sources) == 2:
        high, low = (one(s, _type(s), inner, flags) for s in sources)
        return Apply.of("join", low, high, type=f"u{lane_bits}", result=f"b{width(target)}")
    [source] = sources
    packed = _type(source)
    lanes = [one(lane_of(source, k), element(packed), inner, flags) for k in range(lanes_of(packed))]
    return Apply.of("join", *lanes, type=f"u{lane_bits}", result=f"b{width(target)}")


def lane_of(leaf: Leaf, lane: int) -> Apply:
    """One lane of a packed source."""
    bits = f"b{width(leaf.type)}"
    return Apply("lane", (Leaf(leaf.value, bits),), bits, element(leaf.type), number=lane)


def one(node: Node, source: str, target: str, flags: frozenset[str]) -> Node:
    if not (is_float(source) or source[1:].isdigit()) or not (is_float(target)
                                                              or target[1:].isdigit()) or "pzo" in flags:
        raise Unknown(f"{source} to {target}")
    if (is_float(source) and not is_float(target)) or (not is_float(source) and is_float(target)):
        flags = flags - {"whole"}
    return Apply.of("cvt", node, type=source, result=target, flags=flags)


def _type(node: Node) -> str:
    return node.type if isinstance(node, Leaf) else node.result
