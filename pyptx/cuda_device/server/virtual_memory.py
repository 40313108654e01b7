"""Virtual memory management: reserved addresses, physical memory, and mappings of one in the other.

Physical memory is a range of the shared memory that no address of a program refers to, or a file of its own if other processes
may import it; a mapping maps its pages at the reserved addresses, in the server and in the client.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass, field

from pyptx.cuda_device.server.device_memory import LARGE
from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.session import Session
from pyptx.cuda_device.server.shared_files import (
    DESCRIPTOR,
    create_file,
    export,
    imported,
    map_pages,
    require_descriptor,
    unmap_pages,
)

__all__: list[str] = []

_DEVICE, _PINNED, _READ_WRITE = 1, 1, 3  # CUmemLocationType, CUmemAllocationType, CUmemAccess_flags
_ACCESS = struct.Struct("<3i")
_NAME = "pyptx-memory"  # of files


@dataclass(eq=False)
class Physical:
    """Physical memory.

    Attributes:
        place: its address in the shared memory, which programs do not see; 0 in a file.
        file: descriptor of its file; None in the shared memory.
        is_imported: True for memory of another process.
        references: of handles.
        mappings: size of each mapping by its address.
    """

    place: int
    size: int
    properties: bytes
    handle: int = 0
    references: int = 1
    mappings: dict[int, int] = field(default_factory=dict)
    file: int | None = None
    is_imported: bool = False


def _aligned(what: str, *sizes: int) -> None:
    if any(size % LARGE for size in sizes) or not all(sizes[:1]):
        raise DriverError("INVALID_VALUE", f"{what}: sizes and addresses are multiples of {LARGE}")


@handles("cuMemGetAllocationGranularity")
def granularity(session: Session, properties: bytes, option: int) -> int:
    return LARGE


@handles("cuMemAddressReserve")
def reserve(session: Session, size: int, alignment: int, address: int, flags: int) -> int:
    _aligned("cuMemAddressReserve", size)
    return session.memory.reserve(size, alignment)


@handles("cuMemAddressFree")
def unreserve(session: Session, address: int, size: int) -> None:
    if session.memory.unreserve(address) != size:
        raise DriverError("INVALID_VALUE", f"cuMemAddressFree: 0x{address:x} is not a reservation of {size:,} bytes")


@handles("cuMemCreate")
def create(session: Session, size: int, properties: bytes, flags: int) -> int:
    kind, shared, location, device = struct.unpack_from("<4i", properties)
    require_descriptor("cuMemCreate", shared)
    if kind != _PINNED or location != _DEVICE or device:
        raise DriverError("NOT_SUPPORTED", "cuMemCreate: only pinned memory of the device is simulated")
    _aligned("cuMemCreate", size)
    memory = session.memory
    if memory.used + size > memory.total:
        raise DriverError("OUT_OF_MEMORY", f"cuMemCreate: {size:,} bytes; {memory.total - memory.used:,} are free")
    memory.used += size
    if shared:
        physical = Physical(0, size, properties, file=create_file(_NAME, size))
    else:
        physical = Physical(memory.reserve(size, LARGE), size, properties)
    physical.handle = session.add(physical)
    return physical.handle


@handles("cuMemRelease")
def release(session: Session, handle: int) -> None:
    physical = session.get(handle, Physical)
    physical.references -= 1
    _collect(session, physical)


def _collect(session: Session, physical: Physical) -> None:
    """Free physical memory that has neither handles nor mappings."""
    if physical.references <= 0 and not physical.mappings:
        session.discard(physical.handle)
        if physical.file is not None:
            os.close(physical.file)
        else:
            session.memory.discard(physical.place, physical.size)
            session.memory.unreserve(physical.place)
        session.memory.used -= 0 if physical.is_imported else physical.size


@handles("cuMemMap")
def map_memory(session: Session, address: int, size: int, offset: int, handle: int, flags: int) -> None:
    physical = session.get(handle, Physical)
    _aligned("cuMemMap", size, address, offset)
    if offset + size > physical.size:
        raise DriverError("INVALID_VALUE", f"cuMemMap: bytes {offset:,} to {offset + size:,} of {physical.size:,}")
    if not session.memory.reserved(address, size):
        raise DriverError(
            "INVALID_VALUE", f"cuMemMap: 0x{address:x} is not reserved: {session.memory.describe(address)}"
        )
    if physical.file is not None:
        map_pages(session, address, size, offset, os.getpid(), physical.file)
    else:
        session.memory.remap(address, size, physical.place + offset)
        source = physical.place + offset - session.memory.base
        session.connection.remap(session.thread, address, size, source)
    physical.mappings[address] = size


@handles("cuMemUnmap")
def unmap(session: Session, address: int, size: int) -> None:
    found = [
        (physical, start, n)
        for _, physical in session.all(Physical)
        for start, n in physical.mappings.items()
        if address <= start and start + n <= address + size
    ]
    if sum(n for _, _, n in found) != size:
        raise DriverError("INVALID_VALUE", f"cuMemUnmap: {size:,} bytes at 0x{address:x} are not mapped as a whole")
    for physical, start, n in found:
        session.memory.remove_mapping(start)
        unmap_pages(session, start, n)
        del physical.mappings[start]
        _collect(session, physical)


@handles("cuMemSetAccess")
def set_access(session: Session, address: int, size: int, descriptions: int, count: int) -> None:
    data = session.read(descriptions, _ACCESS.size * count)
    on_device = [flags for kind, device, flags in _ACCESS.iter_unpack(data) if kind == _DEVICE and device == 0]
    mapped = [
        (start, n)
        for _, physical in session.all(Physical)
        for start, n in physical.mappings.items()
        if address <= start and start + n <= address + size
    ]
    if sum(n for _, n in mapped) != size:
        raise DriverError("INVALID_VALUE", f"cuMemSetAccess: {size:,} bytes at 0x{address:x} are not mapped as a whole")
    for start, n in mapped if on_device else ():
        session.memory.remove_mapping(start)
        if on_device[-1]:
            session.memory.add_mapping(start, n, 0)


@handles("cuMemGetAccess")
def get_access(session: Session, location: bytes, address: int) -> int:
    found = session.memory.find(address)
    return _READ_WRITE if found is not None else 0


@handles("cuMemGetAllocationPropertiesFromHandle")
def properties_of(session: Session, handle: int) -> bytes:
    return session.get(handle, Physical).properties


@handles("cuMemRetainAllocationHandle")
def retain(session: Session, address: int) -> int:
    for _, physical in session.all(Physical):
        if any(start <= address < start + n for start, n in physical.mappings.items()):
            physical.references += 1
            return physical.handle
    raise DriverError("INVALID_VALUE", f"cuMemRetainAllocationHandle: nothing is mapped at 0x{address:x}")


# memory of several processes


@handles("cuMemExportToShareableHandle")
def export_memory(session: Session, place: int, handle: int, kind: int, flags: int) -> None:
    require_descriptor("cuMemExportToShareableHandle", kind, flags)
    physical = session.get(handle, Physical)
    if physical.file is None:
        raise DriverError(
            "INVALID_VALUE",
            "cuMemExportToShareableHandle: the memory was not made for it\n"
            "hint: cuMemCreate it with requestedHandleTypes of POSIX_FILE_DESCRIPTOR",
        )
    export(session, physical.file, place)


@handles("cuMemImportFromShareableHandle")
def import_memory(session: Session, descriptor: int, kind: int) -> int:
    require_descriptor("cuMemImportFromShareableHandle", kind)
    file = imported(session, "cuMemImportFromShareableHandle", descriptor, _NAME)
    properties = struct.pack("<4i16x", _PINNED, DESCRIPTOR, _DEVICE, 0)
    physical = Physical(0, os.fstat(file).st_size, properties, file=file, is_imported=True)
    physical.handle = session.add(physical)
    return physical.handle
