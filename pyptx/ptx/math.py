"""Functions of numbers by type: `ptx.max(a, b)` is `max.f32` of f32 registers and `max.s32` of s32 ones.

Each returns a new register and emits one instruction, unless it says otherwise. Arguments are registers, numbers (at least
one register) and vectors, whose elements are computed one by one; f16 and bf16 in pairs. `ptx.inst` has every rounding and
modifier.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from pyptx import reg
from pyptx._loc import user_place
from pyptx.elements import Vector
from pyptx.elements.arithmetic import apply
from pyptx.errors import OperandError
from pyptx.reg import NegPred, Reg
from pyptx.tracing.operand import half_bits
from pyptx.tracing.operators import arithmetic
from pyptx.tracing.trace import emit
from pyptx.types import PtxType, from_name, pred

__all__ = [
    "abs",
    "ceil",
    "cos",
    "exp",
    "exp2",
    "floor",
    "fma",
    "log",
    "log2",
    "max",
    "min",
    "rcp",
    "round",
    "rsqrt",
    "select",
    "sin",
    "sqrt",
    "tanh",
    "trunc",
]

Number = Any  # a Reg, a Vector or a Python number

_HALVES = ("f16", "bf16", "f16x2", "bf16x2")
_F32 = ("f32",)
_WIDE = ("f32", "f64")
_OF_FLOATS = {  # function -> mnemonic by type
    "exp2": {"f32": "ex2.approx.f32"} | {t: f"ex2.approx.{'ftz.' * t.startswith('b')}{t}" for t in _HALVES},
    "log2": {"f32": "lg2.approx.f32"},
    "sin": {"f32": "sin.approx.f32"},
    "cos": {"f32": "cos.approx.f32"},
    "tanh": {t: f"tanh.approx.{t}" for t in ("f32", *_HALVES)},
    "sqrt": {t: f"sqrt.rn.{t}" for t in _WIDE},
    "rsqrt": {t: f"rsqrt.approx.{t}" for t in _WIDE},
    "rcp": {t: f"rcp.rn.{t}" for t in _WIDE},
    "abs": {t: f"abs.{t}" for t in (*_WIDE, *_HALVES, "s16", "s32", "s64")},
    "floor": {t: f"cvt.rmi.{t}.{t}" for t in ("f16", *_WIDE)},
    "ceil": {t: f"cvt.rpi.{t}.{t}" for t in ("f16", *_WIDE)},
    "round": {t: f"cvt.rni.{t}.{t}" for t in ("f16", *_WIDE)},
    "trunc": {t: f"cvt.rzi.{t}.{t}" for t in ("f16", *_WIDE)},
}


def max(a: Number, b: Number, *more: Number) -> Any:
    """Return the maximum; of f32 it is that of IEEE 754-2008, which ignores a NaN. Integers by the type of the first register."""
    return _extremum("max", a, b, *more)


def min(a: Number, b: Number, *more: Number) -> Any:
    """Return the minimum, as `max` does."""
    return _extremum("min", a, b, *more)


def _extremum(op: str, *numbers: Number) -> Any:
    first, *others = numbers
    for other in others:
        first = _binary(op, first, other)
    return first


def _binary(op: str, a: Number, b: Number) -> Any:
    if isinstance(a, Vector) or isinstance(b, Vector):
        return apply(lambda x, y: _binary(op, x, y), a, b)
    if not isinstance(a, Reg):
        a, b = b, a
    result = arithmetic(op, a, b) if isinstance(a, Reg) else NotImplemented
    if result is NotImplemented:
        raise OperandError(
            f"ptx.{op} takes registers and numbers, at least one register; got {a!r} and {b!r}", at=user_place()
        )
    return result


def fma(a: Number, b: Number, c: Number) -> Any:
    """Return a * b + c rounded once (`fma.rn`); of integers the low half (`mad.lo`)."""
    if builtins.any(isinstance(x, Vector) for x in (a, b, c)):
        return apply(fma, a, b, c)
    dtype = _type_of("fma", a, b, c)
    if not dtype.is_float:
        kind = f"{'s' if dtype.is_signed else 'u'}{dtype.bits}"
        return _emit("mad", f"lo.{kind}", dtype, *_operands("fma", dtype, a, b, c))
    if dtype.name not in (*_WIDE, *_HALVES):
        raise _undefined("fma", dtype)
    return _emit("fma", f"rn.{dtype}", dtype, *_operands("fma", dtype, a, b, c))


def select(condition: Reg | NegPred, a: Number, b: Number) -> Any:
    """Return a where the predicate holds, else b (`selp`)."""
    if isinstance(condition, NegPred):
        return select(condition.reg, b, a)
    if not isinstance(condition, Reg) or condition.dtype != pred:
        raise OperandError(f"ptx.select takes a predicate such as `a < b`, not {condition!r}", at=user_place())
    if isinstance(a, Vector) or isinstance(b, Vector):
        return apply(lambda x, y: select(condition, x, y), a, b)
    dtype = _type_of("select", a, b)
    kind = dtype.name if dtype.name in _WIDE else f"b{builtins.max(16, dtype.bits)}"
    return _emit("selp", kind, dtype, *_operands("select", dtype, a, b), condition)


def exp(x: Number) -> Any:
    """Return e**x of f32: a multiplication by log2(e) and `ex2.approx`."""
    return exp2(_f32("exp", x) * 1.4426950408889634)


def log(x: Number) -> Any:
    """Return the natural logarithm of f32: `lg2.approx` and a multiplication by ln(2)."""
    return log2(_f32("log", x)) * 0.6931471805599453


def _f32(name: str, x: Number) -> Any:
    if not isinstance(x, Reg | Vector) or x.dtype.name != "f32":
        raise OperandError(
            f"ptx.{name} takes an f32 register, not {x!r}", at=user_place(), hint="convert it: x.to(f32)"
        )
    return x


def _function(name: str, doc: str) -> Callable[[Number], Any]:
    table = _OF_FLOATS[name]

    def function(x: Number) -> Any:
        if isinstance(x, Vector):
            return apply(function, x)
        dtype = _type_of(name, x)
        if dtype.name not in table:
            raise _undefined(name, dtype, table)
        opcode, modifiers = table[dtype.name].split(".", 1)
        return _emit(opcode, modifiers, dtype, reg.readable(x))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


abs: Callable[[Number], Any] = _function("abs", "Return the absolute value of a float or a signed integer.")
exp2: Callable[[Number], Any] = _function("exp2", "Return 2**x (`ex2.approx`) of f32, f16 or bf16.")
log2: Callable[[Number], Any] = _function("log2", "Return the logarithm to base 2 of f32 (`lg2.approx`).")
sin: Callable[[Number], Any] = _function("sin", "Return the sine of f32 (`sin.approx`), x in radians.")
cos: Callable[[Number], Any] = _function("cos", "Return the cosine of f32 (`cos.approx`), x in radians.")
tanh: Callable[[Number], Any] = _function("tanh", "Return the hyperbolic tangent (`tanh.approx`) of f32, f16 or bf16.")
sqrt: Callable[[Number], Any] = _function(
    "sqrt", "Return the square root of f32 or f64, correctly rounded (`sqrt.rn`)."
)
rsqrt: Callable[[Number], Any] = _function("rsqrt", "Return 1 / sqrt(x) of f32 or f64 (`rsqrt.approx`).")
rcp: Callable[[Number], Any] = _function("rcp", "Return 1 / x of f32 or f64, correctly rounded (`rcp.rn`).")
floor: Callable[[Number], Any] = _function("floor", "Round down to an integer, as a float (`cvt.rmi`).")
ceil: Callable[[Number], Any] = _function("ceil", "Round up to an integer, as a float (`cvt.rpi`).")
round: Callable[[Number], Any] = _function(
    "round", "Round to the nearest integer, ties to even, as a float (`cvt.rni`)."
)
trunc: Callable[[Number], Any] = _function("trunc", "Round toward zero to an integer, as a float (`cvt.rzi`).")


def _type_of(name: str, *numbers: Number) -> PtxType:
    """Return the type of the registers among the arguments.

    Raises:
        OperandError: there is none, or they have several types.
    """
    types = {x.dtype.name for x in numbers if isinstance(x, Reg)}
    if len(types) != 1:
        given = ", ".join(map(repr, numbers))
        raise OperandError(
            f"ptx.{name} takes registers of one type and numbers, got {given}",
            at=user_place(),
            hint="convert one of them, as in x.to(f32)" if types else None,
        )
    return from_name(types.pop())


def _operands(name: str, dtype: PtxType, *numbers: Number) -> list[object]:
    """Convert numbers to operands of a type: literals, or registers for f16 and bf16."""
    found: list[object] = []
    for x in numbers:
        if isinstance(x, Reg):
            found.append(reg.readable(x))
        elif not isinstance(x, bool | int | float) or (isinstance(x, float) and not dtype.is_float):
            raise OperandError(f"ptx.{name} of {dtype} takes registers and numbers, not {x!r}", at=user_place())
        elif dtype.name in _HALVES:
            register = reg.scalar(dtype)
            emit("mov", f"b{dtype.bits}", register, half_bits(dtype.name, float(x)))
            found.append(register)
        elif dtype.name in _WIDE:
            literal = reg.scalar(dtype, float(x)) if dtype.name == "f64" else float(x)
            found.append(literal)
        else:
            found.append(x)
    return found


def _emit(opcode: str, modifiers: str, dtype: PtxType, *operands: object) -> Reg:
    result = reg.scalar(dtype)
    emit(opcode, modifiers, result, *operands)
    return result


def _undefined(name: str, dtype: PtxType, table: dict[str, str] | None = None) -> OperandError:
    return OperandError(
        f"ptx.{name} is not defined on {dtype}" + (f"; it takes {', '.join(table)}" if table else ""),
        at=user_place(),
        hint="convert it: x.to(f32)",
    )
