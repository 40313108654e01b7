"""Memory of a texture or surface: one array per level of detail, and their common geometry and format."""

from __future__ import annotations

from typing import Any, NamedTuple

from pyptx.errors import ShapeError
from pyptx.tensor_map._source import Source, source_of
from pyptx.texture._formats import Format, format_of
from pyptx.texture._geometry import Extents, Geometry, check_limits, extents_of, geometry_of

__all__ = ["Level", "Levels", "levels_of"]


class Level(NamedTuple):
    """Memory and extents of one level of detail."""

    source: Source
    extents: Extents


class Levels(NamedTuple):
    """All levels of detail.

    Attributes:
        whole: the levels, finest first.
        geometry: of the finest level.
        format: of a channel.
        channels: per element.
    """

    whole: tuple[Level, ...]
    geometry: Geometry
    format: Format
    channels: int

    @property
    def finest(self) -> Level:
        """The first level."""
        return self.whole[0]

    @property
    def element_bytes(self) -> int:
        """Size of an element, all channels."""
        return self.channels * self.format.bits // 8


def levels_of(what: str, arrays: Any, geometry: str | None, limits: str) -> Levels:
    """Describe an array, or a list of the levels of one, as a texture or surface.

    Args:
        what: "Texture" or "Surface", for messages.
        arrays: the array, or a list of levels, finest first.
        geometry: PTX modifier; None: by the dimensions.
        limits: "texture" or "surface", whose limits apply.
    Raises:
        ShapeError: unsupported shapes, strides or elements.
        TypeError: not an array.
    """
    several = arrays if isinstance(arrays, (list, tuple)) else [arrays]
    if not several:
        raise ShapeError(f"{what}: an empty list of levels; pass an array, or a list of at least one")
    sources = [source_of(_plain(array), what) for array in several]
    shapes = [_shape(what, source) for source in sources]
    first = sources[0]
    g = geometry_of(what, geometry, shapes[0])
    format_, (extents, channels) = format_of(what, first.dtype), extents_of(what, g, shapes[0])
    allowed = getattr(g, limits)
    if allowed is None:
        raise ShapeError(f"{what}: geometry {g.name} is not supported by surfaces")
    check_limits(what, g, extents, allowed)
    levels = [Level(first, extents)]
    for number, source in enumerate(sources[1:], 1):
        found, more = extents_of(what, g, shapes[number])
        wanted = extents._replace(
            **{axis: max(1, getattr(extents, axis) >> number) for axis in ("width", "height", "depth")}
        )
        if found != wanted or more != channels or format_of(what, source.dtype) != format_:
            raise ShapeError(
                f"{what}: level {number} is {source.dtype} of shape {source.shape}; each level halves "
                f"width, height and depth: {_text(wanted)} elements of {channels} {format_.numpy} here"
            )
        levels.append(Level(source, found))
    for level in levels:
        _check_dense(what, level.source, g, format_, channels)
    return Levels(tuple(levels), g, format_, channels)


def _shape(what: str, source: Source) -> tuple[int, ...]:
    """Return the shape of an array.

    Raises:
        ShapeError: the source is an address.
    """
    if source.shape is None:
        raise ShapeError(
            f"{what}: an address has no shape; pass an array (one with __cuda_array_interface__ for GPU memory)"
        )
    return source.shape


def _plain(array: Any) -> Any:
    """Convert a host array of a library without an array interface (JAX) to a read-only NumPy array."""
    known = hasattr(array, "data_ptr") or hasattr(array, "__cuda_array_interface__")
    if known or hasattr(type(array), "__array_interface__") or not hasattr(type(array), "__array__"):
        return array
    return array.__array__()


def _text(extents: Extents) -> str:
    return " x ".join(str(n) for n in extents if n != 1) or "1"


def _check_dense(what: str, source: Source, g: Geometry, format_: Format, channels: int) -> None:
    """Require contiguous channels of an element and contiguous elements of a row."""
    item, shape, strides = format_.bits // 8, _shape(what, source), source.strides
    assert strides is not None, "an array has strides"
    if len(shape) > len(g.axes) and channels > 1 and strides[-1] != item:
        raise ShapeError(
            f"{what}: strides {strides}: the channels of an element must be contiguous; pass numpy.ascontiguousarray(...)"
        )
    if g.name == "acube" and shape[0] > 1 and strides[0] != 6 * strides[1]:
        raise ShapeError(
            f"{what}: strides {strides}: the faces of all cubes must be equally spaced; pass "
            "numpy.ascontiguousarray(...)"
        )
    place = g.axes.index("width")
    if not g.multisampled and shape[place] > 1 and strides[place] != item * channels:
        raise ShapeError(
            f"{what}: strides {strides}: the elements of a row must be contiguous; pass numpy.ascontiguousarray(...)"
        )
