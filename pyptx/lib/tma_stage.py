"""A stage of a ring that TMA fills: addresses and descriptors of its tiles, and the copies into it."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from pyptx import reg
from pyptx._loc import user_place
from pyptx.elements import Elements
from pyptx.errors import OperandError, ShapeError, TraceError
from pyptx.ptx import cp
from pyptx.ptx._wgmma_descriptors import TileDescriptor
from pyptx.ptx.mbarrier import DynamicSlot
from pyptx.reg import NegPred, Reg
from pyptx.specs import Layout
from pyptx.tensor import TensorSpec
from pyptx.tracing.trace import emit

if TYPE_CHECKING:
    from pyptx.lib.tma_ring import TmaRing
    from pyptx.lib.wgmma_tile import WgmmaTile

__all__ = ["Stage"]

Guard = Reg | NegPred | None


class Stage:
    """A stage of a ring.

    Attributes:
        ring: the ring.
        index: of the stage, a u32 register.
        full: the mbarrier that tracks its bytes; for a pair of CTAs in the producer, its address in the first one.
    """

    ring: TmaRing
    index: Reg
    full: DynamicSlot | Reg

    def __init__(self, ring: TmaRing, index: Reg, full: DynamicSlot | Reg):
        self.ring, self.index, self.full = ring, index, full

    def address(self, tile: str) -> Reg:
        """Return the shared address of a tile of the stage in a u32 register."""
        start = self.ring.start + self.index * self.ring.stage_bytes
        return start + offset if (offset := self.ring.offset(tile)) else start

    def descriptor(self, descriptor: Reg) -> Reg:
        """Return a matrix descriptor of stage 0 moved to this stage.

        Args:
            descriptor: as `ring.descriptor(tile)` or a `WgmmaTile` gives it, a 64-bit register.
        Raises:
            OperandError: another value, or the descriptor of a tile that the ring does not have.
        """
        if not isinstance(descriptor, Reg) or descriptor.dtype.bits != 64:
            raise OperandError(
                f"a matrix descriptor is a 64-bit register, not {descriptor!r}",
                at=user_place(),
                hint=f"compute it before the loop: start = ring.descriptor({descriptor!r}), then stage.descriptor(start)"
                if isinstance(descriptor, str)
                else None,
            )
        tile = descriptor.tile if isinstance(descriptor, TileDescriptor) else None
        if tile is not None and not any(tile is own for own in self.ring.operands.values()):
            raise OperandError(
                f"the descriptor is of {tile!r}, which is not a tile of this stage's ring: {', '.join(self.ring.operands)}",
                at=user_place(),
                hint="start = ring.descriptor(name) of the ring whose stage it is",
            )
        return descriptor + self.index * (self.ring.stage_bytes // 16)

    def load(
        self,
        tile: str,
        source: object,
        coord: Sequence[int | Reg],
        *,
        boxes: int | None = None,
        columns: int | None = None,
        share: tuple[int | Reg, int] | None = None,
        multicast_mask: int | Reg | None = None,
        cache_hint: str | Reg | None = None,
        pred: Guard = None,
    ) -> None:
        """Copy a tile by TMA: one `cp.async.bulk.tensor` for each box, which arrive at `full`.

        Args:
            tile: name of the tile.
            source: the array, whose Tile has a `tma_box`.
            coord: coordinates of the first box, innermost first.
            boxes: number of boxes, side by side along the innermost dimension; each has an equal part of the tile. Default:
                those of a `WgmmaTile`, else 1.
            columns: elements from a box to the next; default: those of a `WgmmaTile`.
            share: (i, n): copy only the i-th of n equal parts of the boxes. With `multicast_mask`, each of n CTAs that
                need the tile copies a part of it for all: `share=(ptx.cluster_ctarank, 2), multicast_mask=3`.
            multicast_mask, cache_hint, pred: as for `ptx.cp.async_bulk.tensor_2d`.
        Raises:
            ShapeError: the tile is not divisible into the boxes, or the boxes of the array are not those of the tile.
            OperandError: the array has no `tma_box`, or another type or layout than a `WgmmaTile` needs.
            TraceError: a copy to several CTAs into a ring that is not made for a cluster.
            UnknownNameError: no such tile.
        """
        self.ring.offset(tile)
        _check_source(source, coord)
        operand = self.ring.operands.get(tile)
        if operand is not None:
            _check_operand(source, tile, operand)
        if multicast_mask is not None and self.ring.cluster == 1:
            raise TraceError(
                "multicast_mask writes to the stages of other CTAs, and the ring does not wait until their readers release them",
                at=user_place(),
                hint="lib.TmaRing(..., cluster=2), with the number of CTAs",
            )
        boxes = boxes if boxes is not None else operand.boxes if operand is not None else 1
        columns = columns if columns is not None else operand.box_columns if operand is not None else 0
        part, parts = (0, 1) if share is None else (reg.readable(share[0]), share[1])
        if boxes < 1 or boxes % parts or self.ring.tiles[tile] % boxes or (boxes > 1 and columns < 1):
            raise ShapeError(
                f"tile {tile!r} of {self.ring.tiles[tile]} bytes cannot be copied as {boxes} boxes, {columns} columns apart"
                + f", in {parts} parts" * (parts > 1),
                at=user_place(),
            )
        _check_box(source, tile, self.ring.tiles[tile] // boxes)
        copy, box_bytes = getattr(cp.async_bulk, f"tensor_{len(coord)}d"), self.ring.tiles[tile] // boxes
        each = boxes // parts  # boxes of a part
        to, first = self.address(tile), coord[0]
        if share is not None:
            to, first = to + part * (each * box_bytes), first + part * (each * columns)
        for i in range(each):
            place = (first + i * columns if i else first, *coord[1:])
            target = to + i * box_bytes if i else to
            copy(
                dst=target, src=source, coord=place, mbar=self.full, multicast_mask=multicast_mask,
                cache_hint=cache_hint, pred=pred, cta_group=self.ring.ctas,
            )  # fmt: skip

    def become(self, other: Stage) -> None:
        """Copy the index of another stage into the register of this one, to keep it for the next iteration of a loop."""
        emit("mov", "u32", self.index, other.index)


def _check_source(source: object, coord: Sequence[int | Reg]) -> None:
    if isinstance(source, Elements) and not isinstance(source, TensorSpec):
        raise OperandError(
            f"{source!r} is not an array parameter; TMA copies from one",
            at=user_place(),
            hint="pass the kernel's array",
        )
    if isinstance(source, TensorSpec) and not source.has_tensor_map:
        raise OperandError(
            f"TMA copies boxes of {source.name}, and its Tile has no tma_box",
            at=user_place(),
            hint="Tile(..., Layout.TMA_128B, tma_box=(rows, columns), tma_whole=True); of a lib.WgmmaTile they are (tile.rows, "
            "tile.box_columns)",
        )
    box = source.tma_box if isinstance(source, TensorSpec) else None  # None too for a tensor map of another shape
    rank = None if box is None else len(box)
    if not isinstance(coord, Sequence) or rank not in (None, len(coord)):
        raise ShapeError(
            f"coordinates {coord!r} of {getattr(source, 'name', source)}; expected a tuple of "
            + ("one for each dimension" if rank is None else f"{rank}, one for each dimension, innermost first"),
            at=user_place(),
        )


def _check_operand(source: object, name: str, tile: WgmmaTile) -> None:
    """Refuse an array whose tensor map writes other boxes than a matrix descriptor of the tile reads."""
    if not isinstance(source, TensorSpec) or source.tma_box is None or source.dtype is None:
        return
    fix = f"Tile(..., {tile.dtype}, Layout.TMA_128B, tma_box=({tile.rows}, {tile.box_columns}), tma_whole=True)"
    if source.dtype != tile.dtype:
        raise OperandError(
            f"{source.name} has elements of {source.dtype}, tile {name!r} of {tile.dtype}", at=user_place(), hint=fix
        )
    if source.layout is not Layout.TMA_128B:
        raise OperandError(
            f"{source.name} has layout {source.layout}, and the descriptors of tile {name!r} have a swizzle of 128 bytes",
            at=user_place(),
            hint=fix,
        )
    *rows, columns = source.tma_box
    if columns != tile.box_columns or tile.rows != prod(rows):
        raise ShapeError(
            f"the boxes of {source.name} are {source.tma_box}, and those of tile {name!r}, {tile!r}, ({tile.rows}, "
            f"{tile.box_columns})",
            at=user_place(),
            hint=fix,
        )


def _check_box(source: object, tile: str, expected: int) -> None:
    """Refuse a copy whose bytes are not those that the ring waits for: the barrier would never complete."""
    if not isinstance(source, TensorSpec) or source.tma_box is None or source.dtype is None:
        return
    found = prod(source.tma_box) * source.dtype.bits // 8
    if found != expected:
        raise ShapeError(
            f"tile {tile!r} takes {expected} bytes of each box, and a box of {source.name} has {found}: {source.tma_box} of "
            f"{source.dtype}",
            at=user_place(),
            hint="set tma_box of its Tile, with tma_whole=True where the array may be smaller, or the bytes of the tile",
        )
