"""Results that leave by TMA: boxes in shared memory that warps fill with their rows of a fragment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyptx import reg, smem
from pyptx._loc import user_place
from pyptx.elements import Vector
from pyptx.errors import OperandError, ShapeError
from pyptx.lib._arguments import type_of
from pyptx.lib._swizzled_rows import LINE
from pyptx.lib.boxed_fragment import BoxedFragment
from pyptx.ptx import cp, fence
from pyptx.ptx.control import if_
from pyptx.reg import Reg
from pyptx.specs import Layout
from pyptx.tensor import TensorSpec
from pyptx.tracing.operand import address
from pyptx.tracing.trace import emit
from pyptx.types import PtxType, b8, u32

__all__ = ["StoreBoxes"]


class StoreBoxes:
    """Shared memory through which warps store their rows of fragments by TMA: two boxes for each warp, used in turns.

    ::

                     box 0               box 1
        warp 0    | 16 x 128 bytes |  | 16 x 128 bytes |      fill box 0, start its store, fill box 1, start its store,
        warp 1    | 16 x 128 bytes |  | 16 x 128 bytes |      wait until box 0 has been read, fill it again, ...
         ...

    After the last store, `ptx.cp.async_bulk.wait_group(0, read=True)` keeps the CTA until its shared memory has been read.

    Args:
        warps: warps that store.
        dtype: type of the array, of 8, 16 or 32 bits.
        rows: of a box: 16 for a `WgmmaFragment`, 32 for a `TensorFragment`, the rows of a warp.
        first_warp: number of the first of these warps in its CTA.
    Attributes:
        columns: of a box, in elements.
        memory: the shared memory.
        start: its shared address, a u32 register.
    Raises:
        ShapeError: a number that is not positive, other rows, or another type.
    Source: PTX ISA, "Swizzling Modes", "cp.async.bulk.tensor".
    """

    dtype: PtxType
    rows: int
    columns: int
    memory: smem.SharedAlloc
    start: Reg

    def __init__(self, warps: int, dtype: PtxType, *, rows: int = 16, first_warp: int = 0):
        type_of(dtype, "StoreBoxes")
        wrong = not isinstance(warps, int) or warps < 1 or not isinstance(first_warp, int)
        if wrong or rows not in (16, 32) or dtype.bits not in (8, 16, 32):
            raise ShapeError(
                f"StoreBoxes: warps={warps!r}, first_warp={first_warp!r}, rows={rows!r}, dtype={dtype}; expected ints, 16 or 32 "
                "rows, and a type of 8, 16 or 32 bits",
                at=user_place(),
            )
        self.dtype, self.rows, self._first_warp = dtype, rows, first_warp
        self.columns = LINE * 8 // dtype.bits
        self.memory = smem.alloc(b8, self.bytes_of(warps, rows), align=1024)
        self.start = reg.from_(self.memory.name, u32)

    @staticmethod
    def bytes_of(warps: int, rows: int = 16) -> int:
        """Return the bytes of shared memory for a number of warps."""
        return warps * 2 * rows * LINE

    @staticmethod
    def box_of(dtype: PtxType, rows: int = 16) -> tuple[int, int]:
        """Return the `tma_box` of the array's Tile, whose layout is `Layout.TMA_128B`: (rows, columns)."""
        return rows, LINE * 8 // dtype.bits

    def store(
        self,
        fragment: BoxedFragment,
        to: Any,
        row: int | Reg,
        column: int | Reg,
        *,
        outer: Sequence[int | Reg] = (),
        end: Reg | None = None,
        box: int | None = None,
        cache_hint: str | Reg | None = None,
    ) -> None:
        """Store a fragment to an array; called by all lanes of the warps. Also `fragment.store_tma(...)`.

        Emits for each box: `cp.async.bulk.wait_group.read` and `bar.warp.sync`; the conversions, and `stmatrix` or
        `st.shared`; `fence.proxy.async` and `bar.warp.sync`; by lane 0 `cp.async.bulk.tensor`; `commit_group`. What lies
        outside of the array is not written.

        Args:
            fragment: of whole boxes: its columns are a multiple of `columns`.
            to: the array, a matrix whose Tile has `layout=Layout.TMA_128B, tma_box=StoreBoxes.box_of(dtype)`, with a 1 for each
                further dimension before it.
            row, column: of the first element of the tile in the array.
            outer: indices of the dimensions before the rows, for an array of more than two.
            end: for a matrix, rows of the array from here on are not written: boxes beyond it are stored row by row.
            box: 0 or 1, the box to begin with, for stores of single boxes in turns. Default: box 0, after which the
                next store continues.
            cache_hint: as for `ptx.cp.async_bulk.tensor_2d.store`.
        Raises:
            OperandError: another type than that of the boxes, or an array whose tensor map has other boxes.
            ShapeError: a fragment of other rows, or one that is not whole boxes.
        """
        if to.dtype != self.dtype:
            raise OperandError(
                f"{to.name} has elements of {to.dtype}, the boxes of {self.dtype}",
                at=user_place(),
                hint=f"lib.StoreBoxes(warps, {to.dtype})",
            )
        _check_map(to, self.dtype, self.rows)
        if end is not None and outer:
            raise ShapeError("end= is for matrices; TMA itself writes nothing beyond the array", at=user_place())
        parts = fragment.box_parts(self.dtype, self.rows)
        tid, size = fragment.tid, self.rows * LINE
        lane, warp = tid & 31, tid >> 5
        own = self.start + (warp - self._first_warp if self._first_warp else warp) * (2 * size)
        place = own + fragment.box_place(lane, self.dtype)
        first_row = (warp & 3) * self.rows
        row = first_row + row if isinstance(row, Reg) or row else first_row
        for i, values in enumerate(parts):
            offset = (i + (box or 0)) % 2 * size
            pending = (
                0 if i == 0 and box is None and len(parts) % 2 else 1
            )  # an odd number ends with the box it begins with
            cp.async_bulk.wait_group(pending, read=True)
            emit("bar", "warp.sync", -1)
            fragment.fill_box(place, offset, values, lane, self.dtype)
            fence.proxy_async_shared_cta()
            emit("bar", "warp.sync", -1)
            first, whole = column + i * self.columns if i else column, lane == 0
            if end is not None:
                limit = reg.scalar(u32)  # lane 0, where all rows of the box are to be written
                emit("selp", "u32", limit, 1, 0, row + self.rows <= end)
                whole = lane < limit
            with if_(whole):
                copy = getattr(cp.async_bulk, f"tensor_{2 + len(outer)}d")
                copy.store(
                    dst=to.tma_desc(), src=own + offset, coord=(first, row, *reversed(outer)), cache_hint=cache_hint
                )
            cp.async_bulk.commit_group()  # of no store too: the waits count groups
            if end is not None:
                with if_(row + self.rows > end):
                    self._store_rows(own + offset, to, row, first, lane, end)

    def _store_rows(self, box: Reg, to: Any, row: Reg, column: int | Reg, lane: Reg, end: Reg) -> None:
        """Store those rows of a box that lie before `end`: a lane pieces of 16 bytes, four rows apart."""
        count = 128 // self.dtype.bits
        column, below = (lane & 7) * count + column, row + (lane >> 3)
        inside = reg.scalar(u32)
        emit("selp", "u32", inside, end, 0, column < to.shape[1])
        for i in range(0, self.rows, 4):
            piece = Vector(self.dtype, count)
            emit("ld", "shared.v4.b32", piece, address(box + smem.apply_swizzle((lane << 4) + i * LINE, "128B")))
            to.store(below, column, piece, offset=(i, 0), pred=below + i < inside)


def _check_map(to: Any, dtype: PtxType, rows: int) -> None:
    """Refuse an array whose tensor map reads other boxes than warps write."""
    if not isinstance(to, TensorSpec):
        raise OperandError(
            f"TMA stores to an array parameter, not to {to!r}", at=user_place(), hint="pass the kernel's array"
        )
    box = StoreBoxes.box_of(dtype, rows)
    given = to.tma_box and tuple(n for n in to.tma_box[:-2] if n != 1) + to.tma_box[-2:]
    if not to.has_tensor_map or (given and (given != box or to.layout is not Layout.TMA_128B)):
        found = f"boxes {to.tma_box} of layout {to.layout}" if to.has_tensor_map else "no tma_box"
        raise OperandError(
            f"{to.name} has {found}; the warps store boxes of {box} with a swizzle of 128 bytes",
            at=user_place(),
            hint=f"Tile(..., {dtype}, Layout.TMA_128B, tma_box=lib.StoreBoxes.box_of({dtype}"
            + f", {rows}" * (rows != 16)
            + "), tma_whole=True)",
        )
