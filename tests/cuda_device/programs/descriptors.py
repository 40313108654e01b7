"""Memory of cuMemCreate and of a pool that two processes share by file descriptors, sent through a socket."""

import ctypes
import os
import socket
import subprocess
import sys

import numpy as np
from driver import api, call, download, start, status

N = 5000
FILE = api.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
access = api.CUmemAccessDesc()
access.location.type = api.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
access.flags = api.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
PAGE = 2 << 20


def mapped(memory):
    place = int(call("cuMemAddressReserve", 2 * PAGE, 0, 0, 0))
    call("cuMemMap", place, 2 * PAGE, 0, memory, 0)
    call("cuMemSetAccess", place, 2 * PAGE, [access], 1)
    return place


def use(channel, child):
    """Read and write what the other process has shared, and read it again after that has ended."""
    start()
    data, (memory_file, pool_file), _, _ = socket.recv_fds(channel, 64, 2)
    memory = call("cuMemImportFromShareableHandle", memory_file, FILE)
    pool = call("cuMemPoolImportFromShareableHandle", pool_file, FILE, 0)
    assert status("cuMemPoolImportFromShareableHandle", memory_file, FILE, 0) == "CUDA_ERROR_INVALID_VALUE"
    assert status("cuMemImportFromShareableHandle", channel.fileno(), FILE) == "CUDA_ERROR_INVALID_VALUE"
    assert status("cuMemAllocFromPoolAsync", 64, pool, 0) == "CUDA_ERROR_INVALID_VALUE"
    for file in (memory_file, pool_file):
        os.close(file)
    place = mapped(memory)
    exported = api.CUmemPoolPtrExportData()
    ctypes.memmove(exported.getPtr(), data, len(data))
    pointer = call("cuMemPoolImportPointer", pool, exported)
    assert (download(place + PAGE, np.empty(N, np.int32)) == 3).all()
    assert (download(pointer, np.empty(N, np.int32)) == 5).all()
    call("cuMemsetD32", place + PAGE, 4, N)
    call("cuMemsetD32", pointer, 6, N)
    call("cuCtxSynchronize")
    channel.send(b"written")
    assert channel.recv(16) == b"ending"
    assert child.wait() == 0
    assert (download(place + PAGE, np.empty(N, np.int32)) == 7).all()
    call("cuMemFree", pointer)
    call("cuMemUnmap", place, 2 * PAGE)
    call("cuMemRelease", memory)
    call("cuMemPoolDestroy", pool)
    print("done")


def share(channel):
    """Share memory, and see what the other process writes into it."""
    start()
    properties = api.CUmemAllocationProp()
    properties.type = api.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.location.type = api.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    private = call("cuMemCreate", PAGE, properties, 0)
    assert status("cuMemExportToShareableHandle", private, FILE, 0) == "CUDA_ERROR_INVALID_VALUE"
    properties.requestedHandleTypes = FILE
    memory = call("cuMemCreate", 2 * PAGE, properties, 0)
    place = mapped(memory)
    pool_properties = api.CUmemPoolProps()
    pool_properties.allocType = properties.type
    pool_properties.location.type = properties.location.type
    pool_properties.handleTypes = FILE
    pool = call("cuMemPoolCreate", pool_properties)
    call("cuMemFreeAsync", call("cuMemAllocFromPoolAsync", 64, pool, 0), 0)
    pointer, more = call("cuMemAllocFromPoolAsync", 4 * N, pool, 0), call("cuMemAllocFromPoolAsync", 64, pool, 0)
    call("cuMemsetD32", place + PAGE, 3, N)
    call("cuMemsetD32", pointer, 5, N)
    call("cuMemsetD32", more, 9, 16)
    call("cuCtxSynchronize")
    files = [
        call("cuMemExportToShareableHandle", memory, FILE, 0),
        call("cuMemPoolExportToShareableHandle", pool, FILE, 0),
    ]
    data = ctypes.string_at(call("cuMemPoolExportPointer", pointer).getPtr(), 64)
    socket.send_fds(channel, [data], [int(file) for file in files])
    for file in files:
        os.close(int(file))
    assert channel.recv(16) == b"written"
    assert (download(place + PAGE, np.empty(N, np.int32)) == 4).all()
    assert (download(pointer, np.empty(N, np.int32)) == 6).all()
    assert (download(more, np.empty(16, np.int32)) == 9).all()
    call("cuMemFreeAsync", more, 0)
    call("cuMemFreeAsync", pointer, 0)
    call("cuCtxSynchronize")
    assert status("cuMemsetD32", pointer, 1, 1) == "CUDA_ERROR_INVALID_VALUE"
    again = call("cuMemAlloc", 4 * N)
    assert not download(again, np.empty(N, np.int32)).any()
    call("cuMemsetD32", place + PAGE, 7, N)
    call("cuMemRelease", memory)
    call("cuCtxSynchronize")
    channel.send(b"ending")


if len(sys.argv) > 1:
    share(socket.socket(fileno=int(sys.argv[1])))
else:
    channel, other = socket.socketpair()
    child = subprocess.Popen([sys.executable, __file__, str(other.fileno())], pass_fds=[other.fileno()])
    other.close()
    use(channel, child)
