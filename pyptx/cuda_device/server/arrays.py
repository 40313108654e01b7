"""CUDA arrays and mipmapped arrays: rows of elements without padding, in the device's memory."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

from pyptx.cuda_device.server.device_memory import LARGE, Allocation
from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.session import Session
from pyptx.texture._formats import FORMATS, Format

__all__ = ["FORMATS_BY_CODE", "Array", "MipmappedArray"]

_DESCRIPTOR, _DESCRIPTOR_2D = struct.Struct("<3Q3I4x"), struct.Struct("<2Q2I")
_NAMES = {1: "u8", 2: "u16", 3: "u32", 8: "s8", 9: "s16", 10: "s32", 16: "f16", 32: "f32"}  # CU_AD_FORMAT_
FORMATS_BY_CODE: dict[int, Format] = {code: f for code, name in _NAMES.items() for f in FORMATS if f.name == name}

# largest width, height and depth, by geometry. Source: CUDA C++ Programming Guide, "Compute Capabilities"
_LIMITS = {
    "1d": (131072, 0, 0),
    "2d": (131072, 65536, 0),
    "3d": (16384, 16384, 16384),
    "a1d": (32768, 0, 2048),
    "a2d": (32768, 32768, 2048),
    "cube": (32768, 32768, 6),
    "acube": (32768, 32768, 2046),
}

LAYERED, SURFACE, CUBE, GATHER = 1, 2, 4, 8  # CUDA_ARRAY3D_
_KNOWN_FLAGS = LAYERED | SURFACE | CUBE | GATHER


@dataclass(frozen=True)
class Description:
    """CUDA_ARRAY3D_DESCRIPTOR; a height or depth of 0 is a dimension that the array does not have."""

    width: int
    height: int
    depth: int
    format: int
    channels: int
    flags: int = 0

    @property
    def element_bytes(self) -> int:
        """Size of an element, all channels."""
        return FORMATS_BY_CODE[self.format].bits // 8 * self.channels

    @property
    def geometry(self) -> str:
        """Name of the geometry, as for `pyptx.Texture`."""
        if self.flags & CUBE:
            return "acube" if self.flags & LAYERED else "cube"
        if self.flags & LAYERED:
            return "a2d" if self.height else "a1d"
        return "3d" if self.depth else "2d" if self.height else "1d"

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape as an array of elements with channels, as `pyptx.Texture` takes it."""
        sizes = {
            "1d": (self.width,),
            "2d": (self.height, self.width),
            "3d": (self.depth, self.height, self.width),
            "a1d": (self.depth, self.width),
            "a2d": (self.depth, self.height, self.width),
            "cube": (6, self.height, self.width),
            "acube": (self.depth // 6, 6, self.height, self.width),
        }[self.geometry]
        return (*sizes, self.channels) if self.channels > 1 else sizes

    @property
    def size(self) -> int:
        """Size in bytes."""
        return self.element_bytes * self.width * max(1, self.height) * max(1, self.depth)

    def level(self, number: int) -> Description:
        """Return the description of a level of a mipmapped array."""
        width, height = max(1, self.width >> number), self.height and max(1, self.height >> number)
        layered = self.flags & (LAYERED | CUBE)
        depth = self.depth if layered or not self.depth else max(1, self.depth >> number)
        return Description(width, height, depth, self.format, self.channels, self.flags)


@dataclass(eq=False)
class Array:
    """A CUDA array."""

    context: int
    description: Description
    memory: Allocation
    is_level: bool = False

    @property
    def is_owned(self) -> bool:
        """True for a level of a mipmapped array."""
        return self.is_level

    @property
    def pitch(self) -> int:
        """Bytes from row to row."""
        return self.description.width * self.description.element_bytes

    @property
    def slice(self) -> int:
        """Bytes from slice to slice, or from layer to layer."""
        return self.pitch * max(1, self.description.height)

    @property
    def values(self) -> np.ndarray:
        """The elements."""
        dtype = FORMATS_BY_CODE[self.description.format].numpy
        return self.memory.bytes.view(dtype).reshape(self.description.shape)


@dataclass(eq=False)
class MipmappedArray:
    """A mipmapped array."""

    context: int
    levels: list[tuple[int, Array]]


def _checked(description: Description) -> Description:
    if description.format not in FORMATS_BY_CODE:
        raise DriverError(
            "NOT_SUPPORTED",
            f"CUDA arrays of format 0x{description.format:x} are not simulated; only plain channels are",
        )
    if description.channels not in (1, 2, 4) or not description.width or description.flags & ~_KNOWN_FLAGS:
        raise DriverError("INVALID_VALUE", f"a CUDA array cannot be made with {description}")
    limits = _LIMITS[description.geometry]
    sizes = (description.width, description.height, description.depth)
    if any(size > most for size, most in zip(sizes, limits, strict=True)):
        raise DriverError("INVALID_VALUE", f"a CUDA array of {sizes} elements; at most {limits}")
    if description.flags & CUBE and (description.depth % 6 or description.width != description.height):
        raise DriverError("INVALID_VALUE", f"a cube map has square faces, 6 for each cube; got {description}")
    return description


def _make(session: Session, description: Description, *, is_level: bool = False) -> tuple[int, Array]:
    memory = session.memory.allocate(description.size, session.context, "array", name=f"array {description.shape}")
    array = Array(session.context, description, memory, is_level)
    return session.add(array), array


@handles("cuArrayCreate_v2")
def create_2d(session: Session, data: bytes) -> int:
    width, height, format_, channels = _DESCRIPTOR_2D.unpack(data)
    return _make(session, _checked(Description(width, height, 0, format_, channels)))[0]


@handles("cuArray3DCreate_v2")
def create_3d(session: Session, data: bytes) -> int:
    return _make(session, _checked(Description(*_DESCRIPTOR.unpack(data))))[0]


@handles("cuArrayGetDescriptor_v2")
def describe_2d(session: Session, handle: int) -> bytes:
    d = session.get(handle, Array).description
    return _DESCRIPTOR_2D.pack(d.width, d.height, d.format, d.channels)


@handles("cuArray3DGetDescriptor_v2")
def describe_3d(session: Session, handle: int) -> bytes:
    d = session.get(handle, Array).description
    return _DESCRIPTOR.pack(d.width, d.height, d.depth, d.format, d.channels, d.flags)


@handles("cuArrayGetMemoryRequirements")
def memory_requirements(session: Session, handle: int, device: int) -> bytes:
    return _requirements(session.get(handle, Array).memory.size)


@handles("cuMipmappedArrayGetMemoryRequirements")
def mipmapped_memory_requirements(session: Session, handle: int, device: int) -> bytes:
    return _requirements(sum(array.memory.size for _, array in session.get(handle, MipmappedArray).levels))


def _requirements(size: int) -> bytes:
    """Return CUDA_ARRAY_MEMORY_REQUIREMENTS: size and alignment."""
    return struct.pack("<2Q16x", -(-size // LARGE) * LARGE, LARGE)


@handles("cuArrayDestroy")
def destroy(session: Session, handle: int) -> None:
    if session.get(handle, Array).is_level:
        raise DriverError("INVALID_HANDLE", "cuArrayDestroy: a level of a mipmapped array is destroyed with it")
    session.memory.free(session.remove(handle, Array).memory.address)


@handles("cuMipmappedArrayCreate")
def create_mipmapped(session: Session, data: bytes, count: int) -> int:
    whole = _checked(Description(*_DESCRIPTOR.unpack(data)))
    most = max(whole.width, whole.height, 1 if whole.flags & (LAYERED | CUBE) else whole.depth).bit_length()
    levels = [_make(session, whole.level(number), is_level=True) for number in range(min(max(1, count), most))]
    return session.add(MipmappedArray(session.context, levels))


@handles("cuMipmappedArrayGetLevel")
def level(session: Session, handle: int, number: int) -> int:
    levels = session.get(handle, MipmappedArray).levels
    if number >= len(levels):
        raise DriverError("INVALID_VALUE", f"a mipmapped array has {len(levels)} levels; got level {number}")
    return levels[number][0]


@handles("cuMipmappedArrayDestroy")
def destroy_mipmapped(session: Session, handle: int) -> None:
    for own, array in session.remove(handle, MipmappedArray).levels:
        session.discard(own)
        session.memory.free(array.memory.address)
