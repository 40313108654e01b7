"""Tensor maps: what TMA must know of a tensor to copy boxes of it."""

from pyptx.tensor_map._elements import ELEMENTS, Element
from pyptx.tensor_map._map import Im2col, TensorMap

__all__ = ["ELEMENTS", "Element", "Im2col", "TensorMap"]
