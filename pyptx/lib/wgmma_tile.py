"""Tiles of wgmma operands in shared memory, in the boxes that TMA writes; their descriptors follow from the shape."""

from __future__ import annotations

from pyptx._loc import user_place
from pyptx.errors import ShapeError
from pyptx.lib._arguments import type_of
from pyptx.ptx import tcgen05, wgmma
from pyptx.ptx._wgmma_descriptors import TileDescriptor
from pyptx.reg import Reg
from pyptx.types import PtxType

__all__ = ["WgmmaTile"]

_LINE = 128  # bytes of a row of a box, and of the swizzle
_ATOM = 8 * _LINE  # bytes of eight rows, after which the swizzle repeats


class WgmmaTile:
    """A tile of rows x columns elements, row-major in the array, in boxes with 128-byte swizzle.

    ::

        columns  0 .. 63     64 .. 127   ...     (16-bit elements: 64 columns are 128 bytes)
                +---------+ +---------+
        row 0   | box 0   | | box 1   |           a box is rows x 128 bytes, contiguous in shared memory;
         ...    |         | |         |           box 1 follows box 0
        rows-1  +---------+ +---------+

    An array has this tile if its Tile is `Tile(..., Layout.TMA_128B, tma_box=(rows, box_columns), tma_whole=True)`.

    Args:
        rows, columns: sizes in elements; rows a multiple of 8, columns whole boxes.
        dtype: type of the elements.
        major: "K" if the columns are along K (A row-major, M x K, or B column-major, N x K), "MN" if the rows are along K
            (B row-major, K x N; 16-bit types only).
    Attributes:
        box_columns: columns of a box.
        boxes: number of boxes.
        bytes: size of the tile.
    Raises:
        ShapeError: a size that is not whole boxes, an unknown major, or one the type does not have.
    Source: PTX ISA, "Shared Memory Matrix Layout", "Matrix Descriptor Format" of wgmma.
    """

    rows: int
    columns: int
    dtype: PtxType
    major: str
    box_columns: int
    boxes: int
    bytes: int

    def __init__(self, rows: int, columns: int, dtype: PtxType, major: str = "K"):
        type_of(dtype, "WgmmaTile")
        if any(not isinstance(n, int) for n in (rows, columns)):
            raise ShapeError(f"WgmmaTile of {rows!r} x {columns!r}; expected ints", at=user_place())
        self.box_columns = _LINE * 8 // dtype.bits
        if major not in ("K", "MN") or (major == "MN" and dtype.bits != 16):
            raise ShapeError(
                f"WgmmaTile: major={major!r} for {dtype}; expected 'K', or 'MN' for f16 and bf16", at=user_place()
            )
        if rows < 8 or rows % 8 or columns < 1 or columns % self.box_columns:
            raise ShapeError(
                f"WgmmaTile of {rows} x {columns} {dtype}; expected a multiple of 8 rows and of {self.box_columns} columns",
                at=user_place(),
            )
        self.rows, self.columns, self.dtype, self.major = rows, columns, dtype, major
        self.boxes, self.bytes = columns // self.box_columns, rows * columns * dtype.bits // 8

    def __repr__(self) -> str:
        return f"WgmmaTile({self.rows}, {self.columns}, {self.dtype}, {self.major!r})"

    def descriptor(self, start: Reg) -> Reg:
        """Emit the matrix descriptor of the tile at a shared address (u32); return it in a u64 register.

        The address may be that of a row: `start + row * 128`, with a multiple of 8 as the row, for major "K".
        """
        leading = 16 if self.major == "K" else self.rows * _LINE  # K: ignored; MN: from a box to the next
        found = wgmma.make_descriptor(
            start, leading_byte_offset=leading, stride_byte_offset=_ATOM, swizzle=wgmma.SWIZZLE_128B
        )
        return TileDescriptor(found.name, found.dtype, self)

    def tensor_descriptor(self, start: Reg) -> Reg:
        """Emit the matrix descriptor of the tile for tcgen05 at a shared address (u32); return it in a b64 register."""
        leading = 16 if self.major == "K" else self.rows * _LINE  # MN: from a box to the next
        return tcgen05.descriptor(start, stride_bytes=_ATOM, leading_bytes=leading)

    def offset(self, k: int, row: int = 0) -> int:
        """Return what to add to the descriptor for the part of the tile from element `k` along K.

        Args:
            k: multiple of the K of a wgmma or tcgen05.mma (32 bytes).
            row: for major "K", the first row, a multiple of 8.
        Returns:
            The distance in units of 16 bytes.
        Raises:
            ShapeError: outside of the tile, or not such a multiple.
        """
        step, length = (256 // self.dtype.bits, self.columns if self.major == "K" else self.rows)
        inside = 0 <= k < length and 0 <= row < (self.rows if self.major == "K" else 1)
        if k % step or row % 8 or not inside:
            raise ShapeError(
                f"offset k={k}, row={row} of {self!r}; expected multiples of {step} and 8 inside it", at=user_place()
            )
        if self.major == "MN":
            return k * _LINE // 16
        box, column = divmod(k, self.box_columns)
        return (box * self.rows * _LINE + column * self.dtype.bits // 8 + row * _LINE) // 16
