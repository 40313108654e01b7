"""Python operators on registers: the instruction each emits, by the types of its operands.

An operator returns a new register; an in-place operator (`a += b`) writes its left operand. A Python number on either
side becomes a literal of the register's type; f16 and bf16 have none, so it is loaded with a `mov`. A 32-bit integer
combined with a 64-bit one is widened first. Other types do not mix: convert one of the operands with `x.to(f32)`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Self, TypeVar, cast

from pyptx._loc import user_place
from pyptx.errors import OperandError
from pyptx.ir.nodes import ImmediateOperand, Instruction, LabelOperand, RegisterOperand
from pyptx.isa.registers import SPECIAL
from pyptx.tracing.operand import float_literal, half_bits
from pyptx.tracing.trace import emit, get_ctx, split_modifiers
from pyptx.types import PtxType, pred, s64, u32, u64

__all__ = ["PREFIX", "Operators", "arithmetic", "declared", "readable", "spelling"]

PREFIX = {
    "pred": "%p",
    "b16": "%rs",
    "u16": "%rs",
    "s16": "%rs",
    "b32": "%r",
    "u32": "%r",
    "s32": "%r",
    "b64": "%rd",
    "u64": "%rd",
    "s64": "%rd",
    "b128": "%rq",
    "f16": "%h",
    "bf16": "%h",
    "f16x2": "%hh",
    "bf16x2": "%hh",
    "f32": "%f",
    "tf32": "%f",
    "f64": "%fd",
    "e4m3": "%b",
    "e5m2": "%b",
    "b8": "%r",
    "u8": "%r",
    "s8": "%r",
}
_HALVES = ("f16", "bf16", "f16x2", "bf16x2")
_FLOATS = ("f32", "f64", *_HALVES)
_BITS = ("b16", "b32", "b64", "tf32")  # without a type of their own

T = TypeVar("T")


class Operators:
    """Arithmetic, comparison and bitwise operators of a register.

    Attributes:
        name: of the register.
        dtype: its type.
        node: its operand in the tree.
    """

    __slots__ = ()

    name: str
    dtype: PtxType
    node: RegisterOperand | LabelOperand

    # comparison -----------------------------------------------------------------------------------------------------

    def __lt__(self, other: Any) -> Self:
        return _compare("lt", self, other)

    def __le__(self, other: Any) -> Self:
        return _compare("le", self, other)

    def __gt__(self, other: Any) -> Self:
        return _compare("gt", self, other)

    def __ge__(self, other: Any) -> Self:
        return _compare("ge", self, other)

    def __eq__(self, other: Any) -> Self:  # pyright: ignore[reportIncompatibleMethodOverride] - emits setp
        return _compare("eq", self, other)

    def __ne__(self, other: Any) -> Self:  # pyright: ignore[reportIncompatibleMethodOverride] - emits setp
        return _compare("ne", self, other)

    # arithmetic: a new register each time -----------------------------------------------------------------------------

    def __add__(self, other: Any) -> Self:
        return arithmetic("add", self, other)

    def __radd__(self, other: Any) -> Self:
        return arithmetic("add", self, other)

    def __sub__(self, other: Any) -> Self:
        return arithmetic("sub", self, other)

    def __rsub__(self, other: Any) -> Self:
        return arithmetic("sub", _literal(self, other), self)

    def __mul__(self, other: Any) -> Self:
        return arithmetic("mul", self, other)

    def __rmul__(self, other: Any) -> Self:
        return arithmetic("mul", self, other)

    def __truediv__(self, other: Any) -> Self:
        return arithmetic("truediv", self, other)

    def __rtruediv__(self, other: Any) -> Self:
        return arithmetic("truediv", _literal(self, other), self)

    def __floordiv__(self, other: Any) -> Self:
        return arithmetic("div", self, other)

    def __rfloordiv__(self, other: Any) -> Self:
        return arithmetic("div", _literal(self, other), self)

    def __mod__(self, other: Any) -> Self:
        return arithmetic("rem", self, other)

    def __rmod__(self, other: Any) -> Self:
        return arithmetic("rem", _literal(self, other), self)

    def __lshift__(self, other: Any) -> Self:
        return arithmetic("shl", self, other)

    def __rlshift__(self, other: Any) -> Self:
        return arithmetic("shl", _literal(self, other), self)

    def __rshift__(self, other: Any) -> Self:
        return arithmetic("shr", self, other)

    def __rrshift__(self, other: Any) -> Self:
        return arithmetic("shr", _literal(self, other), self)

    def __and__(self, other: Any) -> Self:
        return arithmetic("and", self, other)

    def __rand__(self, other: Any) -> Self:
        return arithmetic("and", self, other)

    def __xor__(self, other: Any) -> Self:
        return arithmetic("xor", self, other)

    def __rxor__(self, other: Any) -> Self:
        return arithmetic("xor", self, other)

    def __or__(self, other: Any) -> Self:
        return arithmetic("or", self, other)

    def __ror__(self, other: Any) -> Self:
        return arithmetic("or", self, other)

    def __neg__(self) -> Self:
        _require_number(self, "-")
        signed = self.dtype.name if self.dtype.is_float else f"s{self.dtype.bits}"
        value, result = readable(self), declared(self, self.dtype)
        emit("neg", signed, result, value)
        return result

    def __invert__(self) -> Any:
        _require_number(self, "~", floats=False)
        value, result = readable(self), declared(self, self.dtype)
        emit("not", f"b{self.dtype.bits}", result, value)
        return result

    # in place: the left register is the destination -------------------------------------------------------------------

    def __iadd__(self, other: Any) -> Self:
        return arithmetic("add", self, other, self)

    def __isub__(self, other: Any) -> Self:
        return arithmetic("sub", self, other, self)

    def __imul__(self, other: Any) -> Self:
        return arithmetic("mul", self, other, self)

    def __itruediv__(self, other: Any) -> Self:
        return arithmetic("truediv", self, other, self)

    def __ifloordiv__(self, other: Any) -> Self:
        return arithmetic("div", self, other, self)

    def __imod__(self, other: Any) -> Self:
        return arithmetic("rem", self, other, self)

    def __ilshift__(self, other: Any) -> Self:
        return arithmetic("shl", self, other, self)

    def __irshift__(self, other: Any) -> Self:
        return arithmetic("shr", self, other, self)

    def __iand__(self, other: Any) -> Self:
        return arithmetic("and", self, other, self)

    def __ixor__(self, other: Any) -> Self:
        return arithmetic("xor", self, other, self)

    def __ior__(self, other: Any) -> Self:
        return arithmetic("or", self, other, self)

    def max(self, other: Any) -> Self:
        """Return the maximum of two numbers as a new register."""
        return arithmetic("max", self, other)

    def min(self, other: Any) -> Self:
        """Return the minimum of two numbers as a new register."""
        return arithmetic("min", self, other)


_SYMBOL = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "//",
    "truediv": "/",
    "rem": "%",
    "shl": "<<",
    "shr": ">>",
    "and": "&",
    "or": "|",
    "xor": "^",
    "max": ".max",
    "min": ".min",
}
_BITWISE = {"shl", "and", "or", "xor"}


def _literal(like: Operators, value: object) -> Any:
    """Load the number on the left of an operator into a new register."""
    if not isinstance(value, int | float):
        raise OperandError(f"cannot combine {value!r} with {like!r}; expected a number or a register")
    dtype = like.dtype
    if isinstance(value, float) and not dtype.is_float:
        raise OperandError(f"a Python float ({value!r}) cannot be combined with a {dtype} register")
    if dtype.name in _HALVES:
        return _half(like, dtype, float(value))
    register = declared(like, dtype)
    emit("mov", dtype.register, register, float_literal(float(value), dtype.bits) if dtype.is_float else value)
    return register


def _half(like: Operators, dtype: PtxType, value: float) -> Any:
    """Load a number into a new register of a 16-bit float type or a pair of them; instructions take no literals."""
    register = declared(like, dtype)
    emit("mov", f"b{dtype.bits}", register, half_bits(dtype.name, value))
    return register


def declared(like: Operators, dtype: PtxType) -> Any:
    """Declare a register of type `dtype` and the class of `like`."""
    ctx, cls = get_ctx(), cast(Any, like.__class__)
    if dtype == pred:
        return cls(ctx.predicate(), pred)
    return cls(ctx.fresh(dtype, PREFIX[dtype.name], user_place()), dtype)


def _require_number(register: Operators, symbol: str, *, floats: bool = True) -> None:
    dtype = register.dtype
    fits = dtype.name in _FLOATS if dtype.is_float else dtype.bits in (16, 32, 64) and dtype.name[0] in "bus"
    if dtype == pred:
        raise OperandError(
            f"operator {symbol} is not defined on predicates ({register.name}); use p & q, p ^ q or ~p, "
            "or ptx.inst.selp for a number"
        )
    if not fits or (dtype.is_float and not floats):
        raise OperandError(
            f"operator {symbol} is not defined on {dtype} registers ({register.name}); use ptx.inst",
            at=user_place(),
            hint=f"convert it first: x.to({'f32' if dtype.is_float else 'u32'})" if dtype.bits <= 16 else None,
        )


def readable(value: T) -> T:
    """Copy a special register, which only `mov` can read, into a new register; return other values unchanged."""
    if isinstance(value, Operators) and ("." in value.name or value.name in SPECIAL):
        register = declared(value, value.dtype)
        emit("mov", value.dtype.register, register, value)
        return register
    return value


def _compare(op: str, left: Operators, right: object) -> Any:
    dtype = left.dtype
    left, right = readable(left), readable(right)
    if isinstance(right, Operators):
        _require_like(left, right, op)
    if dtype.name in ("b32", "b64"):
        dtype = u64 if dtype.bits == 64 else u32
    if dtype.name in ("f16x2", "bf16x2"):
        raise OperandError(
            f"{left!r} holds two numbers; compare them with ptx.inst.setp, which has two results", at=user_place()
        )
    source = _right(left, right, op)
    result = declared(left, pred)
    emit("setp", f"{op}.{dtype.name}", result, left, source)
    return result


def _require_like(left: Operators, right: Operators, symbol: str) -> None:
    """Refuse operands that no instruction combines: floats of different types, a float and an integer, other widths.

    Raises:
        OperandError: they do not fit.
    """
    a, b = left.dtype, right.dtype
    if a == b or (a.bits == b.bits and (not (a.is_float or b.is_float) or a.name in _BITS or b.name in _BITS)):
        return
    raise OperandError(
        f"operator {symbol} on {a} and {b} ({left.name}, {right.name}); convert one with ptx.inst.cvt",
        at=user_place(),
        hint=f"the right operand as {a} is x.to({a})",
    )


def _right(left: Operators, value: object, symbol: str) -> object:
    """Return the right operand: a register unchanged, a number as a literal of the type of the left one."""
    dtype = left.dtype
    if isinstance(value, bool | int | float) and dtype.is_float:
        if dtype.name in _HALVES:
            return _half(left, dtype, float(value))
        return float_literal(float(value), dtype.bits)
    if isinstance(value, float):
        raise OperandError(f"a Python float ({value!r}) cannot be combined with a {dtype} register by {symbol}")
    return value


def _widened(register: Operators) -> Any:
    """Widen a 32-bit register to 64 bits by its signedness; return the new register."""
    dtype, source = (s64, "s64.s32") if register.dtype.is_signed else (u64, "u64.u32")
    wide = declared(register, dtype)
    emit("cvt", source, wide, register)
    return wide


_SPELLED: dict[
    tuple[str, str, str], tuple[str, tuple[str, ...]]
] = {}  # cache for operand types that need no conversion


def arithmetic(op: str, left: Operators, right: Any, destination: Operators | None = None) -> Any:
    """Emit `left op right`.

    Args:
        op: "add", "sub", "mul", "div", "truediv", "rem", "shl", "shr", "and", "or", "xor", "max" or "min".
        left: the left register.
        right: a register, a number, or text.
        destination: register to write; default: a new one.
    Returns:
        The destination.
    """
    kind, cls = right.__class__, cast(Any, left.__class__)
    if "." in left.name or left.name in SPECIAL:
        left = readable(left)
        destination = left if destination is not None else None
    if kind is cls and ("." in right.name or right.name in SPECIAL):
        right = readable(right)
    dtype = left.dtype
    key = (op, dtype.name, "int" if kind is int else right.dtype.name if kind is cls else "")
    spelled = _SPELLED.get(key)
    if spelled is None:
        return _converted(op, left, right, destination, key)
    ctx, place = get_ctx(), user_place(2)
    result = cls(ctx.fresh(dtype, PREFIX[key[1]], place), dtype) if destination is None else destination
    node = _immediate(right) if kind is int else right.node
    ctx.statements.append(Instruction(*spelled, (result.node, left.node, node), None, None, place))
    return result


@lru_cache(maxsize=1024)
def _immediate(value: int) -> ImmediateOperand:
    return ImmediateOperand(str(value))


def _converted(
    op: str, left: Operators, right: object, destination: Operators | None, key: tuple[str, str, str]
) -> Any:
    """Emit `left op right` after checks and conversions; cache the mnemonic if it needed neither."""
    symbol = _SYMBOL[op]
    if left.dtype == pred and op in ("and", "xor"):
        return _of_predicates(op, left, right, destination)
    _require_number(left, symbol, floats=op in ("add", "sub", "mul", "truediv", "max", "min"))
    if op == "truediv" and left.dtype.name in _HALVES:
        raise OperandError(
            f"operator / is not defined on {left.dtype} registers ({left.name})",
            at=user_place(),
            hint=f"divide in f32: (x.to(f32) / y.to(f32)).to({left.dtype})",
        )
    if not left.dtype.is_float and op == "truediv":
        raise OperandError(
            f"operator / is not defined on {left.dtype} registers ({left.name}); use // for integer division"
        )
    if isinstance(right, Operators):
        _require_number(right, symbol)
        if op not in ("shl", "shr") and (
            left.dtype.is_float or right.dtype.is_float or 16 in (left.dtype.bits, right.dtype.bits)
        ):
            _require_like(left, right, symbol)
    elif not isinstance(right, str) and not hasattr(right, "__index__") and not isinstance(right, float):
        return NotImplemented
    right = _right(left, right, symbol)
    widen_left = (
        isinstance(right, Operators)
        and not left.dtype.is_float
        and left.dtype.bits == 32
        and right.dtype.bits == 64
        and op not in ("shl", "shr")
    )
    if widen_left and destination is not None:
        raise OperandError(f"{left!r} {symbol}= {right!r} would discard the upper 32 bits; widen {left.name} first")
    wide_type = s64 if left.dtype.is_signed else u64
    result = destination if destination is not None else declared(left, wide_type if widen_left else left.dtype)
    if widen_left:
        left = _widened(left)
    elif (
        isinstance(right, Operators)
        and left.dtype.bits == 64
        and right.dtype.bits == 32
        and op not in ("shl", "shr")
        and not left.dtype.is_float
    ):
        right = _widened(right)
    if op in ("shl", "shr") and isinstance(right, Operators) and right.dtype.bits != 32:
        raise OperandError(f"the shift amount {right!r} must be a 32-bit register")
    opcode, modifiers = spelling(op, left.dtype, immediate=not isinstance(right, Operators))
    emit(opcode, modifiers, result, left, right)
    if key[1:] == (left.dtype.name, "int" if right.__class__ is int else getattr(right, "dtype", pred).name):
        _SPELLED[key] = opcode, split_modifiers(modifiers)
    return result


def _of_predicates(op: str, left: Operators, right: Any, destination: Operators | None) -> Any:
    """Emit `p & q` or `p ^ q`; a negated operand `~q` is computed into a predicate first."""
    if getattr(right, "negated_register", None) is not None:
        negated, right = right, declared(left, pred)
        emit("not", "pred", right, negated.reg)
    if not isinstance(right, Operators) or right.dtype != pred:
        raise OperandError(f"operator {_SYMBOL[op]} takes two predicates, not {left!r} and {right!r}")
    result = declared(left, pred) if destination is None else destination
    emit(op, "pred", result, left, right)
    return result


def spelling(op: str, dtype: PtxType, *, immediate: bool = False) -> tuple[str, str]:
    """Return opcode and modifiers of an operator on registers of a type."""
    bits = dtype.bits
    if dtype.is_float:
        return ("div", f"rn.{dtype.name}") if op == "truediv" else (op, dtype.name)
    if op in _BITWISE:
        return op, f"b{bits}"
    unsigned_or_signed = f"{'s' if dtype.is_signed else 'u'}{bits}"
    match op:
        case "add":
            return op, "s64" if bits == 64 else unsigned_or_signed
        case "sub":
            return op, f"s{bits}"
        case "mul":
            return op, "lo.u64" if bits == 64 else "lo.u16" if bits == 16 else "lo.s32" if immediate else "lo.u32"
    return op, unsigned_or_signed
