"""NumPy arrays as kernel arguments."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cache
from typing import Any

import numpy as np

from pyptx.errors import ArgumentTypeError, ArgumentValueError, BackendError
from pyptx.launch_config import check_plain

__all__ = ["ARRAYS", "named_dtype", "numpy_dtype", "view"]

_PTX_TO_NUMPY = {
    "f16": "float16",
    "f32": "float32",
    "tf32": "float32",
    "f64": "float64",
    "s8": "int8",
    "s16": "int16",
    "s32": "int32",
    "s64": "int64",
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
    "b8": "uint8",
    "b16": "uint16",
    "b32": "uint32",
    "b64": "uint64",
    "pred": "bool",
}
_ML_DTYPES = {"bf16": "bfloat16", "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2"}


class NumpyArrays:
    """Arrays in the memory of this process."""

    package = "numpy"

    def dtype_name(self, array: Any) -> str:
        return _name_of(array.dtype)

    def check(self, array: Any, what: str) -> None:
        if not isinstance(array, np.ndarray):
            raise ArgumentTypeError(f"{what} is a {type(array).__name__}; pass a NumPy array")
        check_plain(array.dtype, what)
        if not array.flags.c_contiguous:
            raise ArgumentValueError(
                f"{what} is not contiguous (shape {array.shape}, strides {array.strides}); pass "
                "numpy.ascontiguousarray(x)"
            )
        if not array.flags.aligned:
            raise ArgumentValueError(
                f"{what} is not aligned to its element size, {array.itemsize} bytes; pass x.copy()"
            )
        if array.dtype.byteorder == ">":
            raise ArgumentValueError(f"{what} is big-endian; pass x.astype(x.dtype.newbyteorder('='))")

    def empty(self, shape: tuple[int, ...], dtype_name: str, like: Sequence[Any], zeroed: bool = False) -> np.ndarray:
        """Allocate an array; unless zeroed, fill it with 0xFF bytes (NaN, -1) to expose elements a kernel does not write."""
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

    def owner(self, array: np.ndarray) -> np.ndarray:
        """Return the array that this one is a view of, or the array itself."""
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        (first, size), (start, part) = self.extent(owner), self.extent(array)
        return owner if first <= start and start + part <= first + size else array

    def extent(self, owner: np.ndarray) -> tuple[int, int]:
        return owner.__array_interface__["data"][0], owner.nbytes

    def stream(self, array: Any) -> int:
        return 0

    def host(self, array: Any) -> np.ndarray:
        return array

    def write_back(self, array: Any, host: Any) -> None:
        """Do nothing: the kernel wrote to the array itself."""

    def recorder(self, inputs: Sequence[Any]) -> None:
        """Return None: calls run immediately."""

    def kind(self, array: Any) -> Hashable | None:
        """Return shape, dtype and writability of a plain dense array."""
        flags = array.flags
        if array.__class__ is not np.ndarray or not flags.c_contiguous or not flags.aligned:
            return None
        return array.shape, array.dtype, flags.writeable


@cache
def _name_of(dtype: np.dtype) -> str:
    return dtype.name  # cached: NumPy builds the string on every access


def numpy_dtype(name: str) -> np.dtype:
    """Return the NumPy dtype of a PTX type.

    Raises:
        LaunchError: the dtype needs the package ml_dtypes, which is not installed.
    """
    if name in _ML_DTYPES:
        try:
            import ml_dtypes
        except ImportError:
            raise BackendError(f"arrays of {name} need the package ml_dtypes", hint="pip install ml_dtypes") from None
        return np.dtype(getattr(ml_dtypes, _ML_DTYPES[name]))
    return np.dtype(_PTX_TO_NUMPY[name])


def named_dtype(name: str) -> np.dtype:
    """Return the NumPy dtype with a name such as "float32" or "bfloat16", as `Arrays.dtype_name` gives it.

    Raises:
        LaunchError: the dtype needs the package ml_dtypes, which is not installed.
    """
    ptx_name = next((short for short, long in _ML_DTYPES.items() if long == name), None)
    return np.dtype(name) if ptx_name is None else numpy_dtype(ptx_name)


def view(owner: Any, name: str) -> np.ndarray:
    """Return a NumPy view of an array of another package, through DLPack; read-only if its owner says so.

    Raises:
        LaunchError: NumPy cannot view it; the message starts with `name`.
    """
    try:
        return np.from_dlpack(owner)
    except (BufferError, RuntimeError, TypeError, ValueError) as refused:
        raise ArgumentValueError(f"{name} cannot be viewed: {refused}") from refused


ARRAYS = NumpyArrays()
