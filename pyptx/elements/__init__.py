"""Elements of arrays in memory: indices to addresses, typed loads and stores, atomics, vectors."""

from pyptx.elements.access import Elements
from pyptx.elements.vector import Vector
from pyptx.elements.vector_access import VectorElements

__all__ = ["Elements", "Vector", "VectorElements"]
