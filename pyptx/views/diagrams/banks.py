"""Shared-memory tiles: the bank of each element, and the passes that a warp's access takes.

    tile = pyptx.views.shared_tile((8, 64), "bf16", swizzle="128B")
    tile.access([(row, 0) for row in range(8)], bytes=16)          # what ldmatrix reads

Shared memory has 32 banks of 4 bytes. A warp's access is served in passes: all lanes together for 4 bytes per lane, half
a warp for 8 bytes, a quarter for 16 bytes; within such a group, each further word of a bank takes another pass.
Source: CUDA C++ Programming Guide, "Shared Memory" of each compute capability; PTX ISA, "Swizzling Modes".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pyptx import types
from pyptx.errors import ShapeError
from pyptx.sim.reference.access import extra_wavefronts
from pyptx.smem import apply_swizzle
from pyptx.views.diagrams.svg import FILLS, Cell, Diagram, grid, label

__all__ = ["Access", "SharedTile", "shared_tile"]

CHUNK, LINE = 16, 128  # bytes: the granularity of a swizzle; the width of all banks
_MAX_LINES = 32  # drawn
_UNIT, _HEIGHT = 72, 20


@dataclass(frozen=True)
class Access:
    """An access of a warp: (row, column) and `bytes` for each lane, and the passes it takes."""

    elements: tuple[tuple[int, int], ...]
    bytes: int
    passes: int
    least: int  # passes without bank conflicts

    def __str__(self) -> str:
        lanes = f"{len(self.elements)} lanes, {self.bytes} bytes each"
        if self.passes == self.least:
            return f"{lanes}: {_passes(self.passes)}, no bank conflict"
        return (
            f"{lanes}: {_passes(self.passes)} instead of {self.least}, {self.passes / self.least:g}-way bank conflicts"
        )


@dataclass(frozen=True)
class SharedTile(Diagram):
    """A row-major tile of shared memory, aligned to 1024 bytes, and optionally an access to it."""

    rows: int
    columns: int
    dtype: types.PtxType
    swizzle: str | None = None
    accessed: Access | None = None

    @property
    def row_bytes(self) -> int:
        return self.columns * self.dtype.bits // 8

    def offset(self, row: int, column: int) -> int:
        """Return the byte offset of an element in the tile.

        Raises:
            ShapeError: the element is outside the tile.
        """
        if not (0 <= row < self.rows and 0 <= column < self.columns):
            raise ShapeError(f"element ({row}, {column}) is outside the tile of {self.rows} x {self.columns}")
        offset = apply_swizzle(row * self.row_bytes + column * self.dtype.bits // 8, self.swizzle)
        assert isinstance(offset, int), "a swizzled integer is an integer"
        return offset

    def bank(self, row: int, column: int) -> int:
        """Return the bank of the element's first byte."""
        return self.offset(row, column) // 4 % 32

    def access(self, elements: Sequence[tuple[int, int]], *, bytes: int | None = None) -> SharedTile:
        """Return the tile with an access of a warp.

        Args:
            elements: (row, column) of the first element of each lane.
            bytes: per lane: 1, 2, 4, 8 or 16; by default the size of an element. ldmatrix reads 16 for each of its rows.
        """
        size = self.dtype.bits // 8 if bytes is None else bytes
        if size not in (1, 2, 4, 8, 16):
            raise ShapeError(f"bytes={size}; expected 1, 2, 4, 8 or 16 per lane")
        if not 1 <= len(elements) <= 32:
            raise ShapeError(f"{len(elements)} elements; expected 1 to 32, one per lane of a warp")
        addresses = [self.offset(*element) for element in elements]
        for element, address in zip(elements, addresses, strict=True):
            if address % size:
                raise ShapeError(f"element {element} is at byte {address}, which is not a multiple of {size}")
        groups = -(-len(elements) * max(size, 4) // LINE)
        extra = extra_wavefronts(list(range(len(elements))), addresses, size)
        return replace(self, accessed=Access(tuple(elements), size, groups + extra, groups))

    @property
    def title(self) -> str:
        swizzle = f"swizzle {self.swizzle}" if self.swizzle else "no swizzle"
        return f"{self.rows} x {self.columns} {self.dtype.name} in shared memory, {swizzle}"

    def __str__(self) -> str:
        lines = [
            self.title,
            *([str(self.accessed)] if self.accessed else ()),
            "banks " + "".join(f"{f'{b}-{b + 3}':>10}" for b in range(0, 32, 4)),
        ]
        for line, chunks in enumerate(self._lines()):
            lines.append(
                f"{line * LINE:5} " + "".join(f"{text + ('*' if touched else ''):>10}" for _, text, touched in chunks)
            )
        return "\n".join((*lines, *([self._left()] if self._left() else ())))

    __repr__ = __str__

    def svg(self) -> str:
        """Draw a row for each 128 bytes: eight chunks of 16 bytes with their elements, colored by column."""
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
                    cells.append(
                        Cell(
                            i,
                            line,
                            1,
                            1,
                            fill,
                            text,
                            f"bytes {line * LINE + CHUNK * i} to {line * LINE + CHUNK * i + 15}: from [{text}]",
                            touched,
                        )
                    )
        height = 60 + len(lines) * _HEIGHT + 8
        if left := self._left():
            labels.append(label(52, height + 8, left))
            height += 14
        return grid(
            cells, labels, width=60 + 8 * _UNIT, height=height, left=52, top=60, unit=(_UNIT, _HEIGHT), title=self.title
        )

    def _lines(self) -> Iterator[list[tuple[int, str, bool]]]:
        """Yield the chunks of each 128-byte line: (column, "row,column" of the first element, is accessed)."""
        size, places = self.dtype.bits // 8, {}
        for chunk in range(-(-min(self.rows * self.row_bytes, _MAX_LINES * LINE) // CHUNK)):
            row, column = divmod(-(-chunk * CHUNK // size), self.columns)
            if row < self.rows:
                places[apply_swizzle(chunk * CHUNK, self.swizzle) // CHUNK] = (row, column)
        touched = set()
        if self.accessed:
            touched = {self.offset(*element) // CHUNK for element in self.accessed.elements}
        for line in range(min(_MAX_LINES, -(-self.rows * self.row_bytes // LINE))):
            found = [(chunk, places.get(chunk)) for chunk in range(8 * line, 8 * line + 8)]
            yield [(at[1], f"{at[0]},{at[1]}", chunk in touched) if at else (0, "", False) for chunk, at in found]

    def _left(self) -> str:
        left = -(-self.rows * self.row_bytes // LINE) - _MAX_LINES
        return f"and {left} more line{'s' if left > 1 else ''}" if left > 0 else ""


def shared_tile(shape: tuple[int, int], dtype: str | types.PtxType, *, swizzle: str | None = None) -> SharedTile:
    """Return a row-major tile of `shape` (rows, columns), laid out as by `smem.alloc`.

    Args:
        dtype: an element type of whole bytes, "bf16" or `types.bf16`.
        swizzle: None, "32B", "64B" or "128B".

    Raises:
        ShapeError: an unknown type or swizzle, or swizzled rows whose size is not a multiple of 16 bytes.
    """
    if isinstance(dtype, str):
        found = getattr(types, dtype, None)
        if not isinstance(found, types.PtxType):
            raise ShapeError(f"dtype {dtype!r} is not a PTX type; expected one such as 'bf16', 'f32' or 'u8'")
        dtype = found
    rows, columns = shape
    if rows < 1 or columns < 1 or dtype.bits % 8:
        raise ShapeError(f"shape {shape} of {dtype.name}: expected at least one row and column of whole bytes")
    tile = SharedTile(rows, columns, dtype, swizzle)
    tile.offset(0, 0)  # raises for an unknown swizzle
    if swizzle not in (None, "NONE") and tile.row_bytes % CHUNK:
        raise ShapeError(
            f"rows of {tile.row_bytes} bytes cannot be swizzled by {swizzle!r}, which permutes chunks of {CHUNK} bytes",
            hint=f"make rows a multiple of {CHUNK} bytes, or use swizzle=None",
        )
    return tile


def _passes(count: int) -> str:
    return f"{count} pass{'es' if count > 1 else ''}"
