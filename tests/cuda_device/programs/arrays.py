"""CUDA arrays, pitched copies, textures over them."""

import numpy as np
from driver import api, call, download, start, status, upload

start()
data = np.arange(6 * 8, dtype=np.float32).reshape(6, 8)
description = api.CUDA_ARRAY3D_DESCRIPTOR()
description.Width, description.Height, description.NumChannels = 8, 6, 1
description.Format = api.CUarray_format.CU_AD_FORMAT_FLOAT
array = call("cuArray3DCreate", description)
found = call("cuArray3DGetDescriptor", array)
assert (found.Width, found.Height, found.Depth) == (8, 6, 0)

job = api.CUDA_MEMCPY2D()
job.srcMemoryType, job.srcHost, job.srcPitch = api.CUmemorytype.CU_MEMORYTYPE_HOST, data.ctypes.data, 32
job.dstMemoryType, job.dstArray = api.CUmemorytype.CU_MEMORYTYPE_ARRAY, array
job.WidthInBytes, job.Height = 32, 6
call("cuMemcpy2D", job)

pitched, pitch = call("cuMemAllocPitch", 32, 6, 4)
assert pitch % 512 == 0
back = api.CUDA_MEMCPY2D()
back.srcMemoryType, back.srcArray = api.CUmemorytype.CU_MEMORYTYPE_ARRAY, array
back.srcXInBytes, back.srcY = 8, 1
back.dstMemoryType, back.dstDevice, back.dstPitch = api.CUmemorytype.CU_MEMORYTYPE_DEVICE, pitched, pitch
back.WidthInBytes, back.Height = 16, 3
call("cuMemcpy2D", back)
rows = download(pitched, np.zeros((3, pitch // 4), np.float32)[:, :])
assert (rows[:, :4] == data[1:4, 2:6]).all()
back.srcY = 4  # three rows from the fourth are more than the array has
assert status("cuMemcpy2D", back) == "CUDA_ERROR_INVALID_VALUE"

PTX = b"""
.version 8.0
.target sm_90
.address_size 64
.visible .entry sample(.param .u64 texture, .param .u64 out) {
    .reg .b32 %r<2>; .reg .f32 %f<7>; .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [texture];
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x;
    cvt.rn.f32.u32 %f1, %r1;
    mov.f32 %f2, 0f40000000;
    tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd1, {%f1, %f2}];
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd2, %rd3;
    st.global.f32 [%rd4], %f3;
    ret;
}
"""
resource, reading = api.CUDA_RESOURCE_DESC(), api.CUDA_TEXTURE_DESC()
resource.resType, resource.res.array.hArray = api.CUresourcetype.CU_RESOURCE_TYPE_ARRAY, array
reading.addressMode = [api.CUaddress_mode.CU_TR_ADDRESS_MODE_CLAMP] * 3
texture = call("cuTexObjectCreate", resource, reading, None)
sample = call("cuModuleGetFunction", call("cuModuleLoadData", PTX), b"sample")
out = upload(np.zeros(12, np.float32))
call("cuLaunchKernel", sample, 1, 1, 1, 12, 1, 1, 0, 0, ((texture, out), (None, None)), 0)
assert download(out, np.zeros(12, np.float32)).tolist() == [*data[2], *[data[2, 7]] * 4]
call("cuTexObjectDestroy", texture)
call("cuArrayDestroy", array)

occupancy = call("cuOccupancyMaxActiveBlocksPerMultiprocessor", sample, 256, 0)
assert occupancy == 8, occupancy
print("done")
