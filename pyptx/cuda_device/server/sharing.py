"""Memory and events that processes share: handles of cuIpcGetMemHandle and cuIpcGetEventHandle.

The memory of each device is a file of its process, which other processes of the same user open by its number; an imported
allocation is a mapping of its pages. An event of several processes is recorded when the work before it is done, so that it
is always complete; waits for one order nothing else.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from pathlib import Path

from pyptx.cuda_device.server.device_memory import FILE_NAME, PAGE
from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.events import INTERPROCESS, NO_TIMING, Event
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.session import Session

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
    file = _opened(process, number)
    try:
        start = memory.reserve(pages, PAGE)
        memory.map_file(start, pages, file, first)
    finally:
        os.close(file)
    session.connection.map_file(session.thread, start, pages, first, process, number)
    address = start + offset - first
    memory.add_mapping(address, size, session.context, "memory of another process")
    session.add(Imported(data, start, pages, address))
    return address


def _opened(process: int, number: int) -> int:
    """Return a descriptor of the memory of another device.

    Raises:
        DriverError: its process has ended.
    """
    path, what = Path(f"/proc/{process}/fd/{number}"), f"cuIpcOpenMemHandle: the memory of process {process}"
    try:
        is_memory = os.readlink(path).startswith(f"/memfd:{FILE_NAME}")
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC) if is_memory else -1
    except OSError as error:
        raise DriverError("INVALID_VALUE", f"{what} cannot be opened: {error}") from error
    if file < 0:
        raise DriverError("INVALID_VALUE", f"{what} is gone: another process has its number")
    return file


@handles("cuIpcCloseMemHandle")
def close_memory(session: Session, address: int) -> None:
    for handle, found in session.all(Imported):
        if found.address == address:
            found.opened -= 1
            if not found.opened:
                session.memory.remove_mapping(address)
                session.memory.remap(found.start, found.size, found.start)
                session.connection.remap(session.thread, found.start, found.size, found.start - session.memory.base)
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
