"""Layouts: functions from coordinates to offsets, with composition, complement, division and product."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

from pyptx import reg
from pyptx._loc import user_place
from pyptx.elements.indices import flattened
from pyptx.errors import BoundsError, OperandError, ShapeError
from pyptx.lib._modes import Leaf, coalesced, compose_leaf, flat, gaps, like, structure
from pyptx.reg import Reg
from pyptx.types import s32, u32

__all__ = ["Layout"]

Nested = int | tuple[Any, ...]


class Layout:
    """A function from coordinates to an offset: the sum of coordinate times stride over its modes.

    ::

        Layout((2, 4), (4, 1))     Layout((2, 4), (1, 2))     Layout((2, (2, 2)), (2, (4, 1)))
          0  1  2  3                 0  2  4  6                 0  1  4  5
          4  5  6  7                 1  3  5  7                 2  3  6  7

    A mode is a dimension; a mode whose size is a tuple is divided into several, and takes their linear index as one
    coordinate. As in NumPy, the last mode varies fastest in a linear index, in CuTe the first. Layouts are plain values:
    only a call with registers emits instructions.

    Args:
        shape: sizes, positive ints or nested tuples of them.
        stride: of the same structure, ints; default: C-contiguous.
    Attributes:
        shape, stride: nested tuples.
        size: number of coordinates.
        extent: 1 + the largest offset, for strides that are not negative.
    Raises:
        ShapeError: sizes that are not positive, or strides of another structure.
    Examples:
        >>> from pyptx.lib import Layout
        >>> tile = Layout((8, 8)).divide((4, 2))     # 4 x 2 tiles: (coordinate in a tile), (which tile)
        >>> tile
        Layout(((4, 2), (2, 4)), ((8, 1), (32, 2)))
        >>> tile((3, 1), (1, 2))                     # row 4 + 3, column 4 + 1
        61
        >>> Layout((4, 8)).compose(Layout((8, 4), (1, 8)))  # the transpose
        Layout((8, 4), (1, 8))
    """

    __slots__ = ("extent", "shape", "size", "stride")

    shape: tuple[Nested, ...]
    stride: tuple[Nested, ...]
    size: int
    extent: int

    def __init__(self, shape: Nested | Sequence[Nested], stride: Nested | Sequence[Nested] | None = None):
        sizes = _nested(shape)
        if not flat(sizes) or any(not isinstance(n, int) or n < 1 for n in flat(sizes)):
            raise ShapeError(f"Layout: shape {shape!r}; expected positive ints", at=user_place())
        if stride is None:
            strides = like(sizes, _contiguous(flat(sizes)))
        else:
            strides = _nested(stride)
            if structure(sizes) != structure(strides):
                raise ShapeError(
                    f"Layout: stride {stride!r} for shape {shape!r}; expected one for each size", at=user_place()
                )
        self.shape, self.stride = sizes, strides
        self.size = prod(flat(sizes))
        self.extent = 1 + sum((n - 1) * abs(step) for n, step in self.leaves)

    @property
    def leaves(self) -> list[Leaf]:
        """Sizes and strides of the undivided modes, slowest first."""
        return list(zip(flat(self.shape), flat(self.stride), strict=True))

    @property
    def rank(self) -> int:
        """Number of modes."""
        return len(self.shape)

    def __repr__(self) -> str:
        return f"Layout({_text(self.shape)}, {_text(self.stride)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and (self.shape, self.stride) == (other.shape, other.stride)

    def __hash__(self) -> int:
        return hash((self.shape, self.stride))

    def __getitem__(self, mode: int) -> Layout:
        """Return the layout of a mode."""
        return Layout(self.shape[mode], self.stride[mode])

    def __call__(self, *coordinates: Any) -> Any:
        """Return the offset of a coordinate.

        Args:
            coordinates: one for each mode, or one linear index: ints or integer registers of 32 bits; for a divided mode a
                linear index, or a tuple. Registers are divided by shifts and `and` where sizes are powers of two, else by
                `div` and `rem`, and combined by `mad.lo`.
        Returns:
            An int if all coordinates are ints, else a register.
        Raises:
            ShapeError: a wrong number of coordinates.
            BoundsError: an int out of range.
        """
        whole: Any = coordinates[0] if len(coordinates) == 1 and self.rank != 1 else coordinates
        constant, terms = 0, []
        for index, step in _terms(self.shape, self.stride, whole):
            if isinstance(index, int):
                constant += index * step
            elif step:
                terms.append((index, step))
        if not terms:
            return constant
        dtype = s32 if any(r.dtype.is_signed for r, _ in terms) or any(step < 0 for _, step in terms) else u32
        total = flattened(tuple(terms), dtype)
        return total + constant if constant else total

    # algebra ----------------------------------------------------------------------------------------------------------

    def coalesce(self) -> Layout:
        """Return the same function of a linear index with as few modes as possible."""
        return _of_leaves(coalesced(self.leaves))

    def compose(self, inner: Layout) -> Layout:
        """Return the layout x -> self(inner(x)), of the shape of `inner`.

        Raises:
            ShapeError: `inner` reaches beyond the size of self, or the function is not a layout: a mode of it does not
                divide the modes of self evenly.
        """
        outer = coalesced(self.leaves)
        reached = [0] * len(outer)
        sizes, strides = [], []
        for n, step in inner.leaves:
            parts = compose_leaf(outer, n, step, reached)
            if parts is None:
                raise ShapeError(
                    f"{self!r} composed with {inner!r} is not a layout: {n} elements {step} apart do not divide its modes "
                    "evenly",
                    at=user_place(),
                )
            sizes.append(parts[0][0] if len(parts) == 1 else tuple(p for p, _ in parts))
            strides.append(parts[0][1] if len(parts) == 1 else tuple(p for _, p in parts))
        if any(last >= n for last, (n, _) in zip(reached, outer, strict=True)):
            raise ShapeError(f"{inner!r} reaches beyond, or carries in, {self!r}", at=user_place())
        return Layout(like(inner.shape, sizes), like(inner.shape, strides))

    def complement(self, size: int) -> Layout:
        """Return the layout of the offsets that self leaves out: with it, every offset below `size` is reached once.

        Args:
            size: number of offsets.
        Raises:
            ShapeError: offsets of self overlap or do not divide `size`.
        """
        found = gaps(self.leaves, size)
        if found is None:
            raise ShapeError(f"{self!r} has no complement in {size}", at=user_place())
        return _of_leaves(found)

    def divide(self, tiler: int | Layout | Sequence[int | Layout]) -> Layout:
        """Return the layout with two modes: the coordinate in a tile, and the tile.

        Args:
            tiler: elements of a tile: for a sequence, one for each mode; else of the linear index. A Layout selects them
                with strides: `Layout(4, 2)` is every other one.
        Raises:
            ShapeError: tiles do not divide the sizes.
        """
        if isinstance(tiler, int | Layout):
            tile = tiler if isinstance(tiler, Layout) else Layout(tiler)
            return _joined([self.compose(tile), self.compose(tile.complement(self.size))])
        if len(tiler) != self.rank:
            raise ShapeError(f"{len(tiler)} tile sizes for {self!r}; expected {self.rank}", at=user_place())
        parts = [self[mode].divide(one) for mode, one in enumerate(tiler)]
        return _joined([_joined([part[side] for part in parts]) for side in (0, 1)])

    def product(self, arrangement: int | Layout) -> Layout:
        """Return the layout of copies of self: the first mode is self, the second selects a copy.

        Args:
            arrangement: the order of the copies in memory, or their number.
        Raises:
            ShapeError: offsets of self overlap, or `arrangement` does not divide the offsets that self leaves out.
        """
        order = arrangement if isinstance(arrangement, Layout) else Layout(arrangement)
        room = gaps(self.leaves, self.size * order.extent, exact=False)
        if room is None:
            raise ShapeError(f"{self!r} cannot be repeated: its offsets overlap", at=user_place())
        return _joined([self, _of_leaves(room).compose(order)])


def _nested(value: Any) -> tuple[Nested, ...]:
    items = value if isinstance(value, list | tuple) else (value,)
    return tuple(_nested(item) if isinstance(item, list | tuple) else item for item in items)


def _contiguous(sizes: Sequence[int]) -> list[int]:
    steps = [1]
    for n in reversed(sizes[1:]):
        steps.append(steps[-1] * n)
    return steps[::-1]


def _of_leaves(leaves: Sequence[Leaf]) -> Layout:
    return Layout(tuple(n for n, _ in leaves), tuple(step for _, step in leaves))


def _text(value: tuple[Nested, ...]) -> str:
    return repr(value[0]) if len(value) == 1 and isinstance(value[0], int) else repr(value)


def _alone(layout: Layout) -> tuple[Nested, Nested]:
    """Return shape and stride of a layout as one mode."""
    if layout.rank == 1:
        return layout.shape[0], layout.stride[0]
    return layout.shape, layout.stride


def _joined(layouts: Sequence[Layout]) -> Layout:
    """Return the layout whose modes are the given ones."""
    modes = [_alone(layout) for layout in layouts]
    return Layout(tuple(shape for shape, _ in modes), tuple(stride for _, stride in modes))


def _terms(shape: Any, stride: Any, coordinate: Any) -> Iterator[tuple[int | Reg, int]]:
    """Divide a coordinate; iterate over coordinates of undivided modes, with their strides."""
    if isinstance(coordinate, tuple) and len(coordinate) == 1 and not isinstance(shape, tuple):
        coordinate = coordinate[0]
    if isinstance(coordinate, tuple):
        if not isinstance(shape, tuple) or len(coordinate) != len(shape):
            count = len(shape) if isinstance(shape, tuple) else 1
            raise ShapeError(f"{len(coordinate)} coordinates for {count} modes of shape {shape}", at=user_place())
        for one in zip(shape, stride, coordinate, strict=True):
            yield from _terms(*one)
        return
    leaves = coalesced(list(zip(flat(shape), flat(stride), strict=True)))
    size = prod(n for n, _ in leaves)
    if isinstance(coordinate, int):
        if not 0 <= coordinate < size:
            raise BoundsError(f"coordinate {coordinate} of shape {shape}; expected 0..{size - 1}", at=user_place())
        for n, step in reversed(leaves):
            yield coordinate % n, step
            coordinate //= n
        return
    if not hasattr(coordinate, "__ptx_operand__") or getattr(coordinate, "dtype", u32).name not in (
        "u32",
        "s32",
        "b32",
    ):
        raise OperandError(f"coordinate {coordinate!r}; expected an int or an integer register", at=user_place())
    rest = reg.readable(coordinate)
    for place, (n, step) in enumerate(reversed(leaves)):
        last, power = place == len(leaves) - 1, n & (n - 1) == 0
        if n > 1 and step:
            yield (rest if last else rest & (n - 1) if power else rest % n), step
        if not last:
            rest = rest >> (n.bit_length() - 1) if power else rest // n
