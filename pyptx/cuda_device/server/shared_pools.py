"""Memory pools that processes share: the allocations of such a pool are in a file, of which other processes map parts.

Source: CUDA Driver API, "Stream Ordered Memory Allocator".
"""

from __future__ import annotations

import os
import struct

from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.pools import POOL_NAME, Pool
from pyptx.cuda_device.server.session import Session
from pyptx.cuda_device.server.shared_files import add_part, export, imported, require_descriptor

__all__: list[str] = []

_EXPORT = struct.Struct("<8s3Q32x")  # CUmemPoolPtrExportData: kind, inode of the file, offset, bytes
_KIND = b"pyptxpol"


def _shared(session: Session, what: str, handle: int) -> tuple[Pool, int]:
    pool = session.get(handle, Pool)
    if pool.file is None:
        raise DriverError(
            "INVALID_VALUE",
            f"{what}: the pool is not shared\nhint: create it with handleTypes of POSIX_FILE_DESCRIPTOR",
        )
    return pool, pool.file


@handles("cuMemPoolExportToShareableHandle")
def export_pool(session: Session, place: int, handle: int, kind: int, flags: int) -> None:
    require_descriptor("cuMemPoolExportToShareableHandle", kind, flags)
    _, file = _shared(session, "cuMemPoolExportToShareableHandle", handle)
    export(session, file, place)


@handles("cuMemPoolImportFromShareableHandle")
def import_pool(session: Session, descriptor: int, kind: int, flags: int) -> int:
    require_descriptor("cuMemPoolImportFromShareableHandle", kind, flags)
    file = imported(session, "cuMemPoolImportFromShareableHandle", descriptor, POOL_NAME)
    handle = session.new_handle()
    return session.add(Pool(handle, file=file, is_imported=True), handle)


@handles("cuMemPoolExportPointer")
def export_pointer(session: Session, address: int) -> bytes:
    for _, pool in session.all(Pool):
        if pool.file is not None and not pool.is_imported and address in pool.parts:
            return _EXPORT.pack(_KIND, os.fstat(pool.file).st_ino, *pool.parts[address])
    where = session.memory.describe(address)
    raise DriverError("INVALID_VALUE", f"cuMemPoolExportPointer: 0x{address:x} is of no shared pool: {where}")


@handles("cuMemPoolImportPointer")
def import_pointer(session: Session, handle: int, data: bytes) -> int:
    pool, file = _shared(session, "cuMemPoolImportPointer", handle)
    kind, inode, offset, size = _EXPORT.unpack(data)
    found = os.fstat(file)
    if kind != _KIND or not pool.is_imported or inode != found.st_ino or not size or offset + size > found.st_size:
        raise DriverError("INVALID_VALUE", "cuMemPoolImportPointer: the data was not exported from the imported pool")
    return add_part(session, file, offset, size, is_owner=False)
