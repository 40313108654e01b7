"""NumPy arrays as arguments of kernels."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cache
from typing import Any

import numpy as np

from pyptx.errors import LaunchError

__all__ = ["ARRAYS", "numpy_dtype", "view"]

_PTX_TO_NUMPY = {"f16": "float16", "f32": "float32", "tf32": "float32", "f64": "float64", "s8": "int8", "s16": "int16",
                 "s32": "int32", "s64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
                 "b8": "uint8", "b16": "uint16", "b32": "uint32", "b64": "uint64", "pred": "bool"}
_ML_DTYPES = {"bf16": "bfloat16", "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2"}


class NumpyArrays:
    """Arrays in the memory of this process."""

    package = "numpy"

    def dtype_name(self, array: Any) -> str:
        return _name_of(array.dtype)

    def check(self, array: Any, what: str) -> None:
        if not isinstance(array, np.ndarray):
            raise LaunchError(f"{what} is a {type(array).__name__}; pass a NumPy array")
        if not array.flags.c_contiguous:
            raise LaunchError(f"{what} is not contiguous (shape {array.shape}, strides {array.strides}); pass "
                              "numpy.ascontiguousarray(x)")
        if not array.flags.aligned:
            raise LaunchError(f"{what} does not start at a multiple of {array.itemsize} bytes, the size of its elements"
                              "; pass x.copy()")
        if array.dtype.byteorder == ">":
            raise LaunchError(f"{what} is big-endian; pass x.astype(x.dtype.newbyteorder('='))")

    def empty(self, shape: tuple[int, ...], dtype_name: str, like: Sequence[Any], zeroed: bool = False) -> np.ndarray:
        """A new array; not zeroed it is full of 0xFF bytes (NaN, -1), so that what a kernel forgets to write shows."""
        if zeroed:
            return np.zeros(shape, numpy_dtype(dtype_name))
        array = np.empty(shape, numpy_dtype(dtype_name))
        array.reshape(-1).view(np.uint8).fill(0xFF)
        return array

    def device(self, array: Any) -> str:
        return "cpu"

    def writeable(self, array: Any) -> bool:
        return array.flags.writeable

    def address(self, array: Any) -> int:
        return array.ctypes.data

    def stream(self, array: Any) -> int:
        return 0

    def host(self, array: Any) -> np.ndarray:
        return array

    def write_back(self, array: Any, host: Any) -> None:
        """Nothing: it is the array itself."""

    def recorder(self, inputs: Sequence[Any]) -> None:
        """Nothing: calls run at once."""

    def kind(self, array: Any) -> Hashable | None:
        """Shape, type and whether it may be written, of a plain dense array."""
        flags = array.flags
        if array.__class__ is not np.ndarray or not flags.c_contiguous or not flags.aligned:
            return None
        return array.shape, array.dtype, flags.writeable


@cache
def _name_of(dtype: np.dtype) -> str:
    return dtype.name                                           # NumPy puts it together anew each time


def numpy_dtype(name: str) -> np.dtype:
    """The NumPy type of elements of a PTX type.

    Raises:
        LaunchError: it is one of the package ml_dtypes, which is not installed.
    """
    if name in _ML_DTYPES:
        try:
            import ml_dtypes
        except ImportError:
            raise LaunchError(f"arrays of {name} need the package ml_dtypes (pip install ml_dtypes)") from None
        return np.dtype(getattr(ml_dtypes, _ML_DTYPES[name]))
    return np.dtype(_PTX_TO_NUMPY[name])


def view(owner: Any, name: str) -> np.ndarray:
    """The memory of another package's array, by DLPack; read-only where its owner says so.

    Raises:
        LaunchError: NumPy cannot view it; `name` says whose it is.
    """
    try:
        return np.from_dlpack(owner)
    except (BufferError, RuntimeError, TypeError, ValueError) as refused:
        raise LaunchError(f"{name} cannot be viewed: {refused}") from refused


ARRAYS = NumpyArrays()
