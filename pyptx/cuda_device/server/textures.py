"""Texture and surface objects: records of the simulator over memory of the device."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

from pyptx.cuda_device.server.arrays import FORMATS_BY_CODE, Array, MipmappedArray
from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.resource_views import viewed
from pyptx.cuda_device.server.session import Session
from pyptx.errors import PtxError
from pyptx.sim.memory.address_space import OBJECT_STRIDE, OBJECT_WINDOW, Buffer, Segment
from pyptx.sim.memory.texture_objects import WORDS, ObjectArgument, ObjectTable
from pyptx.texture import Surface, Texture
from pyptx.texture._texture import ADDRESS_MODES, FILTERS

__all__ = ["objects_segment"]

_ARRAY, _MIPMAPPED, _LINEAR, _PITCH_2D = range(4)  # CUresourcetype
_READ_AS_INTEGER, _NORMALIZED, _SRGB = 1, 2, 0x10  # CU_TRSF_
_TEXTURE = struct.Struct("<3iiIIi3f4f")


@dataclass(eq=False)
class ImageObject:
    """A texture or surface object; `place` is its number in the table of objects."""

    context: int
    place: int
    resource: bytes
    description: bytes
    is_surface: bool
    view: bytes | None = None


def objects_segment(session: Session) -> Segment | None:
    """Return the table of all objects for a launch; None without objects."""
    records = session.images.records
    if not records:
        return None
    rows = [np.zeros(WORDS, np.uint64) if record is None else record for record in records]
    segment = Segment(OBJECT_WINDOW, ObjectTable([f"object #{k}" for k in range(len(rows))], rows), "object")
    segment.size = 0  # no access reaches it
    return segment


def _levels(session: Session, resource: bytes) -> tuple[list[np.ndarray], str, str]:
    """Return the memory of a resource as arrays, the geometry, and the kind of memory."""
    kind = int.from_bytes(resource[:4], "little")
    handle = int.from_bytes(resource[8:16], "little")
    if kind == _ARRAY:
        array = session.get(handle, Array)
        return [array.values], array.description.geometry, "array"
    if kind == _MIPMAPPED:
        levels = [array for _, array in session.get(handle, MipmappedArray).levels]
        return [array.values for array in levels], levels[0].description.geometry, "array"
    if kind not in (_LINEAR, _PITCH_2D):
        raise DriverError("INVALID_VALUE", f"resource type {kind} is unknown")
    code, channels = struct.unpack_from("<iI", resource, 16)
    if code not in FORMATS_BY_CODE:
        raise DriverError("NOT_SUPPORTED", f"textures of format 0x{code:x} are not simulated; only plain channels are")
    dtype = np.dtype(FORMATS_BY_CODE[code].numpy)
    element, tail = dtype.itemsize * channels, (channels,) if channels > 1 else ()
    if kind == _LINEAR:
        (size,) = struct.unpack_from("<Q", resource, 24)
        session.memory.require(handle, size, "a texture")
        count = size // element
        return [session.memory.view(handle, count * element).view(dtype).reshape(count, *tail)], "1d", "linear"
    width, height, pitch = struct.unpack_from("<3Q", resource, 24)
    session.memory.require(handle, (height - 1) * pitch + width * element, "a texture")
    whole = session.memory.view(handle, (height - 1) * pitch + width * element)
    inner = (dtype.itemsize,) if channels > 1 else ()
    values = np.ndarray((height, width, *tail), dtype, whole, 0, (pitch, element, *inner))
    return [values], "2d", "pitch2d"


def _texture(session: Session, resource: bytes, description: bytes, view: bytes | None) -> Texture:
    *modes, filtering, flags, _, mip_filter, bias, low, high, b0, b1, b2, b3 = _TEXTURE.unpack_from(description)
    arrays, geometry, memory = _levels(session, resource)
    if view is not None:
        if memory != "array":
            raise DriverError("INVALID_VALUE", "cuTexObjectCreate: only arrays have resource views")
        arrays = viewed(arrays, geometry, view)
    normalized = bool(flags & _NORMALIZED)
    address = [ADDRESS_MODES[mode & 3] for mode in modes]
    if not normalized and not geometry.endswith("cube"):
        address = [mode if mode in ("clamp", "border") else "clamp" for mode in address]
    dims = {"1d": 1, "a1d": 1, "3d": 3}.get(geometry, 2)
    small = arrays[0].dtype.kind in "iu" and arrays[0].dtype.itemsize < 4
    last = float(len(arrays) - 1)
    return Texture(
        arrays,
        geometry,
        address=address,
        filter="nearest" if memory == "linear" else FILTERS[filtering & 1],
        normalized=normalized and memory != "linear",
        read="normalized_float" if small and not flags & _READ_AS_INTEGER else "element",
        border=(b0, b1, b2, b3) if "border" in address[:dims] else None,
        srgb=bool(flags & _SRGB),
        mip_filter=FILTERS[mip_filter & 1],
        lod_bias=bias,
        lod_clamp=(min(low, last), max(min(high, last), min(low, last))),
        memory=memory,
    )


def _record(session: Session, value: Texture | Surface) -> np.ndarray:
    argument = ObjectArgument(value, "the object")
    start = session.memory.host_address(session.memory.base)
    placed = {
        id(b): Segment(session.memory.base + b.host - start, b) for b in argument.buffers if isinstance(b, Buffer)
    }
    return argument.record(placed)


def _create(
    session: Session, resource: bytes | None, description: bytes, view: bytes | None = None, *, is_surface: bool
) -> int:
    if resource is None:
        raise DriverError("INVALID_VALUE", "the resource of a texture or surface is a null pointer")
    try:
        if is_surface:
            arrays, geometry, _ = _levels(session, resource)
            value: Texture | Surface = Surface(arrays[0], geometry)
        else:
            value = _texture(session, resource, description, view)
        record = _record(session, value)
    except PtxError as error:
        raise DriverError("INVALID_VALUE", str(error.message)) from error
    place = session.images.add(record)
    session.memory.version += 1  # prepared launches have the table of before
    handle = OBJECT_WINDOW + OBJECT_STRIDE * (place + 1)
    return session.add(ImageObject(session.context, place, resource, description, is_surface, view), handle)


def _destroy(session: Session, handle: int) -> None:
    session.images.records[session.remove(handle, ImageObject).place] = None
    session.memory.version += 1


@handles("cuTexObjectCreate")
def create_texture(session: Session, resource: bytes | None, description: bytes | None, view: bytes | None) -> int:
    if description is None:
        raise DriverError("INVALID_VALUE", "cuTexObjectCreate: the texture descriptor is a null pointer")
    return _create(session, resource, description, view, is_surface=False)


@handles("cuSurfObjectCreate")
def create_surface(session: Session, resource: bytes | None) -> int:
    return _create(session, resource, b"", is_surface=True)


@handles("cuTexObjectDestroy", "cuSurfObjectDestroy")
def destroy_object(session: Session, handle: int) -> None:
    _destroy(session, handle)


@handles("cuTexObjectGetResourceDesc", "cuSurfObjectGetResourceDesc")
def resource_of(session: Session, handle: int) -> bytes:
    return session.get(handle, ImageObject).resource


@handles("cuTexObjectGetResourceViewDesc")
def view_of(session: Session, handle: int) -> bytes:
    view = session.get(handle, ImageObject).view
    if view is None:
        raise DriverError("INVALID_VALUE", "cuTexObjectGetResourceViewDesc: the texture has no resource view")
    return view


@handles("cuTexObjectGetTextureDesc")
def description_of(session: Session, handle: int) -> bytes:
    return session.get(handle, ImageObject).description
