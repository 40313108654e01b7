"""The memory of a texture or surface: an array for each level of detail, and what they have in common."""

from __future__ import annotations

from typing import Any, NamedTuple

from pyptx.errors import ShapeError
from pyptx.tensor_map._source import Source, source_of
from pyptx.texture._formats import Format, format_of
from pyptx.texture._geometry import Extents, Geometry, check_limits, extents_of, geometry_of

__all__ = ["Level", "Levels", "OfLevels", "levels_of"]


class Level(NamedTuple):
    """One level: its memory and extents."""

    source: Source
    extents: Extents


class Levels(NamedTuple):
    """All of it. `whole` are the levels, the finest first."""

    whole: tuple[Level, ...]
    geometry: Geometry
    format: Format
    channels: int

    @property
    def element_bytes(self) -> int:
        return self.channels * self.format.bits // 8


class OfLevels:
    """What a texture and a surface say of their `levels`."""

    levels: Levels

    @property
    def source(self) -> Any:
        """The array, of the finest level."""
        return self.levels.whole[0].source.array

    @property
    def sources(self) -> tuple[Any, ...]:
        """The arrays of all levels."""
        return tuple(level.source.array for level in self.levels.whole)

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

    def __repr__(self) -> str:
        e = self.extents
        size = "x".join(str(n) for n in (e.layers, e.depth, e.height, e.width) if n != 1) or "1"
        return f"{type(self).__name__}({self.geometry.name} {size}, {self.channels} {self.format.name})"


def levels_of(what: str, arrays: Any, geometry: str | None, limits: str) -> Levels:
    """What an array, or a list of the levels of one, is as a texture or surface.

    Args:
        what: "Texture" or "Surface", for messages.     limits: "texture" or "surface", whose limits hold.
    Raises:
        ShapeError: shapes, strides or elements that no texture has.
        TypeError: no array.
    """
    several = arrays if isinstance(arrays, (list, tuple)) else [arrays]
    if not several:
        raise ShapeError(f"{what}: a list of no levels; pass an array, or arrays of at least one level")
    sources = [source_of(_plain(array), what) for array in several]
    for source in sources:
        if source.shape is None:
            raise ShapeError(f"{what}: an address has no shape; pass an array (one with __cuda_array_interface__ for "
                             "memory of a GPU)")
    first = sources[0]
    g = geometry_of(what, geometry, first.shape)
    format_, (extents, channels) = format_of(what, first.dtype), extents_of(what, g, first.shape)
    allowed = getattr(g, limits)
    if allowed is None:
        raise ShapeError(f"{what}: no surface has geometry {g.name}")
    check_limits(what, g, extents, allowed)
    levels = [Level(first, extents)]
    for number, source in enumerate(sources[1:], 1):
        found, more = extents_of(what, g, source.shape)
        wanted = extents._replace(**{axis: max(1, getattr(extents, axis) >> number)
                                     for axis in ("width", "height", "depth")})
        if found != wanted or more != channels or format_of(what, source.dtype) != format_:
            raise ShapeError(f"{what}: level {number} is {source.dtype} of shape {source.shape}; each level halves "
                             f"width, height and depth: {_text(wanted)} elements of {channels} {format_.numpy} here")
        levels.append(Level(source, found))
    for level in levels:
        _check_dense(what, level.source, g, format_, channels)
    return Levels(tuple(levels), g, format_, channels)


def _plain(array: Any) -> Any:
    """An array in host memory of a package that only converts (JAX) as NumPy's, which is read-only."""
    known = hasattr(array, "data_ptr") or hasattr(array, "__cuda_array_interface__")
    if known or hasattr(type(array), "__array_interface__") or not hasattr(type(array), "__array__"):
        return array
    return array.__array__()


def _text(extents: Extents) -> str:
    return " x ".join(str(n) for n in extents if n != 1) or "1"


def _check_dense(what: str, source: Source, g: Geometry, format_: Format, channels: int) -> None:
    """Channels of an element, and elements of a row, lie side by side."""
    item, strides = format_.bits // 8, source.strides
    if len(source.shape) > len(g.axes) and channels > 1 and strides[-1] != item:
        raise ShapeError(f"{what}: strides {strides}: the channels of an element lie side by side; pass "
                         "numpy.ascontiguousarray(...)")
    if g.name == "acube" and source.shape[0] > 1 and strides[0] != 6 * strides[1]:
        raise ShapeError(f"{what}: strides {strides}: the faces of all cubes lie equally far apart; pass "
                         "numpy.ascontiguousarray(...)")
    place = g.axes.index("width")
    if not g.multisampled and source.shape[place] > 1 and strides[place] != item * channels:
        raise ShapeError(f"{what}: strides {strides}: the elements of a row lie side by side; pass "
                         "numpy.ascontiguousarray(...)")
