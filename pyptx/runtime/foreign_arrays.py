"""Zero-copy import of arrays of other packages through DLPack.

Source: the array API standard, `__dlpack__` and `__dlpack_device__`; dlpack.h 1.1, DLManagedTensor and
DLManagedTensorVersioned.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pyptx.errors import ArgumentValueError
from pyptx.runtime.arrays import arrays_of

__all__ = ["import_foreign"]

_CPU, _CUDA, _CUDA_HOST, _CUDA_MANAGED = 1, 2, 3, 13  # DLDeviceType


def import_foreign(values: Any) -> Any:
    """Return the value, or a list of values, with arrays that support only DLPack replaced by views of their memory.

    The view is a NumPy array for memory on the CPU, and an array with `__cuda_array_interface__` for memory on a GPU.

    Raises:
        LaunchError: an array is on an unsupported device or cannot be viewed; the message names its type.
    """
    if isinstance(values, (list, tuple)):
        return [_view(value) for value in values]
    return _view(values)


def _view(value: Any) -> Any:
    if not hasattr(type(value), "__dlpack__") or arrays_of(value) is not None:
        return value
    kind = type(value)
    if kind.__module__.partition(".")[0] == "numpy":  # a scalar
        return value
    name = f"an array of {kind.__module__}.{kind.__name__}"
    if not hasattr(kind, "__dlpack_device__"):
        raise ArgumentValueError(f"{name} has __dlpack__ but no __dlpack_device__, so its device is unknown")
    device, number = map(int, value.__dlpack_device__())
    if device in (_CPU, _CUDA_HOST):
        return import_module("pyptx.runtime.numpy_arrays").view(value, name)
    if device in (_CUDA, _CUDA_MANAGED):
        return import_module("pyptx.runtime.cuda.dlpack").view(value, number, name)
    raise ArgumentValueError(
        f"{name} is on a device of DLPack type {device}; kernels run on arrays on the CPU and on CUDA GPUs"
    )
