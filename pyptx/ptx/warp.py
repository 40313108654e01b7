"""Reductions over the lanes of a warp."""

from __future__ import annotations

from pyptx import reg
from pyptx._loc import user_place
from pyptx.errors import ShapeError
from pyptx.reg import Reg
from pyptx.tracing.trace import emit
from pyptx.types import b32

__all__ = ["reduce_max", "reduce_min", "reduce_sum"]

_TYPES = ("b32", "u32", "s32", "f32", "tf32")


def reduce_sum(val: Reg, *, width: int = 32) -> None:
    """Sum over groups of `width` lanes, in place: every lane of a group ends with the total.

    Args:
        val: a 32-bit register (b32 counts as u32).
        width: 2, 4, 8, 16 or 32. The whole warp must take part.
    """
    _butterfly("add", val, width)


def reduce_max(val: Reg, *, width: int = 32) -> None:
    """Maximum over groups of `width` lanes, in place; see reduce_sum."""
    _butterfly("max", val, width)


def reduce_min(val: Reg, *, width: int = 32) -> None:
    """Minimum over groups of `width` lanes, in place; see reduce_sum."""
    _butterfly("min", val, width)


def _butterfly(op: str, val: Reg, width: int) -> None:
    if val.dtype.name not in _TYPES:
        raise TypeError(f"warp reductions take {', '.join(_TYPES)} registers, not {val!r}")
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
