"""Memory pools: allocations in stream order come from the device's memory, and pools count them."""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass, field

from pyptx.cuda_device.server.device_memory import PAGE
from pyptx.cuda_device.server.devices import check_device
from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.graph_memory import allocation_of, release_of
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.session import Session
from pyptx.cuda_device.server.shared_files import add_part, create_file, require_descriptor
from pyptx.cuda_device.server.streams import stream_of, submit

__all__ = ["POOL_NAME", "Pool"]

POOL_NAME = "pyptx-pool"  # of files with the allocations of shared pools

_THRESHOLD, _RESERVED, _RESERVED_HIGH, _USED, _USED_HIGH = 4, 5, 6, 7, 8  # CUmemPool_attribute
_SWITCHES, _WIDE = (1, 2, 3), (_THRESHOLD, _RESERVED, _RESERVED_HIGH, _USED, _USED_HIGH)
_CONSTANT = {9: ("<i", 1), 10: ("<i", 0), 11: ("<i", 0), 12: ("<i", 1), 13: ("<Q", 0), 14: ("<i", 0)}
_DEVICE, _PINNED = 1, 1  # CUmemLocationType, CUmemAllocationType
_READ_WRITE = 3


@dataclass(eq=False)
class Pool:
    """A memory pool.

    Attributes:
        sizes: bytes of each allocation, by address.
        high: the most bytes that were in use.
        held: bytes that are in use, or were and are kept for later allocations.
        file: descriptor of the file with the allocations of a shared pool; None for the memory of the device.
        parts: place in the file and bytes of each of its allocations, by address.
        end: of the file.
        is_imported: True for a pool of another process.
        settings: values of cuMemPoolSetAttribute.
    """

    handle: int
    is_default: bool = False
    sizes: dict[int, int] = field(default_factory=dict)
    high: int = 0
    held: int = 0
    file: int | None = None
    parts: dict[int, tuple[int, int]] = field(default_factory=dict)
    end: int = 0
    is_imported: bool = False
    missing = "INVALID_VALUE"
    settings: dict[int, int] = field(default_factory=lambda: {1: 1, 2: 1, 3: 1, _THRESHOLD: 0})

    @property
    def is_owned(self) -> bool:
        """True for the pool of the device."""
        return self.is_default

    @property
    def used(self) -> int:
        return sum(self.sizes.values())

    @property
    def reserved(self) -> int:
        """Bytes in use and kept; above the threshold nothing is kept, as after a synchronization."""
        return max(self.used, min(self.held, self.settings[_THRESHOLD]))


def _default(session: Session) -> Pool:
    """Return the default pool of the device."""
    for _, pool in session.all(Pool):
        if pool.is_default:
            return pool
    handle = session.new_handle()
    pool = Pool(handle, is_default=True)
    session.add(pool, handle)
    return pool


def _current(session: Session) -> Pool:
    known = session.current_pool
    return session.get(known, Pool) if known else _default(session)


def _allocate(session: Session, pool: Pool, size: int, stream: int) -> int:
    found = stream_of(session, stream)
    if not size:
        return 0
    if found.capture is not None:
        operation = allocation_of(session, size)
        submit(session, stream, operation)
        return operation.allocation.address
    if pool.is_imported:
        raise DriverError("INVALID_VALUE", "cuMemAllocFromPoolAsync: an imported pool makes no allocations")
    if pool.file is not None:
        address = _allocate_part(session, pool, pool.file, size)
    else:
        address = session.memory.allocate(size, session.context).address
    for gone in [a for a in pool.sizes if session.memory.find(a) is None]:
        del pool.sizes[gone]
        pool.parts.pop(gone, None)
    pool.sizes[address] = size
    if session.order is not None:
        session.order.memory(found, f"allocation of {size:,} bytes (cuMemAllocAsync)", address, size)
    pool.high = max(pool.high, pool.used)
    pool.held = max(pool.held, pool.used)
    return address


def _allocate_part(session: Session, pool: Pool, file: int, size: int) -> int:
    """Allocate memory in the file of a shared pool."""
    offset = pool.end
    pool.end += -(-size // PAGE) * PAGE
    os.ftruncate(file, pool.end)
    address = add_part(session, file, offset, size, is_owner=True)
    pool.parts[address] = offset, size
    return address


@handles("cuMemAllocAsync")
def allocate(session: Session, size: int, stream: int) -> int:
    return _allocate(session, _current(session), size, stream)


@handles("cuMemAllocFromPoolAsync")
def allocate_from_pool(session: Session, size: int, pool: int, stream: int) -> int:
    return _allocate(session, session.get(pool, Pool), size, stream)


@handles("cuMemFreeAsync")
def free(session: Session, address: int, stream: int) -> None:
    if not address:
        return
    if stream_of(session, stream).capture is None:
        found = session.memory.find(address)
        if found is None or found.address != address or found.kind not in ("device", "managed"):
            raise DriverError("INVALID_VALUE", f"cannot free 0x{address:x}: {session.memory.describe(address)}")
        for _, pool in session.all(Pool):
            pool.sizes.pop(address, None)
    submit(session, stream, release_of(session, address))


@handles("cuMemPoolCreate")
def create(session: Session, properties: bytes) -> int:
    kind, handle_types, location, _ = struct.unpack_from("<4i", properties)
    require_descriptor("cuMemPoolCreate", handle_types)
    if kind != _PINNED or location != _DEVICE:
        raise DriverError("NOT_SUPPORTED", "cuMemPoolCreate: only pools of pinned memory of the device are simulated")
    handle = session.new_handle()
    return session.add(Pool(handle, file=create_file(POOL_NAME, 0) if handle_types else None), handle)


@handles("cuMemPoolDestroy")
def destroy(session: Session, handle: int) -> None:
    if session.get(handle, Pool).is_default:
        raise DriverError("INVALID_VALUE", "the default pool of a device cannot be destroyed")
    file = session.remove(handle, Pool).file
    if file is not None:
        os.close(file)
    session.current_pool = 0 if session.current_pool == handle else session.current_pool


@handles("cuDeviceGetDefaultMemPool")
def default_pool(session: Session, device: int) -> int:
    check_device(device)
    return _default(session).handle


@handles("cuDeviceGetMemPool")
def device_pool(session: Session, device: int) -> int:
    check_device(device)
    return _current(session).handle


def _usable(session: Session, handle: int) -> Pool:
    pool = session.get(handle, Pool)
    if pool.is_imported:
        raise DriverError("INVALID_VALUE", "an imported pool makes no allocations, so that it cannot be a device's")
    return pool


@handles("cuDeviceSetMemPool")
def set_device_pool(session: Session, device: int, pool: int) -> None:
    check_device(device)
    session.current_pool = _usable(session, pool).handle


def _check_location(session: Session, location: int, kind: int) -> None:
    where, device = struct.unpack("<2i", session.read(location, 8))
    if where != _DEVICE or kind != _PINNED:
        raise DriverError("NOT_SUPPORTED", "only pools of pinned memory of the device are simulated")
    check_device(device)


@handles("cuMemGetDefaultMemPool")
def default_pool_of_location(session: Session, location: int, kind: int) -> int:
    _check_location(session, location, kind)
    return _default(session).handle


@handles("cuMemGetMemPool")
def pool_of_location(session: Session, location: int, kind: int) -> int:
    _check_location(session, location, kind)
    return _current(session).handle


@handles("cuMemSetMemPool")
def set_pool_of_location(session: Session, location: int, kind: int, pool: int) -> None:
    _check_location(session, location, kind)
    session.current_pool = _usable(session, pool).handle


@handles("cuMemPoolTrimTo")
def trim(session: Session, handle: int, size: int) -> None:
    pool = session.get(handle, Pool)
    pool.held = max(pool.used, min(pool.held, size))


@handles("cuMemPoolSetAttribute")
def set_attribute(session: Session, handle: int, number: int, place: int) -> None:
    pool = session.get(handle, Pool)
    if number in _SWITCHES:
        pool.settings[number] = int.from_bytes(session.read(place, 4), "little")
    elif number == _THRESHOLD:
        pool.settings[number] = int.from_bytes(session.read(place, 8), "little")
    elif number in (_RESERVED_HIGH, _USED_HIGH):
        pool.high = pool.used
    else:
        raise DriverError("INVALID_VALUE", f"attribute {number} of a memory pool cannot be set")


@handles("cuMemPoolGetAttribute")
def get_attribute(session: Session, handle: int, number: int, place: int) -> None:
    pool = session.get(handle, Pool)
    if number in _CONSTANT:
        layout, value = _CONSTANT[number]
        session.write(place, struct.pack(layout, value))
    elif number in _SWITCHES or number in _WIDE:
        value = {_RESERVED: pool.reserved, _USED: pool.used, _RESERVED_HIGH: pool.high, _USED_HIGH: pool.high}.get(
            number
        )
        value = pool.settings[number] if value is None else value
        session.write(place, value.to_bytes(8 if number in _WIDE else 4, "little"))
    else:
        raise DriverError("INVALID_VALUE", f"attribute {number} of a memory pool is unknown")


@handles("cuMemPoolSetAccess")
def set_access(session: Session, handle: int, places: int, count: int) -> None:
    session.get(handle, Pool)


@handles("cuMemPoolGetAccess")
def get_access(session: Session, handle: int, location: int) -> int:
    session.get(handle, Pool)
    return _READ_WRITE
