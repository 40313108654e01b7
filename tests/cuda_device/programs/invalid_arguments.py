"""Calls every function of the driver with null pointers, then with handles, pointers and sizes mixed up.

Prints the functions that answered CUDA_ERROR_UNKNOWN, which the simulated device does after a defect of its own.
"""

import ctypes
import random

from pyptx.cuda_device.entry_points import entry_points

TYPES = {
    "u8": ctypes.c_uint8,
    "u16": ctypes.c_uint16,
    "u32": ctypes.c_uint32,
    "u64": ctypes.c_uint64,
    "i32": ctypes.c_int32,
    "f32": ctypes.c_float,
}
# those that end contexts, call functions of the host, or access memory of the host at a given address, as CUDA does
LEFT_OUT = (
    "cuMemcpy",
    "cuLaunchHostFunc",
    "cuStreamAddCallback",
    "cuUserObjectCreate",
    "cuLogsRegisterCallback",
    "cuCtxDestroy",
    "cuDevicePrimaryCtxRe",
)
UNKNOWN, NUMBERS = 999, (0, 1, 2, 3, 4, 8, 32, 255, 0x7FFFFFFF, 0xFFFFFFFF)

driver = ctypes.CDLL("libcuda.so.1")
choose = random.Random(7)
results, page = ctypes.create_string_buffer(1 << 16), ctypes.create_string_buffer(1 << 16)


def made(name: str, *arguments: object) -> int:
    handle = ctypes.c_uint64()
    assert getattr(driver, name)(ctypes.byref(handle), *arguments) == 0, name
    return handle.value


def value(kind: str, is_null: bool, words: list[int]) -> object:
    if kind == "f32":
        return ctypes.c_float(0)
    number = 0 if is_null else choose.choice(words if kind == "u64" else NUMBERS)
    return TYPES[kind](number & (1 << 8 * ctypes.sizeof(TYPES[kind])) - 1)


def blob(kind: str, is_null: bool) -> ctypes.c_void_p:
    if is_null or choose.random() < 0.3:
        return ctypes.c_void_p(0)
    data = bytes(choose.choice((0, 0, 0, 1, 2, 255, choose.randrange(256))) for _ in range(512))
    page.raw = (data.replace(b"\0", b"a") if kind == "str" else data).ljust(len(page), b"\0")
    return ctypes.c_void_p(ctypes.addressof(page))


def call(entry, is_null: bool, words: list[int]) -> int:
    sizes = " ".join(a.size for a in entry.arguments)  # of blobs, which are as large as the arguments say
    arguments = []
    for a in entry.arguments:
        if a.result:
            arguments.append(ctypes.c_void_p(ctypes.addressof(results)))
        elif a.type not in TYPES:
            arguments.append(blob(a.type, is_null))
        elif a.name in sizes:
            arguments.append(TYPES[a.type](0 if is_null else choose.choice((0, 1, 3, 5))))
        else:
            arguments.append(value(a.type, is_null, words))
    return getattr(driver, entry.symbol)(*arguments)


assert driver.cuInit(0) == 0
context = ctypes.c_uint64(made("cuDevicePrimaryCtxRetain", 0))
driver.cuCtxSetCurrent(context)
memory, managed = made("cuMemAlloc_v2", ctypes.c_size_t(4096)), made("cuMemAllocManaged", ctypes.c_size_t(4096), 1)
graph = made("cuGraphCreate", 0)
node = made("cuGraphAddEmptyNode", ctypes.c_uint64(graph), None, ctypes.c_size_t(0))
stream, event = made("cuStreamCreate", 0), made("cuEventCreate", 0)
words = [memory, managed, graph, node, stream, event, ctypes.addressof(page), 0, 1, 2, 0x1234, 1 << 63, (1 << 64) - 1]
for is_null, times in ((True, 1), (False, 3)):
    for entry in entry_points():
        if entry.place in ("server", "device", "wrapped") and not entry.symbol.startswith(LEFT_OUT):
            for _ in range(times):
                if call(entry, is_null, words) == UNKNOWN:
                    print(f"{entry.symbol} has a defect")
            driver.cuCtxSetCurrent(context)
assert driver.cuStreamDestroy_v2(ctypes.c_uint64(made("cuStreamCreate", 0))) == 0  # the device still answers
print("every call was answered")
