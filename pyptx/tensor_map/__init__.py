"""Tensor maps: descriptions of tensors for TMA copies."""

from pyptx.tensor_map._elements import ELEMENTS, Element
from pyptx.tensor_map._map import Im2col, TensorMap

__all__ = ["ELEMENTS", "Element", "Im2col", "TensorMap"]
