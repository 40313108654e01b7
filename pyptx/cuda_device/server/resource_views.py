"""Views of textures: levels and layers of an array, with elements of another format.

Source: CUDA Driver API, "Texture Object Management", CUDA_RESOURCE_VIEW_DESC.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from pyptx.cuda_device.server.errors import DriverError

__all__ = ["viewed"]

_VIEW = struct.Struct("<i4x3Q4I")
_DIMENSIONS = {"1d": 1, "2d": 2, "3d": 3, "a1d": 2, "a2d": 3, "cube": 3, "acube": 4}
_LAYERED = ("a1d", "a2d")
_BLOCKS = 0x19  # the first format of compressed blocks
# CUresourceViewFormat, from 1 on: dtype and channels
_FORMATS = [(f"{kind}{bits}", n) for bits in (8, 16, 32) for kind in ("uint", "int") for n in (1, 2, 4)]
_FORMATS += [(f"float{bits}", n) for bits in (16, 32) for n in (1, 2, 4)]


def viewed(levels: Sequence[np.ndarray], geometry: str, view: bytes) -> list[np.ndarray]:
    """Return the levels of a texture as a view has them, in the same memory.

    Args:
        levels: arrays of elements, with a last dimension of channels if there are several.
        geometry: as for `pyptx.Texture`.
    Raises:
        DriverError: the view does not fit the resource.
    """
    kind, width, height, depth, first, last, first_layer, last_layer = _VIEW.unpack_from(view)
    if kind >= _BLOCKS:
        raise DriverError(
            "NOT_SUPPORTED", f"cuTexObjectCreate: views of compressed blocks (format {kind}) are not simulated"
        )
    if kind < 0 or not first <= last < len(levels):
        raise DriverError("INVALID_VALUE", f"cuTexObjectCreate: a view of levels {first} to {last} of {len(levels)}")
    found = [_reinterpreted(level, _DIMENSIONS[geometry], kind) for level in levels[first : last + 1]]
    spatial = found[0].shape[: _DIMENSIONS[geometry]]
    if geometry in _LAYERED:
        if not first_layer <= last_layer < spatial[0]:
            problem = f"cuTexObjectCreate: a view of layers {first_layer} to {last_layer} of {spatial[0]}"
            raise DriverError("INVALID_VALUE", problem)
        found = [level[first_layer : last_layer + 1] for level in found]
        spatial = spatial[1:]
    wanted = (width, height, depth)[: len(spatial)] if geometry not in ("cube", "acube") else (width, height)
    if tuple(wanted) != tuple(reversed(spatial))[: len(wanted)]:
        shown = " x ".join(map(str, reversed(spatial)))
        problem = f"cuTexObjectCreate: a view of {' x '.join(map(str, wanted))} elements of a resource of {shown}"
        raise DriverError("INVALID_VALUE", problem)
    return found


def _reinterpreted(level: np.ndarray, dimensions: int, kind: int) -> np.ndarray:
    """Return an array with elements of a format; 0 is its own."""
    if not kind:
        return level
    name, channels = _FORMATS[kind - 1]
    spatial = level.shape[:dimensions]
    data = level.reshape(*spatial, -1).view(np.uint8)
    if data.shape[-1] != np.dtype(name).itemsize * channels:
        problem = f"cuTexObjectCreate: a view of {channels} x {name} of elements of {data.shape[-1]} bytes"
        raise DriverError("INVALID_VALUE", problem)
    found = data.view(name)
    return found if channels > 1 else found[..., 0]
