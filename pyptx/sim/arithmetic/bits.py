"""Bitwise primitives: logic, shifts, bit fields, permutes, carries, selection, width changes."""

from __future__ import annotations

from pyptx.sim.actions import Apply
from pyptx.sim.value_types import width

__all__ = ["BITS", "signed"]


def signed(value: int, bits: int) -> int:
    """Interpret bits as a signed integer."""
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def _mask(node: Apply) -> int:
    return (1 << width(node.result)) - 1


def _shift_left(node: Apply, a: int, n: int) -> int:
    return a << n & _mask(node) if n < width(node.type) else 0


def _shift_right(node: Apply, a: int, n: int) -> int:
    bits = width(node.type)
    if node.type[0] == "s":
        return signed(a, bits) >> min(n, bits - 1) & _mask(node)
    return a >> n if n < bits else 0


def _funnel_left(node: Apply, a: int, b: int, c: int) -> int:
    n = min(c, 32) if "clamp" in node.flags else c & 31
    return ((b << 32 | a) << n) >> 32 & 0xFFFFFFFF


def _funnel_right(node: Apply, a: int, b: int, c: int) -> int:
    n = min(c, 32) if "clamp" in node.flags else c & 31
    return (b << 32 | a) >> n & 0xFFFFFFFF


def _lop3(node: Apply, a: int, b: int, c: int) -> int:
    result = 0
    for i in range(32):
        result |= (node.number >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | c >> i & 1) & 1) << i
    return result


def _find(node: Apply, a: int) -> int:
    n = width(node.type)
    if node.type[0] == "s" and a >> (n - 1):
        a ^= (1 << n) - 1
    if not a:
        return 0xFFFFFFFF
    top = a.bit_length() - 1
    return n - 1 - top if "shiftamt" in node.flags else top


def _nth_set(node: Apply, mask: int, base: int, offset: int) -> int:
    offset = signed(offset, 32)
    if base > 31:
        return 0xFFFFFFFF
    if offset == 0:
        return base if mask >> base & 1 else 0xFFFFFFFF
    step = 1 if offset > 0 else -1
    places = [p for p in range(base, 32 if step > 0 else -1, step) if mask >> p & 1]
    return places[abs(offset) - 1] if abs(offset) <= len(places) else 0xFFFFFFFF


def _field(n: int, pos: int, length: int) -> tuple[int, int]:
    """Extract a bit field. Position and length are 8 bits; the 64-bit forms, which are emulated, use all 32."""
    return (pos & 255, length & 255) if n == 32 else (min(pos, 255), min(length, 255))


def _extract(node: Apply, a: int, pos: int, length: int) -> int:
    n = width(node.type)
    pos, length = _field(n, pos, length)
    if length == 0:
        return 0
    fill = a >> min(pos + length - 1, n - 1) & 1 if node.type[0] == "s" else 0
    result = 0
    for i in range(n):
        bit = a >> (pos + i) & 1 if i < length and pos + i < n else fill
        result |= bit << i
    return result


def _insert(node: Apply, a: int, b: int, pos: int, length: int) -> int:
    n = width(node.type)
    pos, length = _field(n, pos, length)
    result = b
    for i in range(length):
        if pos + i < n:
            result = result & ~(1 << pos + i) | (a >> i & 1) << pos + i
    return result


def _mask_of_ones(node: Apply, pos: int, length: int) -> int:
    if "wrap" in node.flags:
        pos, length = pos & 31, length & 31
    return ((1 << min(length, 32)) - 1) << min(pos, 32) & 0xFFFFFFFF


def _sign_or_zero_extend(node: Apply, a: int, bits: int) -> int:
    if "wrap" in node.flags:
        bits &= 31
    if bits > 31:
        return a
    if bits == 0:
        return 0
    a &= (1 << bits) - 1
    return signed(a, bits) & 0xFFFFFFFF if node.type[0] == "s" else a


_PRMT = {
    "f4e": lambda n, i: n + i,
    "b4e": lambda n, i: (n - i) & 7,
    "rc8": lambda n, i: n,
    "ecl": lambda n, i: max(i, n),
    "ecr": lambda n, i: min(i, n),
    "rc16": lambda n, i: (n & 1) * 2 + (i & 1),
}


def _permute(node: Apply, a: int, b: int, c: int) -> int:
    mode = next((_PRMT[m] for m in _PRMT if m in node.flags), None)
    pool, result = b << 32 | a, 0
    for i in range(4):
        s = c >> 4 * i & 15 if mode is None else mode(c & 3, i)
        byte = pool >> 8 * (s & 7) & 255
        if s & 8:
            byte = 255 * (byte >> 7)
        result |= byte << 8 * i
    return result


def _dot(a_bits: int, count: int):
    def run(node: Apply, a: int, b: int, c: int) -> int:
        if "hi" in node.flags:
            b >>= 16
        total = c
        for i in range(count):
            x, y = a >> a_bits * i & (1 << a_bits) - 1, b >> 8 * i & 255
            total += (signed(x, a_bits) if "asigned" in node.flags else x) * (
                signed(y, 8) if "bsigned" in node.flags else y
            )
        return total & 0xFFFFFFFF

    return run


def _carryless(node: Apply, a: int, b: int) -> int:
    product = 0
    for i in range(64):
        if b >> i & 1:
            product ^= a << i
    return product >> 64 if "hi" in node.flags else product & _mask(node)


def _resize(node: Apply, a: int) -> int:
    """Sign- or zero-extend a value by its type, or truncate it."""
    value = signed(a, width(node.type)) if node.type[0] == "s" else a
    return value & _mask(node)


def _lane(node: Apply, a: int) -> int:
    """Select lane `number` of a packed value: 16-bit lanes are in halves, 8- and 6-bit lanes in bytes, 4-bit in nibbles."""
    return a >> node.number * _pitch(node.result) & _mask(node)


def _join(node: Apply, *lanes: int) -> int:
    pitch = width(node.result) // len(lanes)
    return sum((value & (1 << pitch) - 1) << k * pitch for k, value in enumerate(lanes))


def _pitch(type_name: str) -> int:
    return 8 if type_name in ("e2m3", "e3m2") else width(type_name)


BITS = {
    "and": lambda node, a, b: a & b,
    "or": lambda node, a, b: a | b,
    "xor": lambda node, a, b: a ^ b,
    "not": lambda node, a: ~a & _mask(node),
    "shl": _shift_left,
    "shr": _shift_right,
    "funnell": _funnel_left,
    "funnelr": _funnel_right,
    "lop3": _lop3,
    "popc": lambda node, a: a.bit_count(),
    "clz": lambda node, a: width(node.type) - a.bit_length(),
    "brev": lambda node, a: int(format(a, f"0{width(node.type)}b")[::-1], 2),
    "bfind": _find,
    "fns": _nth_set,
    "bfe": _extract,
    "bfi": _insert,
    "bmsk": _mask_of_ones,
    "szext": _sign_or_zero_extend,
    "prmt": _permute,
    "dp4a": _dot(8, 4),
    "dp2a": _dot(16, 2),
    "clmul": _carryless,
    "resize": _resize,
    "select": lambda node, c, a, b: a if c else b,
    "lane": _lane,
    "join": _join,
    "addc": lambda node, a, b, k: (a + b + k) & _mask(node),
    "subc": lambda node, a, b, k: (a - b - k) & _mask(node),
    "carry": lambda node, a, b, k: int(a + b + k >> width(node.type)),
    "borrow": lambda node, a, b, k: int(a - b - k < 0),
}
