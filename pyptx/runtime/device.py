"""Detection of the installed GPU."""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module

from pyptx.errors import DeviceError

__all__ = ["detect_arch"]

_ARCH_SPECIFIC = {(9, 0), (10, 0), (10, 1), (10, 3), (11, 0), (12, 0), (12, 1)}


@cache
def detect_arch() -> str:
    """Return the target of CUDA device 0, for example "sm_90a".

    Raises:
        DeviceError: no CUDA device is available.
    """
    capability = _from_torch() or _from_driver()
    if capability is None:
        raise DeviceError(
            "detect_arch: no CUDA device found", hint="name the target, for example @kernel(arch='sm_90a')"
        )
    major, minor = capability
    return f"sm_{major}{minor}{'a' if capability in _ARCH_SPECIFIC else ''}"


def _from_torch() -> tuple[int, int] | None:
    """Asked only when the program already uses torch."""
    torch = sys.modules.get("torch")
    return torch.cuda.get_device_capability(0) if torch is not None and torch.cuda.is_available() else None


def _from_driver() -> tuple[int, int] | None:
    try:
        driver = import_module("cuda.bindings.driver")
    except ImportError:
        return None
    try:
        (status,) = driver.cuInit(0)
    except RuntimeError:  # no libcuda on this machine
        return None
    if status != driver.CUresult.CUDA_SUCCESS:
        return None
    status, device = driver.cuDeviceGet(0)
    if status != driver.CUresult.CUDA_SUCCESS:
        return None
    attribute = driver.CUdevice_attribute
    _, major = driver.cuDeviceGetAttribute(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device)
    _, minor = driver.cuDeviceGetAttribute(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device)
    return major, minor
