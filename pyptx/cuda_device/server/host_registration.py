"""Registered memory of the host: its pages become pages of the shared memory, at their addresses.

The first and the last page of a registration may hold other data of the program, also of other registrations, and have
places of their own in the shared memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pyptx.cuda_device.server.device_memory import FILE_NAME, PAGE
from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.session import Session
from pyptx.sim.memory.address_space import is_free

__all__: list[str] = []

_OWN = f"/memfd:{FILE_NAME}"  # pages that are shared already, of other registrations


def _pages(address: int, size: int) -> tuple[int, int]:
    return address // PAGE * PAGE, -(-(address + size) // PAGE) * PAGE


def _mappings(process: int, start: int, end: int) -> Iterator[tuple[int, str, str]]:
    """Yield the bytes in a range, the permissions and the name of each mapping of a process."""
    for row in Path(f"/proc/{process}/maps").read_text().splitlines():
        addresses, permissions, _, _, _, name = [*row.split(maxsplit=5), ""][:6]
        first, last = (int(part, 16) for part in addresses.split("-"))
        if first < end and start < last:
            yield min(end, last) - max(start, first), permissions, name


@handles("cuMemHostRegister_v2")
def register(session: Session, address: int, size: int, flags: int) -> None:
    if not address or not size:
        raise DriverError("INVALID_VALUE", "cuMemHostRegister: the memory is empty")
    if any(address < start + n and start < address + size for start, n in session.registered.items()):
        raise DriverError("HOST_MEMORY_ALREADY_REGISTERED", f"memory at 0x{address:x} is registered already")
    start, end = _pages(address, size)
    found = list(_mappings(session.process, start, end))
    if sum(n for n, _, _ in found) != end - start:
        raise DriverError("INVALID_VALUE", f"cuMemHostRegister: the {size:,} bytes at 0x{address:x} are not all mapped")
    session.registered[address] = size
    is_private = all(
        name.startswith(_OWN) or (permissions == "rw-p" and not name.startswith("[stack"))
        for _, permissions, name in found
    )
    if is_private and is_free(start, end - start) and not session.memory.contains(address):
        _share(session, address, size)


def _share(session: Session, address: int, size: int) -> None:
    memory, (start, end) = session.memory, _pages(address, size)
    place = memory.reserve(end - start, PAGE)
    edges = sorted({start, end - PAGE})
    for page in edges:
        known, count = session.registered_pages.get(page, (0, 0))
        if not count:
            known = memory.reserve(PAGE, PAGE)
            session.connection.share(session.thread, page, PAGE, known - memory.base)
        session.registered_pages[page] = known, count + 1
        memory.remap(place + page - start, PAGE, known)
    if end - start > 2 * PAGE:
        session.connection.share(session.thread, start + PAGE, end - start - 2 * PAGE, place + PAGE - memory.base)
    memory.add_registered(address, size, place + address - start)
    session.registered_places[address] = place


@handles("cuMemHostUnregister")
def unregister(session: Session, address: int) -> None:
    size = session.registered.pop(address, None)
    if size is None:
        raise DriverError("HOST_MEMORY_NOT_REGISTERED", f"memory at 0x{address:x} is not registered")
    place = session.registered_places.pop(address, None)
    if place is None:
        return
    memory, (start, end) = session.memory, _pages(address, size)
    memory.remove_mapping(address)
    for page in sorted({start, end - PAGE}):
        known, count = session.registered_pages.pop(page)
        if count > 1:
            session.registered_pages[page] = known, count - 1
        else:
            session.connection.unshare(session.thread, page, PAGE)
            memory.discard(known, PAGE)
            memory.unreserve(known)
        memory.remap(place + page - start, PAGE, place + page - start)
    if end - start > 2 * PAGE:
        session.connection.unshare(session.thread, start + PAGE, end - start - 2 * PAGE)
    memory.discard(place, end - start)
    memory.unreserve(place)
