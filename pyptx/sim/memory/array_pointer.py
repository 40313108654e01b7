"""Addresses inside arrays as arguments of a launch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["ArrayPointer"]


@dataclass(frozen=True, eq=False)
class ArrayPointer:
    """An address inside an array: the argument for a view whose whole memory the kernel can reach.

    Pointers into one array have addresses that differ as on a GPU, and the same alignment as in host memory.

    Attributes:
        array: the memory, a C-contiguous array.
        offset: bytes from its first element.
        name: of the array, for messages.
    """

    array: np.ndarray
    offset: int = 0
    name: str = ""
