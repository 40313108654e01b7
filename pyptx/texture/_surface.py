"""The surface as a value: an array that kernels read and write by place, without filter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyptx.texture._formats import Format
from pyptx.texture._geometry import Extents, Geometry
from pyptx.texture._levels import Levels, levels_of

__all__ = ["Surface"]


class Surface:
    """An array as kernels load from, store to and reduce into it by `suld`, `sust` and `sured`: a handle for a `.u64`
    parameter.

    On a GPU the array is copied to a CUDA array for the launch and back after it.

    Args:
        array: NumPy or torch array, or one with `__cuda_array_interface__`, with 1, 2 or 4 channels last (or none).
        geometry: as of Texture, without samples; faces of cubes are layers: 6 times the cube and the face.
    Raises:
        ShapeError: what the driver refuses.
        TypeError: no array.
    Source: CUDA Driver API, "Surface Object Management".
    """

    def __init__(self, array: Any, geometry: str | None = None):
        self.levels: Levels = levels_of("Surface", [array], geometry, "surface")

    @property
    def source(self) -> Any:
        """The array."""
        return self.levels.whole[0].source.array

    @property
    def sources(self) -> tuple[Any, ...]:
        return (self.source,)

    @property
    def geometry(self) -> Geometry:
        return self.levels.geometry

    @property
    def format(self) -> Format:
        return self.levels.format

    @property
    def channels(self) -> int:
        return self.levels.channels

    @property
    def extents(self) -> Extents:
        return self.levels.whole[0].extents

    def over(self, arrays: Sequence[Any]) -> Surface:
        """The same over another array."""
        return Surface(arrays[0], self.geometry.name)

    def __repr__(self) -> str:
        e = self.extents
        size = "x".join(str(n) for n in (e.layers, e.depth, e.height, e.width) if n != 1) or "1"
        return f"Surface({self.geometry.name} {size}, {self.channels} {self.format.name})"
