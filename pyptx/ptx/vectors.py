"""Vectors of registers: operands of vector stores, with operators by element."""

from __future__ import annotations

from collections.abc import Sequence

from pyptx.elements import Vector
from pyptx.reg import Reg, RegArray

__all__ = ["vector"]


def vector(elements: Sequence[Reg] | RegArray) -> Vector:
    """Return registers as a vector. Elements of 32 and 64 bits are shared with it, smaller ones are packed into words.

    Raises:
        OperandError: no elements, elements of several types, or a number of them that does not fill words of 32 bits.
    Examples:
        >>> @kernel
        ... def doubled():
        ...     v = ptx.vector([reg.scalar(f32, 1.0), reg.scalar(f32, 2.0)])
        ...     v *= 2.0
        >>> print(doubled.ptx())
        .version 8.5
        ...
            mov.f32 %f0, 0f3F800000;
            mov.f32 %f1, 0f40000000;
            mul.f32 %f0, %f0, 0f40000000;
            mul.f32 %f1, %f1, 0f40000000;
        }
    """
    return Vector.of(list(elements))
