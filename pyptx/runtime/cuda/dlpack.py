"""Import of arrays on GPUs through DLPack, with the capsule's tensor read by ctypes.

Source: dlpack.h 1.1.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from pyptx.errors import ArgumentTypeError, ArgumentValueError
from pyptx.runtime.numpy_arrays import numpy_dtype

__all__ = ["DlpackArray", "view"]

_STREAM = 1  # DLPack's encoding of CUDA's legacy default stream
_READ_ONLY = 1
_KINDS = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}
_NAMED = {(4, 16): "bf16", (10, 8): "e4m3", (12, 8): "e5m2"}


class _Device(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("number", ctypes.c_int32)]


class _Type(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("rank", ctypes.c_int32),
        ("type", _Type),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    ]


class _Managed(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class _Versioned(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    ]


_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.argtypes, _is_valid.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_int
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.argtypes, _pointer.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p


class DlpackArray:
    """A view of another package's array on a GPU, which it keeps alive."""

    def __init__(self, owner: Any, capsule: Any, tensor: _Tensor, read_only: bool, name: str):
        self._owner, self._capsule = owner, capsule  # not renamed, so the capsule's own destructor frees the tensor
        self.shape = tuple(tensor.shape[: tensor.rank])
        self.dtype = _dtype(tensor.type, name)
        strides = tuple(n * self.dtype.itemsize for n in tensor.strides[: tensor.rank]) if tensor.strides else None
        self.__cuda_array_interface__ = {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "strides": strides,
            "version": 3,
            "data": ((tensor.data or 0) + tensor.offset, read_only),
        }

    def __repr__(self) -> str:
        return f"<view of a {type(self._owner).__name__}, shape {self.shape}, {self.dtype}>"


def view(owner: Any, device: int, name: str) -> DlpackArray:
    """Return a view with `__cuda_array_interface__`, synchronized with the legacy default stream.

    Raises:
        LaunchError: the owner does not export it, or its element type is not supported.
    """
    try:
        try:
            capsule = owner.__dlpack__(stream=_STREAM, max_version=(1, 1))
        except TypeError:  # the package predates DLPack 1.0
            capsule = owner.__dlpack__(stream=_STREAM)
    except (BufferError, RuntimeError, TypeError, ValueError) as refused:
        raise ArgumentValueError(f"{name} cannot be viewed: {refused}") from refused
    if _is_valid(capsule, b"dltensor_versioned"):
        managed = _Versioned.from_address(_pointer(capsule, b"dltensor_versioned"))
        if managed.major != 1:
            raise ArgumentValueError(f"{name} uses DLPack {managed.major}.{managed.minor}; pyptx supports 1.x")
        return DlpackArray(owner, capsule, managed.tensor, bool(managed.flags & _READ_ONLY), name)
    if not _is_valid(capsule, b"dltensor"):
        raise ArgumentTypeError(f"{name} returned {capsule!r}, which is not a DLPack tensor")
    return DlpackArray(owner, capsule, _Managed.from_address(_pointer(capsule, b"dltensor")).tensor, False, name)


def _dtype(given: _Type, name: str) -> np.dtype:
    if given.lanes == 1:
        if given.code in _KINDS and given.bits % 8 == 0:
            return np.dtype(f"{_KINDS[given.code]}{given.bits // 8}")
        if (given.code, given.bits) in _NAMED:
            return numpy_dtype(_NAMED[given.code, given.bits])
    raise ArgumentTypeError(
        f"{name} has elements of DLPack type {given.code} with {given.bits} bits and {given.lanes} lanes, which "
        "kernels do not support"
    )
