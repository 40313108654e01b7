"""A stand-in for `cuda.bindings.driver`: its own types, functions that record, and host memory for a GPU's.

What the backend asks of a GPU can be tested without one. Kernels do not run; `launches` says what was launched. It is
as strict as the driver where that is cheap: calls without a current context, calls that a capture forbids, shared
memory and clusters that were not asked for, handles that are gone, and tensor maps of the wrong types are refused.
"""

from __future__ import annotations

import ctypes
import mmap
from threading import Lock
from types import SimpleNamespace
from typing import Any

from cuda.bindings import driver as real

OK = real.CUresult.CUDA_SUCCESS
BARE = (
    "cuInit",
    "cuDriverGet",
    "cuDeviceGet",
    "cuDevicePrimaryCtx",
    "cuCtxGetCurrent",
    "cuCtxPush",
    "cuCtxPop",
    "cuLibrary",
    "cuTensorMapEncode",
    "cuThreadExchange",
    "cuStreamIsCapturing",
)  # without a current context
UNSAFE = (
    "cuMemAlloc",
    "cuMemFree",
    "cuLibraryLoadData",
    "cuKernelGetFunction",
    "cuStreamSynchronize",
    "cuMemcpyHtoD",
    "cuMemcpyDtoH",
    "cuArray3DCreate",
    "cuArrayDestroy",
    "cuMipmappedArrayCreate",
)  # while a thread captures
LIBC = ctypes.CDLL(None)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
PRIVATE = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
FREELY = 48 * 1024  # bytes of shared memory that a launch has without asking


class Refused(Exception):
    """With the status that the driver gives."""


def refuse(when: bool, status: str) -> None:
    if when:
        raise Refused(getattr(real.CUresult, "CUDA_ERROR_" + status))


class Pages:
    """Zeroed memory where the simulator has no state space of its own, unlike some memory of malloc."""

    _next, _lock = 0x2000_0000_0000, Lock()

    def __init__(self, size: int):
        self.size = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
        with Pages._lock:
            address = Pages._next
            Pages._next += self.size + mmap.PAGESIZE  # with a hole after it
        self.address = LIBC.mmap(address, self.size, mmap.PROT_READ | mmap.PROT_WRITE, PRIVATE, -1, 0)
        assert self.address == address, "the address is taken"

    def __del__(self) -> None:
        LIBC.munmap(self.address, self.size)


class FakeDriver:
    """`cuda.bindings.driver` of a machine with GPUs that do nothing.

    Attributes:
        calls: name and arguments of every call, in order.
        launches: kernel name, sizes, stream, attributes and parameter values (bytes) of each launch.
        failing: name of a function -> the error it gives from now on.
        variables: bytes of each variable that libraries export.
        sizes: bytes of each parameter, by kernel name; what it does not say is not read.
    """

    def __init__(
        self,
        capability: tuple[int, int] = (9, 0),
        devices: int = 1,
        version: int = 13010,
        smem: int = 232448,
        most_threads: int = 1024,
        registers: int = 32,
    ):
        self.calls: list[tuple] = []
        self.launches: list[SimpleNamespace] = []
        self.failing: dict[str, Any] = {}
        self.sizes: dict[str, list[int]] = {}
        self.memory: dict[int, Any] = {}
        self.images: dict[int, Any] = {}
        self.objects: dict[int, Any] = {}
        self.current: list[int] = []
        self.capturing: set[int] = set()
        self.mode = real.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL
        self.events: dict[int, int | None] = {}  # stream it was recorded on
        self._asked: dict[tuple[int, str], int] = {}  # what functions were allowed
        self._capability, self._count, self._version, self._smem = capability, devices, version, smem
        self._function = {"MAX_THREADS_PER_BLOCK": most_threads, "NUM_REGS": registers, "SHARED_SIZE_BYTES": 0}
        self._kernels: dict[int, str] = {}
        self.variables: dict[str, int] = {}
        self._placed: dict[tuple[int, bytes], Any] = {}  # address of each variable of a library
        self._lock = Lock()

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("cu") or not callable(getattr(real, name)) or name.startswith("cuuint"):
            return getattr(real, name)

        def function(*args: Any) -> tuple:
            with self._lock:
                self.calls.append((name, *args))
            if name in self.failing:
                return (self.failing[name], None)
            if not self.current and not name.startswith(BARE):
                return (real.CUresult.CUDA_ERROR_INVALID_CONTEXT, None)
            if self.capturing and name in UNSAFE and self.mode.name.endswith("GLOBAL"):
                return (real.CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, None)
            try:
                return (OK, *getattr(self, "_" + name)(*args))
            except Refused as why:
                return (why.args[0], None)

        function.__name__ = name
        return function

    def names(self) -> list[str]:
        """Functions called, in order."""
        return [call[0] for call in self.calls]

    # devices ---------------------------------------------------------------------------------------------------------

    def cuInit(self, flags: int) -> tuple:
        return (self.failing.get("cuInit", OK),)

    def cuGetErrorString(self, status: Any) -> tuple:
        return OK, b"as the test wants it"

    def _cuDriverGetVersion(self) -> tuple:
        return (self._version,)

    def _cuDeviceGetCount(self) -> tuple:
        return (self._count,)

    def _cuDeviceGet(self, ordinal: int) -> tuple:
        return (real.CUdevice(ordinal),)

    def _cuDeviceGetName(self, length: int, device: Any) -> tuple:
        return (b"Fake GPU\0".ljust(length),)  # as cuda.bindings gives it

    def _cuDeviceGetAttribute(self, attribute: Any, device: Any) -> tuple:
        name = attribute.name.removeprefix("CU_DEVICE_ATTRIBUTE_")
        return (
            {
                "COMPUTE_CAPABILITY_MAJOR": self._capability[0],
                "COMPUTE_CAPABILITY_MINOR": self._capability[1],
                "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": self._smem,
                "MAX_REGISTERS_PER_BLOCK": 65536,
            }[name],
        )

    def _cuDevicePrimaryCtxRetain(self, device: Any) -> tuple:
        return (real.CUcontext(100 + int(device)),)

    def _cuCtxGetCurrent(self) -> tuple:
        return (real.CUcontext(self.current[-1] if self.current else 0),)

    def _cuCtxGetDevice(self) -> tuple:
        return (real.CUdevice(self.current[-1] - 100),)

    def _cuCtxPushCurrent(self, context: Any) -> tuple:
        self.current.append(int(context))
        return ()

    def _cuCtxPopCurrent(self) -> tuple:
        return (real.CUcontext(self.current.pop()),)

    def _cuCtxSynchronize(self) -> tuple:
        return ()

    # memory ----------------------------------------------------------------------------------------------------------

    def _cuMemAlloc(self, size: int) -> tuple:
        refuse(size < 1, "INVALID_VALUE")
        memory = Pages(size)
        self.memory[memory.address] = memory
        return (real.CUdeviceptr(memory.address),)

    def _cuMemFree(self, address: int) -> tuple:
        del self.memory[int(address)]
        return ()

    def _cuMemcpyHtoD(self, target: int, source: int, size: int) -> tuple:
        ctypes.memmove(target, source, size)
        return ()

    _cuMemcpyDtoH = _cuMemcpyHtoD

    def _cuMemcpyHtoDAsync(self, target: int, source: Any, size: int, stream: Any) -> tuple:
        return self._cuMemcpyHtoD(target, source, size)

    def _cuPointerGetAttribute(self, attribute: Any, address: int) -> tuple:
        return (0,)

    # textures and surfaces: a CUDA array is its elements, packed -----------------------------------------------------

    def _cuArray3DCreate(self, descriptor: Any) -> tuple:
        handle = 9000 + len(self.images)
        self.images[handle] = SimpleNamespace(
            width=descriptor.Width,
            height=descriptor.Height,
            depth=descriptor.Depth,
            flags=descriptor.Flags,
            format=descriptor.Format.name,
            channels=descriptor.NumChannels,
            data=bytearray(),
        )
        return (real.CUarray(handle),)

    def _cuArrayDestroy(self, array: Any) -> tuple:
        del self.images[int(array)]
        return ()

    def _cuMipmappedArrayCreate(self, descriptor: Any, levels: int) -> tuple:
        for k in range(levels):
            smaller = real.CUDA_ARRAY3D_DESCRIPTOR()
            smaller.Width, smaller.Height, smaller.Depth = (
                n and max(1, n >> k) for n in (descriptor.Width, descriptor.Height, descriptor.Depth)
            )
            smaller.Format, smaller.NumChannels = descriptor.Format, descriptor.NumChannels
            first = int(self._cuArray3DCreate(smaller)[0]) - k
        return (real.CUmipmappedArray(first),)

    def _cuMipmappedArrayGetLevel(self, mipmapped: Any, level: int) -> tuple:
        return (real.CUarray(int(mipmapped) + level),)

    def _cuMipmappedArrayDestroy(self, mipmapped: Any) -> tuple:
        return ()

    def _cuMemcpy3DAsync(self, job: Any, stream: Any) -> tuple:
        back = job.srcMemoryType == real.CUmemorytype.CU_MEMORYTYPE_ARRAY
        image = self.images[int(job.srcArray if back else job.dstArray)]
        side = "dst" if back else "src"
        kind = getattr(job, f"{side}MemoryType")
        start = int(getattr(job, f"{side}Host" if kind == real.CUmemorytype.CU_MEMORYTYPE_HOST else f"{side}Device"))
        pitch, height, row = getattr(job, f"{side}Pitch"), getattr(job, f"{side}Height"), job.WidthInBytes
        for k in range(job.Depth * job.Height):
            at = start + k // job.Height * pitch * height + k % job.Height * pitch
            if back:
                ctypes.memmove(at, bytes(image.data[k * row : (k + 1) * row]), row)
            else:
                image.data[k * row : (k + 1) * row] = ctypes.string_at(at, row)
        return ()

    def _cuTexObjectCreate(self, resource: Any, reading: Any, view: Any) -> tuple:
        handle = 1 + len(self.objects)
        array = resource.resType == real.CUresourcetype.CU_RESOURCE_TYPE_ARRAY
        self.objects[handle] = SimpleNamespace(
            kind=resource.resType.name.removeprefix("CU_RESOURCE_TYPE_"),
            reading=reading,
            array=int(resource.res.array.hArray) if array else None,
            resource=resource,
        )
        return (real.CUtexObject(handle),)

    def _cuSurfObjectCreate(self, resource: Any) -> tuple:
        self._cuTexObjectCreate(resource, None, None)
        return (real.CUsurfObject(len(self.objects)),)

    def _cuTexObjectDestroy(self, handle: Any) -> tuple:
        self.objects[int(handle)] = None
        return ()

    _cuSurfObjectDestroy = _cuTexObjectDestroy

    # streams and events ----------------------------------------------------------------------------------------------

    def _cuStreamCreate(self, flags: int) -> tuple:
        return (real.CUstream(7000),)

    def _cuStreamSynchronize(self, stream: Any) -> tuple:
        return ()

    def _cuStreamIsCapturing(self, stream: Any) -> tuple:
        status = real.CUstreamCaptureStatus
        return (
            status.CU_STREAM_CAPTURE_STATUS_ACTIVE
            if int(stream) in self.capturing
            else status.CU_STREAM_CAPTURE_STATUS_NONE,
        )

    def _cuThreadExchangeStreamCaptureMode(self, mode: Any) -> tuple:
        before, self.mode = self.mode, mode
        return (before,)

    def _cuEventCreate(self, flags: int) -> tuple:
        event = real.CUevent(1 + len(self.calls))
        self.events[int(event)] = None
        return (event,)

    def _cuEventRecord(self, event: Any, stream: Any) -> tuple:
        refuse(int(event) not in self.events, "INVALID_HANDLE")
        self.events[int(event)] = int(stream)
        return ()

    def _cuEventSynchronize(self, event: Any) -> tuple:
        refuse(int(event) not in self.events, "INVALID_HANDLE")
        return ()

    def _cuEventDestroy(self, event: Any) -> tuple:
        refuse(self.events.pop(int(event), self) is self, "INVALID_HANDLE")
        return ()

    def _cuEventElapsedTime(self, start: Any, end: Any) -> tuple:
        refuse(any(self.events.get(int(event)) is None for event in (start, end)), "INVALID_HANDLE")
        return (2.5,)

    # kernels ---------------------------------------------------------------------------------------------------------

    def _cuLibraryLoadData(self, code: bytes, *options: Any) -> tuple:
        assert code[:4] == b"\x7fELF"
        return (real.CUlibrary(len(self.calls)),)

    def _cuLibraryGetKernel(self, library: Any, name: bytes) -> tuple:
        with self._lock:
            handle = 5000 + len(self._kernels)
            self._kernels[handle] = name.decode()
        return (real.CUkernel(handle),)

    def _cuLibraryGetGlobal(self, library: Any, name: bytes) -> tuple:
        with self._lock:
            key = int(library), name
            if key not in self._placed:
                refuse(name.decode() not in self.variables, "NOT_FOUND")
                self._placed[key] = self._cuMemAlloc(self.variables[name.decode()])[0]
        return self._placed[key], self.variables[name.decode()]

    def _cuKernelGetFunction(self, kernel: Any) -> tuple:
        return (real.CUfunction(int(kernel)),)

    def _cuFuncGetAttribute(self, attribute: Any, function: Any) -> tuple:
        return (self._function[attribute.name.removeprefix("CU_FUNC_ATTRIBUTE_")],)

    def _cuFuncSetAttribute(self, function: Any, attribute: Any, value: int) -> tuple:
        name = attribute.name.removeprefix("CU_FUNC_ATTRIBUTE_")
        refuse(name == "MAX_DYNAMIC_SHARED_SIZE_BYTES" and value > self._smem, "INVALID_VALUE")
        self._asked[int(function), name] = value
        return ()

    def _cuTensorMapEncodeTiled(self, *args: Any) -> tuple:
        rank, address, (dims, strides, box, steps) = int(args[1]), int(args[2]), args[3:7]
        if not all(isinstance(n, real.cuuint64_t) for n in (*dims, *strides)) or not all(
            isinstance(n, real.cuuint32_t) for n in (*box, *steps)
        ):
            raise TypeError("sizes of a tensor map are cuuint64_t, those of its box cuuint32_t")
        refuse(
            not 1 <= rank <= 5
            or address % 16 != 0
            or {rank, max(1, rank - 1)} != {len(dims), len(box), len(steps), len(strides)}
            or len(dims) != rank,
            "INVALID_VALUE",
        )
        encoded = real.CUtensorMap()
        address = int(args[2])
        encoded.opaque = [real.cuuint64_t(address), *[real.cuuint64_t(len(self.calls))] * 15]
        return (encoded,)

    def _cuLaunchKernelEx(self, config: Any, kernel: Any, params: int, extra: int) -> tuple:
        name = self._kernels[int(kernel)]
        self._admit(config, int(kernel))
        sizes = self.sizes.get(name, [])
        pointers = (ctypes.c_void_p * len(sizes)).from_address(params) if sizes else ()
        attributes = {a.id.name.removeprefix("CU_LAUNCH_ATTRIBUTE_"): a.value for a in config.attrs[: config.numAttrs]}
        launch = SimpleNamespace(
            kernel=name,
            grid=(config.gridDimX, config.gridDimY, config.gridDimZ),
            block=(config.blockDimX, config.blockDimY, config.blockDimZ),
            smem=config.sharedMemBytes,
            stream=int(config.hStream),
            context=self.current[-1] if self.current else 0,
            attributes=attributes,
            values=[ctypes.string_at(p, n) for p, n in zip(pointers, sizes, strict=True)],
        )
        with self._lock:
            self.launches.append(launch)
        return ()

    def _admit(self, config: Any, kernel: int) -> None:
        """What the driver checks of a launch."""
        grid = config.gridDimX, config.gridDimY, config.gridDimZ
        cluster = next(
            (
                (a.value.clusterDim.x, a.value.clusterDim.y, a.value.clusterDim.z)
                for a in config.attrs[: config.numAttrs]
                if a.id.name.endswith("_CLUSTER_DIMENSION")
            ),
            (1, 1, 1),
        )
        refuse(
            config.blockDimX * config.blockDimY * config.blockDimZ > self._function["MAX_THREADS_PER_BLOCK"],
            "INVALID_VALUE",
        )
        refuse(
            config.sharedMemBytes > max(FREELY, self._asked.get((kernel, "MAX_DYNAMIC_SHARED_SIZE_BYTES"), 0)),
            "INVALID_VALUE",
        )
        refuse(any(n % c for n, c in zip(grid, cluster, strict=True)), "INVALID_CLUSTER_SIZE")
        refuse(
            cluster[0] * cluster[1] * cluster[2] > 8
            and not self._asked.get((kernel, "NON_PORTABLE_CLUSTER_SIZE_ALLOWED")),
            "INVALID_CLUSTER_SIZE",
        )
