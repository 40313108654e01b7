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

__all__ = ["Operand", "box_copy_3d", "box_copy_between", "params_of_copy"]

_HOST, _DEVICE, _ARRAY, _UNIFIED = 1, 2, 3, 4  # CUmemorytype
_2D = struct.Struct("<2QI4x4Q2QI4x4Q2Q")
_3D = struct.Struct("<4QI4x6Q4QI4x6Q3Q")


class Operand(NamedTuple):
    """One side of a copy: memory at a pointer, or a CUDA array.

    Attributes:
        pointer: of memory of the host or of the device.
        array: handle of an array; 0 for memory.
        pitch, rows: bytes from row to row, and rows from slice to slice, of memory; 0: as the copy has them.
        x: first byte of each row. y, z: first row and slice.
        on_device: True if the memory must be the device's.
    """

    pointer: int = 0
    array: int = 0
    pitch: int = 0
    rows: int = 0
    x: int = 0
    y: int = 0
    z: int = 0
    on_device: bool = False


class _Side(NamedTuple):
    """One side of a checked copy: start, row pitch and slice pitch in bytes."""

    address: int
    pitch: int
    slice: int


def _side(session: Session, what: str, side: Operand, size: tuple[int, int, int]) -> _Side:
    width, height, depth = size
    x, y, z = side.x, side.y, side.z
    if side.array:
        found = session.get(side.array, Array)
        d = found.description
        if x + width > found.pitch or y + height > max(1, d.height) or z + depth > max(1, d.depth):
            raise DriverError("INVALID_VALUE", f"{what} is outside of the array {d.shape}: {size} at {(x, y, z)}")
        return _Side(found.memory.address + x + y * found.pitch + z * found.slice, found.pitch, found.slice)
    pitch = side.pitch or width + x
    if (height > 1 or depth > 1) and pitch < width + x:
        raise DriverError(
            "INVALID_VALUE", f"{what}: a pitch of {pitch} bytes for {width} bytes from byte {x} of each row"
        )
    plane = pitch * (side.rows or height + y)
    start = side.pointer + x + y * pitch + z * plane
    if not side.pointer:
        raise DriverError("INVALID_VALUE", f"{what} is a null pointer")
    in_memory = session.memory.contains(start)
    if side.on_device and not in_memory and session.memory.find(start) is None:
        raise DriverError("INVALID_VALUE", f"{what}: 0x{start:x} is not memory of the device")
    if in_memory:
        session.memory.require(start, (depth - 1) * plane + (height - 1) * pitch + width, what)
    return _Side(start, pitch, plane)


def box_copy_between(
    session: Session, source: Operand, to: Operand, size: tuple[int, int, int], given: bytes = b""
) -> Copy:
    """Return a copy of a box; `given` as in `Copy`.

    Args:
        size: bytes of a row, rows and slices; none is 0.
    Raises:
        DriverError: a side is invalid.
    """
    first, second = _side(session, "source", source, size), _side(session, "destination", to, size)
    box = (second.address, first.address, *size, second.pitch, first.pitch, second.slice, first.slice)
    return box_copy(session, box, given)


def _operand(
    what: str, kind: int, host: int, device: int, array: int, pitch: int, rows: int, x: int, y: int, z: int
) -> Operand:
    if kind == _ARRAY:
        if not array:
            raise DriverError("INVALID_VALUE", f"{what} is a null array")
        return Operand(array=array, x=x, y=y, z=z)
    if kind not in (_HOST, _DEVICE, _UNIFIED):
        raise DriverError("INVALID_VALUE", f"{what}: memory type {kind} is unknown")
    return Operand(host if kind == _HOST else device, 0, pitch, rows, x, y, z, kind == _DEVICE)


def box_copy_3d(session: Session, data: bytes) -> Copy | None:
    """Return the copy of CUDA_MEMCPY3D or CUDA_MEMCPY3D_PEER; None if it is empty.

    Raises:
        DriverError: a side is invalid.
    """
    (sx, sy, sz, _, s_kind, s_host, s_device, s_array, _, s_pitch, s_rows,
     dx, dy, dz, _, d_kind, d_host, d_device, d_array, _, d_pitch, d_rows, *size) = _3D.unpack(data)  # fmt: skip
    if 0 in size:
        return None
    source = _operand("source", s_kind, s_host, s_device, s_array, s_pitch, s_rows, sx, sy, sz)
    to = _operand("destination", d_kind, d_host, d_device, d_array, d_pitch, d_rows, dx, dy, dz)
    return box_copy_between(session, source, to, (size[0], size[1], size[2]), data)


def params_of_copy(copy: Copy) -> bytes:
    """Return CUDA_MEMCPY3D of a copy: what a call was given, else memory at unified addresses."""
    if copy.given:
        return copy.given
    to, source, width, height, depth, to_pitch, pitch, to_slice, slice_ = copy.box
    sides = ((source, pitch or width, slice_), (to, to_pitch or width, to_slice))
    words = [(0, 0, 0, 0, _UNIFIED, 0, address, 0, 0, row, plane // row or height) for address, row, plane in sides]
    return _3D.pack(*words[0], *words[1], width, height, depth)


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
    box = _3D.pack(
        sx, sy, 0, 0, s_kind, s_host, s_device, s_array, 0, s_pitch, 0,
        dx, dy, 0, 0, d_kind, d_host, d_device, d_array, 0, d_pitch, 0, width, height, 1,
    )  # fmt: skip
    copy_3d_async(session, box, stream)


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
