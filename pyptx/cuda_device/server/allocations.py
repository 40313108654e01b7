"""Allocation of memory, and queries about pointers."""

from __future__ import annotations

import struct
from collections.abc import Callable

from pyptx.cuda_device.server.device_memory import HOST_KINDS, Allocation
from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.session import Session
from pyptx.cuda_device.server.streams import refuse_in_capture

__all__ = ["PITCH"]

_HOST_FLAGS = 7  # portable, mapped, write-combined
PITCH = 512  # bytes that rows of pitched memory are multiples of


def _allocate(session: Session, size: int, kind: str = "device", flags: int = 0) -> Allocation:
    if not size:
        raise DriverError("INVALID_VALUE", "cannot allocate 0 bytes")
    refuse_in_capture(session, "an allocation")
    return session.memory.allocate(size, session.context, kind, flags=flags)


@handles("cuMemGetInfo_v2")
def info(session: Session) -> tuple[int, int]:
    return session.memory.total - session.memory.used, session.memory.total


@handles("cuMemAlloc_v2")
def allocate(session: Session, size: int) -> int:
    return _allocate(session, size).address


@handles("cuMemAllocPitch_v2")
def allocate_pitched(session: Session, width: int, height: int, element: int) -> tuple[int, int]:
    if element not in (4, 8, 16):
        raise DriverError("INVALID_VALUE", f"cuMemAllocPitch: elements of {element} bytes; expected 4, 8 or 16")
    pitch = -(-width // PITCH) * PITCH
    return _allocate(session, pitch * height).address, pitch


@handles("cuMemAllocManaged")
def allocate_managed(session: Session, size: int, flags: int) -> int:
    if flags not in (1, 2):
        raise DriverError("INVALID_VALUE", f"cuMemAllocManaged: flags {flags}; expected ATTACH_GLOBAL or ATTACH_HOST")
    return _allocate(session, size, "managed", flags).address


@handles("cuMemFree_v2")
def free(session: Session, address: int) -> None:
    if address:
        refuse_in_capture(session, "cuMemFree")
        _free(session, address, ("device", "managed"))


@handles("cuMemAllocHost_v2")
def allocate_host(session: Session, size: int) -> int:
    return _allocate(session, size, "host").address


@handles("cuMemHostAlloc")
def allocate_host_with_flags(session: Session, size: int, flags: int) -> int:
    if flags & ~_HOST_FLAGS:
        raise DriverError("INVALID_VALUE", f"cuMemHostAlloc: unknown flags 0x{flags:x}")
    return _allocate(session, size, "host", flags).address


@handles("cuMemFreeHost")
def free_host(session: Session, address: int) -> None:
    _free(session, address, ("host",))


def _free(session: Session, address: int, kinds: tuple[str, ...]) -> None:
    found = session.memory.find(address)
    if found is None or found.address != address or found.kind not in kinds:
        raise DriverError("INVALID_VALUE", f"cannot free 0x{address:x}: {session.memory.describe(address)}")
    session.memory.free(address)


@handles("cuMemHostGetDevicePointer_v2")
def device_pointer_of_host(session: Session, address: int, flags: int) -> int:
    _host(session, address)
    return address


@handles("cuMemHostGetFlags")
def host_flags(session: Session, address: int) -> int:
    return _host(session, address).flags | 2  # CU_MEMHOSTALLOC_DEVICEMAP, which unified addressing implies


def _host(session: Session, address: int) -> Allocation:
    found = session.memory.find(address)
    if found is None and address in session.registered:
        raise DriverError(
            "NOT_SUPPORTED",
            f"kernels cannot access the registered memory at 0x{address:x}: it is on a stack, read-only, shared with other "
            "processes, or at an address of a window of the device\n"
            "hint: allocate it with cuMemHostAlloc, cuMemAllocManaged or malloc",
        )
    if found is None or found.kind not in HOST_KINDS:
        raise DriverError("INVALID_VALUE", f"0x{address:x} is not pinned memory: {session.memory.describe(address)}")
    return found


@handles("cuMemGetAddressRange_v2")
def address_range(session: Session, address: int) -> tuple[int, int]:
    found = session.memory.find(address)
    if found is None:
        raise DriverError("NOT_FOUND", f"cuMemGetAddressRange of 0x{address:x}: {session.memory.describe(address)}")
    return found.address, found.size


# attributes of pointers

_HOST, _DEVICE = 1, 2  # CUmemorytype

# CUpointer_attribute: layout of the value, and how it is found
_ATTRIBUTES: dict[int, tuple[str, Callable[[Allocation], int]]] = {
    1: ("<Q", lambda a: a.context),
    2: ("<I", lambda a: _HOST if a.kind in ("host", "registered") else _DEVICE),
    6: ("<I", lambda a: 0),  # operations on it are synchronous: SYNC_MEMOPS
    7: ("<Q", lambda a: a.address),  # BUFFER_ID
    8: ("<I", lambda a: int(a.kind.startswith("managed"))),
    9: ("<i", lambda a: 0),  # DEVICE_ORDINAL
    10: ("<I", lambda a: int(a.kind == "device")),  # IS_LEGACY_CUDA_IPC_CAPABLE
    11: ("<Q", lambda a: a.address),  # RANGE_START_ADDR
    12: ("<Q", lambda a: a.size),  # RANGE_SIZE
    13: ("<I", lambda a: 1),  # MAPPED
    14: ("<Q", lambda a: int(a.release is not None)),  # ALLOWED_HANDLE_TYPES: file descriptors
    15: ("<I", lambda a: 0),  # IS_GPU_DIRECT_RDMA_CAPABLE
    16: ("<I", lambda a: 3),  # ACCESS_FLAGS: read and write
    17: ("<Q", lambda a: 0),  # MEMPOOL_HANDLE
    18: ("<Q", lambda a: a.size),  # MAPPING_SIZE
    19: ("<Q", lambda a: a.address),  # MAPPING_BASE_ADDR
    20: ("<Q", lambda a: a.address),  # MEMORY_BLOCK_ID
}
_ORDINAL, _SYNCHRONOUS, _WIDE = 9, 6, (1, 3, 4, 7, 11, 12, 14, 17, 18, 19, 20)
_POINTERS = (3, 4)  # DEVICE_POINTER, HOST_POINTER


@handles("cuPointerGetAttribute")
def pointer_attribute(session: Session, number: int, address: int) -> bytes:
    found = session.memory.find(address)
    if found is None:
        raise DriverError("INVALID_VALUE")  # how programs ask whether a pointer is the device's
    value = value_of(session, found, number, address)
    if value is None:
        raise DriverError("INVALID_VALUE", f"pointer attribute {number} of 0x{address:x} is unknown")
    return value


def value_of(session: Session, found: Allocation, number: int, address: int) -> bytes | None:
    """Return the value of an attribute of a pointer into an allocation; None if it has none."""
    if number in _POINTERS:
        is_there = number == _POINTERS[0] or found.kind in HOST_KINDS
        return struct.pack("<Q", address) if is_there else None
    if number not in _ATTRIBUTES:
        return None
    layout, value = _ATTRIBUTES[number]
    return struct.pack(layout, value(found))


@handles("cuPointerGetAttributes")
def pointer_attributes(session: Session, count: int, numbers: int, places: int, address: int) -> None:
    found = session.memory.find(address)
    wanted = struct.unpack(f"<{count}i", session.read(numbers, 4 * count))
    for number, place in zip(wanted, struct.unpack(f"<{count}Q", session.read(places, 8 * count)), strict=True):
        value = None if found is None else value_of(session, found, number, address)
        if value is None:  # the attribute's value for memory that the driver does not know
            value = struct.pack("<i", -2) if number == _ORDINAL else bytes(8 if number in _WIDE else 4)
        session.write(place, value)


@handles("cuPointerSetAttribute")
def set_pointer_attribute(session: Session, place: int, number: int, address: int) -> None:
    if number != _SYNCHRONOUS or session.memory.find(address) is None:
        raise DriverError("INVALID_VALUE", f"cuPointerSetAttribute: attribute {number} of 0x{address:x} cannot be set")
