"""Memory of tensor arguments: views of one storage become pointers into one array."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyptx.analysis.work.call import numpy_dtype_of
from pyptx.errors import ArgumentTypeError, ArgumentValueError
from pyptx.runtime.arrays import arrays_of
from pyptx.sim.memory.array_pointer import ArrayPointer
from pyptx.triton.host_arrays import HostArray

__all__ = ["LaunchMemory"]


class LaunchMemory:
    """The memory behind the tensors of one launch; tensors that share a storage share an array."""

    def __init__(self) -> None:
        self._storages: dict[int, np.ndarray] = {}  # by address in this process
        self._arrays: dict[int, np.ndarray] = {}  # the same memory with a dtype and a shape, for messages

    def pointer(self, tensor: Any, name: str) -> ArrayPointer | int:
        """Return the pointer to the first element of a tensor; 0 for an empty one.

        Args:
            name: of the argument, for messages.
        Raises:
            LaunchError: the tensor is not in host memory, or has no dense storage.
        """
        storage, offset = self.storage(tensor, name)
        if not storage.nbytes:
            return 0
        address = storage.__array_interface__["data"][0]
        array = self._arrays.get(address)
        if array is None:
            array = self._arrays[address] = _typed(storage, tensor)
        return ArrayPointer(array, offset, name)

    def storage(self, tensor: Any, name: str) -> tuple[np.ndarray, int]:
        """Return the bytes of a tensor's storage, and the offset of its first element in bytes."""
        tensor = getattr(tensor, "base", tensor) if type(tensor).__name__ == "TensorWrapper" else tensor
        tensor = tensor.array if isinstance(tensor, HostArray) else tensor
        arrays = arrays_of(tensor)
        if arrays is None or arrays.package not in ("numpy", "torch"):
            raise ArgumentTypeError(
                f"{name} is a {type(tensor).__module__}.{type(tensor).__name__}",
                hint="pass a torch tensor on the CPU or a NumPy array",
            )
        if (device := arrays.device(tensor)) != "cpu":
            raise ArgumentValueError(
                f"{name} is on {device}; the simulator takes tensors on the CPU",
                hint="make it on triton.runtime.driver.active.get_active_torch_device(), which is the CPU here",
            )
        owner = arrays.owner(tensor)
        start, size = arrays.extent(owner)
        if start not in self._storages:
            self._storages[start] = _bytes(owner, name, start, size)
        return self._storages[start], (arrays.address(tensor) - start if size else 0)


def _bytes(owner: Any, name: str, start: int, size: int) -> np.ndarray:
    """Return the memory of a NumPy array or of a torch storage as bytes."""
    if not isinstance(owner, np.ndarray):
        return _Storage(owner, start, size).bytes() if size else np.empty(0, np.uint8)
    dense = owner if owner.flags.c_contiguous else owner.T
    if not dense.flags.c_contiguous:
        raise ArgumentValueError(
            f"{name} has strides {owner.strides} and is not a view of a contiguous array",
            hint="pass numpy.ascontiguousarray(x), or a view of it",
        )
    return dense.reshape(-1).view(np.uint8)


class _Storage:
    """Memory of a storage for NumPy, which keeps it alive."""

    def __init__(self, owner: Any, start: int, size: int):
        self._owner = owner
        self.__array_interface__ = {"data": (start, False), "shape": (size,), "typestr": "|u1", "version": 3}

    def bytes(self) -> np.ndarray:
        return np.asarray(self)


def _typed(storage: np.ndarray, tensor: Any) -> np.ndarray:
    """Return the bytes as elements of the tensor's dtype, with its shape if it fills the storage."""
    shape = tuple(tensor.shape)
    name = str(tensor.dtype).rpartition(".")[2]
    try:
        dtype = numpy_dtype_of(name)
    except (KeyError, TypeError):
        dtype = np.dtype(np.uint8)
    if storage.nbytes % dtype.itemsize:
        return storage
    flat = storage.view(dtype)
    strides, dense = tuple(tensor.stride()), 1
    for size, step in zip(reversed(shape), reversed(strides), strict=True):
        if size != 1 and step != dense:
            return flat
        dense *= size
    return flat.reshape(shape) if dense == flat.size else flat
