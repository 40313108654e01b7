"""Memory in files of its own, which processes share by file descriptors, and mappings of files of other processes.

A descriptor is one of the client: the server opens it by the client's number, and the client opens those of the server.
"""

from __future__ import annotations

import os
from pathlib import Path

from pyptx.cuda_device.server.device_memory import PAGE
from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.session import Session

__all__ = [
    "DESCRIPTOR",
    "create_file",
    "export",
    "imported",
    "map_pages",
    "open_file",
    "require_descriptor",
    "unmap_pages",
]

DESCRIPTOR = 1  # CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR


def require_descriptor(what: str, kinds: int, flags: int = 0) -> None:
    """Raise DriverError for other types of handles than file descriptors, and for flags."""
    if flags:
        raise DriverError("INVALID_VALUE", f"{what}: flags 0x{flags:x}; expected 0")
    if kinds & ~DESCRIPTOR:
        raise DriverError(
            "NOT_SUPPORTED", f"{what}: handles of type {kinds}; memory is shared by POSIX file descriptors (1) alone"
        )


def create_file(name: str, size: int) -> int:
    """Return a descriptor of a new file of memory."""
    file = os.memfd_create(name, os.MFD_CLOEXEC)
    os.ftruncate(file, size)
    return file


def export(session: Session, file: int, place: int) -> None:
    """Write a new descriptor of the client for a file to the client's memory."""
    number = session.connection.open_file(session.thread, os.getpid(), file)
    session.write(place, number.to_bytes(4, "little"))


def imported(session: Session, what: str, descriptor: int, name: str) -> int:
    """Return a descriptor of the file that a descriptor of the client names.

    Raises:
        DriverError: it names no such file of a simulated device.
    """
    return open_file(
        session.process, descriptor & 0xFFFFFFFF, name, f"{what}: file descriptor {descriptor & 0xFFFFFFFF}"
    )


def open_file(process: int, number: int, name: str, what: str) -> int:
    """Open a file of memory of another process.

    Args:
        name: of the file, when it was created.
        what: begin of messages.
    Raises:
        DriverError: the process has ended, or it is another file.
    """
    path = Path(f"/proc/{process}/fd/{number}")
    try:
        is_memory = os.readlink(path).startswith(f"/memfd:{name}")
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC) if is_memory else -1
    except OSError as error:
        raise DriverError("INVALID_VALUE", f"{what} cannot be opened: {error}") from error
    if file < 0:
        raise DriverError("INVALID_VALUE", f"{what} is not of such memory of a simulated device")
    return file


def map_pages(session: Session, address: int, size: int, offset: int, owner: int, file: int) -> None:
    """Map pages of a file at an address of the device, in this process and in the client.

    Args:
        owner, file: process and descriptor by which the client opens the file.
    Raises:
        DriverError: they cannot be mapped.
    """
    own = os.open(f"/proc/{owner}/fd/{file}", os.O_RDWR | os.O_CLOEXEC)
    try:
        session.memory.map_file(address, size, own, offset)
    finally:
        os.close(own)
    session.connection.map_file(session.thread, address, size, offset, owner, file)


def unmap_pages(session: Session, address: int, size: int) -> None:
    """Map the device's own pages at an address again."""
    assert address % PAGE == 0 and size % PAGE == 0, "whole pages are mapped"
    session.memory.remap(address, size, address)
    session.connection.remap(session.thread, address, size, address - session.memory.base)


def add_part(session: Session, file: int, offset: int, size: int, *, is_owner: bool) -> int:
    """Map a part of a file as an allocation, until it is freed; return its address.

    Args:
        is_owner: the pages are given back then.
    """
    memory, pages = session.memory, -(-size // PAGE) * PAGE
    address = memory.reserve(pages, PAGE)
    map_pages(session, address, pages, offset, os.getpid(), file)

    def release() -> None:
        if is_owner:
            memory.discard(address, pages)
        unmap_pages(session, address, pages)
        memory.unreserve(address)

    memory.add_part(address, size, session.context, release)
    return address
