"""Conversion of registers to other types: `x.to(bf16)`, the `cvt` of each pair of types.

Conversions to a float round to nearest even, conversions of a float to an integer truncate, both as in C; conversions to
fp8 saturate at the largest finite number.
"""

from __future__ import annotations

from typing import Any

from pyptx._loc import user_place
from pyptx.errors import OperandError
from pyptx.tracing.operators import Operators, declared, readable
from pyptx.tracing.trace import emit
from pyptx.types import PtxType, b8, b16, f16, f16x2, f32, pred, s32, u32

__all__ = ["convert"]

_FP8 = ("e4m3", "e5m2")
_PACKED = ("f16x2", "bf16x2")
_ORDER = {"f16": 0, "bf16": 1, "f32": 2, "f64": 3}  # a conversion to the right is exact, but for f16 to bf16


def convert(register: Operators, dtype: PtxType, rounding: str | None = None) -> Any:
    """Emit the conversion of a register; return the result in a new register.

    Args:
        register: of any type but the packed ones.
        dtype: type of the result. 8-bit integers are held in registers of 32 bits, with the bits above zero or the sign.
        rounding: "rn", "rz", "rm" or "rp" to a float; "rni", "rzi", "rmi" or "rpi" to an integer.
    Raises:
        OperandError: no such conversion.
    """
    if not isinstance(dtype, PtxType):
        raise OperandError(
            f"to() takes a type of pyptx.types, not {dtype!r}",
            at=user_place(),
            hint="from pyptx.types import bf16; x.to(bf16)",
        )
    source = register.dtype
    if source.name in _PACKED or dtype.name in _PACKED or "b128" in (source.name, dtype.name):
        raise OperandError(
            f"{register!r} cannot be converted to {dtype} by to()",
            at=user_place(),
            hint="convert a Vector, whose elements are packed: x.vec(2)[i].to(bf16); or use ptx.inst.cvt",
        )
    if rounding is not None:
        return _emitted("cvt", f"{rounding}.{dtype}.{_value_type(source)}", register, dtype)
    register = readable(register)
    if source == dtype or (
        source.bits == dtype.bits and "b" in (source.name[0], dtype.name[0]) and _plain(source, dtype)
    ):
        return _emitted(*(("mov", _move_type(dtype)) if dtype.bits != 8 else ("cvt", "u8.u8")), register, dtype)
    if dtype == pred:
        return (_as(register, f32) if source.is_float and source.bits <= 16 else register) != 0
    if source == pred:
        number = declared(register, u32)
        emit("selp", "u32", number, 1, 0, register)
        return number if dtype == u32 else convert(number, dtype)
    if source.name in _FP8:
        return _from_fp8(register, dtype)
    if dtype.name in _FP8:
        return _to_fp8(register, dtype)
    if source.is_float or dtype.is_float:
        return _with_float(register, source, dtype)
    if source.bits == dtype.bits and source.bits > 8:
        return _emitted("mov", f"b{dtype.bits}", register, dtype)
    return _emitted("cvt", f"{_integer(dtype)}.{_integer(source)}", register, _held(dtype))


def _with_float(register: Operators, source: PtxType, dtype: PtxType) -> Any:
    """Convert between floats, or between a float and an integer."""
    if dtype.name == "tf32":
        return _emitted("cvt", "rna.tf32.f32", _as(register, f32), dtype)
    if source.name == "tf32":
        return _as(_emitted("mov", "b32", register, f32), dtype)
    if source.is_float and dtype.is_float:
        exact = _ORDER[source.name] < _ORDER[dtype.name] and dtype.name != "bf16"
        return _emitted("cvt", f"{'' if exact else 'rn.'}{dtype}.{source}", register, dtype)
    if dtype.is_float:
        return _emitted("cvt", f"rn.{dtype}.{_integer(source)}", register, dtype)
    if source.name == "bf16":  # exact, and available before sm_90
        register, source = _as(register, f32), f32
    return _emitted("cvt", f"rzi.{_integer(dtype)}.{source}", register, _held(dtype))


def _to_fp8(register: Operators, dtype: PtxType) -> Any:
    """Convert to fp8: one half of a conversion of a pair."""
    pair, low, high = declared(register, b16), declared(register, dtype), declared(register, b8)
    if register.dtype == f16:
        both = declared(register, f16x2)
        emit("mov", "b32", both, [register, register])
        emit("cvt", f"rn.satfinite.{dtype}x2.f16x2", pair, both)
    else:
        emit("cvt", f"rn.satfinite.{dtype}x2.f32", pair, 0.0, _as(register, f32))
    emit("mov", "b16", [low, high], pair)
    return low


def _from_fp8(register: Operators, dtype: PtxType) -> Any:
    """Convert from fp8 through f16, which holds every value of it."""
    pair, both = declared(register, b16), declared(register, f16x2)
    emit("cvt", "u16.u8", pair, register)
    emit("cvt", f"rn.f16x2.{register.dtype}x2", both, pair)
    low, high = declared(register, f16), declared(register, f16)
    emit("mov", "b32", [low, high], both)
    return low if dtype == f16 else _as(convert(low, f32), dtype)


def _as(register: Operators, dtype: PtxType) -> Any:
    return register if register.dtype == dtype else convert(register, dtype)


def _emitted(opcode: str, modifiers: str, register: Operators, dtype: PtxType) -> Any:
    result = declared(register, dtype)
    emit(opcode, modifiers, result, readable(register))
    return result


def _plain(source: PtxType, dtype: PtxType) -> bool:
    """Return True if a copy of the bits is meant: one of the types is untyped (b8 to b64)."""
    return source.name in ("b8", "b16", "b32", "b64") or dtype.name in ("b8", "b16", "b32", "b64")


def _move_type(dtype: PtxType) -> str:
    return "pred" if dtype == pred else dtype.name if dtype.name in ("f32", "f64") else f"b{max(16, dtype.bits)}"


def _value_type(dtype: PtxType) -> str:
    return dtype.name if dtype.is_float else _integer(dtype)


def _integer(dtype: PtxType) -> str:
    """Return the integer type of a `cvt`: untyped bits are unsigned."""
    return f"{'s' if dtype.is_signed else 'u'}{dtype.bits}"


def _held(dtype: PtxType) -> PtxType:
    """Return the type of the register that holds a value: 32 bits for 8-bit integers."""
    return (s32 if dtype.is_signed else u32) if dtype.bits == 8 else dtype
