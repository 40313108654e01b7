"""Encode expressions.

Narrow values are kept in 32-bit rows: unsigned types, bits and 16-bit floats zero-extended, signed types sign-extended.
"""

from __future__ import annotations

from pyptx.errors import SimulationError
from pyptx.sim.abi import MODIFIERS, NUMBER_FORMATS, ROUNDINGS
from pyptx.sim.actions import Apply, Const, Leaf, Node, Reg, Special
from pyptx.sim.core.encoding.encoder import Encoder
from pyptx.sim.value_types import width as width_of

__all__ = ["assign", "lower", "modifiers"]

_HALVES = frozenset(("f16", "bf16"))
_FLOATS = frozenset(NUMBER_FORMATS[NUMBER_FORMATS.index("f16") :])
_MODIFIERS = {name: code for code, name in enumerate(ROUNDINGS) if code} | MODIFIERS


def modifiers(flags: frozenset[str]) -> int:
    return sum(_MODIFIERS.get(flag, 0) for flag in flags)


def _row_width(type_name: str) -> int:
    width = width_of(type_name)
    return 1 if width == 1 else 32 if width <= 32 else 64


def _result(node: Node) -> str:
    return node.type if isinstance(node, Leaf) else node.result


def assign(e: Encoder, register: Reg, node: Node) -> None:
    """Assign an expression to a register, in the lanes of the guard."""
    type_name, target = _result(node), e.register(register)
    width, row = register.width, _row_width(type_name)
    if (
        row == 1
        or (row == 32 and (width == 32 or (width < 32 and _zero_extended(type_name))))
        or (row == 64 and width == 64)
    ):
        lower(e, node, target)
        return
    source = lower(e, node)
    if width <= 16:
        e.emit(f"zx{width}_32", target, source)
    elif width == 64:
        e.emit("sx_64" if type_name[0] == "s" else "zx_64", target, source)
    else:
        e.emit("lo_32", target, source)


def _zero_extended(type_name: str) -> bool:
    return type_name[0] != "s" or width_of(type_name) == 32


def lower(e: Encoder, node: Node, target: int | None = None) -> int:
    """Emit the operations that compute an expression and return the operand that holds the value.

    Args:
        target: the register to write, in the lanes of the guard; None: a temporary.
    Raises:
        SimulationError: the core has no operation for it.
    """
    if isinstance(node, Leaf):
        return _leaf(e, node, target)
    build = _BUILD.get(node.op)
    place = None
    if build is not None:
        place = build(e, node, target)
    elif node.type in _FLOATS:
        place = _float(e, node, target)
    else:
        place = _integer(e, node, target)
    if place is None:
        raise SimulationError(f"the core has no operation for {node.op} on .{node.type}", at=None)
    return place


def put(e: Encoder, name: str, type_name: str, target: int | None, *operands: int, **cells) -> int:
    """Emit one operation into `target` or a temporary of the type, and return that."""
    place = e.temporary(_row_width(type_name)) if target is None else target
    e.emit(name, place, *operands, full=target is None, **cells)
    return place


# leaves -------------------------------------------------------------------------------------------------------------


def _leaf(e: Encoder, leaf: Leaf, target: int | None) -> int:
    value, type_name = leaf.value, leaf.type
    width = width_of(type_name)
    if width == 1:
        place = e.value(value)
        if isinstance(value, Special):
            place = put(e, "ne_32", "pred", None, place, e.constant(0, 32))
        if leaf.negated:
            return put(e, "not_p", "pred", target, place)
        return place if target is None else put(e, "mov_p", "pred", target, place)
    if isinstance(value, Const):
        bits = value.bits & ((1 << width) - 1)
        if type_name[0] == "s" and width < 32 and bits >> (width - 1):
            bits |= 0xFFFFFFFF << width & 0xFFFFFFFF
        place = e.constant(bits, 32 if width <= 32 else 64)
        return place if target is None else put(e, _move(width), type_name, target, place)
    place, have = e.value(value), 32 if isinstance(value, Special) else value.width
    if width == 64 and have < 64:
        return put(e, "zx_64", type_name, target, place)
    if width <= 32 and have == 64:
        place = put(e, "lo_32", "b32", target if width == 32 else None, place)
        have = 32
        if width == 32:
            return place
    if width < 32 and (have > width or type_name[0] == "s"):
        return _normal(e, place, type_name, target)
    return place if target is None else put(e, _move(width), type_name, target, place)


def _move(width: int) -> str:
    return "mov_32" if width <= 32 else "mov_64"


def _normal(e: Encoder, place: int, type_name: str, target: int | None) -> int:
    """Zero- or sign-extend a value of a narrow type to 32 bits."""
    width = width_of(type_name)
    if width in (8, 16):
        return put(e, f"{'s' if type_name[0] == 's' else 'z'}x{width}_32", type_name, target, place)
    return put(e, "and_32", type_name, target, place, e.constant((1 << width) - 1, 32))


# integers -----------------------------------------------------------------------------------------------------------

_SIGNLESS = frozenset(("add", "sub", "mul", "neg", "and", "or", "xor", "not", "brev", "popc", "clz", "shl"))
_SIGNED = frozenset(("min", "max", "mulhi", "div", "rem", "shr", "abs", "bfe", "bfind", "szext"))
_GROWS = frozenset(
    ("add", "sub", "mul", "neg", "not", "div", "shl", "abs", "rem")
)  # may exceed the range of a narrow type
_PRMT = ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")
_NAMES = {"funnell": "shfl", "funnelr": "shfr"}


def _integer(e: Encoder, node: Apply, target: int | None) -> int | None:
    op, type_name = node.op, node.type
    width = width_of(type_name)
    if width == 1:
        names = {"and": "and_p", "or": "or_p", "xor": "xor_p", "not": "not_p"}
        return put(e, names[op], "pred", target, *(lower(e, a) for a in node.args)) if op in names else None
    bits = 64 if width == 64 else 32
    if op == "mulhi" and width < 32:
        product = put(e, "mul_32", "b32", None, *(lower(e, a) for a in node.args))
        shifted = put(e, "shr_s32" if type_name[0] == "s" else "shr_u32", "b32", None, product, e.constant(width, 32))
        return _normal(e, shifted, type_name, target)
    if "sat" in node.flags:
        return _saturated(e, node, target)
    fused = _fused(e, node, target) if op == "add" else None
    if fused is not None:
        return fused
    operands = [lower(e, a) for a in node.args]
    sign = "s" if type_name[0] == "s" else "u"
    cells = {}
    if op == "mulwide":
        name = "mul_32" if width <= 16 else f"mulwide_{sign}32"
        return put(e, name, node.result, target, *operands)
    if op in ("cmp",):
        return _compare(e, node, sign, bits, operands, target)
    if op in _SIGNED:
        name = f"{op}_{'s' if op == 'abs' else sign}{bits}"
    elif op in _SIGNLESS:
        name = f"{op}_{bits}"
    elif op in ("fns", "bmsk", "prmt", "dp4a", "dp2a"):
        name = f"{op}_32"
    elif op in ("bfi", "clmul"):
        name = f"{op}_{bits}"
    elif op in _NAMES:
        name = f"{_NAMES[op]}_{'clamp' if 'clamp' in node.flags else 'wrap'}"
    elif op == "lop3":
        name, cells = "lop3_32", {"imm": node.number}
    else:
        return None
    if op in ("bfind", "bmsk", "szext"):
        cells["mod"] = int(bool(node.flags & {"shiftamt", "wrap"}))
    elif op == "prmt":
        cells["mod"] = next((k + 1 for k, mode in enumerate(_PRMT) if mode in node.flags), 0)
    elif op in ("dp4a", "dp2a"):
        cells["mod"] = ("asigned" in node.flags) + 2 * ("bsigned" in node.flags) + 4 * ("hi" in node.flags)
    elif op == "clmul":
        cells["mod"] = int("hi" in node.flags)
    if name not in e.codes:
        return None
    narrow = width < 32 and op in _GROWS
    relu = "relu" in node.flags
    place = put(e, name, node.result, None if narrow or relu else target, *operands, **cells)
    if narrow:
        place = _normal(e, place, type_name, None if relu else target)
    return put(e, f"max_s{bits}", type_name, target, place, e.constant(0, bits)) if relu else place


def _fused(e: Encoder, node: Apply, target: int | None) -> int | None:
    """Fuse a * b + c into one operation; None: not possible."""
    for k in (0, 1):
        product, rest = node.args[k], node.args[1 - k]
        if not isinstance(product, Apply) or product.flags:
            continue
        width = width_of(node.type)
        if product.op == "mul" and product.type == node.type and width in (32, 64):
            return put(e, f"mad_{width}", node.type, target, *(lower(e, a) for a in product.args), lower(e, rest))
        if product.op == "mulwide" and width_of(product.type) == 32:
            sign = "s" if product.type[0] == "s" else "u"
            return put(e, f"madwide_{sign}32", node.type, target, *(lower(e, a) for a in product.args), lower(e, rest))
    return None


def _saturated(e: Encoder, node: Apply, target: int | None) -> int | None:
    width, sign = width_of(node.type), node.type[0]
    if node.op not in ("add", "sub") or width > 32 or sign not in "us":
        return None
    operands = [lower(e, a) for a in node.args]
    if width == 32:
        return put(e, f"{node.op}sat_{sign}32", node.type, target, *operands)
    return clamp(e, put(e, f"{node.op}_32", "s32", None, *operands), "s32", node.type, target)


def clamp(e: Encoder, place: int, source: str, wanted: str, target: int | None) -> int:
    """Clamp an integer to the range of a type; its width stays."""
    bits, sign = (64 if width_of(source) == 64 else 32), "s" if source[0] == "s" else "u"
    low, high = _range(wanted)
    have_low, have_high = _range(source)
    if low <= have_low and high >= have_high:
        return place if target is None else put(e, f"mov_{bits}", source, target, place)
    steps = [(f"max_{sign}{bits}", low)] * (low > have_low) + [(f"min_{sign}{bits}", high)] * (high < have_high)
    for k, (name, bound) in enumerate(steps):
        place = put(
            e, name, source, target if k == len(steps) - 1 else None, place, e.constant(bound & ((1 << bits) - 1), bits)
        )
    return place


def _range(type_name: str) -> tuple[int, int]:
    width = width_of(type_name)
    return (-(1 << width - 1), (1 << width - 1) - 1) if type_name[0] == "s" else (0, (1 << width) - 1)


def _compare(e: Encoder, node: Apply, sign: str, bits: int, operands: list[int], target: int | None) -> int:
    name, swap = {
        1: ("lt", False),
        2: ("eq", False),
        3: ("le", False),
        4: ("lt", True),
        5: ("ne", False),
        6: ("le", True),
    }[node.number]
    if swap:
        operands = operands[::-1]
    return put(e, f"{name}_{sign}{bits}" if name in ("lt", "le") else f"{name}_{bits}", "pred", target, *operands)


# floats -------------------------------------------------------------------------------------------------------------


def _float(e: Encoder, node: Apply, target: int | None) -> int | None:
    type_name = node.type
    half = type_name in _HALVES
    name = f"{node.op}_{'h' if half else type_name}"
    if name not in e.codes:
        return None
    imm = node.number
    if half:
        imm = NUMBER_FORMATS.index(type_name) | (node.number << 8 if node.op == "cmp" else 0)
    return put(e, name, node.result, target, *(lower(e, a) for a in node.args), mod=modifiers(node.flags), imm=imm)


_FAST = {
    ("f32", "s32"): "cvt_f32_s32",
    ("f32", "u32"): "cvt_f32_u32",
    ("f32", "f16"): "cvt_f32_f16",
    ("f32", "bf16"): "cvt_f32_bf16",
    ("bf16", "f32"): "cvt_bf16_f32",
    ("f16", "f32"): "cvt_f16_f32",
}


def _convert(e: Encoder, node: Apply, target: int | None) -> int | None:
    source, result = node.type, node.result
    place = lower(e, node.args[0])
    if source not in _FLOATS and result not in _FLOATS:
        if "sat" in node.flags:
            place = clamp(e, place, source, result, None)
        return _resized(e, place, source, result, target)
    if source not in _FLOATS and width_of(source) < 32:
        source = source[0] + "32"
    if len(node.args) == 2:  # random bits, or a scale
        imm = NUMBER_FORMATS.index(source) | NUMBER_FORMATS.index(result) << 8
        imm |= node.number << 24 if node.op == "cvtrandom" else (1 if node.number else 2) << 32
        return put(e, "cvt_with", result, target, place, lower(e, node.args[1]), mod=modifiers(node.flags), imm=imm)
    fast = _FAST.get((result, source))
    if fast and not node.flags:
        return put(e, fast, result, target, place)
    imm = NUMBER_FORMATS.index(source) | NUMBER_FORMATS.index(result) << 8 | ("whole" in node.flags) << 16
    narrow = result[0] == "s" and width_of(result) < 32
    converted = put(e, "cvt", result, None if narrow else target, place, mod=modifiers(node.flags), imm=imm)
    return _normal(e, converted, result, target) if narrow else converted


def _resize(e: Encoder, node: Apply, target: int | None) -> int:
    return _resized(e, lower(e, node.args[0]), node.type, node.result, target)


def _resized(e: Encoder, place: int, source: str, result: str, target: int | None) -> int:
    have, want = width_of(source), width_of(result)
    if want == 64:
        if have == 64:
            return place if target is None else put(e, "mov_64", result, target, place)
        return put(e, "sx_64" if source[0] == "s" else "zx_64", result, target, place)
    if have == 64:
        place = put(e, "lo_32", "b32", target if want == 32 else None, place)
        return place if want == 32 else _normal(e, place, result, target)
    if want == 32 or (want == have and source[0] == result[0]):
        return place if target is None else put(e, "mov_32", result, target, place)
    return _normal(e, place, result, target)


def _select(e: Encoder, node: Apply, target: int | None) -> int:
    condition, a, b = (lower(e, x) for x in node.args)
    name = {1: "sel_p", 32: "sel_32", 64: "sel_64"}[_row_width(node.result)]
    return put(e, name, node.result, target, a, b, condition)


def _lane(e: Encoder, node: Apply, target: int | None) -> int:
    """Extract lane `number` of a packed value."""
    place = lower(e, node.args[0])
    width = width_of(node.result)
    pitch = 8 if width == 6 else width
    if pitch == 32:
        return put(e, "hi_32" if node.number else "lo_32", node.result, target, place)
    if width_of(node.type) == 64:
        raise SimulationError(f"the core cannot extract {pitch}-bit lanes of a 64-bit value")
    if pitch == 16 and node.number and node.result[0] != "s":
        return put(e, "hi16_32", node.result, target, place)
    if node.number:
        place = put(e, "shr_u32", "b32", None, place, e.constant(pitch * node.number, 32))
    return _normal(e, place, node.result, target)


def _join(e: Encoder, node: Apply, target: int | None) -> int:
    """Pack lanes, the first in the low bits."""
    lanes = [lower(e, a) for a in node.args]
    pitch = width_of(node.result) // len(lanes)
    if pitch == 32:
        return put(e, "pack_64", node.result, target, *lanes)
    if pitch == 16 and len(lanes) == 2:
        return put(e, "pack_32", node.result, target, *lanes)
    total = lanes[0]
    for k, (place, argument) in enumerate(zip(lanes, node.args, strict=True)):
        if not _zero_extended(_result(argument)):
            place = put(e, "and_32", "b32", None, place, e.constant((1 << pitch) - 1, 32))
        if k:
            place = put(e, "shl_32", "b32", None, place, e.constant(k * pitch, 32))
            place = put(e, "or_32", "b32", target if k == len(lanes) - 1 else None, total, place)
        total = place
    return total


def _with_carry(e: Encoder, node: Apply, target: int | None) -> int:
    a, b, carry = (lower(e, x) for x in node.args)
    bits = 64 if width_of(node.type) == 64 else 32
    return put(e, f"{node.op}_{bits}", node.type, target, a, b, carry)


def _carry_out(e: Encoder, node: Apply, target: int | None) -> int:
    a, b, carry = (lower(e, x) for x in node.args)
    bits = 64 if width_of(node.type) == 64 else 32
    place = e.temporary(1) if target is None else target
    e.emit(
        f"{'addc' if node.op == 'carry' else 'subc'}_{bits}", e.temporary(bits), a, b, carry, place, full=target is None
    )
    return place


_BUILD = {
    "cvt": _convert,
    "cvtrandom": _convert,
    "cvtscaled": _convert,
    "resize": _resize,
    "select": _select,
    "lane": _lane,
    "join": _join,
    "addc": _with_carry,
    "subc": _with_carry,
    "carry": _carry_out,
    "borrow": _carry_out,
}
