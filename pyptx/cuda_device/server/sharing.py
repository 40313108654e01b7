"""Memory and events that processes share: handles of cuIpcGetMemHandle and cuIpcGetEventHandle.

The memory of each device is a file of its process, which other processes of the same user open by its number; an imported
allocation is a mapping of its pages. An event of several processes is recorded when the work before it is done, so that it
is always complete; waits for one order nothing else.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass

from pyptx.cuda_device.server.device_memory import FILE_NAME, PAGE
from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.events import INTERPROCESS, NO_TIMING, Event
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.session import Session
from pyptx.cuda_device.server.shared_files import map_pages, open_file, unmap_pages

__all__: list[str] = []

_HANDLE = struct.Struct("<8s5Q16x")  # CUipcMemHandle, CUipcEventHandle: kind, process, file, offset, bytes, number
_MEMORY, _EVENT = b"pyptxmem", b"pyptxevt"
_LAZY_PEER_ACCESS = 1


@dataclass(eq=False)
class Imported:
    """Memory of another process: the pages that are mapped, and how often it was opened."""

    handle: bytes
    start: int
    size: int
    address: int
    opened: int = 1
    missing = "INVALID_VALUE"


def _unpacked(name: str, data: bytes, kind: bytes) -> tuple[int, ...]:
    """Return the words of a handle of another process.

    Raises:
        DriverError: it is not one.
    """
    found, *words = _HANDLE.unpack(data)
    if found != kind:
        raise DriverError("INVALID_VALUE", f"{name}: these 64 bytes are not a handle of a simulated device")
    if words[0] == os.getpid():
        raise DriverError("INVALID_CONTEXT", f"{name}: the handle is of this process, which has the original")
    return tuple(words)


@handles("cuIpcGetMemHandle")
def memory_handle(session: Session, address: int) -> bytes:
    found = session.memory.find(address)
    if found is None or found.kind != "device":
        raise DriverError(
            "INVALID_VALUE", f"cuIpcGetMemHandle: memory of cuMemAlloc is shared; {session.memory.describe(address)}"
        )
    memory = session.memory
    return _HANDLE.pack(_MEMORY, os.getpid(), memory.file, found.address - memory.base, found.size, 0)


@handles("cuIpcOpenMemHandle", "cuIpcOpenMemHandle_v2")
def open_memory(session: Session, data: bytes, flags: int) -> int:
    if flags & ~_LAZY_PEER_ACCESS:
        raise DriverError("INVALID_VALUE", f"cuIpcOpenMemHandle: unknown flags 0x{flags:x}")
    process, number, offset, size, _ = _unpacked("cuIpcOpenMemHandle", data, _MEMORY)
    for _, known in session.all(Imported):
        if known.handle == data:
            known.opened += 1
            return known.address
    first, memory = offset // PAGE * PAGE, session.memory
    pages = -(-(offset + size) // PAGE) * PAGE - first
    os.close(open_file(process, number, FILE_NAME, f"cuIpcOpenMemHandle: the memory of process {process}"))
    start = memory.reserve(pages, PAGE)
    map_pages(session, start, pages, first, process, number)
    address = start + offset - first
    memory.add_mapping(address, size, session.context, "memory of another process")
    session.add(Imported(data, start, pages, address))
    return address


@handles("cuIpcCloseMemHandle")
def close_memory(session: Session, address: int) -> None:
    for handle, found in session.all(Imported):
        if found.address == address:
            found.opened -= 1
            if not found.opened:
                session.memory.remove_mapping(address)
                unmap_pages(session, found.start, found.size)
                session.memory.unreserve(found.start)
                session.discard(handle)
            return
    raise DriverError("INVALID_VALUE", f"cuIpcCloseMemHandle: 0x{address:x} is not imported memory")


@handles("cuIpcGetEventHandle")
def event_handle(session: Session, handle: int) -> bytes:
    event = session.get(handle, Event)
    if not event.flags & INTERPROCESS:
        raise DriverError("INVALID_HANDLE", "cuIpcGetEventHandle: the event was made without CU_EVENT_INTERPROCESS")
    return _HANDLE.pack(_EVENT, os.getpid(), 0, 0, 0, handle)


@handles("cuIpcOpenEventHandle")
def open_event(session: Session, data: bytes) -> int:
    _unpacked("cuIpcOpenEventHandle", data, _EVENT)
    return session.add(Event(INTERPROCESS | NO_TIMING, session.context))
