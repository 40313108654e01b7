"""Times of calls on the simulated CUDA device, measured through cuda.bindings: python tests/benchmarks/cuda_driver.py

Launches of one warp, synchronization, and copies between host and device.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

PROGRAMS = Path(__file__).parents[1] / "cuda_device" / "programs"
COPIED = 256 << 20  # bytes
CALLS, ROUNDS = 2000, 5


def best(call: Callable[[], object], calls: int) -> float:
    """Return the seconds of one call, in the fastest of several rounds."""
    call()
    found = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        found = min(found, (time.perf_counter() - start) / calls)
    return found


def measure() -> None:
    """Print the times; runs under `pyptx exec`."""
    sys.path.insert(0, str(PROGRAMS))
    import numpy as np
    from driver import PTX, api, call, start

    start()
    count = call("cuModuleGetFunction", call("cuModuleLoadData", PTX), b"count")
    host = np.ones(COPIED, np.uint8)
    there = call("cuMemAlloc", COPIED)
    other = np.empty_like(host)
    rows = [
        ("launch", best(lambda: api.cuLaunchKernel(count, 1, 1, 1, 32, 1, 1, 0, 0, 0, 0), CALLS)),
        ("cuCtxSynchronize", best(api.cuCtxSynchronize, CALLS)),
        ("cuMemcpyHtoD, 4 bytes", best(lambda: api.cuMemcpyHtoD(there, host.ctypes.data, 4), CALLS)),
    ]
    for name, seconds in rows:
        print(f"{name:24} {1e6 * seconds:8.1f} us")
    copies = [
        ("cuMemcpyHtoD, 256 MiB", best(lambda: api.cuMemcpyHtoD(there, host.ctypes.data, COPIED), 1)),
        ("cuMemcpyDtoH, 256 MiB", best(lambda: api.cuMemcpyDtoH(other.ctypes.data, there, COPIED), 1)),
        ("numpy.copyto, 256 MiB", best(lambda: np.copyto(other, host), 1)),
    ]
    for name, seconds in copies:
        print(f"{name:24} {COPIED / seconds / 1e9:8.1f} GB/s")


if __name__ == "__main__":
    if "PYPTX_DEVICE_SOCKET" in os.environ:
        measure()
    else:
        sys.exit(subprocess.call([sys.executable, "-m", "pyptx", "exec", sys.executable, __file__]))
