"""Copies of tiles by all threads of a CTA: through registers, or asynchronously to shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyptx import reg, smem
from pyptx._loc import user_place
from pyptx.errors import ShapeError
from pyptx.ir.nodes import AddressOperand
from pyptx.lib._arguments import thread
from pyptx.lib.array_tile import ArrayTile, Piece, as_tile, pieces, widest_vector
from pyptx.reg import Reg
from pyptx.smem import SharedAlloc, SharedSlice
from pyptx.tracing.operand import address, shifted
from pyptx.tracing.trace import emit, get_ctx
from pyptx.types import pred, u32

__all__ = ["copy", "copy_async"]

_LINES = {"128B": 128, "64B": 64, "32B": 32}


def copy(
    source: Any,
    to: Any,
    *,
    threads: int,
    tid: Reg | None = None,
    end: Sequence[int | Reg] | None = None,
    vector: int | None = None,
) -> None:
    """Copy a tile through registers; called by all threads.

    ::

        threads of 64 x 16 f32 elements, four each:       row  0   | 0 | 1 | 2 | 3 |
                                                          row  1   | 4 | 5 | 6 | 7 |     256 threads: one piece each;
                                                           ...                           64 threads: rows i, i + 16, ...

    Emits the indices of the thread's first piece; then for each piece one `ld`, of up to 16 bytes, the conversion if the types
    differ, and one `st`. All loads come before the first store. A synchronization must follow before other threads read.

    Args:
        source, to: tiles, or whole arrays, of the same shape.
        threads: number of threads that call it.
        tid: index of the thread among them; default: `%tid.x`.
        end: sizes of the array in global memory, where the tile may reach beyond them: such elements are read as zero, and not
            written.
        vector: elements of an access at most. Default: as many as the sizes and constant starts have aligned, up to 16 bytes;
            starts in registers must be multiples of it.
    Raises:
        ShapeError: tiles of different shapes, or one that reaches beyond its array without `end`.
    """
    source, to = _pair(source, to)
    _check_inside(source, to, end)
    count = widest_vector(source, to, limit=vector, bounds=end or ())
    parts = pieces(source.rows, source.columns, count, _number(threads), _thread(tid))
    first, second = source.at(parts[0].row, parts[0].column), to.at(parts[0].row, parts[0].column)
    loaded, guards = [], []
    for part in parts:
        at, offset = _place(source, part, parts, first), _offset(source, part)
        inside = _inside(source if not source.is_shared else to, part, end)
        reads = part.guard if source.is_shared else _both(part.guard, inside)
        other = None if reads is None else 0
        vec = count if count > 1 else None
        loaded.append(source.array.load(*at, vec=vec, offset=offset, pred=reads, other=other))
        guards.append(_both(part.guard, None if to.is_shared else inside))
    dtype = to.array.dtype
    for part, value, guard in zip(parts, loaded, guards, strict=True):
        given = value if source.array.dtype == dtype else value.to(dtype)
        to.array.store(*_place(to, part, parts, second), given, offset=_offset(to, part), pred=guard)


def copy_async(
    source: Any,
    to: Any,
    *,
    threads: int,
    tid: Reg | None = None,
    end: Sequence[int | Reg] | None = None,
    swizzle: str | None = None,
    vector: int | None = None,
) -> None:
    """Start the copy of a tile from global to shared memory by `cp.async` (sm_80); called by all threads.

    Emits the indices of the thread's first piece, then one `cp.async` of 16, 8 or 4 bytes for each piece.
    `ptx.cp.async_.commit_group()`, `wait_group` and `bar.sync` must follow before threads read the tile.

    Args:
        source, to: tiles, or whole arrays, of the same shape and type, in global and in shared memory.
        threads, tid, vector: as for `copy`.
        end: sizes of the array, where the tile may reach beyond them: such elements become zero.
        swizzle: "128B", "64B" or "32B": the tile has rows of that many bytes, whose 16-byte pieces are permuted as by
            `smem.apply_swizzle`, for `ldmatrix` without bank conflicts. The tile is a whole shared array, aligned to 8 rows.
    Raises:
        ShapeError: tiles of different shapes or types, in other memories, or accesses of less than 4 bytes.
    """
    source, to = _pair(source, to)
    _check_inside(source, to, end)
    dtype = source.array.dtype
    count = widest_vector(source, to, limit=vector, bounds=end or ())
    size = count * dtype.bits // 8
    if source.is_shared or not to.is_shared or dtype != to.array.dtype or size < 4:
        raise ShapeError(
            f"copy_async of {source.array.name} ({dtype}) to {to.array.name} ({to.array.dtype}), {size} bytes at a time; expected "
            "a tile in global and one in shared memory, of one type, in pieces of at least 4 bytes",
            at=user_place(),
            hint="lib.copy copies through registers, and converts",
        )
    if swizzle is not None:
        _check_lines(to, swizzle, size)
    if isinstance(to.array, SharedAlloc | SharedSlice):
        whole = to.array if isinstance(to.array, SharedAlloc) else to.array.alloc
        to.array.permuted = whole.permuted = swizzle
    parts = pieces(source.rows, source.columns, count, _number(threads), _thread(tid))
    first, second = source.at(parts[0].row, parts[0].column), to.at(parts[0].row, parts[0].column)
    lines: dict[Any, Reg] = {}
    for part in parts:
        read = source.array._element(_place(source, part, parts, first), _offset(source, part), count)
        written = (
            to.array._element(_place(to, part, parts, second), _offset(to, part), count)
            if swizzle is None
            else _swizzled(to, part, swizzle, lines)
        )
        inside = _inside(source, part, end)
        fills: list[Any] = []
        if inside is not None:
            filled = reg.scalar(u32)
            emit("selp", "b32", filled, size, 0, inside)
            fills = [filled]
        emit("cp", f"async.{'cg' if size == 16 else 'ca'}.shared.global", written, read, size, *fills, pred=part.guard)


def _number(threads: object) -> int:
    if not isinstance(threads, int) or threads < 1:
        raise ShapeError(
            f"threads={threads!r}; expected a positive int: the loop over the pieces is unrolled", at=user_place()
        )
    get_ctx().need_threads(threads, "the tile is divided over", "pass the threads that copy")
    return threads


def _pair(source: Any, to: Any) -> tuple[ArrayTile, ArrayTile]:
    one, other = as_tile(source), as_tile(to)
    if (one.rows, one.columns) != (other.rows, other.columns):
        raise ShapeError(
            f"a tile of {one.array.name} of shape {one.shape} is copied to one of {other.array.name} of shape {other.shape}; "
            "expected equal shapes",
            at=user_place(),
        )
    return one, other


def _check_inside(source: ArrayTile, to: ArrayTile, end: Sequence[int | Reg] | None) -> None:
    """Refuse tiles that certainly reach beyond their array, and an `end` that is not one for each dimension."""
    for one in (source, to):
        if end is not None and not one.is_shared:
            if not isinstance(end, Sequence) or len(end) != len(one.shape):
                raise ShapeError(
                    f"end={end!r} for a tile of {one.array.name}, of shape {one.shape}; expected one for each dimension",
                    at=user_place(),
                )
            continue
        for start, size, whole in zip(one.start, one.shape, one.array.shape, strict=True):
            if isinstance(start, int) and isinstance(whole, int) and start + size > whole:
                raise ShapeError(
                    f"a tile of {one.array.name}, {one.shape} from {one.start}, reaches beyond its shape {one.array.shape}",
                    at=user_place(),
                    hint=None if one.is_shared else f"end={one.array.name}.shape reads zeros there, and writes nothing",
                )


def _thread(tid: Reg | None) -> Reg:
    return reg.from_("%tid.x", u32) if tid is None else thread(tid)


def _place(one: ArrayTile, part: Piece, parts: list[Piece], first: list[Any]) -> list[Any]:
    """Return the indices of a piece; those of the first if it is a constant distance from it."""
    shared = part.row is parts[0].row and part.column is parts[0].column
    return first if shared else one.at(part.row, part.column)


def _offset(one: ArrayTile, part: Piece) -> tuple[int, ...]:
    return part.offset[-len(one.shape) :]


def _inside(one: ArrayTile, part: Piece, end: Sequence[int | Reg] | None) -> Reg | None:
    """Return the predicate that the first element of a piece is inside the array; None if `end` is None."""
    if end is None:
        return None
    found = None
    for index, more, bound in zip(one.at(part.row, part.column), _offset(one, part), end, strict=True):
        place = index + more if more else index
        if not (isinstance(place, int) and isinstance(bound, int) and place < bound):
            compared = place if isinstance(place, Reg) else reg.scalar(u32, place)
            found = _both(found, compared < bound)
    return found


def _both(p: Reg | None, q: Reg | None) -> Reg | None:
    if p is None or q is None:
        return q if p is None else p
    result = reg.scalar(pred)
    emit("and", "pred", result, p, q)
    return result


def _check_lines(to: ArrayTile, swizzle: str, size: int) -> None:
    line = to.array.shape[-1] * to.array.dtype.bits // 8
    if _LINES.get(swizzle) != line or size != 16 or to.shape != tuple(to.array.shape) or any(to.start):
        raise ShapeError(
            f"copy_async to {to.array.name} with swizzle={swizzle!r}: rows of {line} bytes, {size} bytes at a time; expected a whole "
            f"array with rows of {_LINES.get(swizzle, '128, 64 or 32')} bytes, 16 at a time",
            at=user_place(),
        )


def _swizzled(to: ArrayTile, part: Piece, swizzle: str, lines: dict[Any, Reg]) -> AddressOperand:
    """Emit the swizzled address of a piece; eight rows further it is a constant distance away."""
    line, (down, _) = _LINES[swizzle], part.offset
    key = (id(part.row), id(part.column), down % 8)
    if key not in lines:
        row = part.row + down % 8 if down % 8 else part.row
        offset = _sum_bytes(row, line, part.column, to.array.dtype.bits // 8)
        start = getattr(to.array, "address_register")()  # noqa: B009 - of shared arrays only
        lines[key] = smem.apply_swizzle(offset, swizzle) + start
    return shifted(address(lines[key]), (down - down % 8) * line)


def _sum_bytes(row: int | Reg, line: int, column: int | Reg, size: int) -> Reg:
    bytes_ = column * size
    total = row * line + bytes_
    return total if isinstance(total, Reg) else reg.scalar(u32, total)
