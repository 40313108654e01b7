"""Fragments that a TMA store can take: whole boxes of 128 bytes a row, written to shared memory with the swizzle."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyptx._loc import user_place
from pyptx.errors import OperandError, ShapeError
from pyptx.lib._swizzled_rows import LINE
from pyptx.lib.fragment import Fragment
from pyptx.reg import Reg, RegArray
from pyptx.types import PtxType

if TYPE_CHECKING:
    from pyptx.lib.store_boxes import StoreBoxes

__all__ = ["BoxedFragment"]


class BoxedFragment(Fragment):
    """A fragment whose rows are spread over warps: a warp has `warp_rows` rows, one after the other.

    Attributes:
        tid: index of the thread; its warpgroup starts at a multiple of 128.
        sums: the elements, f32 registers.
        warp_rows: rows of a warp.
    """

    tid: Reg
    sums: RegArray | list[Reg]
    warp_rows: int

    @abstractmethod
    def box_place(self, lane: Reg, dtype: PtxType) -> Reg:
        """Return the byte offset at which the lane writes the rows of its warp in a box."""

    @abstractmethod
    def fill_box(self, place: Reg, offset: int, values: Sequence[Reg], lane: Reg, dtype: PtxType) -> None:
        """Write values of a box, 128 bytes of each row of the warp, `offset` bytes behind `place`."""

    def box_parts(self, dtype: PtxType, rows: int | None = None) -> list[list[Reg]]:
        """Return the elements of each box, for all rows of the warp.

        Args:
            dtype: type in memory.
            rows: of a box; default: those of a warp.
        Raises:
            ShapeError: the columns are not whole boxes, or a box has other rows.
        """
        sums = list(self.sums)
        size = self.warp_rows * LINE * 8 // dtype.bits // 32  # registers of a box
        if len(sums) % size or rows not in (None, self.warp_rows):
            raise ShapeError(
                f"a {type(self).__name__} of {len(sums) * 32 // self.warp_rows} columns is not stored in boxes of {rows or self.warp_rows} "
                f"rows and {LINE * 8 // dtype.bits} columns of {dtype}; expected {self.warp_rows} rows and whole boxes",
                at=user_place(),
            )
        return [sums[first : first + size] for first in range(0, len(sums), size)]

    def stage(self, start: Reg, dtype: PtxType, *, rows: int) -> None:
        """Write the tile to shared memory, converted: a box of `rows` x 128 bytes after the other, as TMA stores them.

        Emits `stmatrix` for 16-bit types, else `st.shared`. `ptx.fence.proxy_async_shared_cta()` and a synchronization must
        follow before a thread stores the boxes.

        Args:
            start: shared address of the tile, a multiple of 1024, a u32 register.
            dtype: type in memory, of 8, 16 or 32 bits.
            rows: of a box, those of the tile.
        Raises:
            ShapeError: the columns are not whole boxes.
        """
        lane, warp = self.tid & 31, (self.tid >> 5) & 3
        place = start + warp * (self.warp_rows * LINE) + self.box_place(lane, dtype)
        for i, values in enumerate(self.box_parts(dtype)):
            self.fill_box(place, i * rows * LINE, values, lane, dtype)

    def store_tma(self, to: Any, row: int | Reg, column: int | Reg, boxes: StoreBoxes, **options: Any) -> None:
        """Store the tile to an array by TMA, through shared memory: `boxes.store(self, to, row, column, ...)`."""
        if not hasattr(boxes, "bytes_of"):
            raise OperandError(
                f"store_tma takes the boxes that it goes through, not {boxes!r}",
                at=user_place(),
                hint="boxes = lib.StoreBoxes(warps, dtype), before the branches of the roles",
            )
        boxes.store(self, to, row, column, **options)
