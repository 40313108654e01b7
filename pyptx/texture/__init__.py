"""Textures and surfaces: arrays as the texture units of a GPU read and write them."""

from pyptx.texture._formats import FORMATS, Format
from pyptx.texture._geometry import GEOMETRIES, Geometry
from pyptx.texture._surface import Surface
from pyptx.texture._texture import Texture

__all__ = ["FORMATS", "Format", "GEOMETRIES", "Geometry", "Surface", "Texture"]
