"""Where the elements of a shared-memory tile lie in the 32 banks, and how many passes an access of a warp takes.

    tile = pyptx.views.shared_tile((8, 64), "bf16", swizzle="128B")
    tile.access([(row, 0) for row in range(8)], bytes=16)          # what ldmatrix reads

Shared memory has 32 banks of 4 bytes. A warp's access is served in passes: of 4 bytes a lane all lanes together, of 8
bytes half a warp, of 16 bytes a quarter of it; within those, two different words of one bank need another pass.
Source: CUDA C++ Programming Guide, "Shared Memory" of each compute capability; PTX ISA, "Swizzling Modes".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pyptx import types
from pyptx.errors import ShapeError
from pyptx.sim.reference.access import extra_wavefronts
from pyptx.smem import apply_swizzle
from pyptx.views.pictures.svg import FILLS, Cell, Picture, grid, label

__all__ = ["Access", "SharedTile", "shared_tile"]

CHUNK, LINE = 16, 128                                   # bytes a swizzle moves together; bytes of all banks
_LINES = 32                                             # of a picture
_UNIT, _HEIGHT = 72, 20


@dataclass(frozen=True)
class Access:
    """What the lanes of a warp touch, (row, column) each, `bytes` a lane, and the passes that takes."""

    elements: tuple[tuple[int, int], ...]
    bytes: int
    passes: int
    least: int                                          # passes without bank conflicts

    def __str__(self) -> str:
        lanes = f"{len(self.elements)} lanes, {self.bytes} bytes each"
        if self.passes == self.least:
            return f"{lanes}: {_passes(self.passes)}, no bank conflict"
        return f"{lanes}: {_passes(self.passes)} where {self.least} would do, " \
               f"{self.passes / self.least:g}-way bank conflicts"


@dataclass(frozen=True)
class SharedTile(Picture):
    """A row-major tile of shared memory, its start aligned to 1024 bytes; `accessed` is drawn with it."""

    rows: int
    columns: int
    dtype: types.PtxType
    swizzle: str | None = None
    accessed: Access | None = None

    @property
    def row_bytes(self) -> int:
        return self.columns * self.dtype.bits // 8

    def offset(self, row: int, column: int) -> int:
        """The byte an element starts at, from the start of the tile.

        Raises:
            ShapeError: outside the tile.
        """
        if not (0 <= row < self.rows and 0 <= column < self.columns):
            raise ShapeError(f"element ({row}, {column}) lies outside the tile of {self.rows} x {self.columns}")
        return apply_swizzle(row * self.row_bytes + column * self.dtype.bits // 8, self.swizzle)

    def bank(self, row: int, column: int) -> int:
        """The bank of the element's first byte."""
        return self.offset(row, column) // 4 % 32

    def access(self, elements: Sequence[tuple[int, int]], *, bytes: int | None = None) -> SharedTile:
        """The tile with an access of a warp: for each lane the (row, column) it begins at.

        Args:
            bytes: of a lane: 1, 2, 4, 8 or 16; those of one element by default. ldmatrix reads 16 for each of its rows.
        """
        size = self.dtype.bits // 8 if bytes is None else bytes
        if size not in (1, 2, 4, 8, 16):
            raise ShapeError(f"bytes={size}; a lane accesses 1, 2, 4, 8 or 16")
        if not 1 <= len(elements) <= 32:
            raise ShapeError(f"{len(elements)} elements; a warp has 32 lanes")
        addresses = [self.offset(*element) for element in elements]
        for element, address in zip(elements, addresses, strict=True):
            if address % size:
                raise ShapeError(f"element {element} lies at byte {address}, which is no multiple of {size}")
        groups = -(-len(elements) * max(size, 4) // LINE)
        extra = extra_wavefronts(list(range(len(elements))), addresses, size)
        return replace(self, accessed=Access(tuple(elements), size, groups + extra, groups))

    @property
    def title(self) -> str:
        swizzle = f"swizzle {self.swizzle}" if self.swizzle else "no swizzle"
        return f"{self.rows} x {self.columns} {self.dtype.name} in shared memory, {swizzle}"

    def __str__(self) -> str:
        lines = [self.title, *([str(self.accessed)] if self.accessed else ()),
                 "banks " + "".join(f"{f'{b}-{b + 3}':>10}" for b in range(0, 32, 4))]
        for line, chunks in enumerate(self._lines()):
            lines.append(f"{line * LINE:5} " + "".join(f"{text + ('*' if touched else ''):>10}"
                                                       for _, text, touched in chunks))
        return "\n".join((*lines, *([self._left()] if self._left() else ())))

    __repr__ = __str__

    def svg(self) -> str:
        """A row for each 128 bytes: eight chunks of 16 bytes with their places in the tile, coloured by column."""
        cells, labels = [], [label(0, 14, self.title, size=12)]
        if self.accessed:
            labels.append(label(0, 32, str(self.accessed)))
        labels += [label(52 + (i + 0.5) * _UNIT, 52, f"banks {4 * i}-{4 * i + 3}", "middle", 10) for i in range(8)]
        lines = list(self._lines())
        for line, chunks in enumerate(lines):
            labels.append(label(46, 60 + (line + 0.7) * _HEIGHT, f"{line * LINE}", "end", 10))
            for i, (column, text, touched) in enumerate(chunks):
                if text:
                    fill = FILLS[column * self.dtype.bits // 8 // CHUNK % 8]
                    cells.append(Cell(i, line, 1, 1, fill, text, f"bytes {line * LINE + CHUNK * i} to "
                                      f"{line * LINE + CHUNK * i + 15}: row and first column {text}", touched))
        height = 60 + len(lines) * _HEIGHT + 8
        if left := self._left():
            labels.append(label(52, height + 8, left))
            height += 14
        return grid(cells, labels, width=60 + 8 * _UNIT, height=height, left=52, top=60, unit=(_UNIT, _HEIGHT),
                    title=self.title)

    def _lines(self) -> Iterator[list[tuple[int, str, bool]]]:
        """For each line of 128 bytes its chunks: column and "row,column" of the first element that starts there, and
        whether the access touches it."""
        size, places = self.dtype.bits // 8, {}
        for chunk in range(-(-min(self.rows * self.row_bytes, _LINES * LINE) // CHUNK)):
            row, column = divmod(-(-chunk * CHUNK // size), self.columns)
            if row < self.rows:
                places[apply_swizzle(chunk * CHUNK, self.swizzle) // CHUNK] = (row, column)
        touched = set()
        if self.accessed:
            touched = {self.offset(*element) // CHUNK for element in self.accessed.elements}
        for line in range(min(_LINES, -(-self.rows * self.row_bytes // LINE))):
            found = [(chunk, places.get(chunk)) for chunk in range(8 * line, 8 * line + 8)]
            yield [(at[1], f"{at[0]},{at[1]}", chunk in touched) if at else (0, "", False) for chunk, at in found]

    def _left(self) -> str:
        left = -(-self.rows * self.row_bytes // LINE) - _LINES
        return f"and {left} more line{'s' if left > 1 else ''}" if left > 0 else ""


def shared_tile(shape: tuple[int, int], dtype: str | types.PtxType, *, swizzle: str | None = None) -> SharedTile:
    """A row-major tile of `shape` (rows, columns) as `smem.alloc` places it.

    Args:
        dtype: an element type of whole bytes, "bf16" or `types.bf16`.
        swizzle: None, "32B", "64B" or "128B".

    Raises:
        ShapeError: an unknown type or swizzle, or a swizzle of rows that are no whole number of 16-byte chunks.
    """
    if isinstance(dtype, str):
        found = getattr(types, dtype, None)
        if not isinstance(found, types.PtxType):
            raise ShapeError(f"dtype {dtype!r} is no type of PTX; for example 'bf16', 'f32', 'u8'")
        dtype = found
    rows, columns = shape
    if rows < 1 or columns < 1 or dtype.bits % 8:
        raise ShapeError(f"shape {shape} of {dtype.name}: expected at least one row and column, of whole bytes")
    tile = SharedTile(rows, columns, dtype, swizzle)
    tile.offset(0, 0)                                   # an unknown swizzle is refused here
    if swizzle not in (None, "NONE") and tile.row_bytes % CHUNK:
        raise ShapeError(f"rows of {tile.row_bytes} bytes, swizzle {swizzle!r}: it exchanges chunks of {CHUNK} bytes, "
                         f"so rows must be multiples of {CHUNK} bytes; rows of any length have swizzle=None")
    return tile


def _passes(count: int) -> str:
    return f"{count} pass{'es' if count > 1 else ''}"
