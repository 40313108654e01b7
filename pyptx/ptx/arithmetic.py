"""Typed arithmetic: `ptx.add(f32, d, a, b)` emits `add.f32 d, a, b;`. `pred=` guards the instruction."""

from __future__ import annotations

from pyptx import reg
from pyptx.errors import OperandError
from pyptx.ptx._checked import check_option, emit_checked, type_name, type_or_none
from pyptx.reg import NegPred, Reg
from pyptx.types import PtxType, from_name

__all__ = ["add", "and_", "mad", "mul", "not_", "or_", "selp", "setp", "shl", "shr", "sub", "xor_"]

Guard = Reg | NegPred | None

_MODES = ("lo", "hi", "wide")
_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")


def add(dtype: PtxType, dst: Reg, a: object, b: object, *, pred: Guard = None) -> None:
    """dst = a + b."""
    emit_checked("add", type_name(dtype), dst, a, b, pred=pred)


def sub(dtype: PtxType, dst: Reg, a: object, b: object, *, pred: Guard = None) -> None:
    """dst = a - b."""
    emit_checked("sub", type_name(dtype), dst, a, b, pred=pred)


def mul(dtype: PtxType, dst: Reg, a: object, b: object, *, mode: str | None = None, pred: Guard = None) -> None:
    """dst = a * b.

    Args:
        mode: of integers: "lo" (default), "hi", or "wide" for a result of twice the width.
    """
    emit_checked("mul", _with_mode(dtype, mode), dst, a, b, pred=pred)


def mad(*operands: object, mode: str = "lo", pred: Guard = None) -> Reg | None:
    """Multiply and add: `mad(dtype, dst, a, b, c)`, or `mad(a, b, c)`, which returns a new register.

    The second form has the type of its first register, with s32 for all 32-bit integers. Floats use `fma.rn`.

    Args:
        mode: of integers: "lo", "hi" or "wide".
    Raises:
        TypeError: a wrong number of operands, or three without a register.
    """
    if len(operands) == 3:
        dtype = next(filter(None, map(type_or_none, operands)), None)
        if dtype is None:
            raise OperandError(f"ptx.mad(a, b, c) needs a register among its operands, got {operands!r}")
        if not dtype.is_float and dtype.bits in (32, 64):
            word = "s32" if dtype.bits == 32 else f"{'s' if dtype.is_signed else 'u'}64"
        else:
            word = dtype.name
        result = reg.scalar(dtype)
        emit_checked(*_mad(word, mode), result, *operands, pred=pred)
        return result
    if len(operands) != 5 or not isinstance(operands[0], PtxType | str):
        raise OperandError(f"ptx.mad takes (dtype, dst, a, b, c) or (a, b, c), got {len(operands)} operands")
    word = type_name(operands[0])
    emit_checked(*_mad(word, mode), *operands[1:], pred=pred)
    return None


def _mad(word: str, mode: str) -> tuple[str, str]:
    """Return opcode and modifiers of a multiply-add."""
    return ("fma", f"rn.{word}") if from_name(word).is_float else ("mad", f"{_checked(mode)}.{word}")


def _with_mode(dtype: PtxType, mode: str | None) -> str:
    word = type_name(dtype)
    if mode is None:
        return f"lo.{word}" if word[0] in "us" else word
    return f"{_checked(mode)}.{word}"


def _checked(mode: str) -> str:
    check_option(mode, _MODES, "mode")
    return mode


def shl(dtype: PtxType, dst: Reg, a: object, b: object, *, pred: Guard = None) -> None:
    """dst = a << b; b is 32 bits wide."""
    emit_checked("shl", type_name(dtype), dst, a, b, pred=pred)


def shr(dtype: PtxType, dst: Reg, a: object, b: object, *, pred: Guard = None) -> None:
    """dst = a >> b, arithmetic for signed types; b is 32 bits wide."""
    emit_checked("shr", type_name(dtype), dst, a, b, pred=pred)


def and_(dtype: PtxType, dst: Reg, a: object, b: object, *, pred: Guard = None) -> None:
    """dst = a & b."""
    emit_checked("and", type_name(dtype), dst, a, b, pred=pred)


def or_(dtype: PtxType, dst: Reg, a: object, b: object, *, pred: Guard = None) -> None:
    """dst = a | b."""
    emit_checked("or", type_name(dtype), dst, a, b, pred=pred)


def xor_(dtype: PtxType, dst: Reg, a: object, b: object, *, pred: Guard = None) -> None:
    """dst = a ^ b."""
    emit_checked("xor", type_name(dtype), dst, a, b, pred=pred)


def not_(dtype: PtxType, dst: Reg, a: object, *, pred: Guard = None) -> None:
    """dst = ~a."""
    emit_checked("not", type_name(dtype), dst, a, pred=pred)


def setp(
    cmp: str, dtype: PtxType, p: Reg, a: object, b: object, *, pred_negate: Guard = None, pred: Guard = None
) -> None:
    """p = a cmp b.

    Args:
        cmp: "lt", "le", "gt", "ge", "eq" or "ne".
        pred_negate: `pred` under its name in the 0.1 API.
    """
    check_option(cmp, _COMPARISONS, "cmp")
    emit_checked("setp", f"{cmp}.{type_name(dtype)}", p, a, b, pred=pred if pred is not None else pred_negate)


def selp(dtype: PtxType, dst: Reg, t: object, f: object, p: Reg, *, pred: Guard = None) -> None:
    """dst = t if p holds, else f."""
    emit_checked("selp", type_name(dtype), dst, t, f, p, pred=pred)
