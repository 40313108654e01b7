"""Calls of cuda.bindings.driver with exceptions, and the kernels of the tests; nothing here knows pyptx."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
from cuda.bindings import driver as api

PTX = (Path(__file__).parent / "kernels.ptx").read_bytes()
POINTER = None  # type of a pointer argument, as cuda.bindings wants it


def call(name: str, *args: Any) -> Any:
    """Call a function; return its result, or a tuple of several."""
    status, *values = getattr(api, name)(*args)
    assert status == api.CUresult.CUDA_SUCCESS, f"{name}: {status!r}"
    return values[0] if len(values) == 1 else tuple(values) or None


def status(name: str, *args: Any) -> str:
    """Call a function; return the name of its status."""
    return getattr(api, name)(*args)[0].name


def start() -> Any:
    """Initialize the driver and make the primary context current; return the device."""
    call("cuInit", 0)
    device = call("cuDeviceGet", 0)
    call("cuCtxSetCurrent", call("cuDevicePrimaryCtxRetain", device))
    return device


def upload(array: np.ndarray) -> Any:
    """Return device memory with a copy of an array."""
    address = call("cuMemAlloc", array.nbytes)
    call("cuMemcpyHtoD", address, array.ctypes.data, array.nbytes)
    return address


def download(address: Any, like: np.ndarray) -> np.ndarray:
    """Return a copy of device memory, with the shape and type of an array."""
    out = np.empty_like(like)
    call("cuMemcpyDtoH", out.ctypes.data, address, out.nbytes)
    return out


def saxpy_arguments(x: Any, y: Any, a: float, n: int) -> tuple:
    return (x, y, a, n), (None, None, ctypes.c_float, ctypes.c_uint)
