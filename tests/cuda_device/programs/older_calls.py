"""Launches as before CUDA 4.0, logs of failed calls, and queries that few programs make."""

import ctypes
import tempfile
from pathlib import Path

import numpy as np
from driver import PTX, call, download, start, upload

start()
driver = ctypes.CDLL("libcuda.so.1")
assert ctypes.CDLL("libcuda.so")._handle == driver._handle  # the name by which some programs load it
assert driver.cuGLInit() == 801
INVALID_VALUE = 1


def made(name, *arguments, kind=ctypes.c_uint64):
    """Call a function whose last argument is a result."""
    result = kind()
    assert getattr(driver, name)(*arguments, ctypes.byref(result)) == 0, name
    return result.value


def do(name, *arguments):
    assert getattr(driver, name)(*arguments) == 0, name


# a launch by functions that set its parts
n = 300
x, y = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
dx, dy = upload(x), upload(y)
saxpy = ctypes.c_uint64(int(call("cuModuleGetFunction", call("cuModuleLoadData", PTX), b"saxpy")))
do("cuFuncSetBlockShape", saxpy, 128, 1, 1)
do("cuFuncSetSharedSize", saxpy, 0)
for place, address in ((0, dx), (8, dy)):
    do("cuParamSetv", saxpy, place, ctypes.byref(ctypes.c_uint64(int(address))), 8)
do("cuParamSetf", saxpy, 16, ctypes.c_float(2))
do("cuParamSeti", saxpy, 20, n)
assert driver.cuLaunchGrid(saxpy, 3, 1) == INVALID_VALUE  # without the size of the arguments
do("cuParamSetSize", saxpy, 24)
do("cuLaunchGrid", saxpy, 3, 1)
do("cuLaunchGridAsync", saxpy, 3, 1, ctypes.c_uint64(0))
call("cuCtxSynchronize")
assert (download(dy, y) == 1 + 4 * x).all()
properties = (ctypes.c_int * 14)()
do("cuDeviceGetProperties", properties, 0)
assert list(properties[:4]) == [1024, 1024, 1024, 64]

# logs
heard = []


@ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t)
def listen(data, level, message, size):
    assert len(message) == size
    heard.append((data, level, message))


before = ctypes.c_uint()
do("cuLogsCurrent", ctypes.byref(before), 0)
listener = made("cuLogsRegisterCallback", listen, ctypes.c_void_p(77))
assert driver.cuMemFree_v2(ctypes.c_uint64(12345)) == INVALID_VALUE
do("cuLogsUnregisterCallback", ctypes.c_uint64(listener))
assert driver.cuMemFree_v2(ctypes.c_uint64(54321)) == INVALID_VALUE
assert len(heard) == 1 and heard[0][:2] == (77, 0) and b"cannot free 0x3039" in heard[0][2]
buffer, size = ctypes.create_string_buffer(4000), ctypes.c_size_t(4000)
again = ctypes.c_uint(before.value)
do("cuLogsDumpToMemory", ctypes.byref(again), buffer, ctypes.byref(size), 0)
assert buffer.value.count(b"\n") == 2 and size.value == len(buffer.value) and b"0x3039" in buffer.value
do("cuLogsDumpToMemory", ctypes.byref(again), buffer, ctypes.byref(size), 0)
assert size.value == 0
size.value = 200
do("cuLogsDumpToMemory", ctypes.byref(before), buffer, ctypes.byref(size), 0)
assert b"0xd431" in buffer.value and b"0x3039" not in buffer.value and b"not all messages" in buffer.value
size.value = 9
assert driver.cuLogsDumpToMemory(None, buffer, ctypes.byref(size), 0) == INVALID_VALUE
with tempfile.TemporaryDirectory() as folder:
    do("cuLogsDumpToFile", None, f"{folder}/log".encode(), 0)
    assert b"0x3039" in Path(folder, "log").read_bytes()

# queries
kinds, capabilities = (ctypes.c_uint * 2)(0, 9), (ctypes.c_uint * 2)(7, 7)
do("cuDeviceGetHostAtomicCapabilities", capabilities, kinds, 2, 0)
assert list(capabilities) == [0, 0]
assert driver.cuCtxGetExecAffinity(buffer, 0) == 224
managed = call("cuMemAllocManaged", 4096, 1)
where = (ctypes.c_int * 4)()
do("cuMemGetLocationInfo", ctypes.c_uint64(int(managed)), ctypes.c_size_t(4096), *[ctypes.c_size_t(2048)] * 2, where)
assert list(where) == [0, 0, 0, 0]
for kind in ("Event", "Stream"):  # names without a version
    do(f"cu{kind}Destroy", ctypes.c_uint64(int(call(f"cu{kind}Create", 0))))
print("done")
