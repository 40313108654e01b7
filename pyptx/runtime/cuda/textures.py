"""Texture and surface objects on a GPU, and their CUDA arrays.

Objects are cached for the lifetime of a pyptx.Texture or Surface, for each GPU and stream. Every launch copies the
arrays to the GPU in stream order, and surfaces back afterwards.

Source: CUDA Driver API, "Memory Management", "Texture Object Management", "Surface Object Management".
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import RLock
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, finalize

import numpy as np

from pyptx.errors import ArgumentValueError, BackendError, DeviceError, LaunchError
from pyptx.runtime.arrays import arrays_of
from pyptx.runtime.cuda.driver import Device, Driver
from pyptx.sim.memory.arguments import OBJECT_TYPES, ParamSlot
from pyptx.tensor_map._source import Source
from pyptx.texture import Surface, Texture
from pyptx.texture._levels import Level
from pyptx.texture._texture import ADDRESS_MODES

__all__ = ["TextureObjects"]

_LAYERED, _SURFACE, _CUBE, _GATHER = 1, 2, 4, 8  # CUDA_ARRAY3D_
_READ_AS_INTEGER, _NORMALIZED, _SRGB = 1, 2, 0x10  # CU_TRSF_
_MOST_GATHERED = 32768  # elements along a side of a texture that tld4 can read


class _Made(NamedTuple):
    """Driver resources of a texture or surface: its handle, the CUDA array of each level, private memory, and the
    finalizer that releases them."""

    handle: int
    arrays: tuple[Any, ...]
    memory: int
    free: finalize


class TextureObjects:
    """Cache of the texture and surface objects of launches."""

    def __init__(self, driver: Driver):
        self._driver = driver
        self._made: WeakKeyDictionary[Any, dict[tuple[int, int], _Made]] = WeakKeyDictionary()
        self._lock = RLock()  # a finalizer may run while another object is created

    def placed(
        self, device: Device, stream: int, args: Sequence[Any], slots: Sequence[ParamSlot], entry: str
    ) -> tuple[list[Any], list[Surface]]:
        """Replace textures and surfaces by handles, and copy their arrays to the current GPU.

        Returns:
            The arguments, and the surfaces to pass to `back` after the launch.
        Raises:
            LaunchError: a GPU does not support the parameter or the array.
            DeviceError: the driver refuses an object that pyptx accepted.
        """
        found, surfaces = list(args), []
        for k, arg in enumerate(args):
            if not isinstance(arg, (Texture, Surface)):
                continue
            name = slots[k].name if k < len(slots) else f"argument {k}"
            if k < len(slots) and slots[k].type in OBJECT_TYPES:
                raise ArgumentValueError(
                    f"{entry}: parameter {name} is .{slots[k].type}; the CUDA driver has no handles of this type",
                    hint="declare it .u64 and use the register it is loaded to: [%rd, {coordinates}]",
                )
            if self._driver.capturing(stream) and _on_host(arg):
                raise BackendError(
                    f"{entry}: {name} uses an array in host memory, which a graph cannot capture; use "
                    "an array on the GPU"
                )
            made = self._object(device, stream, arg, f"{entry}: {name}")
            self._fill(arg, made, stream)
            found[k] = made.handle
            if isinstance(arg, Surface) and arg not in surfaces:
                surfaces.append(arg)
        return found, surfaces

    def back(self, device: Device, stream: int, surfaces: Sequence[Surface]) -> None:
        """Copy surfaces back to their arrays, in stream order; arrays in host memory are complete on return."""
        for surface in surfaces:
            made = self._made[surface][device.ordinal, stream]
            source = surface.levels.whole[0].source
            host = _host(source) if source.address is None else None
            if host is not None and not host.flags.writeable:
                raise ArgumentValueError(
                    f"the array of {surface} is read-only, so the kernel's results cannot be copied to it"
                )
            packed = None if host is None else np.ascontiguousarray(host)
            self._copy(surface, surface.levels.whole[0], made.arrays[0], stream, packed, back=True)
            if host is not None and packed is not host:
                self._driver.call("cuStreamSynchronize", self._driver.api.CUstream(stream))
                host[...] = packed

    # making ----------------------------------------------------------------------------------------------------------

    def _object(self, device: Device, stream: int, value: Texture | Surface, what: str) -> _Made:
        with self._lock:
            known = self._made.setdefault(value, {})
            made = known.get((device.ordinal, stream))
            if made is None:
                made = known[device.ordinal, stream] = self._make(device, value, what)
        return made

    def _make(self, device: Device, value: Texture | Surface, what: str) -> _Made:
        if value.geometry.multisampled:
            raise BackendError(
                f"{what}: CUDA has no multisample textures; {value.geometry.name} runs on the simulator only"
            )
        api, call = self._driver.api, self._driver.call
        resource, arrays, memory, mipmapped = api.CUDA_RESOURCE_DESC(), (), 0, None
        kinds = api.CUresourcetype
        in_memory = isinstance(value, Texture) and value.memory != "array"
        if isinstance(value, Texture) and in_memory:
            memory = self._memory(value)
            self._describe(resource, value, memory)
        else:
            descriptor = self._descriptor(value)
            count = len(value.levels.whole)
            if count > 1:
                mipmapped = call("cuMipmappedArrayCreate", descriptor, count, doing=f"{what}: allocating levels")
                arrays = tuple(call("cuMipmappedArrayGetLevel", mipmapped, k) for k in range(count))
                resource.resType = kinds.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY
                resource.res.mipmap.hMipmappedArray = mipmapped
            else:
                arrays = (call("cuArray3DCreate", descriptor, doing=f"{what}: allocating a CUDA array"),)
                resource.resType = kinds.CU_RESOURCE_TYPE_ARRAY
                resource.res.array.hArray = arrays[0]
        if isinstance(value, Surface):
            handle = int(call("cuSurfObjectCreate", resource, doing=f"{what}: making the surface"))
        else:
            handle = int(
                call("cuTexObjectCreate", resource, self._reading(value), None, doing=f"{what}: making the texture")
            )
        own = memory if in_memory and value.levels.whole[0].source.address is None else 0
        free = finalize(
            value,
            _free,
            self._driver,
            device,
            isinstance(value, Surface),
            handle,
            mipmapped,
            () if mipmapped is not None else arrays,
            own,
        )
        free.atexit = False  # the driver releases everything at exit
        return _Made(handle, arrays, memory, free)

    def _descriptor(self, value: Texture | Surface) -> Any:
        api, g, e = self._driver.api, value.geometry, value.extents
        descriptor = api.CUDA_ARRAY3D_DESCRIPTOR()
        descriptor.Width, descriptor.Height = e.width, e.height if g.dims > 1 else 0
        descriptor.Depth = e.layers if g.layered or g.cube else e.depth if g.dims > 2 else 0
        descriptor.Format, descriptor.NumChannels = self._format(value), value.channels
        flags = (_LAYERED if g.layered else 0) | (_CUBE if g.cube else 0)
        flags |= _SURFACE if isinstance(value, Surface) else 0
        if (
            g.name == "2d"
            and isinstance(value, Texture)
            and len(value.levels.whole) == 1
            and max(e.width, e.height) <= _MOST_GATHERED
        ):
            flags |= _GATHER
        descriptor.Flags = flags
        return descriptor

    def _format(self, value: Texture | Surface) -> Any:
        return getattr(self._driver.api.CUarray_format, f"CU_AD_FORMAT_{value.format.driver}")

    def _reading(self, t: Texture) -> Any:
        api = self._driver.api
        reading, modes, filters = api.CUDA_TEXTURE_DESC(), api.CUaddress_mode, api.CUfilter_mode
        reading.addressMode = [modes(ADDRESS_MODES.index(mode)) for mode in t.address]
        reading.filterMode = filters(int(t.filter == "linear"))
        reading.mipmapFilterMode = filters(int(t.mip_filter == "linear"))
        reading.flags = (
            (_NORMALIZED if t.normalized or t.geometry.cube else 0)
            | (_SRGB if t.srgb else 0)
            | (_READ_AS_INTEGER if t.read == "element" and not t.format.floating else 0)
        )
        reading.maxAnisotropy = 0
        reading.mipmapLevelBias = t.lod_bias
        reading.minMipmapLevelClamp, reading.maxMipmapLevelClamp = t.lod_clamp
        reading.borderColor = list(t.border)
        return reading

    def _memory(self, value: Texture) -> int:
        """Return the address of a texture over linear memory: the array itself, or memory for a copy."""
        source = value.levels.whole[0].source
        if source.address is not None:
            return source.address
        return int(self._driver.call("cuMemAlloc", max(1, _span(value)), doing="allocating memory for a texture"))

    def _describe(self, resource: Any, value: Texture, address: int) -> None:
        api = self._driver.api
        if value.memory == "linear":
            resource.resType, part = api.CUresourcetype.CU_RESOURCE_TYPE_LINEAR, resource.res.linear
            part.sizeInBytes = value.extents.width * value.levels.element_bytes
        else:
            resource.resType, part = api.CUresourcetype.CU_RESOURCE_TYPE_PITCH2D, resource.res.pitch2D
            part.width, part.height = value.extents.width, value.extents.height
            part.pitchInBytes = _strides(value.levels.whole[0])[0]
        part.devPtr, part.format, part.numChannels = api.CUdeviceptr(address), self._format(value), value.channels

    # copying ---------------------------------------------------------------------------------------------------------

    def _fill(self, value: Texture | Surface, made: _Made, stream: int) -> None:
        if made.arrays:
            for level, array in zip(value.levels.whole, made.arrays, strict=True):
                host = None if level.source.address is not None else np.ascontiguousarray(_host(level.source))
                self._copy(value, level, array, stream, host, back=False)
        elif isinstance(value, Texture) and value.levels.whole[0].source.address is None:
            host, pitch = _host(value.levels.whole[0].source), _strides(value.levels.whole[0])[0]
            packed = np.zeros(_span(value), np.uint8)
            row = value.extents.width * value.levels.element_bytes
            for k in range(value.extents.height):
                line = host[k] if value.memory == "pitch2d" else host
                packed[k * pitch : k * pitch + row] = np.ascontiguousarray(line).reshape(-1).view(np.uint8)
            self._driver.call(
                "cuMemcpyHtoDAsync",
                made.memory,
                packed.ctypes.data,
                packed.nbytes,
                self._driver.api.CUstream(stream),
                doing="copying a texture",
            )

    def _copy(
        self, value: Texture | Surface, level: Level, array: Any, stream: int, host: np.ndarray | None, *, back: bool
    ) -> None:
        """Copy an array, packed in host memory or in place on the GPU, to a CUDA array or back."""
        api, e = self._driver.api, level.extents
        job, kinds = api.CUDA_MEMCPY3D(), api.CUmemorytype
        row = e.width * value.levels.element_bytes
        pitch, height = (row, e.height) if host is not None else _pitches(value, level, row)
        outer, inner = ("dst", "src") if back else ("src", "dst")
        setattr(job, f"{outer}MemoryType", kinds.CU_MEMORYTYPE_DEVICE if host is None else kinds.CU_MEMORYTYPE_HOST)
        if host is None:
            setattr(job, f"{outer}Device", api.CUdeviceptr(level.source.address))
        else:
            setattr(job, f"{outer}Host", host.ctypes.data)
        setattr(job, f"{outer}Pitch", pitch)
        setattr(job, f"{outer}Height", height)
        setattr(job, f"{inner}MemoryType", kinds.CU_MEMORYTYPE_ARRAY)
        setattr(job, f"{inner}Array", array)
        job.WidthInBytes, job.Height, job.Depth = row, e.height, e.depth * e.layers
        self._driver.call("cuMemcpy3DAsync", job, api.CUstream(stream), doing=f"copying the array of {value}")


def _strides(level: Level) -> tuple[int, ...]:
    assert level.source.strides is not None, "the source of a texture is an array"
    return level.source.strides


def _on_host(value: Texture | Surface) -> bool:
    return any(level.source.address is None for level in value.levels.whole)


def _host(source: Source) -> np.ndarray:
    """Return a NumPy view of an array in host memory."""
    arrays = arrays_of(source.array)
    host = arrays.host(source.array) if arrays is not None else np.asarray(source.array)
    return host


def _span(value: Texture) -> int:
    """Return the bytes of a texture in memory, including the padding between rows."""
    row = value.extents.width * value.levels.element_bytes
    pitch = _strides(value.levels.whole[0])[0]
    return (value.extents.height - 1) * pitch + row if value.memory == "pitch2d" else row


def _pitches(value: Texture | Surface, level: Level, row: int) -> tuple[int, int]:
    """Return the row pitch in bytes and the slice pitch in rows of an array on the GPU."""
    strides: dict[str, int] = dict(zip(value.geometry.axes, _strides(level), strict=False))
    pitch = strides.get("height", row)
    plane = strides.get("depth", strides.get("faces", strides.get("layers", pitch * level.extents.height)))
    if pitch < row or plane < pitch or plane % pitch:
        raise BackendError(
            f"the array of {value} has strides {level.source.strides}, which the driver cannot copy; "
            "pass a contiguous array"
        )
    return pitch, max(1, plane // pitch)


def _free(
    driver: Driver, device: Device, surface: bool, handle: int, mipmapped: Any, arrays: Sequence[Any], memory: int
) -> None:
    """Destroy an object and free its memory once the GPU is idle."""
    try:
        with driver.on(device), driver.unrelated():
            driver.call("cuCtxSynchronize")
            driver.call(
                "cuSurfObjectDestroy" if surface else "cuTexObjectDestroy",
                (driver.api.CUsurfObject if surface else driver.api.CUtexObject)(handle),
            )
            if mipmapped is not None:
                driver.call("cuMipmappedArrayDestroy", mipmapped)
            for array in arrays:
                driver.call("cuArrayDestroy", array)
            if memory:
                driver.call("cuMemFree", memory)
    except (DeviceError, LaunchError):  # the driver has shut down or the context is corrupted
        return
