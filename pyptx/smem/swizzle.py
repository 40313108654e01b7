"""Swizzle of TMA and matrix descriptors: a permutation of the 16-byte chunks of rows."""

from __future__ import annotations

from typing import overload

from pyptx import reg
from pyptx._loc import user_place
from pyptx.errors import ShapeError
from pyptx.reg import Reg
from pyptx.tracing.trace import emit
from pyptx.types import b32, u32

__all__ = ["apply_swizzle"]

_SWIZZLE_MASK = {"32B": 128, "64B": 384, "128B": 896}


@overload
def apply_swizzle(offset: Reg, swizzle: str | None) -> Reg: ...
@overload
def apply_swizzle(offset: int, swizzle: str | None) -> int: ...
def apply_swizzle(offset: Reg | int, swizzle: str | None) -> Reg | int:
    """Return a byte offset with a swizzle applied: 16-byte chunk index XOR row index.

    Args:
        offset: bytes from a swizzle-aligned address, an int or a u32 register.
        swizzle: "32B", "64B", "128B"; None or "NONE" returns the offset unchanged.
    Returns:
        An int for an int, else a new register.
    Raises:
        ShapeError: an unknown swizzle.
    Source: PTX ISA, "Swizzling Modes" of tensors.
    Examples:
        >>> [smem.apply_swizzle(128 * row, "128B") for row in range(4)]
        [0, 144, 288, 432]
    """
    if swizzle in (None, "NONE"):
        return offset
    if swizzle not in _SWIZZLE_MASK:
        raise ShapeError(
            f"swizzle {swizzle!r}; expected one of None, 'NONE', {', '.join(map(repr, _SWIZZLE_MASK))}", at=user_place()
        )
    if isinstance(offset, int):
        return offset ^ (offset & _SWIZZLE_MASK[swizzle]) >> 3
    offset, bits, result = reg.readable(offset), reg.scalar(b32), reg.scalar(u32)
    emit("and", "b32", bits, offset, _SWIZZLE_MASK[swizzle])
    emit("shr", "u32", bits, bits, 3)
    emit("xor", "b32", result, offset, bits)
    return result
