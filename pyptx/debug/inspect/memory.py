"""Memory tiles: elements at a name, an address, or an argument, row by row, with swizzle and banks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyptx.debug.errors import DebugError
from pyptx.debug.expressions import Expression
from pyptx.debug.inspect.values import decoded, element_bytes
from pyptx.debug.inspect.warp_state import MemoryView, WarpState
from pyptx.smem import apply_swizzle
from pyptx.types import PtxType

__all__ = ["MOST_SHOWN", "Tile", "tensor_tile", "tile"]

MOST_SHOWN = 64  # rows and columns of a tile
_SPACES = ("shared", "global", "local", "const", "param", "generic")
_NUMBER = re.compile(r"(?:0[xX][0-9a-fA-F]+|\d+)")
_STAGE = re.compile(r"(.+)\[(\d+)\]")
_SWIZZLES = (None, "32B", "64B", "128B")


@dataclass(frozen=True, eq=False)
class Tile:
    """The shown part of a memory tile.

    Attributes:
        shape: rows and columns of the allocation tile.
        first: row and column of values[0][0].
        values: elements [row][column].
        bank: shared memory bank of each element's first byte; None in other spaces.
    """

    space: str
    cta: int
    name: str
    address: int
    type: str
    shape: tuple[int, int]
    swizzle: str | None
    first: tuple[int, int]
    values: np.ndarray
    bank: np.ndarray | None = None
    title: str = ""


def tile(
    state: WarpState,
    what: str | int,
    *,
    space: str | None = None,
    type: str | None = None,
    shape: Sequence[int] | None = None,
    swizzle: str | None = None,
    rows: Sequence[int] | None = None,
    columns: Sequence[int] | None = None,
    lane: int = 0,
) -> Tile:
    """Return elements of memory as a warp sees it.

    Args:
        what: a name (an allocation, one stage of it such as `ring[1]`, an argument, a variable), an address, or an
            expression whose value for `lane` is an address.
        space: state space of an address: "shared" (default), "global", "local", "const", "param", "generic".
        type: element type; default: that of the name, else b32.
        shape: rows and columns; default: those of the name, else 8 x 8.
        swizzle: swizzle mode with which a row-major tile was written: "32B", "64B", "128B"; default: that of the name.
        rows, columns: (first, count) of the part to show; at most 64 of each.
    Raises:
        DebugError: the memory, type, or swizzle does not exist.
    """
    if isinstance(type, PtxType):
        type = type.name
    if space is not None and space not in _SPACES:
        raise DebugError(f"unknown space {space!r}; expected one of {', '.join(_SPACES)}")
    if isinstance(swizzle, str) and swizzle.lower() == "none":
        swizzle = None
    elif swizzle not in _SWIZZLES:
        raise DebugError(f"unknown swizzle {swizzle!r}; expected none, 32B, 64B, or 128B")
    name, found = _resolve(state, what, lane)
    if isinstance(found, np.ndarray) and type is None and shape is None:
        return _argument(state, name, found, rows, columns)
    if isinstance(found, np.ndarray):
        segment = next(
            (
                s
                for s in state.run.segments
                if s.buffer.array is found or s.buffer.host == found.__array_interface__["data"][0]
            ),
            None,
        )
        if segment is None:
            raise DebugError(f"{name} is not in a buffer of the launch")
        view = MemoryView(state, name, "global", segment.address, type or "b32", found.shape)
    elif isinstance(found, MemoryView):
        view = found
    else:
        view = MemoryView(
            state, name, space or ("global" if int(found) >= 1 << 32 else "shared"), int(found), "b32", (8, 8)
        )
    if space is not None:
        view.space = space
    kind = type or {"mbarrier": "b64", "u8": "b8"}.get(view.type, view.type)
    swizzle = swizzle or view.swizzle
    return _read(state, name, view, kind, _two(shape or _reshaped(view, kind)), swizzle, rows, columns, lane)


def _resolve(state: WarpState, what: str | int, lane: int) -> tuple[str, Any]:
    """Return the displayed name, and a MemoryView, an array of the arguments, or an address."""
    if isinstance(what, int):
        return f"0x{what:x}", what
    text = what.strip()
    if _NUMBER.fullmatch(text):
        return text, int(text, 0)
    staged = _STAGE.fullmatch(text)
    if staged is not None:
        try:
            allocation = Expression(staged[1]).value(state.lookup)
        except DebugError:
            allocation = None
        if isinstance(allocation, MemoryView) and len(allocation.shape) > 1:
            stage = int(staged[2])
            if stage >= allocation.shape[0]:
                raise DebugError(f"{text}: {allocation.name} has {allocation.shape[0]} stages")
            size = int(np.prod(allocation.shape[1:])) * element_bytes(allocation.type)
            start = allocation.address + stage * size
            return text, MemoryView(
                state, text, allocation.space, start, allocation.type, allocation.shape[1:], allocation.swizzle
            )
    value = Expression(text).value(state.lookup)
    if isinstance(value, MemoryView) or (
        isinstance(value, np.ndarray) and any(value is v for v in state.arguments.values())
    ):
        return text, value
    numbers = np.asarray(value)
    if numbers.dtype.kind not in "iu" or numbers.shape not in ((), (32,)):
        raise DebugError(f"{text} is not an address; expected one integer, or one for each lane")
    return text, int(np.broadcast_to(numbers, 32)[lane])


def _reshaped(view: MemoryView, kind: str) -> tuple[int, ...]:
    """Return the shape of a view in elements of another type."""
    if view.type in (kind, "mbarrier") or not view.shape:
        return view.shape or (1,)
    return *view.shape[:-1], max(1, view.shape[-1] * element_bytes(view.type) // element_bytes(kind))


def _two(shape: Sequence[int]) -> tuple[int, int]:
    """Return a shape as rows and columns; one dimension is broken into rows of 16."""
    sizes = [int(n) for n in shape]
    if any(n <= 0 for n in sizes):
        raise DebugError(f"shape {tuple(sizes)}: sizes must be positive")
    if len(sizes) == 1:
        return (-(-sizes[0] // 16), 16) if sizes[0] > 16 else (1, sizes[0])
    return int(np.prod(sizes[:-1])), sizes[-1]


def _part(given: Sequence[int] | None, size: int) -> tuple[int, int]:
    first, count = (0, min(MOST_SHOWN, size)) if given is None else (int(given[0]), min(int(given[1]), MOST_SHOWN))
    if not 0 <= first < size or count < 1:
        raise DebugError(f"range {tuple(given or ())}: expected (first, count) within 0 to {size - 1}")
    return first, min(count, size - first)


def _read(
    state: WarpState,
    name: str,
    view: MemoryView,
    kind: str,
    shape: tuple[int, int],
    swizzle: str | None,
    rows: Sequence[int] | None,
    columns: Sequence[int] | None,
    lane: int,
) -> Tile:
    size = element_bytes(kind)
    (first, count), (left, width) = _part(rows, shape[0]), _part(columns, shape[1])
    elements = np.arange(first, first + count)[:, None] * shape[1] + np.arange(left, left + width)
    addresses = view.address + elements * size
    if swizzle is not None:
        if view.space != "shared":
            raise DebugError("a swizzle applies to shared memory only")
        addresses = np.array([[apply_swizzle(int(a), swizzle) for a in row] for row in addresses])
    raw = np.empty((count, width, size), np.uint8)
    if swizzle is None:
        for k, row in enumerate(addresses):
            raw[k] = state.read(view.space, int(row[0]), width * size, lane).reshape(width, size)
    else:
        for k, row in enumerate(addresses):
            for j, address in enumerate(row):
                raw[k, j] = state.read(view.space, int(address), size, lane)
    values = decoded(raw.reshape(count, width * size), kind).reshape(count, -1)
    bank = addresses // 4 % 32 if view.space == "shared" else None
    title = f"{name}: {kind} {shape[0]} x {shape[1]} at 0x{view.address:x}, {view.space}" + (
        f", swizzle {swizzle}" if swizzle else ""
    )
    return Tile(
        view.space,
        state.resident.id,
        name,
        view.address,
        "." + kind,
        shape,
        swizzle,
        (first, left),
        values,
        bank,
        title,
    )


def _argument(
    state: WarpState, name: str, array: np.ndarray, rows: Sequence[int] | None, columns: Sequence[int] | None
) -> Tile:
    """Return a part of an array argument."""
    flat = (
        array.reshape(_two(array.shape) if array.ndim != 2 else array.shape)
        if array.ndim != 1
        else array.reshape(1, -1)
    )
    (first, count), (left, width) = _part(rows, flat.shape[0]), _part(columns, flat.shape[1])
    address = next((s.address for s in state.run.segments if s.buffer.host == array.__array_interface__["data"][0]), 0)
    values = flat[first : first + count, left : left + width].copy()
    return Tile(
        "global",
        state.resident.id,
        name,
        address,
        f".{array.dtype}",
        (flat.shape[0], flat.shape[1]),
        None,
        (first, left),
        values,
        None,
        f"{name}: {array.dtype} {' x '.join(map(str, array.shape))}, global",
    )


def tensor_tile(
    state: WarpState, column: int | None, columns: int, type: str, rows: Sequence[int] | None = None
) -> Tile:
    """Return columns of the CTA's tensor memory, 128 lanes each; 16-bit types have two elements per column.

    Raises:
        DebugError: nothing is allocated, or the columns do not exist.
    """
    cells = state.resident.tensor
    allocated = state.resident.tensor_columns if cells is not None else []
    if cells is None or not allocated:
        raise DebugError("no tensor memory is allocated in this CTA")
    first = allocated[0][0] if column is None else int(column)
    if not 0 <= first < first + columns <= 512:
        raise DebugError(
            f"columns {first} to {first + columns - 1} do not exist; tensor memory has 0 to 511, allocated: "
            + ", ".join(f"{a} to {b - 1}" for a, b in allocated)
        )
    top, count = _part(rows or (0, MOST_SHOWN), 128)
    raw = cells[top : top + count, first : first + columns].copy().view(np.uint8)
    values = decoded(raw, type).reshape(count, -1)[:, :MOST_SHOWN]
    shape = 128, columns * values.shape[1] // min(columns, MOST_SHOWN) if values.shape[1] >= columns else columns
    held = ", ".join(f"{a} to {b - 1}" for a, b in allocated)
    return Tile(
        "tensor",
        state.resident.id,
        f"tmem {first}",
        first,
        f".{type}",
        shape,
        None,
        (top, 0),
        values,
        None,
        f"tensor memory: 128 lanes, columns {first} to {first + columns - 1} as {type}; allocated: {held}",
    )
