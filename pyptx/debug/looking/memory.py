"""Memory as tiles: a name, an address or an argument, its elements row by row, with swizzle and banks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyptx.debug.errors import DebugError
from pyptx.debug.looking.state import Place, State
from pyptx.debug.looking.values import decoded
from pyptx.debug.stopping.expressions import Expression
from pyptx.smem import apply_swizzle
from pyptx.types import PtxType

__all__ = ["CAP", "Tile", "tensor_tile", "tile"]

CAP = 64                                                # rows and columns that are shown, of a larger tile
_SPACES = ("shared", "global", "local", "const", "param", "generic")
_NUMBER = re.compile(r"(?:0[xX][0-9a-fA-F]+|\d+)")
_STAGE = re.compile(r"(.+)\[(\d+)\]")
_SWIZZLES = (None, "32B", "64B", "128B")


@dataclass(frozen=True, eq=False)
class Tile:
    """A part of a tile of memory.

    Attributes:
        shape: rows and columns of the whole; `first`: row and column of values[0][0].
        values: numbers [row][column] as `type` says.
        bank: of each element's first byte, in shared memory.
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


def tile(state: State, what: str | int, *, space: str | None = None, type: str | None = None,
         shape: Sequence[int] | None = None, swizzle: str | None = None, rows: Sequence[int] | None = None,
         columns: Sequence[int] | None = None, lane: int = 0) -> Tile:
    """Elements of memory as the focused warp sees it.

    Args:
        what: a name (an allocation, one stage of it `ring[1]`, an argument, a variable), an address, or an expression
            whose value for `lane` is an address.
        space: of an address: "shared" (default), "global", "local", "const", "param", "generic".
        type: of the elements; default: that of the name, else b32.
        shape: rows and columns; default: those of the name, else 8 x 8.
        swizzle: "32B", "64B", "128B": how a row-major tile was written there; default: that of the name.
        rows, columns: (first, count) of the part to show; at most 64 of each.
    Raises:
        DebugError: there is no such memory, type or swizzle.
    """
    if isinstance(type, PtxType):
        type = type.name
    if space is not None and space not in _SPACES:
        raise DebugError(f"space {space!r}; expected one of {', '.join(_SPACES)}")
    if isinstance(swizzle, str) and swizzle.lower() == "none":
        swizzle = None
    elif swizzle not in _SWIZZLES:
        raise DebugError(f"swizzle {swizzle!r}; expected none, 32B, 64B or 128B")
    name, found = _found(state, what, lane)
    if isinstance(found, np.ndarray) and type is None and shape is None:
        return _argument(state, name, found, rows, columns)
    if isinstance(found, np.ndarray):
        segment = next((s for s in state.run.segments if s.buffer.array is found or s.buffer.host ==
                        found.__array_interface__["data"][0]), None)
        if segment is None:
            raise DebugError(f"{name} lies in no buffer of the launch")
        place = Place(state, name, "global", segment.address, type or "b32", found.shape)
    elif isinstance(found, Place):
        place = found
    else:
        place = Place(state, name, space or ("global" if int(found) >= 1 << 32 else "shared"), int(found), "b32",
                      (8, 8))
    if space is not None:
        place.space = space
    kind = type or {"mbarrier": "b64", "u8": "b8"}.get(place.type, place.type)
    swizzle = swizzle or place.swizzle
    return _read(state, name, place, kind, _two(shape or _reshaped(place, kind)), swizzle, rows, columns, lane)


def _found(state: State, what: str | int, lane: int) -> tuple[str, Any]:
    """A name to show, and what it stands for: a Place, an array of the arguments, or an address."""
    if isinstance(what, int):
        return f"0x{what:x}", what
    text = what.strip()
    if _NUMBER.fullmatch(text):
        return text, int(text, 0)
    staged = _STAGE.fullmatch(text)
    if staged is not None:
        try:
            whole = Expression(staged[1]).value(state.lookup)
        except DebugError:
            whole = None
        if isinstance(whole, Place) and len(whole.shape) > 1:
            stage = int(staged[2])
            if stage >= whole.shape[0]:
                raise DebugError(f"{text}: {whole.name} has {whole.shape[0]} stages")
            size = int(np.prod(whole.shape[1:])) * 16 // decoded(np.zeros(16, np.uint8), whole.type).size
            return text, Place(state, text, whole.space, whole.address + stage * size, whole.type, whole.shape[1:],
                               whole.swizzle)
    value = Expression(text).value(state.lookup)
    if isinstance(value, Place) or (isinstance(value, np.ndarray) and any(value is v for v in
                                                                          state.arguments.values())):
        return text, value
    numbers = np.asarray(value)
    if numbers.dtype.kind not in "iu" or numbers.shape not in ((), (32,)):
        raise DebugError(f"{text} is no address: expected whole numbers, one for each lane")
    return text, int(np.broadcast_to(numbers, 32)[lane])


def _reshaped(place: Place, kind: str) -> tuple[int, ...]:
    """The shape of a name in elements of another type."""
    if place.type in (kind, "mbarrier") or not place.shape:
        return place.shape or (1,)
    old = 16 // decoded(np.zeros(16, np.uint8), place.type).size
    new = 16 // decoded(np.zeros(16, np.uint8), kind).size
    return *place.shape[:-1], max(1, place.shape[-1] * old // new)


def _two(shape: Sequence[int]) -> tuple[int, int]:
    """A shape as rows and columns; lines of one dimension are at most 16 long."""
    sizes = [int(n) for n in shape]
    if any(n <= 0 for n in sizes):
        raise DebugError(f"shape {tuple(sizes)}: sizes are positive")
    if len(sizes) == 1:
        return (-(-sizes[0] // 16), 16) if sizes[0] > 16 else (1, sizes[0])
    return int(np.prod(sizes[:-1])), sizes[-1]


def _part(given: Sequence[int] | None, size: int) -> tuple[int, int]:
    first, count = (0, min(CAP, size)) if given is None else (int(given[0]), min(int(given[1]), CAP))
    if not 0 <= first < size or count < 1:
        raise DebugError(f"part {tuple(given or ())}: expected (first, count) within 0 to {size - 1}")
    return first, min(count, size - first)


def _read(state: State, name: str, place: Place, kind: str, shape: tuple[int, int], swizzle: str | None,
          rows: Sequence[int] | None, columns: Sequence[int] | None, lane: int) -> Tile:
    size = 16 // decoded(np.zeros(16, np.uint8), kind).size
    (first, count), (left, width) = _part(rows, shape[0]), _part(columns, shape[1])
    elements = np.arange(first, first + count)[:, None] * shape[1] + np.arange(left, left + width)
    places = place.address + elements * size
    if swizzle is not None:
        if place.space != "shared":
            raise DebugError("a swizzle is of shared memory")
        places = np.array([[apply_swizzle(int(a), swizzle) for a in row] for row in places])
    raw = np.empty((count, width, size), np.uint8)
    if swizzle is None:
        for k, row in enumerate(places):
            raw[k] = state.read(place.space, int(row[0]), width * size, lane).reshape(width, size)
    else:
        for k, row in enumerate(places):
            for j, address in enumerate(row):
                raw[k, j] = state.read(place.space, int(address), size, lane)
    values = decoded(raw.reshape(count, width * size), kind).reshape(count, -1)
    bank = places // 4 % 32 if place.space == "shared" else None
    title = f"{name}: {kind} {shape[0]} x {shape[1]} at 0x{place.address:x}, {place.space}" + \
        (f", swizzle {swizzle}" if swizzle else "")
    return Tile(place.space, state.resident.id, name, place.address, "." + kind, shape, swizzle, (first, left), values,
                bank, title)


def _argument(state: State, name: str, array: np.ndarray, rows, columns) -> Tile:
    """A part of an array among the arguments."""
    flat = array.reshape(_two(array.shape) if array.ndim != 2 else array.shape) if array.ndim != 1 \
        else array.reshape(1, -1)
    (first, count), (left, width) = _part(rows, flat.shape[0]), _part(columns, flat.shape[1])
    address = next((s.address for s in state.run.segments
                    if s.buffer.host == array.__array_interface__["data"][0]), 0)
    values = flat[first:first + count, left:left + width].copy()
    return Tile("global", state.resident.id, name, address, f".{array.dtype}", (flat.shape[0], flat.shape[1]), None,
                (first, left), values, None, f"{name}: {array.dtype} {' x '.join(map(str, array.shape))}, global")


def tensor_tile(state: State, column: int | None, columns: int, type: str, rows: Sequence[int] | None = None) -> Tile:
    """Columns of the tensor memory of the focused CTA, 128 lanes of it; of 16-bit types two elements to a column.

    Raises:
        DebugError: nothing is allocated, or there are no such columns.
    """
    cells = state.resident.tensor
    allocated = state.resident.tensor_columns if cells is not None else []
    if not allocated:
        raise DebugError("no tensor memory is allocated in this CTA now")
    first = allocated[0][0] if column is None else int(column)
    if not 0 <= first < first + columns <= 512:
        raise DebugError(f"columns {first} to {first + columns - 1}; tensor memory has 0 to 511, allocated: "
                         + ", ".join(f"{a} to {b - 1}" for a, b in allocated))
    top, count = _part(rows or (0, CAP), 128)
    raw = cells[top:top + count, first:first + columns].copy().view(np.uint8)
    values = decoded(raw, type).reshape(count, -1)[:, :CAP]
    shape = 128, columns * values.shape[1] // min(columns, CAP) if values.shape[1] >= columns else columns
    held = ", ".join(f"{a} to {b - 1}" for a, b in allocated)
    return Tile("tensor", state.resident.id, f"tmem {first}", first, f".{type}", shape, None, (top, 0), values, None,
                f"tensor memory: 128 lanes, columns {first} to {first + columns - 1} as {type}; "
                f"allocated: {held}")
