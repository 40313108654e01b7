"""Geometries of textures and surfaces, and the array shapes that fit them."""

from __future__ import annotations

from typing import NamedTuple

from pyptx.errors import ShapeError

__all__ = ["GEOMETRIES", "Extents", "Geometry", "extents_of"]


class Geometry(NamedTuple):
    """A geometry.

    Attributes:
        name: PTX modifier.
        code: its number in the simulator's records.
        dims: number of spatial dimensions.
        axes: dimensions of an array without channels, outermost first.
        texture, surface: limits of width, height, depth in elements and of layers; None if not supported.
    """

    name: str
    code: int
    dims: int
    axes: tuple[str, ...]
    texture: tuple[int, int, int, int]
    surface: tuple[int, int, int, int] | None

    @property
    def layered(self) -> bool:
        """True for arrays of layers or cubes."""
        return self.name[0] == "a"

    @property
    def cube(self) -> bool:
        """True for cube maps."""
        return self.name.endswith("cube")

    @property
    def multisampled(self) -> bool:
        """True for multisampled geometries."""
        return self.name.endswith("ms")


class Extents(NamedTuple):
    """Elements along each dimension; cube faces count as layers, 6 per cube."""

    width: int
    height: int = 1
    depth: int = 1
    layers: int = 1
    samples: int = 1


# Limits since sm_75: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
GEOMETRIES = {
    g.name: g
    for g in (
        Geometry("1d", 0, 1, ("width",), (131072, 1, 1, 1), (32768, 1, 1, 1)),
        Geometry("2d", 1, 2, ("height", "width"), (131072, 65536, 1, 1), (131072, 65536, 1, 1)),
        Geometry("3d", 2, 3, ("depth", "height", "width"), (16384, 16384, 16384, 1), (16384, 16384, 16384, 1)),
        Geometry("a1d", 3, 1, ("layers", "width"), (32768, 1, 1, 2048), (32768, 1, 1, 2048)),
        Geometry("a2d", 4, 2, ("layers", "height", "width"), (32768, 32768, 1, 2048), (32768, 32768, 1, 2048)),
        Geometry("cube", 5, 2, ("faces", "height", "width"), (32768, 32768, 1, 6), (32768, 32768, 1, 6)),
        Geometry(
            "acube", 6, 2, ("layers", "faces", "height", "width"), (32768, 32768, 1, 2046), (32768, 32768, 1, 2046)
        ),
        Geometry("2dms", 7, 2, ("height", "width", "samples"), (131072, 65536, 1, 1), None),
        Geometry("a2dms", 8, 2, ("layers", "height", "width", "samples"), (32768, 32768, 1, 2048), None),
    )
}
_PLAIN = {1: "1d", 2: "2d"}


def geometry_of(what: str, geometry: str | None, shape: tuple[int, ...]) -> Geometry:
    """Return the named geometry; without a name, that of a 1-d or 2-d array.

    Raises:
        ShapeError: an unknown name, or an array that fits several geometries.
    """
    if geometry is None:
        geometry = _PLAIN.get(len(shape))
        if geometry is None:
            raise ShapeError(
                f'{what}: an array of shape {shape} fits several geometries; name one: "2d" with '
                f'channels last, "3d", "a2d", "cube" and so on'
            )
    if geometry not in GEOMETRIES:
        raise ShapeError(f"{what}: unknown geometry {geometry!r}; expected one of {', '.join(map(repr, GEOMETRIES))}")
    return GEOMETRIES[geometry]


def extents_of(what: str, g: Geometry, shape: tuple[int, ...]) -> tuple[Extents, int]:
    """Return the extents and the number of channels of an array.

    Raises:
        ShapeError: the shape does not fit the geometry, or an unsupported number of channels.
    """
    axes = len(g.axes)
    if len(shape) not in (axes, axes + 1):
        raise ShapeError(
            f"{what}: an array of shape {shape} does not fit geometry {g.name}; expected ({', '.join(g.axes)}) or "
            f"({', '.join(g.axes)}, channels)"
        )
    channels = shape[axes] if len(shape) > axes else 1
    if channels not in (1, 2, 4):
        hint = "; pad them to 4" if channels == 3 else ""
        raise ShapeError(f"{what}: {channels} channels in shape {shape}; expected 1, 2 or 4{hint}")
    sizes = dict(zip(g.axes, shape, strict=False))
    for axis, size in sizes.items():
        if size < 1:
            raise ShapeError(f"{what}: shape {shape} has no elements along {axis}")
    faces = sizes.pop("faces", None)
    if faces is not None:
        if faces != 6:
            raise ShapeError(f"{what}: {faces} faces in shape {shape}; a cube has 6: +x, -x, +y, -y, +z, -z")
        if sizes["width"] != sizes["height"]:
            raise ShapeError(
                f"{what}: faces of {sizes['height']} x {sizes['width']} in shape {shape}; expected squares"
            )
        sizes["layers"] = 6 * sizes.get("layers", 1)
    return Extents(**sizes), channels


def check_limits(what: str, g: Geometry, extents: Extents, limits: tuple[int, int, int, int]) -> None:
    """Raise ShapeError if an extent exceeds the driver's limit."""
    for axis, limit in zip(("width", "height", "depth", "layers"), limits, strict=True):
        if getattr(extents, axis) > limit:
            raise ShapeError(f"{what}: {axis} is {getattr(extents, axis)}; at most {limit} for geometry {g.name}")
