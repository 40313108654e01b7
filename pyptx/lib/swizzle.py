"""Swizzles: permutations of the offsets of a layout that spread columns over the banks of shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

from pyptx import reg
from pyptx._loc import user_place
from pyptx.errors import ShapeError
from pyptx.lib.layout import Layout
from pyptx.reg import Reg
from pyptx.tracing.trace import emit
from pyptx.types import PtxType, u32

__all__ = ["Swizzle", "SwizzledLayout"]

_LINES = {"32B": 1, "64B": 2, "128B": 3}  # bits that are changed
_CHUNK, _LINE = 4, 7  # log2 of the bytes that stay together, and of the row whose number is used


@dataclass(frozen=True)
class Swizzle:
    """A permutation of offsets: `bits` bits from bit `base` on are combined by XOR with those `shift` bits higher.

    ::

        Swizzle(2, 0, 2)     offset   0  1  2  3    4  5  6  7    8  9 10 11   12 13 14 15
                             becomes  0  1  2  3    5  4  7  6   10 11  8  9   15 14 13 12

    Offsets that agree in all higher bits are permuted among themselves, and applying it twice changes nothing.

    Args:
        bits: number of bits, 0 for no swizzle.
        base: the lowest of them: 2**base neighbors stay together.
        shift: distance of the bits that they are combined with, at least `bits`.
    Raises:
        ShapeError: a number that is negative or not an int, or bits that overlap.
    """

    bits: int
    base: int
    shift: int

    def __post_init__(self) -> None:
        if any(not isinstance(n, int) or n < 0 for n in (self.bits, self.base, self.shift)) or self.shift < self.bits:
            raise ShapeError(f"{self!r}; expected ints that are not negative, and shift at least bits", at=user_place())

    @classmethod
    def of(cls, name: str, dtype: PtxType) -> Swizzle:
        """Return the swizzle of TMA and matrix descriptors for offsets in elements.

        Args:
            name: "32B", "64B" or "128B".
            dtype: type of the elements, of 8 bits or more.
        Raises:
            ShapeError: another name, or a type of fewer bits.
        Source: PTX ISA, "Swizzling Modes".
        """
        size = dtype.bits // 8
        if name not in _LINES or size < 1:
            raise ShapeError(
                f"Swizzle.of({name!r}, {dtype}); expected '32B', '64B' or '128B', and whole bytes", at=user_place()
            )
        return cls(_LINES[name], _CHUNK - (size.bit_length() - 1), _LINE - _CHUNK)

    @overload
    def __call__(self, offset: int) -> int: ...
    @overload
    def __call__(self, offset: Reg) -> Reg: ...
    def __call__(self, offset: int | Reg) -> int | Reg:
        """Return the permuted offset; of a register, `and`, `shr` and `xor` compute it."""
        mask = ((1 << self.bits) - 1) << (self.base + self.shift)
        if isinstance(offset, int):
            return offset ^ (offset & mask) >> self.shift
        if not mask:
            return offset
        offset, part, result = reg.readable(offset), reg.scalar(u32), reg.scalar(u32)
        emit("and", "b32", part, offset, mask)
        emit("shr", "u32", part, part, self.shift)
        emit("xor", "b32", result, offset, part)
        return result


@dataclass(frozen=True)
class SwizzledLayout:
    """A layout whose offsets are permuted by a swizzle; such as shared memory that TMA writes.

    ::

        SwizzledLayout(Layout((4, 4)), Swizzle(2, 0, 2))   0  1  2  3
                                                           5  4  7  6      a column lies in different banks
                                                          10 11  8  9
                                                          15 14 13 12

    Attributes:
        layout: before the swizzle.
        swizzle: the permutation.
    """

    layout: Layout
    swizzle: Swizzle

    @property
    def shape(self) -> tuple[Any, ...]:
        """Sizes of the modes."""
        return self.layout.shape

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return self.layout.size

    def __call__(self, *coordinates: Any) -> Any:
        """Return the offset of a coordinate; arguments and errors are those of `Layout`."""
        return self.swizzle(self.layout(*coordinates))

    def compose(self, inner: Layout) -> SwizzledLayout:
        """Return the layout x -> self(inner(x)), of the shape of `inner`."""
        return SwizzledLayout(self.layout.compose(inner), self.swizzle)

    def divide(self, tiler: int | Layout | Sequence[int | Layout]) -> SwizzledLayout:
        """Return the layout with two modes: the coordinate in a tile, and the tile."""
        return SwizzledLayout(self.layout.divide(tiler), self.swizzle)
