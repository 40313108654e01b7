"""Values of elements: the registers that hold them, and the conversion of Python numbers."""

from __future__ import annotations

from numbers import Real
from typing import Any

from pyptx import reg
from pyptx._loc import user_place
from pyptx.errors import BoundsError, OperandError
from pyptx.reg import Reg
from pyptx.tracing.operand import float_literal, half_bits, operand
from pyptx.types import PtxType, b8, pred, s32, u8, u32

__all__ = ["as_source", "byte_type", "in_memory", "in_register", "number", "register_type"]

_BITS = {"f16": "b16", "bf16": "b16", "f16x2": "b32", "bf16x2": "b32", "tf32": "b32", "e4m3": "b8", "e5m2": "b8"}
_WIDENED = {"u8": u32, "s8": s32}


def in_memory(dtype: PtxType) -> str:
    """Return the type modifier of `ld` and `st` for elements of a type."""
    return "u8" if dtype == pred else _BITS.get(dtype.name, dtype.name)


def in_register(dtype: PtxType) -> PtxType:
    """Return the type of the register that holds an element: 8-bit integers are extended to 32 bits."""
    return _WIDENED.get(dtype.name, dtype)


def register_type(dtype: PtxType) -> str:
    """Return the type modifier of a `mov` to a register of a type; its immediate is a bit pattern, as `number` gives it."""
    return dtype.name if dtype.name in ("f32", "f64") or dtype.name[0] in "us" else f"b{dtype.bits}"


def as_source(array: str, dtype: PtxType, value: object) -> object:
    """Return a value as the source operand of a store to an array of elements of a type.

    Raises:
        OperandError: a register of another type, or a value that is not a number.
    """
    if isinstance(value, Reg):
        value = reg.readable(value)
        if not _fits(value.dtype, dtype):
            raise OperandError(
                f"{array} has elements of type {dtype}, and {value!r} is {value.dtype}",
                at=user_place(),
                hint=f"convert the value: {array}[...] = value.to({dtype})",
            )
        return value
    given: Any = value
    if isinstance(given, Real) and hasattr(given, "item"):  # of NumPy
        given = getattr(given, "item")()  # noqa: B009 - numbers of NumPy only
    if isinstance(given, bool | int | float):
        return number(dtype, given)
    refuse = getattr(value, "__ptx_operand__", None)
    if refuse is not None and not hasattr(value, "dtype"):
        refuse()  # a special register that was not called raises with the call to write
    not_loaded = getattr(value, "refuse_as_value", None)
    if not_loaded is not None:
        not_loaded()  # a location in shared memory raises with the load to write
    raise OperandError(
        f"{array} takes a register of type {dtype} or a number, not {value!r}",
        at=user_place(),
        hint="an instruction returns its destination if one is passed: ptx.inst.mul.f32(reg.scalar(f32), a, b)"
        if value is None
        else None,
    )


def _fits(given: PtxType, wanted: PtxType) -> bool:
    """Return True if a register of one type holds an element of the other."""
    if given == wanted:
        return True
    if pred in (given, wanted):
        return False
    if given.bits != wanted.bits:
        return wanted.bits == 8 and given.bits == 32 and not (given.is_float or wanted.is_float)
    untyped = "b8 b16 b32 b64 b128".split()
    return given.name in untyped or wanted.name in untyped or given.is_float == wanted.is_float is False


def number(dtype: PtxType, value: float) -> object:
    """Return a Python number as an immediate operand of an instruction that moves elements of a type.

    Raises:
        OperandError: a float for integers, or a type without literals.
        BoundsError: the number is out of the range of the type.
    """
    if dtype.is_float:
        if dtype.name in ("f32", "f64"):
            return operand(float(value), dtype.bits)
        if dtype.name in ("f16", "bf16", "f16x2", "bf16x2"):
            return half_bits(dtype.name, float(value))
        if dtype.name == "tf32":
            return int(float_literal(float(value), 32)[2:], 16)
        if not value:
            return 0
    elif isinstance(value, float):
        raise OperandError(f"a Python float ({value!r}) is not a number of type {dtype}", at=user_place())
    elif dtype == pred:
        return int(bool(value))
    else:
        low = -(1 << dtype.bits - 1) if dtype.is_signed or dtype.name[0] == "b" else 0
        high = 1 << dtype.bits - dtype.is_signed
        if not low <= value < high:
            raise BoundsError(f"{value} is out of the range of {dtype}", at=user_place())
        return int(value)
    raise OperandError(
        f"{value!r} has no literal of type {dtype}",
        at=user_place(),
        hint=f"convert a register: reg.scalar(f32, {float(value)}).to({dtype})",
    )


_BYTES = {"u8": u8, "s8": PtxType("s8", 8)}


def byte_type(dtype: PtxType) -> PtxType:
    """Return the type of the 8-bit register that one element of a packed word is extracted to."""
    return _BYTES.get(dtype.name, b8)
