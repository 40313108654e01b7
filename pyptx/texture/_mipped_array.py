"""The common base of textures and surfaces, by which they are recognized: loaded without them, since few kernels use them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyptx.texture._formats import Format
    from pyptx.texture._geometry import Extents, Geometry
    from pyptx.texture._levels import Levels

__all__ = ["MippedArray"]


class MippedArray:
    """Common base of Texture and Surface: properties of their `levels`."""

    levels: Levels

    @property
    def source(self) -> Any:
        """The array of the finest level."""
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
