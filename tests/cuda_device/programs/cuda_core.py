"""cuda.core: a kernel in CUDA C++, compiled by NVRTC, launched on a stream over a buffer of the default pool."""

import ctypes

import numpy as np
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

CODE = """
template <typename T> __global__ void scale(T *x, T a, size_t n) {
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= a;
}
"""
device = Device()
device.set_current()
stream = device.create_stream()
options = ProgramOptions(std="c++17", arch=f"compute_{device.arch}")
module = Program(CODE, code_type="c++", options=options).compile("ptx", name_expressions=("scale<float>",))
kernel = module.get_kernel("scale<float>")
n = 1000
buffer = device.allocate(4 * n, stream=stream)
host = np.frombuffer((ctypes.c_float * n)(), np.float32)
host[:] = np.arange(n)
from driver import call  # noqa: E402

stream.sync()  # the allocation is in its order, the copy in that of the default stream
call("cuMemcpyHtoD", int(buffer.handle), host.ctypes.data, host.nbytes)
launch(stream, LaunchConfig(grid=4, block=256), kernel, int(buffer.handle), np.float32(3), np.uint64(n))
stream.sync()
call("cuMemcpyDtoH", host.ctypes.data, int(buffer.handle), host.nbytes)
assert (host == 3 * np.arange(n)).all()
event = stream.record()
event.sync()
buffer.close(stream)
assert device.name.startswith("NVIDIA H200") and device.compute_capability == (9, 0)
print("done")
