"""1,000 launches from 8 threads, on streams of their own."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from driver import PTX, call, download, start

start()
context = call("cuCtxGetCurrent")
module = call("cuModuleLoadData", PTX)
count = call("cuModuleGetFunction", module, b"count")


def work(_):
    call("cuCtxSetCurrent", context)
    stream = call("cuStreamCreate", 1)
    for _ in range(125):
        call("cuLaunchKernel", count, 1, 1, 1, 32, 1, 1, 0, stream, 0, 0)
    call("cuStreamSynchronize", stream)


with ThreadPoolExecutor(8) as pool:
    list(pool.map(work, range(8)))
address, _ = call("cuModuleGetGlobal", module, b"counter")
print(download(address, np.zeros(1, np.uint32))[0])
