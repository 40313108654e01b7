"""Tiles of arrays, and their distribution over threads in vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd
from typing import Any

from pyptx import reg
from pyptx._loc import user_place
from pyptx.elements import Elements
from pyptx.errors import OperandError, ShapeError
from pyptx.lib._arguments import index
from pyptx.reg import Reg
from pyptx.types import u32

__all__ = ["ArrayTile", "Piece", "as_tile", "pieces", "tile", "widest_vector"]


@dataclass(frozen=True)
class ArrayTile:
    """A rectangle of a matrix, or a range of a vector; made by `tile`.

    Attributes:
        array: in global or shared memory.
        start: indices of its first element, ints and 32-bit registers.
        shape: sizes in elements.
    """

    array: Elements
    start: tuple[int | Reg, ...]
    shape: tuple[int, ...]

    @property
    def rows(self) -> int:
        """Rows; 1 for a range of a vector."""
        return self.shape[0] if len(self.shape) == 2 else 1

    @property
    def columns(self) -> int:
        """Elements of a row."""
        return self.shape[-1]

    @property
    def is_shared(self) -> bool:
        """True in shared memory."""
        return not hasattr(self.array, "row")

    def at(self, row: int | Reg, column: int | Reg) -> list[Any]:
        """Return the indices of an element of the tile in the array."""
        within = (row, column) if len(self.shape) == 2 else (column,)
        return [_sum(first, one) for first, one in zip(self.start, within, strict=True)]


def _sum(first: int | Reg, second: int | Reg) -> int | Reg:
    if isinstance(first, int) and first == 0:
        return second
    if isinstance(second, int) and second == 0:
        return first
    return first + second


def tile(array: Any, start: Any, shape: int | Sequence[int]) -> ArrayTile:
    """Return a tile of an array: `lib.tile(a, (row, k), (64, 16))`; emits nothing.

    Args:
        array: an array parameter, its row, or shared memory, of one or two dimensions.
        start: indices of the first element, ints and 32-bit registers.
        shape: sizes in elements.
    Raises:
        OperandError: not an array.
        ShapeError: a wrong number of indices or sizes.
    """
    if not isinstance(array, Elements):
        raise OperandError(
            f"a tile is part of an array parameter or of shared memory, not of {array!r}", at=user_place()
        )
    places = tuple(
        index(one, "the start of a tile") for one in (start if isinstance(start, tuple | list) else (start,))
    )
    sizes: tuple[int, ...] = (shape,) if isinstance(shape, int) else tuple(shape)
    whole = tuple(array.shape)
    if not len(places) == len(sizes) == len(whole) or len(whole) not in (1, 2):
        raise ShapeError(
            f"a tile of {array.name}, of shape {whole}: start {start!r}, shape {shape!r}; expected an index and a size for "
            "each of one or two dimensions",
            at=user_place(),
        )
    if any(not isinstance(n, int) or n < 1 for n in sizes):
        raise ShapeError(f"a tile of {array.name} has shape {shape!r}; expected positive ints", at=user_place())
    return ArrayTile(array, places, sizes)


def as_tile(array: Any) -> ArrayTile:
    """Return a tile, or a whole array as one."""
    if isinstance(array, ArrayTile):
        return array
    shape = tuple(getattr(array, "shape", ()))
    return tile(array, (0,) * len(shape), shape)


def widest_vector(*tiles: ArrayTile, limit: int | None = None, bounds: Sequence[int | Reg] = ()) -> int:
    """Return the elements of the widest access, up to 16 bytes, that all tiles have aligned.

    Starts that are registers are taken to be aligned.
    """
    most = min(128 // max(8, one.array.dtype.bits) for one in tiles)
    sizes = [one.columns for one in tiles]
    sizes += [one.array.shape[-1] for one in tiles if len(one.shape) == 2]
    sizes += [one.start[-1] for one in tiles if isinstance(one.start[-1], int)]
    sizes += [bound for bound in bounds[-1:] if isinstance(bound, int)]
    found = gcd(most if limit is None else limit, *sizes)
    return found & -found


@dataclass(frozen=True)
class Piece:
    """A vector of a tile that a thread has.

    Attributes:
        row, column: of its first element, without `offset`.
        offset: constants to add to them.
        guard: predicate of the threads that have it; None: all.
    """

    row: int | Reg
    column: int | Reg
    offset: tuple[int, int]
    guard: Reg | None


def pieces(rows: int, columns: int, vector: int, threads: int, tid: Reg) -> list[Piece]:
    """Divide a tile into vectors, and these over threads: neighbors have neighbors.

    Where whole rows, or parts of a row, belong to all threads once, indices are computed once, and further pieces are constant
    offsets from the first.
    """
    across, total = columns // vector, rows * columns // vector
    found = []
    for i in range(-(-total // threads)):
        guard = tid + i * threads < total if (i + 1) * threads > total else None
        if threads % across == 0:
            down = threads // across
            if not found:
                row, column = (tid // across, tid % across * vector) if across > 1 else (tid, 0)
            else:
                row, column = found[0].row, found[0].column
            found.append(Piece(row, column, (i * down, 0), guard))
        elif across % threads == 0:
            column = found[0].column if found else tid * vector
            found.append(Piece(0, column, (i * threads // across, i * threads % across * vector), guard))
        else:
            index = tid + i * threads if i else reg.from_(tid, u32)
            found.append(Piece(index // across, index % across * vector, (0, 0), guard))
    return found
