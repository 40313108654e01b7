"""Arrays of packages that pyptx does not know, by DLPack: views of the same memory, nothing is copied.

Source: the array API standard, `__dlpack__` and `__dlpack_device__`; dlpack.h 1.1, DLManagedTensor and
DLManagedTensorVersioned.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pyptx.errors import LaunchError
from pyptx.runtime.arrays import arrays_of

__all__ = ["adopted"]

_CPU, _CUDA, _CUDA_HOST, _CUDA_MANAGED = 1, 2, 3, 13            # DLDeviceType


def adopted(values: Any) -> Any:
    """The value, or each of several, as it is, but arrays that speak DLPack and nothing else as views of them: a NumPy
    array of memory of the CPU, an array with `__cuda_array_interface__` of a GPU's.

    Raises:
        LaunchError: it lies on a device that no backend is for, or cannot be viewed; says whose it is.
    """
    if isinstance(values, (list, tuple)):
        return [_view(value) for value in values]
    return _view(values)


def _view(value: Any) -> Any:
    if not hasattr(type(value), "__dlpack__") or arrays_of(value) is not None:
        return value
    kind = type(value)
    if kind.__module__.partition(".")[0] == "numpy":            # a scalar
        return value
    name = f"an array of {kind.__module__}.{kind.__name__}"
    if not hasattr(kind, "__dlpack_device__"):
        raise LaunchError(f"{name} has __dlpack__ but no __dlpack_device__, so where it lies is not known")
    device, number = map(int, value.__dlpack_device__())
    if device in (_CPU, _CUDA_HOST):
        return import_module("pyptx.runtime.numpy_arrays").view(value, name)
    if device in (_CUDA, _CUDA_MANAGED):
        return import_module("pyptx.runtime.cuda.dlpack").view(value, number, name)
    raise LaunchError(f"{name} lies on a device of DLPack's kind {device}; kernels run on arrays in the memory of the "
                      "CPU and of CUDA GPUs")
