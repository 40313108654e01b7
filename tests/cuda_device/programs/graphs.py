"""Graphs: captured from streams, updated, and made by hand."""

import ctypes

import numpy as np
from driver import PTX, api, call, download, saxpy_arguments, start, status, upload

device = start()
saxpy = call("cuModuleGetFunction", call("cuModuleLoadData", PTX), b"saxpy")
n = 256
x, y = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
dx, dy = upload(x), upload(y)
stream, other = call("cuStreamCreate", 1), call("cuStreamCreate", 1)
fork, join = call("cuEventCreate", 0), call("cuEventCreate", 0)
calls = []
function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda data: calls.append(data))


def launch(to, on, a=2.0):
    call("cuLaunchKernel", saxpy, 1, 1, 1, 256, 1, 1, 0, on, saxpy_arguments(dx, to, a, n), 0)


def run(executable):
    call("cuGraphLaunch", executable, stream)
    call("cuStreamSynchronize", stream)


# a capture of two streams: nothing runs until the graph is launched
call("cuStreamBeginCapture", stream, api.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL)
assert call("cuStreamIsCapturing", stream) == api.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE
launch(dy, stream)
state, _, _, dependencies, _, count = call("cuStreamGetCaptureInfo", stream)
assert state == api.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE and count == len(dependencies) == 1
assert call("cuGraphNodeGetType", dependencies[0]) == api.CUgraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL
call("cuEventRecord", fork, stream)
call("cuStreamWaitEvent", other, fork, 0)
launch(dy, other)
call("cuLaunchHostFunc", other, ctypes.cast(function, ctypes.c_void_p).value, 7)
call("cuEventRecord", join, other)
call("cuStreamWaitEvent", stream, join, 0)
call("cuMemsetD32Async", dx, 0, n, stream)
graph = call("cuStreamEndCapture", stream)
assert (download(dy, y) == 1).all() and not calls
assert len(call("cuGraphGetNodes", graph, 10)[0]) == 4 or call("cuGraphGetNodes", graph, 10)[1] == 4
executable = call("cuGraphInstantiate", graph, 0)
run(executable)
assert (download(dy, y) == 1 + 4 * x).all() and calls == [7]
assert (download(dx, x) == 0).all()

# an update with other arguments
call("cuMemcpyHtoD", dx, x.ctypes.data, x.nbytes)
call("cuStreamBeginCapture", stream, api.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED)
launch(dy, stream, 1.0)
one = call("cuStreamEndCapture", stream)
small = call("cuGraphInstantiate", one, 0)
call("cuStreamBeginCapture", stream, api.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED)
launch(dy, stream, 3.0)
call("cuGraphExecUpdate", small, call("cuStreamEndCapture", stream))
call("cuMemsetD32", dy, 0, n)
call("cuStreamSynchronize", 0)
run(small)
assert (download(dy, y) == 3 * x).all()
assert status("cuGraphExecUpdate", executable, one) == "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE"

# a graph made by hand
made = call("cuGraphCreate", 0)
fill = api.CUDA_MEMSET_NODE_PARAMS()
fill.dst, fill.value, fill.elementSize, fill.width, fill.height = dy, 0x40000000, 4, n, 1
first = call("cuGraphAddMemsetNode", made, None, 0, fill, call("cuCtxGetCurrent"))
values = [ctypes.c_uint64(int(dx)), ctypes.c_uint64(int(dy)), ctypes.c_float(1.0), ctypes.c_uint(n)]
pointers = (ctypes.c_void_p * 4)(*(ctypes.addressof(value) for value in values))
kernel = api.CUDA_KERNEL_NODE_PARAMS()
kernel.func, kernel.kernelParams = saxpy, ctypes.addressof(pointers)
kernel.gridDimX = kernel.gridDimY = kernel.gridDimZ = kernel.blockDimY = kernel.blockDimZ = 1
kernel.blockDimX = 256
call("cuGraphAddKernelNode", made, [first], 1, kernel)
run(call("cuGraphInstantiate", made, 0))
assert (download(dy, y) == 2 + x).all()

# nodes that are changed, left out and cloned
second = call("cuGraphAddKernelNode", made, [first], 1, kernel)
assert int(call("cuGraphNodeGetContainingGraph", second)) == int(made)
clone = call("cuGraphClone", made)
assert int(call("cuGraphNodeFindInClone", second, clone)) != int(second)
fill.value = 0x3F800000
call("cuGraphMemsetNodeSetParams", first, fill)
assert call("cuGraphMemsetNodeGetParams", first).value == 0x3F800000
changed = call("cuGraphInstantiate", made, 0)
call("cuGraphNodeSetEnabled", changed, second, 0)
run(changed)
assert (download(dy, y) == 1 + x).all()
call("cuGraphNodeSetEnabled", changed, second, 1)
values[2].value = 3.0
call("cuGraphExecKernelNodeSetParams", changed, second, kernel)
run(changed)
assert (download(dy, y) == 1 + 4 * x).all()
run(call("cuGraphInstantiate", clone, 0))
assert (download(dy, y) == 2 + 2 * x).all()

# what a capture does not permit invalidates it
call("cuStreamBeginCapture", stream, api.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL)
assert status("cuMemAlloc", 16) == "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"
assert status("cuStreamEndCapture", stream) == "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"
call("cuMemFree", call("cuMemAlloc", 16))
print("done")
