"""Arrays on GPUs: any with `__cuda_array_interface__`, and `DeviceArray` for copies and outputs."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Hashable, Sequence
from math import prod
from typing import Any

import numpy as np

from pyptx.errors import ArgumentValueError, BackendError, DeviceError
from pyptx.launch_config import check_plain
from pyptx.runtime.cuda.driver import Driver
from pyptx.runtime.numpy_arrays import numpy_dtype

__all__ = ["DeviceArray", "DeviceArrays"]


class DeviceArray:
    """A dense array on a GPU, freed with its last reference. `cupy.asarray` and `numba.cuda.as_cuda_array` accept it.

    Attributes:
        shape, dtype: shape and NumPy dtype.
        address: device address of the first byte.
        device: ordinal of the GPU.
    """

    def __init__(self, driver: Driver, device: int, shape: Sequence[int], dtype: np.dtype):
        self.shape, self.dtype, self.device = tuple(shape), np.dtype(dtype), device
        self.nbytes, self.address, self._driver = prod(self.shape) * self.dtype.itemsize, 0, driver
        if self.nbytes:
            with driver.on(driver.device(device)), driver.unrelated():
                self.address = int(driver.call("cuMemAlloc", self.nbytes, doing=f"allocating {self.nbytes} bytes"))
            weakref.finalize(self, _free, driver, device, self.address).atexit = False

    @classmethod
    def of(cls, driver: Driver, device: int, host: np.ndarray) -> DeviceArray:
        """Return a copy of a host array on a GPU."""
        array = cls(driver, device, host.shape, host.dtype)
        array.set(host)
        return array

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.address, False),
            "version": 3,
            "strides": None,
        }

    def __repr__(self) -> str:
        return f"<array on cuda:{self.device}, shape {self.shape}, {self.dtype}>"

    def set(self, host: np.ndarray) -> None:
        """Copy a host array of the same size to the GPU; afterwards any stream may read it."""
        if self.nbytes:
            host = np.ascontiguousarray(host)
            with self._driver.on(self._driver.device(self.device)):
                self._driver.call(
                    "cuMemcpyHtoD", self.address, host.ctypes.data, self.nbytes, doing=f"copying to {self}"
                )
                self._driver.call("cuCtxSynchronize")  # a copy from pageable memory may complete after the call

    def get(self, out: np.ndarray | None = None) -> np.ndarray:
        """Return a copy in host memory, or copy into `out`; synchronizes with the GPU's default stream."""
        host = np.empty(self.shape, self.dtype) if out is None else out
        if self.nbytes:
            with self._driver.on(self._driver.device(self.device)):
                self._driver.call(
                    "cuMemcpyDtoH", host.ctypes.data, self.address, self.nbytes, doing=f"copying from {self}"
                )
        return host


def _free(driver: Driver, device: int, address: int) -> None:
    try:
        with driver.on(driver.device(device)), driver.unrelated():
            driver.call("cuMemFree", address)
    except DeviceError:
        pass  # a faulting kernel destroyed the context with its memory; the launch reports it


class DeviceArrays:
    """Operations on arrays with `__cuda_array_interface__`: CuPy, Numba, cuda.core, DeviceArray."""

    package = "__cuda_array_interface__"

    def __init__(self, driver: Driver):
        self._driver = driver

    def dtype_name(self, array: Any) -> str:
        dtype = getattr(array, "dtype", None)
        return np.dtype(array.__cuda_array_interface__["typestr"] if dtype is None else dtype).name

    def check(self, array: Any, what: str) -> None:
        interface = array.__cuda_array_interface__
        check_plain(np.dtype(interface["typestr"]), what)
        shape, strides = tuple(interface["shape"]), interface.get("strides")
        size, dense = np.dtype(interface["typestr"]).itemsize, []
        for extent in reversed(shape):
            dense.append(size)
            size *= extent
        wrong = any(
            n > 1 and s != d for n, s, d in zip(shape, strides or reversed(dense), reversed(dense), strict=True)
        )
        if wrong and size:
            raise ArgumentValueError(
                f"{what} is not contiguous (shape {shape}, strides {tuple(strides)}); pass a contiguous copy"
            )
        item = np.dtype(interface["typestr"]).itemsize
        if (interface["data"][0] or 0) % (item & -item or 1):
            raise ArgumentValueError(
                f"{what} starts at 0x{interface['data'][0]:x}, which is not aligned to its element size, {item} "
                "bytes; pass a copy"
            )
        if interface.get("mask") is not None:
            raise ArgumentValueError(f"{what} is a masked array; pass its data")

    def empty(self, shape: tuple[int, ...], dtype_name: str, like: Sequence[Any], zeroed: bool = False) -> Any:
        """Allocate a CuPy array if the inputs are CuPy arrays, otherwise a DeviceArray."""
        if like and type(like[0]).__module__.partition(".")[0] == "cupy":
            cupy = sys.modules["cupy"]
            with cupy.cuda.Device(self._ordinal(like[0])):
                return (cupy.zeros if zeroed else cupy.empty)(shape, numpy_dtype(dtype_name))
        array = DeviceArray(self._driver, self._ordinal(like[0]) if like else 0, shape, numpy_dtype(dtype_name))
        if zeroed:
            array.set(np.zeros(shape, array.dtype))
        return array

    def _ordinal(self, array: Any) -> int:
        if isinstance(array, DeviceArray):
            return array.device
        address = self.address(array)
        if not address:
            return 0  # an empty array has no address
        try:
            _ = self._driver.api  # loads the driver
        except BackendError as error:
            kind = type(array)
            raise BackendError(
                f"an array of {kind.__module__}.{kind.__name__} is in the memory of a GPU, which is not accessible: "
                f"{error.message}",
                hint="copy it to the host in a process that can access the GPU",
            ) from error
        what = self._driver.api.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
        with self._driver.some_context():
            return int(self._driver.call("cuPointerGetAttribute", what, address, doing="finding the GPU of an array"))

    def device(self, array: Any) -> str:
        return f"cuda:{self._ordinal(array)}"

    def address(self, array: Any) -> int:
        return array.address if isinstance(array, DeviceArray) else int(array.__cuda_array_interface__["data"][0] or 0)

    def owner(self, array: Any) -> Any:
        return array

    def extent(self, owner: Any) -> tuple[int, int]:
        interface = owner.__cuda_array_interface__
        return self.address(owner), prod(interface["shape"]) * np.dtype(interface["typestr"]).itemsize

    def stream(self, array: Any) -> int:
        """Return CuPy's current stream, else the stream of the array's interface, else the legacy stream."""
        if type(array).__module__.partition(".")[0] == "cupy":
            return int(sys.modules["cupy"].cuda.get_current_stream().ptr)
        return int(array.__cuda_array_interface__.get("stream") or 0)

    def host(self, array: Any) -> np.ndarray:
        if isinstance(array, DeviceArray):
            return array.get()
        interface = array.__cuda_array_interface__
        host = np.empty(tuple(interface["shape"]), np.dtype(interface["typestr"]))
        if host.nbytes:
            with self._driver.on(self._driver.device(self._ordinal(array))):
                self._driver.call("cuStreamSynchronize", self._driver.api.CUstream(self.stream(array)))
                self._driver.call("cuMemcpyDtoH", host.ctypes.data, self.address(array), host.nbytes)
        return host

    def write_back(self, array: Any, host: np.ndarray) -> None:
        if host.nbytes:
            with self._driver.on(self._driver.device(self._ordinal(array))):
                self._driver.call("cuMemcpyHtoD", self.address(array), host.ctypes.data, host.nbytes)

    def writeable(self, array: Any) -> bool:
        return isinstance(array, DeviceArray) or not array.__cuda_array_interface__["data"][1]

    def recorder(self, inputs: Sequence[Any]) -> None:
        """Return None: calls run immediately."""

    def kind(self, array: Any) -> Hashable | None:
        if array.__class__ is DeviceArray:
            return array.dtype, array.shape, array.device
        interface = array.__cuda_array_interface__
        if interface.get("mask") is not None:
            return None
        strides = interface.get("strides")
        address, read_only = interface["data"]
        return (
            array.__class__,
            interface["typestr"],
            getattr(array, "dtype", None),
            tuple(interface["shape"]),
            None if strides is None else tuple(strides),
            read_only,
            (address or 0) % 16,
            self._ordinal(array),
        )
