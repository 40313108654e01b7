"""Green contexts of the driver API: made current, divided again, with streams of their own."""

from driver import api, call, start, status

device = start()
resource_type = api.CUdevResourceType
primary = call("cuCtxGetCurrent")
whole = call("cuDeviceGetDevResource", device, resource_type.CU_DEV_RESOURCE_TYPE_SM)
(half,), count, rest = call("cuDevSmResourceSplitByCount", 1, whole, 0, 64)
assert (whole.sm.smCount, half.sm.smCount, rest.sm.smCount, count) == (132, 64, 68, 1)

description = call("cuDevResourceGenerateDesc", [half], 1)
green = call("cuGreenCtxCreate", description, device, api.CUgreenCtxCreate_flags.CU_GREEN_CTX_DEFAULT_STREAM)
context = call("cuCtxFromGreenCtx", green)
stream = call("cuGreenCtxStreamCreate", green, 1, 0)
assert status("cuGreenCtxStreamCreate", green, 0, 0) == "CUDA_ERROR_INVALID_VALUE"
assert int(call("cuStreamGetGreenCtx", stream)) == int(green) and int(call("cuStreamGetCtx", stream)) == int(context)
assert int(call("cuStreamGetGreenCtx", 0)) == 0
assert call("cuGreenCtxGetId", green) == call("cuCtxGetId", context) != call("cuCtxGetId", primary)

# current: streams belong to it, and memory and modules to the primary context
call("cuCtxSetCurrent", context)
assert int(call("cuStreamGetGreenCtx", 0)) == int(green)
own, memory = call("cuStreamCreate", 0), call("cuMemAlloc", 64)
assert call("cuCtxGetDevResource", 0, resource_type.CU_DEV_RESOURCE_TYPE_SM).sm.smCount == 64
again = call("cuGreenCtxGetDevResource", green, resource_type.CU_DEV_RESOURCE_TYPE_SM)
assert len(call("cuDevSmResourceSplitByCount", 8, again, 0, 8)[0]) == 8
call("cuMemsetD8Async", memory, 7, 64, own)
call("cuCtxSynchronize")
call("cuCtxSetCurrent", primary)
call("cuGreenCtxDestroy", green)
assert status("cuStreamSynchronize", own) == "CUDA_ERROR_STREAM_DETACHED"
assert status("cuCtxGetId", context) == "CUDA_ERROR_INVALID_CONTEXT"
found = bytearray(64)
call("cuMemcpyDtoH", found, memory, 64)
assert found == b"\7" * 64
for one in (own, stream):
    call("cuStreamDestroy", one)
print("done")
