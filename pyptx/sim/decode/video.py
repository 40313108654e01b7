"""Video instructions: bytes and halves of registers, computed in 64 bits, then merged into c or added to it.

No GPU since Maxwell has these instructions in hardware; results are exact except where the code that ptxas emulates them
with is not: vshl with .sat keeps the low 34 bits, and a second minimum or maximum compares 64 bits, unsigned if the
result is unsigned, with the low 32 bits of a sum, a difference or a saturated shift taken as signed.

Source: PTX ISA, "Scalar Video Instructions" and "SIMD Video Instructions".
"""

from __future__ import annotations

from pyptx._frozen import frozen
from pyptx.ir.nodes import LabelOperand, NegativeOperand, Operand, RegisterOperand
from pyptx.sim.actions import Action, Apply, Compute, Const, Leaf, Node, Reg
from pyptx.sim.decode._registry import decodes
from pyptx.sim.symbols.operands import Operands

_COMPARE = {"lt": 1, "eq": 2, "le": 3, "gt": 4, "ne": 5, "ge": 6}
_PIECES = {"": (0, 32), **{f"b{k}": (8 * k, 8) for k in range(4)}, **{f"h{k}": (16 * k, 16) for k in range(2)}}
_SCALAR = "vadd vsub vabsdiff vmin vmax vset".split()
_LANES = [name + lanes for name in "vadd vsub vavrg vabsdiff vmin vmax vset".split() for lanes in "24"]


@frozen
class _Wide:
    """A 64-bit value, signed by default."""

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
        """Keep the low bits, zero-extended."""
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


def _selected(o: Operands, name: str) -> tuple[Leaf, str, bool]:
    """Return the register or number of an operand, the name of its part, and whether it is negated."""
    operand: Operand = o.operand(name)
    negative = isinstance(operand, NegativeOperand)
    if isinstance(operand, NegativeOperand):
        operand = operand.operand
    operand, part = _split(o, operand)
    return Leaf(o.as_value(operand, "u32"), "u32"), part, negative


def _split(o: Operands, operand: Operand) -> tuple[Operand, str]:
    """Split `%r1.b0` into the register and the name of its part."""
    if not isinstance(operand, RegisterOperand | LabelOperand) or operand.name == "_" or o.scope.register(operand.name):
        return operand, ""
    base, _, part = operand.name.rpartition(".")
    return type(operand)(base), part


def _target(o: Operands) -> tuple[Reg | None, str]:
    operand, part = _split(o, o.operand("d"))
    return o.as_target(operand), part


def _part(leaf: Node, bit: int, bits: int, signed: bool) -> _Wide:
    """Extract `bits` bits, starting at `bit`."""
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
        case "vavrg":  # halves away from zero
            total = a + b
            return (total + _choice(total.compare("ge", _number(0)), _number(1), _number(0))).right(1)
    return _choice(a.compare(o.choice("cmp"), b), _number(1), _number(0))


def _finished(o: Operands, result: _Wide) -> Action | None:
    """Saturate the scalar result, combine it with c or merge it into c."""
    target, part = _target(o)
    if target is None:
        return None
    signed = o.choices.get("dtype", o.choice("atype")) == "s32"
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
    """Apply the second operation to the result and c."""
    opcode, second = o.instruction.opcode, o.choice("op2")
    if second == "add":
        return result + c
    if opcode in ("vadd", "vsub") or (opcode in ("vshl", "vshr") and o.choices.get("sat")):
        result = _part(_low(result), 0, 32, True)
    result, c = _Wide(result.node, kind), _Wide(c.node, kind)
    return result.least(c) if second == "min" else result.most(c)


def _sources(o: Operands) -> list[_Wide]:
    sources = []
    for name in "ab":
        leaf, part, _ = _selected(o, name)
        bit, bits = _PIECES[part]
        sources.append(_part(leaf, bit, bits, o.choices.get(f"{name}type") == "s32"))
    return sources


@decodes(*_SCALAR)
def scalar(o: Operands) -> Action | None:
    a, b = _sources(o)
    return _finished(o, _result(o.instruction.opcode, a, b, o))


@decodes("vshl", "vshr")
def shift(o: Operands) -> Action | None:
    a, by = _sources(o)
    clamped = o.choice("mode") == "clamp"
    count = _low(by.least(_number(32)) if clamped else by.cut(5))
    if o.instruction.opcode == "vshr":
        return _finished(o, a.right(count))
    result = a.left(count)
    return _finished(o, result.left(30).right(30) if o.choices.get("sat") else result)


@decodes("vmad")
def multiply(o: Operands) -> Action | None:
    """a * b + c, shifted right; the product or c may be negated."""
    target, _ = _target(o)
    if target is None:
        return None
    words = o.instruction.modifiers
    (_, _, minus_a), (_, _, minus_b), (c, _, minus_c) = (_selected(o, name) for name in "abc")
    types = o.choices.get("atype"), o.choices.get("btype")
    negated = minus_a != minus_b
    signed = "s32" in types or negated or minus_c
    a, b = _sources(o)
    product = a * b
    overflow = product.compare("lt", _number(0)) if "s32" not in types else None  # u32 * u32 of at least 2**63
    total = _number(0) - product if negated else product
    other = _part(c, 0, 32, signed)
    if minus_c and not negated and ".po" not in words:
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
            if overflow is not None:
                result = _choice(overflow, _number(-1 << 31 if negated else (1 << 31) - 1), result)
    return Compute(((target, _low(result)),))


@decodes(*_LANES)
def lanes(o: Operands) -> Action | None:
    """Two halves or four bytes at once, each selected from a and b."""
    opcode = o.instruction.opcode
    count, name = int(opcode[-1]), opcode[:-1]
    bits = 32 // count
    target, mask = _target(o)
    if target is None:
        return None
    words = {}
    sources = []
    for operand, default in (("a", range(count)), ("b", range(count, 2 * count))):
        words[operand], part, _ = _selected(o, operand)
        sources.append([int(digit) for digit in part[:0:-1]] if part else list(default))

    def lane(position: int, type_name: str) -> _Wide:
        word = words["a" if position < count else "b"]
        return _part(word, position % count * bits, bits, type_name == "s32")

    written = {int(digit) for digit in mask[1:]} if mask else set(range(count))
    signed = o.choices.get("dtype") == "s32"
    c = Leaf(o.value("c"), "u32")
    adds = o.instruction.modifiers[-1] == ".add"
    total = _part(c, 0, 32, False) if adds else None
    for k in range(count):
        if adds and k not in written:
            continue
        if k in written:
            result = _result(name, lane(sources[0][k], o.choice("atype")), lane(sources[1][k], o.choice("btype")), o)
            if o.choices.get("sat"):
                result = result.clamped(bits, signed)
        else:
            result = _part(c, k * bits, bits, False)
        if not adds:
            result = result.cut(bits).left(k * bits)
        total = result if total is None else (total + result if adds else total | result)
    assert total is not None
    return Compute(((target, _low(total)),))
