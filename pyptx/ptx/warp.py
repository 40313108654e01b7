"""Warp reductions."""

from __future__ import annotations

from pyptx import reg
from pyptx._loc import user_place
from pyptx.errors import OperandError, ShapeError
from pyptx.reg import Reg
from pyptx.tracing.trace import emit
from pyptx.types import b32

__all__ = ["reduce_max", "reduce_min", "reduce_sum"]

_TYPES = ("b32", "u32", "s32", "f32", "tf32")


def reduce_sum(val: Reg, *, width: int = 32) -> Reg:
    """Sum over groups of `width` lanes, in place; every lane of a group receives the total.

    Args:
        val: a 32-bit register (b32 is treated as u32).
        width: lanes per group: 2, 4, 8, 16 or 32. All lanes of the warp must participate.
    Returns:
        `val`.
    Raises:
        TypeError: the type of `val` is not supported.
        ShapeError: an unsupported width.
    Examples:
        >>> @kernel
        ... def quads():
        ...     ptx.warp.reduce_sum(reg.scalar(f32, init=1.0), width=4)
        >>> print(quads.ptx())
        .version 8.5
        ...
            mov.f32 %f0, 0f3F800000;
            mov.b32 %r0, %f0;
            shfl.sync.bfly.b32 %r1, %r0, 2, 31, -1;
            mov.b32 %f1, %r1;
            add.f32 %f0, %f0, %f1;
            mov.b32 %r2, %f0;
            shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1;
            mov.b32 %f2, %r3;
            add.f32 %f0, %f0, %f2;
        }
    """
    return _butterfly("add", val, width)


def reduce_max(val: Reg, *, width: int = 32) -> Reg:
    """Maximum over groups of `width` lanes, in place; see `reduce_sum`."""
    return _butterfly("max", val, width)


def reduce_min(val: Reg, *, width: int = 32) -> Reg:
    """Minimum over groups of `width` lanes, in place; see `reduce_sum`."""
    return _butterfly("min", val, width)


def _butterfly(op: str, val: Reg, width: int) -> Reg:
    if val.dtype.name not in _TYPES:
        raise OperandError(f"warp reductions take {', '.join(_TYPES)} registers, not {val!r}")
    if width not in (2, 4, 8, 16, 32):
        raise ShapeError(f"width={width}; expected 2, 4, 8, 16 or 32", at=user_place())
    is_float = val.dtype.is_float
    kind = "f32" if is_float else "s32" if val.dtype.is_signed else "u32"
    mask = width // 2
    while mask:
        sent, received = reg.scalar(b32), reg.scalar(b32)
        emit("mov", "b32", sent, val)
        emit("shfl", "sync.bfly.b32", received, sent, mask, 31, -1)
        if is_float:
            other = reg.scalar(val.dtype)
            emit("mov", "b32", other, received)
            received = other
        emit(op, kind, val, val, received)
        mask //= 2
    return val
