"""The CUDA driver: calls that raise, devices and their limits, whose context is current.

The driver is the module `cuda.bindings.driver`, or an object with the same functions.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cached_property
from threading import Lock
from typing import Any

from pyptx._value import value
from pyptx.errors import DeviceError, LaunchError
from pyptx.isa import targets

__all__ = ["Device", "Driver", "installed", "newer", "remedy", "version_text"]


def installed() -> Any:
    """The module `cuda.bindings.driver`.

    Raises:
        LaunchError: it is not installed.
    """
    try:
        from cuda.bindings import driver
    except ImportError:
        raise LaunchError("launching on a GPU needs the package cuda-python (pip install cuda-python)") from None
    return driver


def version_text(number: int) -> str:
    """13.1 for 13010, as the driver counts versions of CUDA."""
    return f"{number // 1000}.{number % 1000 // 10}"


def newer(made: str, known: int, *, minor: bool) -> bool:
    """Whether a tool's version, "13.5.37", is of a newer CUDA than a driver knows.

    Args:
        minor: of a newer minor version, too. Its machine code loads as a rule.
    """
    numbers = [int(part) for part in made.split(".")[:2] if part.isdigit()]
    parts = 2 if minor else 1
    return bool(numbers) and numbers[:parts] > [known // 1000, known % 1000 // 10][:parts]


def remedy(made: str, known: int) -> str:
    """What would do where a driver is too old for the machine code of a tool; names a fitting ptxas of this machine."""
    from pyptx.toolchain.locate import installed_elsewhere  # late: it looks for files

    minor = not newer(made, known, minor=False)
    parts = 2 if minor else 1
    wanted, fitting = (".".join(text.split(".")[:parts]) for text in (made, version_text(known)))
    fits = [path for path, version in installed_elsewhere("ptxas") if not newer(version, known, minor=minor)]
    return (f"install a driver of CUDA {wanted} or later, or let PYPTX_PTXAS name a ptxas of CUDA {fitting}"
            + (f": PYPTX_PTXAS={fits[0]}" if fits else ""))


@value
class Device:
    """A GPU. Bytes; `context` is its primary context, which is the one torch, JAX and CuPy use."""

    ordinal: int
    handle: Any
    context: Any
    name: str
    target: targets.Target
    smem_per_cta: int
    regs_per_cta: int

    def __str__(self) -> str:
        return f"cuda:{self.ordinal} ({self.name}, sm_{self.target.number})"


class Driver:
    """What pyptx calls of the CUDA driver, started when first asked.

    Args:
        api: `cuda.bindings.driver`, or what stands for it.
    """

    def __init__(self, api: Any = None):
        self._given = api
        self._devices: dict[int, Device] = {}
        self._lock = Lock()

    @cached_property
    def api(self) -> Any:
        """The driver's functions, after cuInit.

        Raises:
            LaunchError: cuda-python, the driver or a GPU is missing; says which.
        """
        api = self._given if self._given is not None else installed()
        hint = "pyptx.use('sim') runs kernels on the CPU"
        try:
            (status,) = api.cuInit(0)
        except RuntimeError as missing:                             # no libcuda; cuda-python says so in its words
            raise LaunchError("there is no NVIDIA driver on this machine (libcuda was not found)",
                              hint=hint) from missing
        if status != api.CUresult.CUDA_SUCCESS:
            raise LaunchError(f"the NVIDIA driver does not start: {self._words(api, status)}", hint=hint)
        return api

    def call(self, name: str, *args: Any, doing: str = "") -> Any:
        """Call a function of the driver; its value, a tuple of several, or None.

        Raises:
            DeviceError: the driver's name for what is wrong, and what was being done.
            LaunchError: the driver is too old to have the function.
        """
        try:
            status, *values = getattr(self.api, name)(*args)
        except RuntimeError as missing:                             # cuda-python found no such function in libcuda
            raise LaunchError(f"{doing or name}: the driver cannot do it: {missing}",
                              hint="install a newer NVIDIA driver; pyptx doctor tells which there is") from missing
        if status != self.api.CUresult.CUDA_SUCCESS:
            raise DeviceError(f"{doing or name}: {self.words(status)}", code=int(status))
        return values[0] if len(values) == 1 else tuple(values) or None

    def words(self, status: Any) -> str:
        """The name and the sentence of an error."""
        return self._words(self.api, status)

    @staticmethod
    def _words(api: Any, status: Any) -> str:
        found, text = api.cuGetErrorString(status)
        words = text.decode() if found == api.CUresult.CUDA_SUCCESS and text else ""
        return f"{getattr(status, 'name', status)}{': ' + words if words else ''}"

    @cached_property
    def version(self) -> int:
        """Of CUDA, the newest this driver knows: 13010 for 13.1."""
        return self.call("cuDriverGetVersion")

    @property
    def count(self) -> int:
        """How many GPUs there are."""
        return self.call("cuDeviceGetCount")

    def device(self, ordinal: int) -> Device:
        """The GPU of that number, its context made the first time.

        Raises:
            LaunchError: there is none of that number.
        """
        found = self._devices.get(ordinal)
        if found is None:
            with self._lock:
                found = self._devices.get(ordinal) or self._open(ordinal)
                self._devices[ordinal] = found
        return found

    def _open(self, ordinal: int) -> Device:
        if not 0 <= ordinal < self.count:
            raise LaunchError(f"there is no GPU cuda:{ordinal}; this machine has {self.count}")
        handle, attribute = self.call("cuDeviceGet", ordinal), self.api.CUdevice_attribute

        def value(name: str) -> int:
            return self.call("cuDeviceGetAttribute", getattr(attribute, "CU_DEVICE_ATTRIBUTE_" + name), handle)
        name = self.call("cuDeviceGetName", 128, handle)
        number = 10 * value("COMPUTE_CAPABILITY_MAJOR") + value("COMPUTE_CAPABILITY_MINOR")
        try:
            target = targets.parse(f"sm_{number}")
        except ValueError as unknown:
            raise LaunchError(f"cuda:{ordinal} is a chip pyptx does not know: {unknown}") from None
        return Device(ordinal, handle, self.call("cuDevicePrimaryCtxRetain", handle), name.partition(b"\0")[0].decode(),
                      target, value("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"), value("MAX_REGISTERS_PER_BLOCK"))

    def current(self) -> int:
        """The number of the GPU whose context is current in this thread; 0 where none is."""
        return int(self.call("cuCtxGetDevice")) if int(self.call("cuCtxGetCurrent")) else 0

    def some_context(self) -> AbstractContextManager[None]:
        """For calls that want any current context: this thread's, else the first GPU's."""
        return nullcontext() if int(self.call("cuCtxGetCurrent")) else self.on(self.device(0))

    @contextmanager
    def on(self, device: Device) -> Iterator[None]:
        """Make a GPU's context the current one of this thread, and the one before it current again afterwards."""
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
        """For what a graph that is recorded in this thread has nothing to do with: allocating, loading, waiting for a
        stream of one's own. Without it the driver refuses that, and the graph is lost.
        """
        mode = self.call("cuThreadExchangeStreamCaptureMode",
                         self.api.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED)
        try:
            yield
        finally:
            self.call("cuThreadExchangeStreamCaptureMode", mode)

    def capturing(self, stream: int) -> bool:
        """Whether a stream records a graph. (The legacy stream never does, and asking it may be an error.)"""
        if stream == 0:
            return False
        status = self.call("cuStreamIsCapturing", self.api.CUstream(stream))
        return status != self.api.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE
