"""The geometries of textures and surfaces, by PTX's word, and how arrays are laid out for them."""

from __future__ import annotations

from typing import NamedTuple

from pyptx.errors import ShapeError

__all__ = ["GEOMETRIES", "Extents", "Geometry", "extents_of"]


class Geometry(NamedTuple):
    """A geometry.

    Attributes:
        name: PTX's word.                    code: its number in the simulator's records.
        dims: spatial dimensions.            axes: the dimensions of an array without channels, outermost first.
        texture, surface: most elements along width, height, depth; most layers.
    """

    name: str
    code: int
    dims: int
    axes: tuple[str, ...]
    texture: tuple[int, int, int, int]
    surface: tuple[int, int, int, int] | None

    @property
    def layered(self) -> bool:
        """Whether it is an array of layers or cubes."""
        return self.name[0] == "a"

    @property
    def cube(self) -> bool:
        """Whether it has the six faces of a cube."""
        return self.name.endswith("cube")

    @property
    def multisampled(self) -> bool:
        """Whether an element has several samples."""
        return self.name.endswith("ms")


class Extents(NamedTuple):
    """Elements along each dimension; `layers` are faces too, 6 of a cube."""

    width: int
    height: int = 1
    depth: int = 1
    layers: int = 1
    samples: int = 1


# The limits are those of all chips since sm_75: CUDA C++ Programming Guide, "Technical Specifications per Compute
# Capability".
GEOMETRIES = {g.name: g for g in (
    Geometry("1d", 0, 1, ("width",), (131072, 1, 1, 1), (32768, 1, 1, 1)),
    Geometry("2d", 1, 2, ("height", "width"), (131072, 65536, 1, 1), (131072, 65536, 1, 1)),
    Geometry("3d", 2, 3, ("depth", "height", "width"), (16384, 16384, 16384, 1), (16384, 16384, 16384, 1)),
    Geometry("a1d", 3, 1, ("layers", "width"), (32768, 1, 1, 2048), (32768, 1, 1, 2048)),
    Geometry("a2d", 4, 2, ("layers", "height", "width"), (32768, 32768, 1, 2048), (32768, 32768, 1, 2048)),
    Geometry("cube", 5, 2, ("faces", "height", "width"), (32768, 32768, 1, 6), (32768, 32768, 1, 6)),
    Geometry("acube", 6, 2, ("layers", "faces", "height", "width"), (32768, 32768, 1, 2046), (32768, 32768, 1, 2046)),
    Geometry("2dms", 7, 2, ("height", "width", "samples"), (131072, 65536, 1, 1), None),
    Geometry("a2dms", 8, 2, ("layers", "height", "width", "samples"), (32768, 32768, 1, 2048), None))}
_PLAIN = {1: "1d", 2: "2d"}


def geometry_of(what: str, geometry: str | None, shape: tuple[int, ...]) -> Geometry:
    """The geometry of that name, or the one of a plain array.

    Raises:
        ShapeError: there is none of that name, or the array could be several.
    """
    if geometry is None:
        geometry = _PLAIN.get(len(shape))
        if geometry is None:
            raise ShapeError(f"{what}: an array of shape {shape} could be several geometries; name one: \"2d\" with "
                             f"channels last, \"3d\", \"a2d\", \"cube\" and so on")
    if geometry not in GEOMETRIES:
        raise ShapeError(f"{what}: there is no geometry {geometry!r}; expected one of "
                         f"{', '.join(map(repr, GEOMETRIES))}")
    return GEOMETRIES[geometry]


def extents_of(what: str, g: Geometry, shape: tuple[int, ...]) -> tuple[Extents, int]:
    """Extents and channels of an array of a shape.

    Raises:
        ShapeError: it has other dimensions than the geometry, or 3 channels.
    """
    axes = len(g.axes)
    if len(shape) not in (axes, axes + 1):
        raise ShapeError(f"{what}: an array of shape {shape} is no {g.name}; expected ({', '.join(g.axes)}) or "
                         f"({', '.join(g.axes)}, channels)")
    channels = shape[axes] if len(shape) > axes else 1
    if channels not in (1, 2, 4):
        hint = "; pad them to 4" if channels == 3 else ""
        raise ShapeError(f"{what}: {channels} channels in shape {shape}; 1, 2 or 4{hint}")
    sizes = dict(zip(g.axes, shape, strict=False))
    for axis, size in sizes.items():
        if size < 1:
            raise ShapeError(f"{what}: shape {shape} has no elements along {axis}")
    faces = sizes.pop("faces", None)
    if faces is not None:
        if faces != 6:
            raise ShapeError(f"{what}: {faces} faces in shape {shape}; a cube has 6: +x, -x, +y, -y, +z, -z")
        if sizes["width"] != sizes["height"]:
            raise ShapeError(f"{what}: faces of {sizes['height']} x {sizes['width']} in shape {shape}; they are square")
        sizes["layers"] = 6 * sizes.get("layers", 1)
    return Extents(**sizes), channels


def check_limits(what: str, g: Geometry, extents: Extents, limits: tuple[int, int, int, int]) -> None:
    """Raises ShapeError where an extent is beyond what the driver makes."""
    for axis, limit in zip(("width", "height", "depth", "layers"), limits, strict=True):
        if getattr(extents, axis) > limit:
            raise ShapeError(f"{what}: {axis} is {getattr(extents, axis)}; at most {limit} for geometry {g.name}")
