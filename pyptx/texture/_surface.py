"""The surface as a value: an array that kernels read and write by place, without filter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyptx.texture._levels import OfLevels, levels_of

__all__ = ["Surface"]


class Surface(OfLevels):
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
        self.levels = levels_of("Surface", [array], geometry, "surface")

    def over(self, arrays: Sequence[Any]) -> Surface:
        """The same over another array."""
        return Surface(arrays[0], self.geometry.name)
