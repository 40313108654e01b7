"""Order in which CTAs compute the tiles of a matrix: grouped, persistent, and divided along K (stream-K)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyptx import reg
from pyptx._loc import user_place
from pyptx.errors import OperandError, ShapeError
from pyptx.lib._arguments import register
from pyptx.ptx._blocks import loop_of
from pyptx.ptx.control import range_
from pyptx.reg import Reg
from pyptx.tracing.trace import emit
from pyptx.types import u32

__all__ = ["Share", "StreamK", "TileOrder", "divided"]


class TileOrder:
    """The tiles of a matrix, numbered in groups of `group` rows of tiles, column-major in a group.

    Consecutive tiles, which run at the same time, share rows of A and columns of B in L2::

        group=2    0  2  4  6
                   1  3  5  7
                   8 10 12 14
                   9 11 13 15

    Args:
        down, across: tiles in each dimension.
        group: rows of tiles in a group.
    Attributes:
        count: number of tiles.
    Raises:
        ShapeError: a number that is not positive.
    Source: Tillet et al., "Triton"; its matrix product calls it grouped ordering.
    """

    down: int
    across: int
    group: int
    count: int

    def __init__(self, down: int, across: int, *, group: int = 8):
        _positive("TileOrder", down=down, across=across, group=group)
        self.down, self.across, self.group, self.count = down, across, group, down * across

    def place(self, number: Reg) -> tuple[Reg, Reg]:
        """Return row and column of a tile, u32: one `div` and `rem` for one group, else two and a `min`.

        Args:
            number: of the tile, a 32-bit register.
        """
        number = register(number, "the number of a tile", "pass ptx.ctaid.x")
        if self.group >= self.down:  # one group
            column, row = divided(number, self.down)
            return row, column
        group, within = divided(number, self.group * self.across)
        first, high = group * self.group, reg.scalar(u32)  # the last group may have fewer rows
        emit("min", "u32", high, self.down - first, self.group)
        column, row = divided(within, high)
        return first + row, column

    @loop_of("order.persistent")
    def persistent(self, first: Reg, ctas: int | Reg) -> Iterator[tuple[Reg, Reg]]:
        """Loop over the tiles of a persistent CTA: tiles `first`, `first + ctas`, ...

        Args:
            first: number of the first tile, usually `%ctaid.x`.
            ctas: number of CTAs, or of clusters.
        Yields:
            Row and column of the tile.
        """
        for number in range_(first, self.count, ctas):
            yield self.place(number)


@dataclass(frozen=True)
class Share:
    """The steps of a tile that a CTA computes; all registers are u32.

    Attributes:
        row, column: of the tile.
        tile: its number.
        first, end: its steps from `first` to `end`.
        starts, ends: predicates: the first step is the tile's first, the last is its last.
    """

    row: Reg
    column: Reg
    tile: Reg
    first: Reg
    end: Reg
    starts: Reg
    ends: Reg


class StreamK:
    """The steps of all tiles, divided evenly over the CTAs; a tile may be divided between several.

    ::

        steps of tiles    | tile 0          | tile 1          | tile 2          |
        CTAs              | CTA 0        | CTA 1        | CTA 2        | CTA 3  |

    CTA 0 starts tile 0, CTA 1 computes its last steps, and then starts tile 1. The CTA that starts a tile stores it: it adds
    the sums of the following CTAs (`followers`), which compute theirs first of all, so that it never waits for a CTA that
    waits. All CTAs must run at the same time.

    Args:
        order: the tiles.
        steps: along K, of a tile.
        ctas: number of CTAs.
    Attributes:
        each: steps of a CTA; the last ones may have fewer.
    Raises:
        ShapeError: a number that is not positive.
    Source: Osama et al., "Stream-K: Work-Centric Parallel Decomposition for Dense Matrix-Matrix Multiplication".
    """

    order: TileOrder
    steps: int
    each: int

    def __init__(self, order: TileOrder, steps: int, ctas: int):
        if not isinstance(order, TileOrder):
            raise OperandError(f"StreamK: order={order!r}; expected a lib.TileOrder", at=user_place())
        _positive("StreamK", steps=steps, ctas=ctas)
        self.order, self.steps = order, steps
        self.each = -(-order.count * steps // ctas)

    @loop_of("work.shares")
    def shares(self, cta: Reg) -> Iterator[Share]:
        """Loop over the shares of a CTA, in the order of the tiles.

        Emits the bounds of the CTA, then a loop over its tiles with the bounds of each.

        Args:
            cta: index of the CTA, a u32 register.
        """
        cta = register(cta, "the index of the CTA", "pass ptx.ctaid.x")
        total = self.order.count * self.steps
        start = (cta * self.each).min(total)
        end = (start + self.each).min(total)
        tiles = (end + (self.steps - 1)) // self.steps
        for number in range_(start // self.steps, tiles):
            tile = reg.from_(number, u32)
            begin = tile * self.steps
            first = start.max(begin) - begin
            last = (end - begin).min(self.steps)
            row, column = self.order.place(tile)
            yield Share(row, column, tile, first, last, first == 0, last == self.steps)

    @loop_of("work.followers")
    def followers(self, share: Share, cta: Reg) -> Iterator[Reg]:
        """Loop over the CTAs that compute the rest of a tile; called by the one that starts it.

        Yields:
            The index of the CTA.
        """
        last = (share.tile * self.steps + (self.steps - 1)) // self.each
        for other in range_(cta + 1, last + 1):
            yield reg.from_(other, u32)


def divided(number: Reg, by: int | Reg) -> tuple[Reg, Reg]:
    """Return quotient and remainder of unsigned integers: `div.u32` and `rem.u32`, of a register by a number or register."""
    quotient, rest = reg.scalar(u32), reg.scalar(u32)
    emit("div", "u32", quotient, number, by)
    emit("rem", "u32", rest, number, by)
    return quotient, rest


def _positive(name: str, **numbers: int) -> None:
    for key, value in numbers.items():
        if not isinstance(value, int) or value < 1:
            raise ShapeError(f"{name}: {key}={value!r}; expected a positive int", at=user_place())
