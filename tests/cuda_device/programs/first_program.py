"""Devices, memory, modules, launches, streams, events, errors."""

import numpy as np
from driver import PTX, api, call, download, saxpy_arguments, start, status, upload

device = start()
attribute = api.CUdevice_attribute
assert b"H200" in call("cuDeviceGetName", 100, device)
assert call("cuDeviceGetAttribute", attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device) == 9
assert call("cuDeviceGetAttribute", attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device) == 132
assert call("cuDeviceTotalMem", device) == 141 << 30

module = call("cuModuleLoadData", PTX)
saxpy = call("cuModuleGetFunction", module, b"saxpy")
n = 1000
x, y = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
dx, dy = upload(x), upload(y)
stream = call("cuStreamCreate", 0)
before, after = call("cuEventCreate", 0), call("cuEventCreate", 0)
call("cuEventRecord", before, stream)
call("cuLaunchKernel", saxpy, 4, 1, 1, 256, 1, 1, 0, stream, saxpy_arguments(dx, dy, 2.0, n), 0)
call("cuEventRecord", after, stream)
call("cuStreamSynchronize", stream)
assert (download(dy, y) == 2 * x + 1).all()
assert call("cuEventElapsedTime", before, after) > 0

# variables survive between launches, and are read and set through their addresses
count = call("cuModuleGetFunction", module, b"count")
for _ in range(3):
    call("cuLaunchKernel", count, 1, 1, 1, 32, 1, 1, 0, stream, 0, 0)
address, size = call("cuModuleGetGlobal", module, b"counter")
assert size == 4 and download(address, np.zeros(1, np.uint32))[0] == 7 + 3 * 32
factors, size = call("cuModuleGetGlobal", module, b"factors")
call("cuMemcpyHtoD", factors, np.array([3, 5], np.float32).ctypes.data, size)
out = upload(np.zeros(2, np.float32))
factor = call("cuModuleGetFunction", module, b"factor")
call("cuLaunchKernel", factor, 1, 1, 1, 2, 1, 1, 0, 0, ((out,), (None,)), 0)
assert download(out, np.zeros(2, np.float32)).tolist() == [3, 5]

# fills, copies, managed and pinned memory
call("cuMemsetD32", dy, 0x3F800000, n)
assert (download(dy, y) == 1).all()
call("cuMemcpyDtoD", dy, dx, 4 * n)
assert (download(dy, y) == x).all()
managed = call("cuMemAllocManaged", 4 * n, 1)
import ctypes  # noqa: E402

host = np.frombuffer((ctypes.c_float * n).from_address(int(managed)), np.float32)
host[:] = 1
call("cuLaunchKernel", saxpy, 4, 1, 1, 256, 1, 1, 0, 0, saxpy_arguments(dx, managed, 1.0, n), 0)
call("cuCtxSynchronize")
assert (host == x + 1).all()

# errors: refused calls, and a fault that the context keeps
assert status("cuModuleGetFunction", module, b"absent") == "CUDA_ERROR_NOT_FOUND"
assert status("cuMemcpyHtoD", dx, x.ctypes.data, 5 * n) == "CUDA_ERROR_INVALID_VALUE"
assert status("cuMemFree", int(dx) + 8) == "CUDA_ERROR_INVALID_VALUE"
assert status("cuLaunchKernel", saxpy, 1, 1, 1, 2048, 1, 1, 0, 0, saxpy_arguments(dx, dy, 1.0, n), 0) == (
    "CUDA_ERROR_INVALID_VALUE"
)
assert status("cuModuleLoadData", b"nothing") == "CUDA_ERROR_INVALID_IMAGE"
call("cuMemFree", dx)
api.cuLaunchKernel(saxpy, 4, 1, 1, 256, 1, 1, 0, 0, saxpy_arguments(dx, dy, 1.0, n), 0)
assert status("cuCtxSynchronize") == "CUDA_ERROR_ILLEGAL_ADDRESS"
assert status("cuMemAlloc", 16) == "CUDA_ERROR_ILLEGAL_ADDRESS"
call("cuDevicePrimaryCtxReset", device)
call("cuCtxSetCurrent", call("cuDevicePrimaryCtxRetain", device))
call("cuMemFree", call("cuMemAlloc", 16))
print("done")
