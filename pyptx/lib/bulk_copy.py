"""Copies of tiles by one thread, through the asynchronous copy engine: bulk copies of rows, or one TMA copy of a box."""

from __future__ import annotations

from math import prod
from typing import Any

from pyptx._loc import user_place
from pyptx.errors import ShapeError
from pyptx.lib.array_tile import ArrayTile, as_tile
from pyptx.ptx import cp, mbarrier
from pyptx.ptx._checked import shared_address
from pyptx.reg import NegPred, Reg
from pyptx.specs import Layout
from pyptx.tensor import TensorSpec
from pyptx.tracing.trace import emit

__all__ = ["copy_bulk"]

_SWIZZLES = {Layout.TMA_128B: "128B", Layout.TMA_64B: "64B", Layout.TMA_32B: "32B"}


def copy_bulk(source: Any, to: Any, barrier: Any = None, *, pred: Reg | NegPred | None = None) -> int:
    """Start the copy of a tile between global and shared memory; called by one thread (sm_90).

    ::

        the array's tma_box is the tile       one cp.async.bulk.tensor
        whole rows, without gaps              one cp.async.bulk
        else                                  one cp.async.bulk for each row

    To shared memory, emits `mbarrier.arrive.expect_tx` with the bytes of the tile, then the copies, which arrive at the
    mbarrier: readers wait for it. To global memory, emits the copies and `cp.async.bulk.commit_group`: the thread waits with
    `ptx.cp.async_bulk.wait_group`; what threads wrote to the tile is made visible first by `ptx.fence.proxy_async_shared_cta()`
    and a synchronization.

    Args:
        source, to: tiles, or whole arrays, of the same shape and type, one in global and one in shared memory. Only a TMA copy
            may reach beyond an array, where it reads zeros and writes nothing; its shared memory is a whole array, aligned to
            128 bytes, with the swizzle of the layout of the array's Tile.
        barrier: to shared memory, the mbarrier; initialized with one arrival for this copy.
        pred: start the copy only where it holds.
    Returns:
        The bytes of the tile.
    Raises:
        ShapeError: tiles of different shapes or types, rows that are not whole pieces of 16 bytes, or a swizzled shared array
            for copies that do not permute.
    """
    source, to = as_tile(source), as_tile(to)
    inner, outer = (to, source) if to.is_shared else (source, to)
    first, second = source.array.dtype, to.array.dtype
    if (
        source.shape != to.shape
        or first != second
        or source.is_shared == to.is_shared
        or to.is_shared != (barrier is not None)
    ):
        raise ShapeError(
            f"copy_bulk of {source.array.name}, {source.shape} {first}, to {to.array.name}, {to.shape} {second}; expected one "
            "tile in global and one in shared memory, of one shape and type, and a barrier for a copy to shared memory",
            at=user_place(),
        )
    size = prod(source.shape) * max(8, first.bits) // 8
    if barrier is not None:
        mbarrier.arrive_expect_tx(barrier, size, pred=pred)
    if _is_box(outer, inner):
        _copy_box(source, to, barrier, pred)
    else:
        _copy_rows(source, to, outer, inner, barrier, pred)
    if barrier is None:
        cp.async_bulk.commit_group(pred=pred)
    return size


def _is_box(outer: ArrayTile, inner: ArrayTile) -> bool:
    """Return True if the tensor map of the array has boxes of the tile, as the shared array holds them."""
    array = outer.array
    return (
        isinstance(array, TensorSpec)
        and array.tma_box == outer.shape
        and getattr(inner.array, "swizzle", None) == _SWIZZLES.get(array.layout or Layout.ROW)
        and inner.shape == tuple(inner.array.shape)
        and all(isinstance(start, int) and start == 0 for start in inner.start)
    )


def _copy_box(source: ArrayTile, to: ArrayTile, barrier: Any, pred: Reg | NegPred | None) -> None:
    outer, inner = (source, to) if to.is_shared else (to, source)
    array: Any = outer.array
    copy = getattr(cp.async_bulk, f"tensor_{len(outer.shape)}d")
    coord, memory = outer.start[::-1], inner.array
    if to.is_shared:
        copy(dst=memory, src=array.tma_desc(), coord=coord, mbar=barrier, pred=pred)
    else:
        copy.store(dst=array.tma_desc(), src=memory, coord=coord, pred=pred)


def _copy_rows(
    source: ArrayTile, to: ArrayTile, outer: ArrayTile, inner: ArrayTile, barrier: Any, pred: Reg | NegPred | None
) -> None:
    whole = all(one.columns == one.array.shape[-1] for one in (source, to))
    rows, columns = (1, outer.rows * outer.columns) if whole else (outer.rows, outer.columns)
    bits = source.array.dtype.bits
    starts = [one.start[-1] for one in (source, to) if isinstance(one.start[-1], int)]
    pitches = [one.array.shape[-1] for one in (source, to)] if outer.rows > 1 else []
    if getattr(inner.array, "swizzle", None) not in (None, "NONE"):
        raise ShapeError(
            f"copy_bulk does not permute, and {inner.array.name} has swizzle {getattr(inner.array, 'swizzle', None)!r}",
            at=user_place(),
            hint=f"give the Tile of {outer.array.name} this layout, and tma_box={outer.shape}, for a copy by TMA",
        )
    if any(count * bits % 128 for count in (columns, *starts, *pitches)):
        raise ShapeError(
            f"copy_bulk of rows of {columns * bits / 8:g} bytes, at columns {starts}; expected multiples of 16 bytes",
            at=user_place(),
            hint="lib.copy and lib.copy_async copy smaller pieces",
        )
    count = columns * bits // 8
    for i in range(rows):
        offset = (0,) if len(source.shape) == 1 else (i, 0)
        read = source.array._element(source.at(0, 0), offset, 1)
        written = to.array._element(to.at(0, 0), offset, 1)
        if barrier is not None:
            modifiers = "async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
            emit("cp", modifiers, written, read, count, shared_address(barrier), pred=pred)
        else:
            emit("cp", "async.bulk.global.shared::cta.bulk_group", written, read, count, pred=pred)
