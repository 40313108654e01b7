"""Virtual memory management: physical memory keeps its contents when it is mapped elsewhere."""

import numpy as np
from driver import PTX, api, call, download, saxpy_arguments, start, status, upload

start()
properties = api.CUmemAllocationProp()
properties.type = api.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
properties.location.type = api.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
page = call(
    "cuMemGetAllocationGranularity",
    properties,
    api.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM,
)
access = api.CUmemAccessDesc()
access.location.type = api.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
access.flags = api.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE

free, _ = call("cuMemGetInfo")
first, second = call("cuMemCreate", page, properties, 0), call("cuMemCreate", page, properties, 0)
assert call("cuMemGetInfo")[0] == free - 2 * page
place = int(call("cuMemAddressReserve", 2 * page, 0, 0, 0))
call("cuMemMap", place, page, 0, first, 0)
assert status("cuMemsetD8", place, 1, 16) == "CUDA_ERROR_INVALID_VALUE", "mapped, but not accessible"
call("cuMemSetAccess", place, page, [access], 1)
call("cuMemMap", place + page, page, 0, second, 0)
call("cuMemSetAccess", place + page, page, [access], 1)

# copies and kernels over both mappings
n = 2 * page // 4
values = np.arange(n, dtype=np.float32)
call("cuMemcpyHtoD", place, values.ctypes.data, values.nbytes)
y = upload(np.ones(n, np.float32))
saxpy = call("cuModuleGetFunction", call("cuModuleLoadData", PTX), b"saxpy")
call("cuLaunchKernel", saxpy, n // 256, 1, 1, 256, 1, 1, 0, 0, saxpy_arguments(api.CUdeviceptr(place), y, 1.0, n), 0)
assert (download(y, values) == values + 1).all()

# the second page, mapped elsewhere
call("cuMemUnmap", place + page, page)
assert status("cuMemsetD8", place + page, 1, 16) == "CUDA_ERROR_INVALID_VALUE"
elsewhere = int(call("cuMemAddressReserve", page, 0, 0, 0))
call("cuMemMap", elsewhere, page, 0, second, 0)
call("cuMemSetAccess", elsewhere, page, [access], 1)
assert (download(elsewhere, values[: n // 2]) == values[n // 2 :]).all()

call("cuMemUnmap", elsewhere, page)
call("cuMemUnmap", place, page)
call("cuMemRelease", first)
call("cuMemRelease", second)
call("cuMemAddressFree", place, 2 * page)
call("cuMemFree", y)
assert call("cuMemGetInfo")[0] >= free - 8192
print("done")
