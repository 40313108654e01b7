"""Stateless instructions: the `semantics` cell of the instruction table as an expression of primitives.

Packed types are split, computed lane by lane and joined again; modifiers become flags of the primitive that computes
the result.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache

from pyptx.isa.semantics import semantics_of
from pyptx.sim.actions import Apply, Compute, Const, Leaf, Node, Reg
from pyptx.sim.decode._registry import UnsupportedFormError
from pyptx.sim.decode.conversions import TARGETS, conversion, lane_of, packed, stochastic
from pyptx.sim.memory.tensor_maps import OOB_NAN
from pyptx.sim.symbols.operands import Operands
from pyptx.sim.value_types import element, is_float, lanes_of, width

__all__ = ["compute"]

_ROUNDING = {
    "rn": "rn",
    "rz": "rz",
    "rm": "rm",
    "rp": "rp",
    "rna": "rna",
    "rni": "rn",
    "rzi": "rz",
    "rmi": "rm",
    "rpi": "rp",
}
_PLAIN = frozenset("ftz sat relu satfinite pzo shiftamt".split())
_ARITHMETIC = frozenset(("f16", "bf16", "f32", "f64"))
_INTEGER_SETS = {"eq": 2, "ne": 5, "lt": 1, "le": 3, "gt": 4, "ge": 6, "lo": 1, "ls": 3, "hi": 4, "hs": 6}
_FLOAT_SETS = {
    "eq": 2,
    "ne": 5,
    "lt": 1,
    "le": 3,
    "gt": 4,
    "ge": 6,
    "equ": 10,
    "neu": 13,
    "ltu": 9,
    "leu": 11,
    "gtu": 12,
    "geu": 14,
    "num": 7,
    "nan": 8,
}
_CLASSES = {"is_finite": 7, "is_infinite": 8, "is_number": 15, "is_notanumber": 16, "is_normal": 5, "is_subnormal": 2}
_OPERATORS = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
}


def compute(o: Operands) -> Compute | None:
    """Decode a form with `semantics`; None if one of its primitives is not simulated."""
    text = semantics_of(o.form, o.choices)
    try:
        if o.choices.get("dtype") in TARGETS and "atype" in o.choices:
            return packed(o)
        return Compute(tuple(_Reader(o).assignments(text)))
    except UnsupportedFormError:
        return None


@cache
def _parse(text: str) -> tuple[tuple[str, ast.expr], ...]:
    parts = []
    for part in text.split("; "):
        target, _, expression = part.partition(" = ")
        parts.append((target, ast.parse(re.sub(r"!", " not ", expression).strip(), mode="eval").body))
    return tuple(parts)


def _name(tree: ast.expr) -> str:
    """Identifier of an argument that must be an operand."""
    if not isinstance(tree, ast.Name):
        raise UnsupportedFormError
    return tree.id


class _Reader:
    """Builds the expression of one instruction, typed bottom-up."""

    def __init__(self, o: Operands):
        self.o = o
        words = [m[1:] for m in o.instruction.modifiers]
        self.words = frozenset(words)
        flags = {_ROUNDING[w] for w in words if w in _ROUNDING} - {"rn"}
        flags |= self.words & _PLAIN
        if "NaN" in self.words:
            flags.add("nan")
        if "xorsign" in self.words:
            flags.add("xorsign")
        elif "abs" in self.words:
            flags.add("abs")
        if self.words & {"rni", "rzi", "rmi", "rpi"}:
            flags.add("whole")
        self.flags = frozenset(flags)

    def assignments(self, text: str) -> Iterator[tuple[Reg | None, Node]]:
        """Yield the destinations with their expressions."""
        for name, tree in _parse(text):
            if name not in self.o and name != "d":
                continue
            target = self.o.target(name)
            if target is None and "cc" not in self.words:
                continue
            type_name = self.o.type(name)
            yield target, self.typed(tree, type_name)
            if "cc" in self.words:
                yield self.o.carry(), self.carry_out(tree, type_name)

    def typed(self, tree: ast.expr, target: str) -> Node:
        """Build an expression whose result has type `target`."""
        match tree:
            case ast.Call(func=ast.Name("convert"), args=sources):
                return conversion([self.leaf(_name(s)) for s in sources], target, self.flags)
            case ast.Call(func=ast.Name("pack_sat"), args=sources):
                return self.pack_sat([self.leaf(_name(s)) for s in sources])
            case ast.Call(func=ast.Name("truth"), args=[condition]):
                return self.truth(condition, target)
            case ast.Call(func=ast.Name("convert_rs" | "convert4_rs"), args=[*sources, ast.Name(bits)]):
                values = [Leaf(v, self.o.type(_name(s))) for s in sources for v in self.o.values(_name(s))]
                return stochastic(values, self.leaf(bits), target, self.flags)
            case ast.Call(func=ast.Name("convert_scaled"), args=[*sources, ast.Name(scale)]):
                return conversion([self.leaf(_name(s)) for s in sources], target, self.flags, self.leaf(scale))
            case ast.Call(func=ast.Name("pack" | "unpack")):
                raise UnsupportedFormError
        packed = lanes_of(target)
        if packed == 1:
            return self.widened(self.node(tree, None, target), target)
        lanes = [self.widened(self.node(tree, k, element(target)), element(target)) for k in range(packed)]
        return Apply.of("join", *lanes, type=element(target), result=f"b{width(target)}")

    def widened(self, node: Node, target: str) -> Node:
        """Check that a float result has the type of its target."""
        source = node.type if isinstance(node, Leaf) else node.result
        if is_float(source) and is_float(target) and source != target:
            raise UnsupportedFormError
        return node

    # leaves

    def leaf(self, name: str, lane: int | None = None) -> Node:
        """Read an operand, or one lane of a packed one."""
        if name == "carry":
            return Leaf(self.o.carry(), "pred")
        if name not in self.o:
            raise UnsupportedFormError
        type_name = self.o.type(name)
        node = Leaf(self.o.value(name), type_name, self.o.negated(name))
        count = lanes_of(type_name)
        if lane is None or count == 1:
            return node
        return lane_of(node, lane)

    def type_of(self, tree: ast.expr, lane: int | None) -> str | None:
        """Type in which an expression is computed; None for a number."""
        match tree:
            case ast.Name(name):
                if name == "carry":
                    return None
                if name not in self.o:
                    raise UnsupportedFormError
                return element(self.o.type(name)) if lane is not None else self.o.type(name)
            case ast.Constant():
                return None
        node = self.node(tree, lane, None)
        return node.type if isinstance(node, Leaf) else node.result

    def same(self, trees: list[ast.expr], lane: int | None) -> tuple[list[Node], str]:
        """Convert values to one type: the widest float if formats are mixed, else the type of the first that has one."""
        types = [t for t in (self.type_of(tree, lane) for tree in trees) if t is not None]
        type_name = next((t for t in ("f64", "f32") if t in types), types[0]) if types else "u32"
        if lanes_of(type_name) > 1 or (is_float(type_name) and type_name not in _ARITHMETIC):
            raise UnsupportedFormError(type_name)
        return [self.cast(tree, lane, type_name) for tree in trees], type_name

    def cast(self, tree: ast.expr, lane: int | None, type_name: str) -> Node:
        match tree:
            case ast.Constant(value=int(number)):
                return Leaf(Const(number & ((1 << width(type_name)) - 1), width(type_name)), type_name)
        node = self.node(tree, lane, type_name)
        have = node.type if isinstance(node, Leaf) else node.result
        if have != type_name and is_float(have) and is_float(type_name):
            return Apply.of("cvt", node, type=have, result=type_name)
        return node

    # expressions

    def node(self, tree: ast.expr, lane: int | None, target: str | None) -> Node:
        match tree:
            case ast.Name(name):
                return self.leaf(name, lane)
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return Apply.of("not", self.node(inner, lane, "pred"), type="pred")
            case ast.UnaryOp(op=ast.USub() | ast.Invert() as op, operand=inner):
                [a], type_name = self.same([inner], lane)
                return Apply.of("neg" if isinstance(op, ast.USub) else "not", a, type=type_name, flags=self.flags)
            case ast.BinOp():
                return self.binary(tree, lane, target)
            case ast.Call(func=ast.Name(name), args=arguments):
                return self.call(name, arguments, lane, target)
        raise UnsupportedFormError

    def binary(self, tree: ast.BinOp, lane: int | None, target: str | None) -> Node:
        op = _OPERATORS[type(tree.op)]
        match tree:
            case ast.BinOp(left=ast.BinOp(left=left, right=right), right=ast.Name("carry")):
                [a, b], type_name = self.same([left, right], lane)
                return Apply.of("addc" if op == "add" else "subc", a, b, self.carry_in(op == "sub"), type=type_name)
        match tree.left:
            case ast.Call(func=ast.Name("mul_hi"), args=factors) if "sat" in self.flags:
                return self.saturated_high(factors, tree.right, lane)
        [a, b], type_name = self.same([tree.left, tree.right], lane)
        flags = self.flags if op not in ("and", "or", "xor") else frozenset()
        return Apply.of(op, a, b, type=type_name, flags=flags)

    def saturated_high(self, factors: list[ast.expr], addend: ast.expr, lane: int | None) -> Node:
        """Saturated sum of the high half of a product and an addend."""
        [a, b], type_name = self.same(factors, lane)
        c = self.cast(addend, lane, type_name)
        return Apply.of("add", Apply.of("mulhi", a, b, type=type_name), c, type=type_name, flags=frozenset({"sat"}))

    def carry_out(self, tree: ast.expr, type_name: str) -> Node:
        """Carry out of a sum; for a difference, the carry of a + ~b + 1, which is set if there is no borrow.

        Hardware keeps it so; it shows when an addc follows a subc, as in nvcc's 128-bit division.
        """
        carry: Node = Leaf(Const(0, 1), "pred")
        if not isinstance(tree, ast.BinOp):
            raise UnsupportedFormError
        minus = isinstance(tree.op, ast.Sub)
        match tree:
            case ast.BinOp(left=ast.BinOp() as inner, right=ast.Name("carry")):
                tree, carry = inner, self.carry_in(minus)
        [a, b], _ = self.same([tree.left, tree.right], None)
        out = Apply.of("borrow" if minus else "carry", a, b, carry, type="u" + type_name[1:], result="pred")
        return Apply.of("not", out, type="pred") if minus else out

    def carry_in(self, minus: bool) -> Node:
        """Carry flag as the term that a sum adds or a difference subtracts."""
        flag = self.leaf("carry")
        return Apply.of("not", flag, type="pred") if minus else flag

    def call(self, name: str, arguments: list[ast.expr], lane: int | None, target: str | None) -> Node:
        if name in _FLOAT_SETS or name in _INTEGER_SETS:
            return self.compare(name, arguments, lane)
        if name in _CLASSES:
            [a], type_name = self.same(arguments, lane)
            return Apply.of("class", a, type=type_name, result="pred", number=_CLASSES[name])
        if name in ("low", "high"):
            return self.leaf(_name(arguments[0]), int(name == "high"))
        if name.startswith("bool_"):
            a, b = (self.node(x, lane, "pred") for x in arguments)
            return Apply.of(name.removeprefix("bool_"), a, b, type="pred")
        if name == "select":
            condition = self.node(arguments[0], None, "pred")
            [a, b], type_name = self.same(arguments[1:], lane)
            return Apply.of("select", condition, a, b, type=type_name)
        method = _CALLS.get(name)
        if method is None:
            raise UnsupportedFormError
        return method(self, arguments, lane)

    def compare(self, name: str, arguments: list[ast.expr], lane: int | None) -> Node:
        values, type_name = self.same(arguments, lane)
        if is_float(type_name):
            return Apply.of(
                "cmp", *values, type=type_name, result="pred", flags=self.flags & {"ftz"}, number=_FLOAT_SETS[name]
            )
        if name in ("lo", "ls", "hi", "hs") or type_name[0] == "b":
            type_name = "u" + type_name[1:]
        return Apply.of("cmp", *values, type=type_name, result="pred", number=_INTEGER_SETS[name])

    def truth(self, condition: ast.expr, target: str) -> Node:
        """1.0 or all ones if the condition holds, else 0; per lane if its sources are packed."""
        sources = [n.id for n in ast.walk(condition) if isinstance(n, ast.Name) and n.id in self.o.bound.types]
        count = max((lanes_of(self.o.type(n)) for n in sources), default=1)
        type_name = element(target) if lanes_of(target) == count else f"u{width(target) // count}"
        one = {"f32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80}.get(type_name, (1 << width(type_name)) - 1)

        def value(lane: int | None) -> Apply:
            return Apply.of(
                "select",
                self.node(condition, lane, "pred"),
                Leaf(Const(one, width(type_name)), type_name),
                Leaf(Const(0, width(type_name)), type_name),
                type=type_name,
            )

        if count == 1:
            return value(None)
        return Apply.of("join", *(value(k) for k in range(count)), type=type_name, result=f"b{width(target)}")

    def pack_sat(self, sources: list[Node]) -> Node:
        narrow = self.o.choice("ctype")
        n = int(narrow[1:])
        high, low = (Apply.of("cvt", s, type="s32", result=narrow, flags=frozenset({"sat"})) for s in sources[:2])
        if n < 8:
            cut = Leaf(Const((1 << n) - 1, 32), "u32")
            places = [
                Apply.of("shl", value, Leaf(Const(by, 32), "u32"), type="u32")
                for value, by in ((Apply.of("and", high, cut, type="u32"), n), (sources[2], 2 * n))
            ]
            pair = Apply.of("or", Apply.of("and", low, cut, type="u32"), places[0], type="u32")
            return Apply.of("or", pair, places[1], type="u32", result="b32")
        pair = Apply.of("join", low, high, type=f"u{n}", result=f"b{2 * n}")
        if len(sources) == 2:
            return pair
        return Apply.of(
            "join", pair, Apply.of("resize", sources[2], type="u32", result="u16"), type="u16", result="b32"
        )


# calls --------------------------------------------------------------------------------------------------------------


_Arguments = list[ast.expr]
_Builder = Callable[[_Reader, _Arguments, int | None], Node]


def _simple(op: str, *extra: str, result: str = "", keep: bool = False) -> _Builder:
    """Primitive `op` of arguments in one type; `keep` passes on the flags of the instruction."""

    def build(reader: _Reader, arguments: _Arguments, lane: int | None) -> Node:
        values, type_name = reader.same(arguments, lane)
        flags = (reader.flags if keep else frozenset()) | frozenset(extra)
        return Apply.of(op, *values, type=type_name, result=result or type_name, flags=flags)

    return build


def _first(op: str, *extra: str, result: str = "", flagged: bool = False) -> _Builder:
    """Primitive `op` in the type of the first argument; the others are u32."""

    def build(reader: _Reader, arguments: _Arguments, lane: int | None) -> Node:
        [a], type_name = reader.same(arguments[:1], lane)
        rest = [reader.cast(x, lane, "u32") for x in arguments[1:]]
        flags = frozenset(extra) | (reader.flags & {"shiftamt"} if flagged else frozenset())
        return Apply.of(op, a, *rest, type=type_name, result=result or type_name, flags=flags)

    return build


def _wide(reader: _Reader, arguments: _Arguments, lane: int | None) -> Node:
    values, type_name = reader.same(arguments, lane)
    return Apply.of("mulwide", *values, type=type_name, result=type_name[0] + str(2 * int(type_name[1:])))


def _mul24(shift: int) -> _Builder:
    def build(reader: _Reader, arguments: _Arguments, lane: int | None) -> Node:
        values, type_name = reader.same(arguments, lane)
        eight = Leaf(Const(8, 32), "u32")
        cut = [Apply.of("shr", Apply.of("shl", v, eight, type=type_name), eight, type=type_name) for v in values]
        whole = type_name[0] + "64"
        product = Apply.of("mulwide", *cut, type=type_name, result=whole)
        if shift:
            product = Apply.of("shr", product, Leaf(Const(shift, 32), "u32"), type=whole)
        return Apply.of("resize", product, type=whole, result=type_name)

    return build


def _fma(reader: _Reader, arguments: _Arguments, lane: int | None) -> Node:
    """Fused multiply-add; with .oob the result is +0 if a factor is the NaN that stands for out-of-bounds elements."""
    values, t = reader.same(arguments, lane)
    result = Apply.of("fma", *values, type=t, flags=reader.flags)
    if "oob" not in reader.words:
        return result
    for factor in values[:2]:
        outside = Apply.of("cmp", factor, Leaf(Const(OOB_NAN, 16), "u16"), type="u16", result="pred", number=2)
        result = Apply.of("select", outside, Leaf(Const(0, 16), t), result, type=t)
    return result


def _sad(reader: _Reader, arguments: _Arguments, lane: int | None) -> Node:
    [a, b, c], t = reader.same(arguments, lane)
    distance = Apply.of("sub", Apply.of("max", a, b, type=t), Apply.of("min", a, b, type=t), type=t)
    return Apply.of("add", distance, c, type=t)


def _extremum(op: str) -> _Builder:
    def build(reader: _Reader, arguments: _Arguments, lane: int | None) -> Node:
        values, t = reader.same(arguments, lane)
        result = values[0]
        for value in values[1:]:
            result = Apply.of(op, result, value, type=t, flags=reader.flags)
        return result

    return build


def _cnot(reader: _Reader, arguments: _Arguments, lane: int | None) -> Node:
    [a], t = reader.same(arguments, lane)
    zero, one = (Leaf(Const(k, width(t)), t) for k in (0, 1))
    return Apply.of("select", Apply.of("cmp", a, zero, type="u" + t[1:], result="pred", number=2), one, zero, type=t)


def _lop3(reader: _Reader, arguments: _Arguments, lane: int | None) -> Node:
    values, t = reader.same(arguments[:3], lane)
    return Apply.of("lop3", *values, type=t, number=reader.o.number(_name(arguments[3])) & 255)


def _dot(op: str, *extra: str) -> _Builder:
    def build(reader: _Reader, arguments: _Arguments, lane: int | None) -> Node:
        flags = set(extra)
        for slot, flag in (("atype", "asigned"), ("btype", "bsigned")):
            if reader.o.choices[slot] == "s32":
                flags.add(flag)
        values = [reader.cast(x, lane, "u32") for x in arguments]
        return Apply.of(op, *values, type="u32", flags=frozenset(flags))

    return build


def _reciprocal(reader: _Reader, arguments: _Arguments, lane: int | None) -> Node:
    [a], t = reader.same(arguments, lane)
    one = Leaf(Const(0x3F800000 if t == "f32" else 0x3FF << 52, width(t)), t)
    return Apply.of("div", one, a, type=t, flags=reader.flags)


def _either(f32: str, coarse: str) -> _Builder:
    """Primitive `f32` for f32, `coarse` for the f64 form that computes the upper word only."""

    def build(reader: _Reader, arguments: _Arguments, lane: int | None) -> Node:
        [a], t = reader.same(arguments, lane)
        if t == "f64" and "ftz" in reader.flags:
            return Apply.of(coarse, a, type=t)
        return _reciprocal(reader, arguments, lane) if f32 == "rcp" else Apply.of(f32, a, type=t, flags=reader.flags)

    return build


_CALLS: dict[str, _Builder] = {
    "mul_lo": _simple("mul"),
    "mul_hi": _simple("mulhi"),
    "mul_wide": _wide,
    "mul24_lo": _mul24(0),
    "mul24_hi": _mul24(16),
    "clmul_lo": _simple("clmul"),
    "clmul_hi": _simple("clmul", "hi"),
    "sad": _sad,
    "rem": _simple("rem"),
    "abs": _simple("abs", keep=True),
    "popc": _simple("popc", result="u32"),
    "clz": _simple("clz", result="u32"),
    "bfind": _first("bfind", result="u32", flagged=True),
    "brev": _simple("brev"),
    "fns": _first("fns"),
    "bfe": _first("bfe"),
    "szext_clamp": _first("szext", "clamp"),
    "szext_wrap": _first("szext", "wrap"),
    "bmsk_clamp": _first("bmsk", "clamp"),
    "bmsk_wrap": _first("bmsk", "wrap"),
    "dp4a": _dot("dp4a"),
    "dp2a_lo": _dot("dp2a"),
    "dp2a_hi": _dot("dp2a", "hi"),
    "bfi": _simple("bfi"),
    "fma": _fma,
    "min": _extremum("min"),
    "max": _extremum("max"),
    "copysign": _simple("copysign"),
    "rcp": _reciprocal,
    "sqrt": _simple("sqrt", keep=True),
    "div_approx": _simple("divapprox", keep=True),
    "div_full": _simple("div", keep=True),
    "rcp_approx": _either("rcp", "rcpcoarse"),
    "sqrt_approx": _simple("sqrt", keep=True),
    "rsqrt_approx": _either("rsqrt", "rsqrtcoarse"),
    "sin_approx": _simple("sin", keep=True),
    "cos_approx": _simple("cos", keep=True),
    "lg2_approx": _simple("lg2", keep=True),
    "ex2_approx": _simple("ex2", keep=True),
    "tanh_approx": _simple("tanh", keep=True),
    "cnot": _cnot,
    "lop3": _lop3,
    "shl": _first("shl"),
    "shr": _first("shr"),
    "funnel_l_clamp": _simple("funnell", "clamp"),
    "funnel_l_wrap": _simple("funnell", "wrap"),
    "funnel_r_clamp": _simple("funnelr", "clamp"),
    "funnel_r_wrap": _simple("funnelr", "wrap"),
    "prmt_None": _simple("prmt"),
    **{f"prmt_{mode}": _simple("prmt", mode) for mode in ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")},
}
