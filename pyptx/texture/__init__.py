"""Textures and surfaces: arrays accessed through the texture units of a GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyptx._lazy import from_modules

if TYPE_CHECKING:
    from pyptx.texture._formats import FORMATS, Format
    from pyptx.texture._geometry import GEOMETRIES, Geometry
    from pyptx.texture._texture import Surface, Texture

__all__ = ["FORMATS", "Format", "GEOMETRIES", "Geometry", "Surface", "Texture"]

if not TYPE_CHECKING:
    __getattr__ = from_modules(
        __name__,
        {  # loaded on first use: few kernels have textures
            "FORMATS": "_formats",
            "Format": "_formats",
            "GEOMETRIES": "_geometry",
            "Geometry": "_geometry",
            "Surface": "_texture",
            "Texture": "_texture",
        },
    )
