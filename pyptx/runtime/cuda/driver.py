"""The CUDA driver API with exceptions: devices, their limits, and context management.

The API is the module `cuda.bindings.driver`, or an object with the same functions.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cached_property
from importlib import import_module
from threading import Lock
from typing import Any

from pyptx._frozen import frozen
from pyptx.errors import BackendError, DeviceError
from pyptx.isa import targets

__all__ = ["SIMULATED", "Device", "Driver", "installed", "newer", "remedy", "version_text"]


def installed() -> Any:
    """Return the module `cuda.bindings.driver`.

    Raises:
        LaunchError: it is not installed.
    """
    try:
        driver = import_module("cuda.bindings.driver")
    except ImportError:
        raise BackendError(
            "launches on a GPU need the package cuda-bindings", hint="pip install cuda-bindings"
        ) from None
    return driver


def version_text(number: int) -> str:
    """Return "13.1" for 13010, the driver's encoding of CUDA versions."""
    return f"{number // 1000}.{number % 1000 // 10}"


def newer(made: str, known: int, *, minor: bool) -> bool:
    """Return True if a tool's version, for example "13.5.37", is newer than the CUDA version of a driver.

    Args:
        made: version of the tool.
        known: version of the driver.
        minor: compare minor versions too. Machine code of a newer minor version usually loads.
    """
    numbers = [int(part) for part in made.split(".")[:2] if part.isdigit()]
    parts = 2 if minor else 1
    return bool(numbers) and numbers[:parts] > [known // 1000, known % 1000 // 10][:parts]


def remedy(made: str, known: int) -> str:
    """Return the suggested fix for a driver that is too old for a tool's machine code; names a matching installed ptxas."""
    from pyptx.toolchain.locate import installed_elsewhere  # deferred: it searches the file system

    minor = not newer(made, known, minor=False)
    parts = 2 if minor else 1
    wanted, fitting = (".".join(text.split(".")[:parts]) for text in (made, version_text(known)))
    fits = [path for path, version in installed_elsewhere("ptxas") if not newer(version, known, minor=minor)]
    return f"install a driver of CUDA {wanted} or later, or set PYPTX_PTXAS to a ptxas of CUDA {fitting}" + (
        f": PYPTX_PTXAS={fits[0]}" if fits else ""
    )


SIMULATED = "(simulated by pyptx)"
"""Last words of the name of a simulated device."""


@frozen
class Device:
    """A GPU with its limits (sizes in bytes) and its primary context, which torch, JAX and CuPy share."""

    ordinal: int
    handle: Any
    context: Any
    name: str
    target: targets.Target
    smem_per_cta: int
    regs_per_cta: int

    @property
    def is_simulated(self) -> bool:
        """True for the device of `pyptx exec`, which has no times to measure."""
        return self.name.endswith(SIMULATED)

    def __str__(self) -> str:
        return f"cuda:{self.ordinal} ({self.name}, sm_{self.target.number})"


class Driver:
    """The CUDA driver API, initialized on first use.

    Args:
        api: `cuda.bindings.driver`, or a replacement with the same functions.
    """

    def __init__(self, api: Any = None):
        self._given = api
        self._devices: dict[int, Device] = {}
        self._lock = Lock()

    @cached_property
    def api(self) -> Any:
        """The driver's functions, after cuInit.

        Raises:
            LaunchError: cuda-bindings, the driver or a GPU is missing.
        """
        api = self._given if self._given is not None else installed()
        hint = "pyptx.use('sim') runs kernels on the CPU"
        try:
            (status,) = api.cuInit(0)
        except RuntimeError as missing:  # cuda-bindings found no libcuda
            raise BackendError("no NVIDIA driver on this machine (libcuda was not found)", hint=hint) from missing
        if status != api.CUresult.CUDA_SUCCESS:
            raise BackendError(f"the NVIDIA driver cannot be initialized: {self._error_text(api, status)}", hint=hint)
        return api

    def call(self, name: str, *args: Any, doing: str = "") -> Any:
        """Call a driver function; return its value, a tuple of several values, or None.

        Args:
            doing: the operation, for messages.
        Raises:
            DeviceError: the driver returned an error; the message has its name and the operation.
            LaunchError: the driver is missing, or too old to have the function.
        """
        api = self.api
        try:
            status, *values = getattr(api, name)(*args)
        except RuntimeError as missing:  # cuda-bindings did not find the function in libcuda
            raise BackendError(
                f"{doing or name}: not supported by this driver: {missing}",
                hint="install a newer NVIDIA driver; pyptx doctor shows the installed version",
            ) from missing
        if status != api.CUresult.CUDA_SUCCESS:
            raise DeviceError(f"{doing or name}: {self.error_text(status)}", code=int(status))
        return values[0] if len(values) == 1 else tuple(values) or None

    def error_text(self, status: Any) -> str:
        """Return name and description of a driver error."""
        return self._error_text(self.api, status)

    @staticmethod
    def _error_text(api: Any, status: Any) -> str:
        found, text = api.cuGetErrorString(status)
        words = text.decode() if found == api.CUresult.CUDA_SUCCESS and text else ""
        return f"{getattr(status, 'name', status)}{': ' + words if words else ''}"

    @cached_property
    def version(self) -> int:
        """Latest CUDA version that the driver supports: 13010 for 13.1."""
        return self.call("cuDriverGetVersion")

    @property
    def count(self) -> int:
        """Number of GPUs."""
        return self.call("cuDeviceGetCount")

    def device(self, ordinal: int) -> Device:
        """Return a GPU by its ordinal; its primary context is retained on first use.

        Raises:
            LaunchError: the GPU does not exist.
        """
        found = self._devices.get(ordinal)
        if found is None:
            with self._lock:
                found = self._devices.get(ordinal) or self._open(ordinal)
                self._devices[ordinal] = found
        return found

    def _open(self, ordinal: int) -> Device:
        if not 0 <= ordinal < self.count:
            raise BackendError(f"GPU cuda:{ordinal} does not exist; this machine has {self.count}")
        handle, attribute = self.call("cuDeviceGet", ordinal), self.api.CUdevice_attribute

        def value(name: str) -> int:
            return self.call("cuDeviceGetAttribute", getattr(attribute, "CU_DEVICE_ATTRIBUTE_" + name), handle)

        name = self.call("cuDeviceGetName", 128, handle)
        number = 10 * value("COMPUTE_CAPABILITY_MAJOR") + value("COMPUTE_CAPABILITY_MINOR")
        try:
            target = targets.parse(f"sm_{number}")
        except ValueError as unknown:
            raise BackendError(f"cuda:{ordinal} has an architecture that pyptx does not support: {unknown}") from None
        return Device(
            ordinal,
            handle,
            self.call("cuDevicePrimaryCtxRetain", handle),
            name.partition(b"\0")[0].decode(),
            target,
            value("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
            value("MAX_REGISTERS_PER_BLOCK"),
        )

    def current(self) -> int:
        """Return the ordinal of the GPU whose context is current in this thread; 0 without one."""
        return int(self.call("cuCtxGetDevice")) if int(self.call("cuCtxGetCurrent")) else 0

    def some_context(self) -> AbstractContextManager[None]:
        """Return a context manager that makes some context current: this thread's, else the first GPU's."""
        return nullcontext() if int(self.call("cuCtxGetCurrent")) else self.on(self.device(0))

    @contextmanager
    def on(self, device: Device) -> Iterator[None]:
        """Make a GPU's context current in this thread for the duration of the block."""
        if int(self.call("cuCtxGetCurrent")) == int(device.context):
            yield
            return
        self.call("cuCtxPushCurrent", device.context)
        try:
            yield
        finally:
            self.call("cuCtxPopCurrent")

    @contextmanager
    def unrelated(self) -> Iterator[None]:
        """Allow allocations, loading and waits on private streams while this thread captures a graph.

        Without it the driver refuses such calls and invalidates the capture.
        """
        mode = self.call(
            "cuThreadExchangeStreamCaptureMode", self.api.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
        )
        try:
            yield
        finally:
            self.call("cuThreadExchangeStreamCaptureMode", mode)

    def capturing(self, stream: int) -> bool:
        """Return True if a stream captures a graph. The legacy stream never does, and querying it may be an error."""
        if stream == 0:
            return False
        status = self.call("cuStreamIsCapturing", self.api.CUstream(stream))
        return status != self.api.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE
