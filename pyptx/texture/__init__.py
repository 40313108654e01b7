"""Textures and surfaces: arrays accessed through the texture units of a GPU."""

from pyptx.texture._formats import FORMATS, Format
from pyptx.texture._geometry import GEOMETRIES, Geometry
from pyptx.texture._texture import Surface, Texture

__all__ = ["FORMATS", "Format", "GEOMETRIES", "Geometry", "Surface", "Texture"]
