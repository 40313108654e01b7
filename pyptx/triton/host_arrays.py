"""NumPy arrays as arguments of Triton kernels, which take objects with `data_ptr` and a dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyptx.errors import ArgumentValueError
from pyptx.launch_config import check_plain

__all__ = ["HostArray", "wrapped"]


class HostArray:
    """A NumPy array with the methods of a tensor that Triton and its autotuner use. It shares the memory."""

    def __init__(self, array: np.ndarray):
        check_plain(array.dtype, "the array")
        if array.dtype.byteorder == ">":
            raise ArgumentValueError(
                f"an array of dtype {array.dtype} is big-endian; pass x.astype(x.dtype.newbyteorder('='))"
            )
        self.array = array
        self.dtype, self.shape = array.dtype, array.shape

    def data_ptr(self) -> int:
        """Return the address of the first element in this process."""
        return self.array.__array_interface__["data"][0]

    def element_size(self) -> int:
        """Return the bytes of an element."""
        return self.array.itemsize

    def numel(self) -> int:
        """Return the number of elements."""
        return self.array.size

    def stride(self, axis: int | None = None) -> Any:
        """Return the strides in elements, of all axes or of one."""
        strides = tuple(step // self.array.itemsize for step in self.array.strides)
        return strides if axis is None else strides[axis]

    def zero_(self) -> HostArray:
        """Set all elements to zero."""
        self.array[...] = 0
        return self

    def clone(self) -> HostArray:
        """Return a copy."""
        return HostArray(self.array.copy())

    def copy_(self, other: HostArray) -> HostArray:
        """Copy the elements of another array."""
        self.array[...] = other.array
        return self


def wrapped(value: Any) -> Any:
    """Return the value with NumPy arrays as `HostArray`, NumPy numbers as Python numbers; also inside tuples and lists."""
    if isinstance(value, np.ndarray):
        return HostArray(value)
    if isinstance(value, np.generic):
        return value.item()
    if type(value) in (tuple, list):
        return type(value)(map(wrapped, value))
    if isinstance(value, tuple):  # a named tuple
        return type(value)(*map(wrapped, value))
    return value
