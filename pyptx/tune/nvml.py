"""Clock, temperature and power of a GPU, read through NVML; settings are not changed.

Source: NVML API Reference, "Device Queries"; the constants are its enumerations'.
"""

from __future__ import annotations

import ctypes
from typing import Any

__all__ = ["Conditions"]

_SM_CLOCK = 1
_TEMPERATURE_GPU = 0
# Throttle reasons: power cap, hardware and thermal slowdown, power brake.
_THROTTLED = 0x4 | 0x8 | 0x20 | 0x40 | 0x80


class Conditions:
    """Operating conditions of a GPU; empty when NVML is missing or fails.

    Args:
        uuid: UUID of the GPU from the CUDA driver (16 bytes).
        library: libnvidia-ml, or a substitute.
    """

    def __init__(self, uuid: bytes, library: Any = None):
        self._handle, self._library = ctypes.c_void_p(), library or _load()
        if self._library is None or self._library.nvmlInit_v2() != 0:
            self._library = None
            return
        text = uuid.hex()
        name = f"GPU-{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}".encode()
        if self._library.nvmlDeviceGetHandleByUUID(name, ctypes.byref(self._handle)) != 0:
            self._library = None

    def now(self) -> dict[str, Any]:
        """Return {"clock_hz", "temperature", "watts", "throttled"} without values that the GPU does not report."""
        if self._library is None:
            return {}
        found: dict[str, Any] = {}
        if (clock := self._number("nvmlDeviceGetClockInfo", _SM_CLOCK)) is not None:
            found["clock_hz"] = clock * 1_000_000
        if (degrees := self._number("nvmlDeviceGetTemperature", _TEMPERATURE_GPU)) is not None:
            found["temperature"] = degrees
        if (power := self._number("nvmlDeviceGetPowerUsage")) is not None:
            found["watts"] = power / 1000
        reasons = ctypes.c_ulonglong()
        if self._library.nvmlDeviceGetCurrentClocksThrottleReasons(self._handle, ctypes.byref(reasons)) == 0:
            found["throttled"] = bool(reasons.value & _THROTTLED)
        return found

    def _number(self, function: str, *arguments: int) -> int | None:
        value = ctypes.c_uint()
        status = getattr(self._library, function)(self._handle, *arguments, ctypes.byref(value))
        return value.value if status == 0 else None


def _load() -> Any:
    try:
        return ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:  # no driver, or one without its management library
        return None
