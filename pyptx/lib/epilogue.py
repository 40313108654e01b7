"""Operations of an epilogue: each is applied to every element of a fragment by `frag.apply(...)`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from pyptx._loc import user_place
from pyptx.elements import Elements
from pyptx.errors import OperandError, ShapeError
from pyptx.lib.fragment import Element, Fragment, Operation
from pyptx.ptx import math
from pyptx.reg import Reg
from pyptx.types import f32

__all__ = ["activation", "bias", "gelu", "relu", "residual", "row_scaled", "scaled", "silu", "times"]


def activation(function: Callable[[Reg], Reg]) -> Operation:
    """Return the operation that applies a function of a value: `lib.activation(ptx.tanh)`."""
    if not callable(function):
        raise OperandError(
            f"lib.activation takes a function of a value, not {function!r}",
            at=user_place(),
            hint="for example lib.activation(ptx.tanh), or lib.scaled(2.0)",
        )
    return lambda fragment: lambda value, i, j: function(value)


def scaled(factor: float | Reg) -> Operation:
    """Return the operation that multiplies by a number or an f32 register: one `mul.f32`."""
    if not isinstance(factor, int | float | Reg):
        raise OperandError(f"lib.scaled takes a number or an f32 register, not {factor!r}", at=user_place())
    return activation(lambda value: value * factor)


def times(other: Fragment) -> Operation:
    """Return the operation that multiplies by the elements of another fragment: one `mul.f32`.

    SwiGLU of two products is `gate.apply(lib.silu, lib.times(up))`.

    Raises:
        OperandError: not a fragment, or one of another shape.
    """
    if not isinstance(other, Fragment):
        raise OperandError(
            f"lib.times takes a fragment, not {other!r}", at=user_place(), hint="lib.scaled(x) multiplies by a number"
        )

    def bound(fragment: Fragment) -> Element:
        factors = {(i, j): value for value, i, j in other.coords()}
        if type(other) is not type(fragment) or factors.keys() != {(i, j) for _, i, j in fragment.coords()}:
            raise OperandError(
                f"lib.times of a {type(other).__name__} of {other.tile_columns} columns, applied to a {type(fragment).__name__} of "
                f"{fragment.tile_columns}",
                at=user_place(),
                hint="the fragments must have the same shape",
            )
        return lambda value, i, j: value * factors[i, j]

    return bound


def _operation(function: Operation) -> Operation:
    """Make an operation without arguments: called in place of passed, `lib.relu()`, it says so."""

    @wraps(function)
    def bound(*fragment: Fragment) -> Element:
        if len(fragment) != 1 or not isinstance(fragment[0], Fragment):
            name = getattr(function, "__name__", "relu")
            raise OperandError(
                f"lib.{name} is an operation of an epilogue and is not called",
                at=user_place(),
                hint=f"write frag.apply(lib.{name}); of a value, it is lib.activation and a function of ptx",
            )
        return function(fragment[0])

    return bound


@_operation
def relu(fragment: Fragment) -> Element:
    """Replace negative elements by zero: one `max.f32`."""
    return lambda value, i, j: math.max(value, 0.0)


@_operation
def silu(fragment: Fragment) -> Element:
    """Apply x / (1 + exp(-x)): `mul`, `ex2.approx`, `add`, `rcp.rn` and `mul`."""
    return lambda value, i, j: value * math.rcp(math.exp(-value) + 1.0)


@_operation
def gelu(fragment: Fragment) -> Element:
    """Apply the tanh form of GELU, x / 2 * (1 + tanh(0.7979 * (x + 0.044715 * x**3))), with `tanh.approx`.

    Source: Hendrycks and Gimpel, "Gaussian Error Linear Units".
    """

    def of(value: Reg, i: int, j: int) -> Reg:
        inner = value * math.fma(value * value, 0.044715 * 0.7978845608, 0.7978845608)
        half = value * 0.5
        return math.fma(half, math.tanh(inner), half)

    return of


def bias(array: Elements, column: int | Reg, *, end: int | Reg | None = None) -> Operation:
    """Return the operation that adds a value of each column: a load of two columns at a time, and one `add.f32`.

    Args:
        array: a vector, of any type that converts to f32.
        column: index of the tile's first column, an even number.
        end: columns of the array, an even number, where the tile may reach beyond them; zero is added there.
    Raises:
        ShapeError: an odd column, or an array that is shorter than the fragment, and no `end`.
    """

    _require(array, 1, "bias")
    if isinstance(column, int) and column % 2:
        raise ShapeError(
            f"lib.bias from column {column}; expected an even number: two are loaded at once", at=user_place()
        )

    def bound(fragment: Fragment) -> Element:
        last = fragment.tile_columns + (column if isinstance(column, int) else 0)
        if end is None and last > array.shape[0]:
            raise ShapeError(
                f"lib.bias adds {array.shape[0]} values of {array.name} to a fragment of {fragment.tile_columns} columns",
                at=user_place(),
                hint=f"lib.bias({array.name}, column, end={array.shape[0]}) adds zero to the others",
            )
        at, found = fragment.column + column, {}
        for j in sorted({j for _, _, j in fragment.coords()})[::2]:
            inside = None if end is None else at + j < end
            found[j], found[j + 1] = _pair(array, [at], [j], inside)
        return lambda value, i, j: value + found[j]

    return bound


def row_scaled(array: Elements, row: int | Reg, *, end: int | Reg | None = None) -> Operation:
    """Return the operation that multiplies by a value of each row: one load for each row of the thread, one `mul.f32`.

    Args:
        array: a vector of f32.
        row: index of the tile's first row.
        end: rows of the array, where the tile may reach beyond them.
    """

    _require(array, 1, "row_scaled")

    def bound(fragment: Fragment) -> Element:
        at = fragment.row + row
        found = {}
        for i in fragment.rows():
            inside = None if end is None else at + i < end
            found[i] = array.load(at, offset=i, pred=inside, other=None if end is None else 0)
        return lambda value, i, j: value * found[i]

    return bound


def residual(
    array: Elements, row: int | Reg, column: int | Reg, *, end: Sequence[int | Reg] | None = None, scale: float = 1.0
) -> Operation:
    """Return the operation that adds `scale` times the elements of a matrix: a load of two columns at a time, `add` or `fma`.

    Args:
        array: a matrix with an even number of columns, of any type that converts to f32.
        row, column: of the tile's first element.
        end: rows and columns of the matrix, where the tile may reach beyond them.
        scale: factor of the matrix.
    """

    _require(array, 2, "residual")

    def bound(fragment: Fragment) -> Element:
        at = [fragment.row + row, fragment.column + column]
        found: dict[tuple[int, int], Reg] = {}
        for i in fragment.rows():
            for j in [j for _, di, j in fragment.coords() if di == i][::2]:
                inside = None if end is None else (at[0] + i < end[0]) & (at[1] + j < end[1])
                found[i, j], found[i, j + 1] = _pair(array, at, [i, j], inside)
        if scale == 1.0:
            return lambda value, i, j: value + found[i, j]
        return lambda value, i, j: math.fma(found[i, j], scale, value)

    return bound


def _require(array: Any, rank: int, name: str) -> None:
    if not isinstance(array, Elements) or len(array.shape) != rank:
        raise OperandError(
            f"lib.{name} takes {('a vector', 'a matrix')[rank - 1]}, not {array!r}",
            at=user_place(),
            hint="pass an array parameter or shared memory" if not isinstance(array, Elements) else None,
        )


def _pair(array: Elements, at: list[Any], offset: list[int], inside: Reg | None) -> tuple[Reg, Reg]:
    """Load two neighbors as f32; zeros where the predicate does not hold."""
    pair = array.load(*at, vec=2, offset=offset, pred=inside, other=None if inside is None else 0)
    low, high = pair if pair.dtype == f32 else pair.to(f32)
    return low, high
