"""Video instructions: bytes and halves picked out of registers, computed with in 64 bits, merged into c or added to it.

Intermediate results are exact but for what the assembler makes of them on every target, as no GPU has had these
instructions since Maxwell: those of vshl with .sat are the low 34 bits, and a second minimum or maximum compares in 64
bits, unsigned when the result is, where the low 32 bits of a sum, a difference or a saturated shift count as signed.

Source: PTX ISA, "Scalar Video Instructions" and "SIMD Video Instructions".
"""

from __future__ import annotations

from pyptx._value import value
from pyptx.ir.nodes import ImmediateOperand, LabelOperand, NegativeOperand, Operand, RegisterOperand
from pyptx.sim.actions.basic import Action, Compute, Const, Reg
from pyptx.sim.actions.means import Apply, Leaf, Node
from pyptx.sim.decode import decodes
from pyptx.sim.symbols.operands import Operands

_COMPARE = {"lt": 1, "eq": 2, "le": 3, "gt": 4, "ne": 5, "ge": 6}
_PIECES = {"": (0, 32), **{f"b{k}": (8 * k, 8) for k in range(4)}, **{f"h{k}": (16 * k, 16) for k in range(2)}}
_SCALAR = "vadd vsub vabsdiff vmin vmax vset".split()
_LANES = [name + lanes for name in "vadd vsub vavrg vabsdiff vmin vmax vset".split() for lanes in "24"]


@value
class _Wide:
    """A value of 64 bits, signed unless said otherwise."""

    node: Node
    type: str = "s64"

    def _with(self, op: str, other: _Wide) -> _Wide:
        return _Wide(Apply.of(op, self.node, other.node, type=self.type), self.type)

    def __add__(self, other: _Wide) -> _Wide:
        return self._with("add", other)

    def __sub__(self, other: _Wide) -> _Wide:
        return self._with("sub", other)

    def __mul__(self, other: _Wide) -> _Wide:
        return self._with("mul", other)

    def __or__(self, other: _Wide) -> _Wide:
        return self._with("or", other)

    def least(self, other: _Wide) -> _Wide:
        return self._with("min", other)

    def most(self, other: _Wide) -> _Wide:
        return self._with("max", other)

    def left(self, by: int | Node) -> _Wide:
        return _Wide(Apply.of("shl", self.node, _count(by), type=self.type), self.type)

    def right(self, by: int | Node) -> _Wide:
        return _Wide(Apply.of("shr", self.node, _count(by), type=self.type), self.type)

    def cut(self, bits: int) -> _Wide:
        """Its low bits, not negative."""
        return self._with("and", _number((1 << bits) - 1))

    def clamped(self, bits: int, signed: bool) -> _Wide:
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        return self.most(_number(low)).least(_number(high))

    def compare(self, how: str, other: _Wide) -> Node:
        return Apply.of("cmp", self.node, other.node, type=self.type, result="pred", number=_COMPARE[how])


def _number(value: int) -> _Wide:
    return _Wide(Leaf(Const(value & (1 << 64) - 1, 64), "s64"))


def _count(by: int | Node) -> Node:
    return Leaf(Const(by, 32), "u32") if isinstance(by, int) else by


def _choice(condition: Node, a: _Wide, b: _Wide) -> _Wide:
    return _Wide(Apply.of("select", condition, a.node, b.node, type="s64"))


def _low(wide: _Wide) -> Node:
    return Apply.of("resize", wide.node, type=wide.type, result="u32")


def _picked(o: Operands, name: str) -> tuple[Leaf, str, bool]:
    """The register or number of an operand, which of its parts, and whether it is negated."""
    operand: Operand = o.operand(name)
    negative = isinstance(operand, NegativeOperand)
    if negative:
        operand = operand.operand
    if isinstance(operand, RegisterOperand | LabelOperand) and o.scope.register(operand.name) is None:
        base, _, part = operand.name.rpartition(".")
        operand = type(operand)(base)
    else:
        part = ""
    if isinstance(operand, ImmediateOperand):
        return Leaf(o.as_value(operand, "u32"), "u32"), part, negative
    return Leaf(o.as_value(operand, "u32"), "u32"), part, negative


def _target(o: Operands) -> tuple[Reg | None, str]:
    operand = o.operand("d")
    if o.scope.register(operand.name) is not None or operand.name == "_":
        return o.as_target(operand), ""
    base, _, part = operand.name.rpartition(".")
    return o.as_target(type(operand)(base)), part


def _part(leaf: Node, bit: int, bits: int, signed: bool) -> _Wide:
    """`bits` bits from `bit` on."""
    kind = "s32" if signed else "u32"
    node = Apply.of("shl", leaf, _count(32 - bit - bits), type="u32") if bit + bits < 32 else leaf
    if bits < 32:
        node = Apply.of("shr", node, _count(32 - bits), type=kind)
    return _Wide(Apply.of("resize", node, type=kind, result="s64"))


def _result(name: str, a: _Wide, b: _Wide, o: Operands) -> _Wide:
    match name:
        case "vadd":
            return a + b
        case "vsub":
            return a - b
        case "vabsdiff":
            return a.most(b) - a.least(b)
        case "vmin":
            return a.least(b)
        case "vmax":
            return a.most(b)
        case "vavrg":                                           # halves away from zero
            total = a + b
            return (total + _choice(total.compare("ge", _number(0)), _number(1), _number(0))).right(1)
    return _choice(a.compare(o.choices["cmp"], b), _number(1), _number(0))


def _finished(o: Operands, result: _Wide) -> Action | None:
    """The scalar result saturated, combined with c or merged into it."""
    target, part = _target(o)
    if target is None:
        return None
    signed = o.choices.get("dtype", o.choices["atype"]) == "s32"
    bit, bits = _PIECES[part]
    if o.choices.get("sat"):
        result = result.clamped(bits, signed)
    if "c" in o:
        c = Leaf(o.value("c"), "u32")
        if part:
            keep = Leaf(Const(~((1 << bits) - 1 << bit) & 0xFFFFFFFF, 32), "u32")
            kept = _Wide(Apply.of("resize", Apply.of("and", c, keep, type="u32"), type="u32", result="s64"))
            result = result.cut(bits).left(bit) | kept
        else:
            result = _combined(o, result, _part(c, 0, 32, signed), "s64" if signed else "u64")
    return Compute(((target, _low(result)),))


def _combined(o: Operands, result: _Wide, c: _Wide, kind: str) -> _Wide:
    """What a second operation makes of the result and c."""
    opcode, second = o.instruction.opcode, o.choices["op2"]
    if second == "add":
        return result + c
    if opcode in ("vadd", "vsub") or (opcode in ("vshl", "vshr") and o.choices.get("sat")):
        result = _part(_low(result), 0, 32, True)
    result, c = _Wide(result.node, kind), _Wide(c.node, kind)
    return result.least(c) if second == "min" else result.most(c)


def _sources(o: Operands) -> list[_Wide]:
    sources = []
    for name in "ab":
        leaf, part, _ = _picked(o, name)
        sources.append(_part(leaf, *_PIECES[part], o.choices.get(f"{name}type") == "s32"))
    return sources


@decodes(*_SCALAR)
def scalar(o: Operands) -> Action | None:
    return _finished(o, _result(o.instruction.opcode, *_sources(o), o))


@decodes("vshl", "vshr")
def shift(o: Operands) -> Action | None:
    a, by = _sources(o)
    clamped = o.choices["mode"] == "clamp"
    count = _low(by.least(_number(32)) if clamped else by.cut(5))
    if o.instruction.opcode == "vshr":
        return _finished(o, a.right(count))
    result = a.left(count)
    return _finished(o, result.left(30).right(30) if o.choices.get("sat") else result)


@decodes("vmad")
def multiply(o: Operands) -> Action | None:
    """a * b + c, shifted right: the product's sign may be turned, or c's."""
    target, _ = _target(o)
    if target is None:
        return None
    words = o.instruction.modifiers
    (_, _, minus_a), (_, _, minus_b), (c, _, minus_c) = (_picked(o, name) for name in "abc")
    types = o.choices.get("atype"), o.choices.get("btype")
    turned = minus_a != minus_b
    signed = "s32" in types or turned or minus_c
    a, b = _sources(o)
    product = a * b
    beyond = product.compare("lt", _number(0)) if "s32" not in types else None      # u32 * u32 of 2**63 and more
    total = _number(0) - product if turned else product
    other = _part(c, 0, 32, signed)
    if minus_c and not turned and ".po" not in words:
        other = _number(0) - other
    total = total + other
    if ".po" in words:
        total = total + _number(1)
    scale = 7 if ".shr7" in words else 15 if ".shr15" in words else 0
    kind = "s64" if signed else "u64"
    result = _Wide(total.node, kind).right(scale)
    if ".sat" in words:
        if not signed:
            result = result.least(_number(0xFFFFFFFF))
        else:
            result = result.clamped(32, True)
            if beyond is not None:
                result = _choice(beyond, _number(-1 << 31 if turned else (1 << 31) - 1), result)
    return Compute(((target, _low(result)),))


@decodes(*_LANES)
def lanes(o: Operands) -> Action | None:
    """Two halves or four bytes at once, each from any place of a and b."""
    opcode = o.instruction.opcode
    count, name = int(opcode[-1]), opcode[:-1]
    bits = 32 // count
    target, mask = _target(o)
    if target is None:
        return None
    words = {}
    sources = []
    for operand, default in (("a", range(count)), ("b", range(count, 2 * count))):
        words[operand], part, _ = _picked(o, operand)
        sources.append([int(digit) for digit in part[:0:-1]] if part else list(default))
    def lane(place: int, type_name: str) -> _Wide:
        word = words["a" if place < count else "b"]
        return _part(word, place % count * bits, bits, type_name == "s32")
    written = {int(digit) for digit in mask[1:]} if mask else set(range(count))
    signed = o.choices.get("dtype") == "s32"
    c = Leaf(o.value("c"), "u32")
    adds = o.instruction.modifiers[-1] == ".add"
    total = _part(c, 0, 32, False) if adds else None
    for k in range(count):
        if adds and k not in written:
            continue
        if k in written:
            result = _result(name, lane(sources[0][k], o.choices["atype"]), lane(sources[1][k], o.choices["btype"]), o)
            if o.choices.get("sat"):
                result = result.clamped(bits, signed)
        else:
            result = _part(c, k * bits, bits, False)
        if not adds:
            result = result.cut(bits).left(k * bits)
        total = result if total is None else (total + result if adds else total | result)
    return Compute(((target, _low(total)),))
