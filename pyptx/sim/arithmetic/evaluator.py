"""Evaluation of expressions, one lane after the other, on exact integers.

A value is a list with the bits of each active lane, in the width of its type.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from pyptx.errors import UnsupportedError
from pyptx.sim.actions import Apply, Leaf, Node
from pyptx.sim.arithmetic import approximations
from pyptx.sim.arithmetic import floats as fp
from pyptx.sim.arithmetic.bits import BITS, signed
from pyptx.sim.arithmetic.conversions import convert
from pyptx.sim.value_types import width

__all__ = ["FLOAT", "evaluate", "minimum"]

Read = Callable[[Leaf], list[int]]
FLOATS = frozenset(("f16", "bf16", "f32", "f64"))
MODES = ("rz", "rm", "rp", "rna")


def evaluate(node: Node, read: Read) -> list[int]:
    """Evaluate an expression.

    Args:
        read: returns the bits of a leaf in each lane.
    Returns:
        the bits in each lane.
    Raises:
        NotImplementedError: the primitive is unknown.
    """
    if isinstance(node, Leaf):
        return read(node)
    columns = [evaluate(argument, read) for argument in node.args]
    if node.op in BITS:
        return [BITS[node.op](node, *lane) for lane in zip(*columns, strict=True)]
    if node.op in ("cvt", "cvtrandom", "cvtscaled"):
        return [convert(node, *lane) for lane in zip(*columns, strict=True)]
    operation = FLOAT.get(node.op) if node.type in FLOATS else _INTEGER.get(node.op)
    if operation is None:
        raise UnsupportedError(f"{node.op} on .{node.type}")
    return [operation(node, *lane) for lane in zip(*columns, strict=True)]


# integers -----------------------------------------------------------------------------------------------------------


def _wrap(compute):
    """Integer operation: operands are signed or unsigned by type, the result wraps, or saturates with "sat"."""

    def run(node: Apply, *values: int) -> int:
        is_signed, n = node.type[0] == "s", width(node.type)
        result = compute(*(signed(v, n) if is_signed else v for v in values))
        if "sat" in node.flags:
            low, high = (-(1 << n - 1), (1 << n - 1) - 1) if is_signed else (0, (1 << n) - 1)
            result = min(max(result, low), high)
        if "relu" in node.flags:
            result = max(result, 0)
        return result & ((1 << width(node.result)) - 1)

    return run


def _quotient(a: int, b: int) -> int:
    if b == 0:
        return -1
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _remainder(a: int, b: int) -> int:
    return -1 if b == 0 else a - b * _quotient(a, b)


def _high(node: Apply, a: int, b: int) -> int:
    n, is_signed = width(node.type), node.type[0] == "s"
    product = signed(a, n) * signed(b, n) if is_signed else a * b
    return product >> n & ((1 << n) - 1)


def _compare_integers(node: Apply, a: int, b: int) -> int:
    if node.type[0] == "s":
        n = width(node.type)
        a, b = signed(a, n), signed(b, n)
    return int(bool(node.number & (1 if a < b else 2 if a == b else 4)))


_INTEGER = {
    "add": _wrap(lambda a, b: a + b),
    "sub": _wrap(lambda a, b: a - b),
    "mul": _wrap(lambda a, b: a * b),
    "mulwide": _wrap(lambda a, b: a * b),
    "mulhi": _high,
    "div": _wrap(_quotient),
    "rem": _wrap(_remainder),
    "min": _wrap(min),
    "max": _wrap(max),
    "neg": _wrap(lambda a: -a),
    "abs": _wrap(abs),
    "cmp": _compare_integers,
}


# floating point -----------------------------------------------------------------------------------------------------


def _mode(node: Apply) -> str:
    return next((m for m in MODES if m in node.flags), "rn")


def flush(bits: int, type_name: str) -> int:
    """Flush a subnormal to zero, with its sign."""
    f = fp.FORMATS[type_name]
    return bits & f.sign if (bits & (f.sign - 1)) >> f.mantissa == 0 else bits


def finish(node: Apply, bits: int, type_name: str) -> int:
    """Apply ftz, sat and relu to a result."""
    f = fp.FORMATS[type_name]
    if "ftz" in node.flags:
        bits = flush(bits, type_name)
    if "sat" in node.flags:
        x = fp.number(bits, type_name)
        one = (1 - f.low) << f.mantissa
        above = x.kind == "inf" or (x.kind == "finite" and (bits & (f.sign - 1)) >= one)
        bits = 0 if x.kind == "nan" or x.sign else one if above else bits
    if "relu" in node.flags and bits & f.sign and fp.number(bits, type_name).kind != "nan":
        bits = 0
    return bits


def _payload(bits: tuple[int, ...]) -> int | None:
    """Return the first NaN operand of an f64 operation, quiet."""
    for b in bits:
        if fp.number(b, "f64").kind == "nan":
            return b | 1 << 51
    return None


def _exact(compute):
    """Operation on exact numbers, rounded once."""

    def run(node: Apply, *bits: int) -> int:
        type_name, mode = node.type, _mode(node)
        if "ftz" in node.flags:
            bits = tuple(flush(b, type_name) for b in bits)
        result = compute(mode, *(fp.number(b, type_name) for b in bits))
        if type_name == "f64" and result.kind == "nan":
            payload = _payload(bits)
            out = 0xFFF8 << 48 if payload is None else payload
            return 0 if "sat" in node.flags else out
        return finish(node, fp.rounded(result, type_name, mode), type_name)

    return run


def _approximation(compute):
    """Function in double precision, rounded once."""

    def run(node: Apply, a: int) -> int:
        if "ftz" in node.flags:
            a = flush(a, node.type)
        x = fp.number(a, node.type)
        result = fp.NAN if x.kind == "nan" else fp.from_float(compute(fp.to_float(x)))
        return finish(node, fp.rounded(result, node.type), node.type)

    return run


_ex2_f32, _ex2 = _approximation(approximations.ex2_f32), _approximation(approximations.ex2)


def _ex2_bits(node: Apply, a: int) -> int:
    return (_ex2_f32 if node.type == "f32" else _ex2)(node, a)


def _rsqrt(v: float) -> float:
    if v == 0.0:
        return math.copysign(math.inf, v)
    return math.nan if v < 0 else 0.0 if v == math.inf else 1.0 / math.sqrt(v)


def _rsqrt_bits(node: Apply, a: int) -> int:
    if node.type != "f64":
        return _approximation(_rsqrt)(node, a)
    x = fp.number(a, "f64")
    if x.kind == "nan":
        return a | 1 << 51
    result = fp.from_float(_rsqrt(fp.to_float(x)))
    return 0xFFF8 << 48 if result.kind == "nan" else fp.rounded(result, "f64")


def _coarse(compute):
    """The .approx.ftz.f64 forms, which use the upper word only."""

    def run(node: Apply, a: int) -> int:
        a = flush(a & 0xFFFFFFFF_00000000, "f64")
        x = fp.number(a, "f64")
        v = math.nan if x.kind == "nan" else compute(fp.to_float(x))
        if v != v:
            return 0x7FFFFFFF_00000000
        return flush(fp.rounded(fp.from_float(v), "f64") & 0xFFFFFFFF_00000000, "f64")

    return run


def _reciprocal(v: float) -> float:
    return math.copysign(math.inf, v) if v == 0.0 else 1.0 / v


def minimum(a: int, b: int, type_name: str, *, largest: bool, flags: frozenset[str] = frozenset()) -> int:
    """Return the min or max of two bit patterns: NaN is ignored (returned with "nan"), -0 < +0."""
    f = fp.FORMATS[type_name]
    if "ftz" in flags:
        a, b = flush(a, type_name), flush(b, type_name)
    sign = (a ^ b) & f.sign if "xorsign" in flags else 0
    bad = [fp.number(v, type_name).kind == "nan" for v in (a, b)]
    if all(bad) or ("nan" in flags and any(bad)):
        return f.nan
    if "xorsign" in flags or "abs" in flags:
        a, b = a & ~f.sign, b & ~f.sign
    if bad[0] or bad[1]:
        return (b if bad[0] else a) | sign

    def key(v):
        return -1 - (v & ~f.sign) if v & f.sign else v

    return (a if (key(a) < key(b)) != largest else b) | sign


def _compare_floats(node: Apply, a: int, b: int) -> int:
    if "ftz" in node.flags:
        a, b = flush(a, node.type), flush(b, node.type)
    return int(bool(node.number & fp.compare(fp.number(a, node.type), fp.number(b, node.type))))


def _change_sign(change):
    def run(node: Apply, a: int) -> int:
        if "ftz" in node.flags:
            a = flush(a, node.type)
        return change(a, fp.FORMATS[node.type].sign)

    return run


def _divide_approximately(node: Apply, a: int, b: int) -> int:
    if "ftz" in node.flags:
        a, b = flush(a, "f32"), flush(b, "f32")
    x, y = fp.number(a, "f32"), fp.number(b, "f32")
    big = 0x7E800000 < b & 0x7FFFFFFF < 0x7F800000
    result = fp.multiply(x, fp.Number("finite", y.sign)) if big else fp.divide(x, y)
    return finish(node, fp.rounded(result, "f32"), "f32")


FLOAT = {
    "add": _exact(lambda mode, a, b: fp.add(a, b, mode)),
    "sub": _exact(lambda mode, a, b: fp.add(a, b._replace(sign=1 - b.sign), mode)),
    "mul": _exact(lambda mode, a, b: fp.multiply(a, b)),
    "div": _exact(lambda mode, a, b: fp.divide(a, b)),
    "fma": _exact(lambda mode, a, b, c: fp.fused(a, b, c, mode)),
    "sqrt": _exact(lambda mode, a: fp.root(a)),
    "divapprox": _divide_approximately,
    "rsqrt": _rsqrt_bits,
    "ex2": _ex2_bits,
    "lg2": _approximation(approximations.lg2),
    "sin": _approximation(approximations.sin),
    "cos": _approximation(approximations.cos),
    "tanh": _approximation(approximations.tanh),
    "rcpcoarse": _coarse(_reciprocal),
    "rsqrtcoarse": _coarse(_rsqrt),
    "min": lambda node, a, b: minimum(a, b, node.type, largest=False, flags=node.flags),
    "max": lambda node, a, b: minimum(a, b, node.type, largest=True, flags=node.flags),
    "cmp": _compare_floats,
    "neg": _change_sign(lambda a, sign: a ^ sign),
    "abs": _change_sign(lambda a, sign: a & ~sign),
    "copysign": lambda node, a, b: (a & fp.FORMATS[node.type].sign) | (b & ~fp.FORMATS[node.type].sign),
    "class": lambda node, a: int(bool(node.number & fp.classify(fp.number(a, node.type), node.type))),
    "finish": lambda node, a: finish(node, a, node.type),
}
