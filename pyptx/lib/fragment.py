"""Accumulators as fragments: the elements of a tile that a thread holds, with their coordinates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from math import gcd
from typing import Any, Self

from pyptx import reg
from pyptx._loc import user_place
from pyptx.elements import Elements, Vector
from pyptx.errors import OperandError, ShapeError
from pyptx.lib._arguments import bound_operation, index, takes_three, type_of
from pyptx.ptx import math, reductions
from pyptx.ptx._checked import one_of
from pyptx.reg import Reg
from pyptx.tracing.trace import emit
from pyptx.types import PtxType, f32, pred

__all__ = ["Element", "Fragment", "Operation"]

Element = Callable[[Reg, int, int], Reg]  # value, rows and columns from the thread's first element
Operation = Callable[["Fragment"], Element]

_LARGEST = {"e4m3": 448.0, "e5m2": 57344.0}


class Fragment(ABC):
    """The elements of a tile that a thread holds; a subclass gives their coordinates (`coords`).

    Attributes:
        row, column: coordinates of the thread's first element in the tile, u32 registers.
        lanes: neighboring lanes that share a row.
        tile_rows: rows of the tile, over all threads; None if a subclass does not say.
    """

    row: Reg
    column: Reg
    lanes: int = 4
    tile_rows: int | None = None

    @abstractmethod
    def coords(self) -> Iterator[tuple[Reg, int, int]]:
        """Iterate over the elements of the thread.

        Yields:
            The register, and its distance in rows and columns from `row` and `column`.
        """

    @property
    def tile_columns(self) -> int:
        """Columns of the tile, over the lanes of a row, which have pairs of neighbors."""
        return 1 + max(j for _, _, j in self.coords()) + 2 * (self.lanes - 1)

    def map(self, function: Element) -> None:
        """Replace every element by `function(value, i, j)`, with its distance from `row` and `column`.

        The bias of a column is `frag.map(lambda v, i, j: v + bias.load(frag.column, offset=j))`.
        """
        takes_three(function, "map", "frag.map(lambda value, i, j: value * 2.0)")
        for value, i, j in self.coords():
            result = function(value, i, j)
            if not isinstance(result, Reg) or result.dtype.bits != value.dtype.bits:
                raise OperandError(
                    f"the function of map returns {result!r}; expected a register of {value.dtype}",
                    at=user_place(),
                    hint="return the new value, such as value * 2.0; reg.scalar(f32, 1.0) is a number in a register",
                )
            if result.name != value.name:
                emit("mov", f"b{value.dtype.bits}", value, result)

    def apply(self, *operations: Operation) -> Self:
        """Apply the operations of an epilogue to every element, one after the other: `lib.bias(b, column)`, `lib.relu`, ...

        Emits the loads of all operations first, then the arithmetic of each element.

        Returns:
            The fragment itself, so that `store` can follow.
        """
        for operation in operations:
            if not callable(operation) or getattr(operation, "__module__", "") == math.__name__:
                name = getattr(operation, "__name__", None)
                raise OperandError(
                    f"apply takes operations of an epilogue, such as lib.relu and lib.bias(b, column), not {f'ptx.{name}' if name else repr(operation)}",
                    at=user_place(),
                    hint=f"lib.activation(ptx.{name}) applies a function of a value" if name else None,
                )
        functions = [bound_operation(operation, self) for operation in operations]

        def all_of(value: Reg, i: int, j: int) -> Reg:
            for function in functions:
                value = function(value, i, j)
            return value

        self.map(all_of)
        return self

    def rows(self) -> list[int]:
        """Return the distances from `row` of the rows in which the thread has elements."""
        return sorted({i for _, i, _ in self.coords()})

    def row_reduce(self, op: str, function: Callable[[Reg], Reg] = lambda value: value) -> dict[int, Reg]:
        """Combine function(element) over the columns of each row; return {distance from `row`: result}.

        Emits the operation for each element, then shuffles between the lanes of a row; each of them gets the result.

        Args:
            op: "add", "max" or "min".
            function: of an element, for example `ptx.abs`.
        """
        one_of(op, ("add", "max", "min"), "op")
        combine = {"add": lambda a, b: a + b, "max": math.max, "min": math.min}[op]
        found: dict[int, Reg] = {}
        for value, i, _ in self.coords():
            one = function(value)
            found[i] = combine(found[i], one) if i in found else one
        if self.lanes == 1:
            return found
        return {i: reductions.warp_reduce(one, op, width=self.lanes) for i, one in found.items()}

    def quantize(self, dtype: PtxType) -> dict[int, Reg]:
        """Scale each row of the tile to the range of fp8; return {distance from `row`: scale of the row, f32}.

        The element is the quotient by the scale, the largest magnitude of the row over that of the type, and 1 for a row of
        zeros. `store` then converts. Store the scales with `store_rows`.

        Args:
            dtype: e4m3 or e5m2.
        Raises:
            ShapeError: another type.
        """
        if type_of(dtype, "quantize").name not in _LARGEST:
            raise ShapeError(f"quantize to {dtype}; expected e4m3 or e5m2", at=user_place())
        scales, inverse = {}, {}
        for i, largest in self.row_reduce("max", math.abs).items():
            scales[i] = math.select(largest > 0.0, largest * (1 / _LARGEST[dtype.name]), 1.0)
            inverse[i] = reg.scalar(f32)
            emit("rcp", "approx.ftz.f32", inverse[i], scales[i])
        self.map(lambda value, i, j: value * inverse[i])
        return scales

    def store_rows(self, values: dict[int, Reg], to: Elements, *indices: Any, end: int | Reg | None = None) -> None:
        """Store a value of each row, by the first of its lanes, to `to[row, *indices]`.

        Args:
            values: as `row_reduce` and `quantize` return them.
            to: array whose first dimension are the rows.
            indices: of the first row of the tile, then of further dimensions.
            end: rows of the array, where the tile may reach beyond them.
        """
        if not isinstance(to, Elements) or len(indices) != len(to.shape):
            raise ShapeError(
                f"store_rows to {getattr(to, 'name', to)} at {indices}; expected an array, and an index for each of its dimensions",
                at=user_place(),
                hint="the first index is that of the tile's first row: frag.store_rows(scales, to, row)",
            )
        first, *rest = indices
        at = self.row + first
        for i, value in values.items():
            guard = self.column == 0 if self.lanes > 1 else None
            if end is not None:
                inside = at + i < end
                guard = inside if guard is None else _both(guard, inside)
            to.store(at, *rest, value, offset=(i, *(0 for _ in rest)), pred=guard)

    def store(
        self,
        to: Elements,
        row: int | Reg,
        column: int | Reg,
        *,
        end: Sequence[int | Reg] | None = None,
        cache: str | None = None,
    ) -> None:
        """Store the tile to an array, converted to its type: one `st` for each run of neighboring elements.

        Args:
            to: a matrix in global or shared memory, with an even number of columns.
            row, column: of the first element of the tile in the array; an even column; a register must be a multiple of the
                elements of a store, 2 for wgmma, up to 16 bytes for tensor memory.
            end: rows and columns of the array, where the tile may reach beyond them; an even number of columns.
            cache: as for `Elements.store`.
        Raises:
            OperandError: not a matrix.
            ShapeError: the tile reaches beyond the array, and no `end`.
        """
        if not isinstance(to, Elements) or len(to.shape) != 2:
            raise OperandError(
                f"a fragment is stored to a matrix, not to {to!r}",
                at=user_place(),
                hint="pass an array of two dimensions; of one with more, to.row(i) is a matrix",
            )
        row, column = index(row, "the row of a tile"), index(column, "the column of a tile")
        if end is None:
            self._check_inside(to, row, column)
        dtype: Any = to.dtype
        at_row, at_column = self.row + row, self.column + column
        for i in self.rows():
            found = [(value, j) for value, di, j in self.coords() if di == i]
            size = self._run(to, column, end)
            for first in range(0, len(found), size):
                values, j = [value for value, _ in found[first : first + size]], found[first][1]
                run, guard = Vector.of(values), None
                if end is not None:
                    guard = (at_row + i < end[0]) & (at_column + j < end[1])
                value = run if dtype == values[0].dtype else run.to(dtype)
                to.store(at_row, at_column, value, offset=(i, j), cache=cache, pred=guard)

    def _check_inside(self, to: Elements, row: int | Reg, column: int | Reg) -> None:
        """Refuse a tile that reaches beyond a matrix wherever it begins, or where it begins."""
        sizes = (self.tile_rows or 1, self.tile_columns)
        starts = [first if isinstance(first, int) else 0 for first in (row, column)]
        if all(first + n <= whole for first, n, whole in zip(starts, sizes, to.shape, strict=True)):
            return
        raise ShapeError(
            f"a fragment of {self.tile_rows} x {self.tile_columns} elements reaches beyond {to.name}, of shape {tuple(to.shape)}",
            at=user_place(),
            hint=f"frag.store({to.name}, row, column, end={to.name}.shape) omits what lies outside",
        )

    def _run(self, to: Elements, column: int | Reg, end: Sequence[int | Reg] | None) -> int:
        """Return the elements of a store: neighbors that the thread has, up to 16 bytes, where all are aligned."""
        columns = [j for _, i, j in self.coords() if i == self.rows()[0]]
        found: int = gcd(128 // to.dtype.bits, to.shape[-1], len(columns))
        for bound in (column, *(end[1:] if end is not None else ())):
            found = gcd(found, bound) if isinstance(bound, int) else found
        while columns[found - 1] - columns[0] != found - 1 or any(j % found for j in columns[::found]):
            found //= 2
        return max(found, 2)


def _both(p: Reg, q: Reg) -> Reg:
    result = reg.scalar(pred)
    emit("and", "pred", result, p, q)
    return result
