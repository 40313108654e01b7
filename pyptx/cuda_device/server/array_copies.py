"""Copies of boxes between memory of the host, of the device, and CUDA arrays."""

from __future__ import annotations

import struct
from typing import NamedTuple

from pyptx.cuda_device.server.arrays import Array
from pyptx.cuda_device.server.copies import Copy, box_copy
from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.session import Session
from pyptx.cuda_device.server.streams import submit

__all__ = ["box_copy_3d"]

_HOST, _DEVICE, _ARRAY, _UNIFIED = 1, 2, 3, 4  # CUmemorytype
_2D = struct.Struct("<2QI4x4Q2QI4x4Q2Q")
_3D = struct.Struct("<4QI4x6Q4QI4x6Q3Q")


class _Side(NamedTuple):
    """One side of a copy: start, row pitch and slice pitch in bytes."""

    address: int
    pitch: int
    slice: int
    on_device: bool


def _side(
    session: Session, what: str, kind: int, host: int, device: int, array: int, pitch: int, rows: int, x: int, y: int,
    z: int, size: tuple[int, int, int],
) -> _Side:  # fmt: skip
    width, height, depth = size
    if kind == _ARRAY:
        found = session.get(array, Array)
        d = found.description
        if x + width > found.pitch or y + height > max(1, d.height) or z + depth > max(1, d.depth):
            raise DriverError("INVALID_VALUE", f"{what} is outside of the array {d.shape}: {size} at {(x, y, z)}")
        return _Side(found.memory.address + x + y * found.pitch + z * found.slice, found.pitch, found.slice, True)
    if kind not in (_HOST, _DEVICE, _UNIFIED):
        raise DriverError("INVALID_VALUE", f"{what}: memory type {kind} is unknown")
    pitch = pitch or width + x
    if height > 1 and pitch < width:
        raise DriverError("INVALID_VALUE", f"{what}: a pitch of {pitch} bytes for rows of {width} bytes")
    plane = pitch * (rows or height + y)
    start = (host if kind == _HOST else device) + x + y * pitch + z * plane
    on_device = session.memory.contains(start)
    if kind == _DEVICE and not on_device:
        raise DriverError("INVALID_VALUE", f"{what}: 0x{start:x} is not memory of the device")
    if on_device:
        session.memory.require(start, (depth - 1) * plane + (height - 1) * pitch + width, what)
    return _Side(start, pitch, plane, on_device)


def _copy(session: Session, source: _Side, to: _Side, size: tuple[int, int, int]) -> Copy:
    box = (to.address, source.address, *size, to.pitch, source.pitch, to.slice, source.slice)
    return box_copy(session, box)


def box_copy_3d(session: Session, data: bytes) -> Copy | None:
    """Return the copy of CUDA_MEMCPY3D or CUDA_MEMCPY3D_PEER; None if it is empty.

    Raises:
        DriverError: a side is invalid.
    """
    (sx, sy, sz, _, s_kind, s_host, s_device, s_array, _, s_pitch, s_rows,
     dx, dy, dz, _, d_kind, d_host, d_device, d_array, _, d_pitch, d_rows, *size) = _3D.unpack(data)  # fmt: skip
    box = (size[0], size[1], size[2])
    if 0 in box:
        return None
    source = _side(session, "source", s_kind, s_host, s_device, s_array, s_pitch, s_rows, sx, sy, sz, box)
    to = _side(session, "destination", d_kind, d_host, d_device, d_array, d_pitch, d_rows, dx, dy, dz, box)
    return _copy(session, source, to, box)


@handles("cuMemcpy3D_v2", "cuMemcpy3DPeer")
def copy_3d(session: Session, data: bytes) -> None:
    copy_3d_async(session, data, 0)


@handles("cuMemcpy3DAsync_v2", "cuMemcpy3DPeerAsync")
def copy_3d_async(session: Session, data: bytes, stream: int) -> None:
    copy = box_copy_3d(session, data)
    if copy is not None:
        submit(session, stream, copy)


@handles("cuMemcpy2D_v2", "cuMemcpy2DUnaligned_v2")
def copy_2d(session: Session, data: bytes) -> None:
    copy_2d_async(session, data, 0)


@handles("cuMemcpy2DAsync_v2")
def copy_2d_async(session: Session, data: bytes, stream: int) -> None:
    (sx, sy, s_kind, s_host, s_device, s_array, s_pitch,
     dx, dy, d_kind, d_host, d_device, d_array, d_pitch, width, height) = _2D.unpack(data)  # fmt: skip
    size = (width, height, 1)
    if 0 in size:
        return
    source = _side(session, "source", s_kind, s_host, s_device, s_array, s_pitch, 0, sx, sy, 0, size)
    to = _side(session, "destination", d_kind, d_host, d_device, d_array, d_pitch, 0, dx, dy, 0, size)
    submit(session, stream, _copy(session, source, to, size))


# rows of bytes of an array


def _in_array(session: Session, handle: int, offset: int, size: int) -> int:
    array = session.get(handle, Array)
    if offset + size > array.memory.size:
        raise DriverError("INVALID_VALUE", f"bytes {offset}..{offset + size} of an array of {array.memory.size} bytes")
    return array.memory.address + offset


def _linear(session: Session, to: int, source: int, size: int, stream: int = 0) -> None:
    if size:
        submit(session, stream, box_copy(session, (to, source, size, 1, 1, 0, 0, 0, 0)))


@handles("cuMemcpyDtoA_v2", "cuMemcpyHtoA_v2")
def to_array(session: Session, array: int, offset: int, source: int, size: int) -> None:
    to_array_async(session, array, offset, source, size, 0)


@handles("cuMemcpyHtoAAsync_v2")
def to_array_async(session: Session, array: int, offset: int, source: int, size: int, stream: int) -> None:
    if session.memory.contains(source):
        session.memory.require(source, size, "source")
    _linear(session, _in_array(session, array, offset, size), source, size, stream)


@handles("cuMemcpyAtoD_v2", "cuMemcpyAtoH_v2")
def from_array(session: Session, to: int, array: int, offset: int, size: int) -> None:
    from_array_async(session, to, array, offset, size, 0)


@handles("cuMemcpyAtoHAsync_v2")
def from_array_async(session: Session, to: int, array: int, offset: int, size: int, stream: int) -> None:
    if session.memory.contains(to):
        session.memory.require(to, size, "destination")
    _linear(session, to, _in_array(session, array, offset, size), size, stream)


@handles("cuMemcpyAtoA_v2")
def between_arrays(session: Session, to: int, to_offset: int, source: int, offset: int, size: int) -> None:
    start = _in_array(session, source, offset, size)
    _linear(session, _in_array(session, to, to_offset, size), start, size)
