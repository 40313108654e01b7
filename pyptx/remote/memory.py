"""Arguments of a launch for another machine: the memory of arrays as ranges of bytes, and references into them.

Arrays that share memory share a range, so that aliases are aliases on the far side, too.
"""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pyptx._frozen import frozen
from pyptx.errors import BackendError
from pyptx.runtime.numpy_arrays import numpy_dtype
from pyptx.runtime.pointers import address_of
from pyptx.sim.memory.pointers import POINTERS
from pyptx.tensor_map import TensorMap
from pyptx.texture import Surface, Texture
from pyptx.tune.job import with_source

__all__ = ["ImageRef", "MemoryRef", "Ranges", "dtype_name", "dtype_of", "restored"]

_NARROW = {"bfloat16": "bf16", "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2"}
_TEXTURE = [name for name in inspect.signature(Texture).parameters if name not in ("array", "geometry", "border")]


@frozen
class MemoryRef:
    """An array within a range of memory.

    Attributes:
        index: number of the range; -1 for an empty array.
        offset: of its first byte in the range.
        shape, dtype, strides: its shape, the name of its NumPy dtype, and its strides in bytes.
        writeable: a kernel may write to it.
        address: simulated address that `pyptx.pointer` gave it; None: any.
    """

    index: int
    offset: int
    shape: tuple[int, ...]
    dtype: str
    strides: tuple[int, ...]
    writeable: bool
    address: int | None


@frozen
class ImageRef:
    """A texture or a surface over arrays within ranges of memory.

    Attributes:
        kind: "texture" or "surface".
        sources: its arrays, finest level first.
        geometry, options: as for `pyptx.Texture`.
    """

    kind: str
    sources: tuple[MemoryRef, ...]
    geometry: str
    options: Mapping[str, Any]


class Ranges:
    """The memory of the arrays among arguments.

    Attributes:
        bytes: the ranges as arrays of bytes, over the memory of the arrays.
    """

    bytes: list[np.ndarray]

    def __init__(self, args: Sequence[Any]):
        self._arrays = [array for arg in args for array in _arrays_of(arg)]  # kept alive
        merged: list[list[int]] = []
        for start, end in sorted(map(_extent, self._arrays)):
            if merged and start < merged[-1][1]:
                merged[-1][1] = max(merged[-1][1], end)
            elif end > start:
                merged.append([start, end])
        self._starts = [start for start, _ in merged]
        self.bytes = [_bytes_at(start, end - start) for start, end in merged]

    def plain(self, arg: Any) -> Any:
        """Return an argument with references in place of arrays."""
        if isinstance(arg, np.ndarray):
            return self._ref(arg)
        if isinstance(arg, TensorMap):
            return arg if arg.source is None else with_source(arg, self._ref(arg.source))
        if isinstance(arg, Surface):
            return ImageRef("surface", tuple(map(self._ref, arg.sources)), arg.geometry.name, {})
        if isinstance(arg, Texture):
            options = {name: getattr(arg, name) for name in _TEXTURE}
            if "border" in arg.address:
                options["border"] = arg.border
            return ImageRef("texture", tuple(map(self._ref, arg.sources)), arg.geometry.name, options)
        return arg

    def _ref(self, array: np.ndarray) -> MemoryRef:
        start, end = _extent(array)
        index = -1
        if end > start:
            index = next(k for k in reversed(range(len(self._starts))) if self._starts[k] <= start)
        offset = start - self._starts[index] if end > start else 0
        name = dtype_name(array.dtype)
        return MemoryRef(
            index, offset, array.shape, name, array.strides, bool(array.flags.writeable), address_of(array)
        )


def restored(arg: Any, ranges: Sequence[np.ndarray]) -> Any:
    """Return an argument with arrays over ranges of bytes in place of references.

    Raises:
        ShapeError, ValueError, TypeError, IndexError: a reference is not within its range.
    """
    if isinstance(arg, MemoryRef):
        return _array(arg, ranges)
    if isinstance(arg, TensorMap):
        return with_source(arg, _array(arg.source, ranges)) if isinstance(arg.source, MemoryRef) else arg
    if isinstance(arg, ImageRef):
        arrays = [_array(source, ranges) for source in arg.sources]
        if arg.kind == "surface":
            return Surface(arrays[0], arg.geometry)
        return Texture(arrays, arg.geometry, **arg.options)
    return arg


def _array(ref: MemoryRef, ranges: Sequence[np.ndarray]) -> np.ndarray:
    kind = dtype_of(ref.dtype)
    if ref.index < 0:
        found = np.empty(ref.shape, kind)
    else:
        found = np.ndarray(ref.shape, kind, ranges[ref.index], ref.offset, ref.strides)
    POINTERS.place_copy(found, ref.address)
    found.flags.writeable = ref.writeable
    return found


def dtype_name(dtype: np.dtype) -> str:
    """Return the name under which a dtype is sent; bytes of the same size for one that NumPy does not have."""
    return dtype.name if dtype.kind != "V" or dtype.name in _NARROW else f"V{dtype.itemsize}"


def dtype_of(name: str) -> np.dtype:
    """Return the dtype of a name; unsigned integers of the same size where its package is missing."""
    if name not in _NARROW:
        return np.dtype(name)
    try:
        return numpy_dtype(_NARROW[name])
    except BackendError:
        return np.dtype(np.uint16 if name == "bfloat16" else np.uint8)


def _arrays_of(arg: Any) -> list[np.ndarray]:
    sources = (
        arg.sources if isinstance(arg, (Texture, Surface)) else [arg.source if isinstance(arg, TensorMap) else arg]
    )
    return [array for array in sources if isinstance(array, np.ndarray)]


def _extent(array: np.ndarray) -> tuple[int, int]:
    low, high = np.lib.array_utils.byte_bounds(array) if array.size else (0, 0)
    return int(low), int(high)


def _bytes_at(address: int, size: int) -> np.ndarray:
    return np.ctypeslib.as_array((ctypes.c_ubyte * size).from_address(address))
