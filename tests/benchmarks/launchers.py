"""Python's part of a warm launch: pyptx beside the launchers of cuda.core and Triton.  python tests/benchmarks/launchers.py [rounds]

Needs no GPU. All launch one kernel with two arrays and two numbers on the same stand-in for the driver, whose launches cost
nothing. Each runs in a process of its own, since Triton takes another path when torch is loaded; rounds alternate between them.
Microseconds of CPU time of a launch: median over rounds, least and most. What each does before a launch differs:

    cuda.core   takes addresses, and checks nothing
    Triton      takes arrays, and derives its specialization from types and values; it checks no shapes
    pyptx       takes arrays, and checks types, shapes, devices, alignment and overlap; without `out=` it allocates the output
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve()
TESTS, CALLS = HERE.parents[1], 2000
WORKER = "PYPTX_LAUNCHER_WORKER"


def cuda_core() -> Callable[[], object]:
    import numpy as np
    from cuda.core import Device, LaunchConfig, ObjectCode, launch
    from runtime.kernels import scale

    device = Device(0)
    device.set_current()
    kernel = ObjectCode.from_cubin(scale.compile(N=1024).cubin).get_kernel("scale")
    config, stream, factor, count = (
        LaunchConfig(grid=16, block=64),
        device.default_stream,
        np.float32(2),
        np.uint32(1024),
    )
    return lambda: launch(stream, config, kernel, 4096, 8192, factor, count)


def cuda_bindings() -> Callable[[], object]:
    from call_overhead import candidates, pose_as_gpu

    pose_as_gpu()
    return candidates()["cuda.bindings, two pointers and two numbers"]


def triton_launcher() -> Callable[[], object]:
    import triton
    from _triton_scale import scale
    from triton.backends.nvidia.driver import CudaDriver

    class Array:
        dtype = "fp32"

        def __init__(self, address: int):
            self.address = address

        def data_ptr(self) -> int:
            return self.address

    triton.runtime.driver.set_active(CudaDriver())
    x, y = Array(4096), Array(8192)
    return lambda: scale[(16,)](x, y, 2.0, 1024, BLOCK=64)


def pyptx_torch(*, out: bool) -> Callable[[], object]:
    import torch
    from call_overhead import pose_as_gpu
    from runtime.kernels import scale

    from pyptx.runtime.cuda import BACKEND

    pose_as_gpu()
    BACKEND.driver.call("cuCtxPushCurrent", BACKEND.driver.device(0).context)  # as torch leaves it
    x, y = torch.ones(1024), torch.empty(1024)
    return (lambda: scale(x, factor=2.0, out=y)) if out else (lambda: scale(x, factor=2.0))


def pyptx_device_arrays() -> Callable[[], object]:
    from runtime.kernels import scale

    from pyptx.runtime.cuda import BACKEND, DeviceArray

    BACKEND.driver.call("cuCtxPushCurrent", BACKEND.driver.device(0).context)
    x, y = (DeviceArray(BACKEND.driver, 0, (1024,), "float32") for _ in range(2))
    return lambda: scale(x, factor=2.0, out=y)


LAUNCHERS: dict[str, Callable[[], Callable[[], object]]] = {
    "cuda.bindings, packed by hand": cuda_bindings,
    "cuda.core launch": cuda_core,
    "pyptx call of torch tensors, out=": lambda: pyptx_torch(out=True),
    "pyptx call of torch tensors": lambda: pyptx_torch(out=False),
    "pyptx call of its own arrays, out=": pyptx_device_arrays,
    "Triton kernel[grid]": triton_launcher,
}


def stand_in(folder: Path) -> None:
    """Build the libcuda.so.1 of the benchmark."""
    import nvidia.cu13

    headers = Path(next(iter(nvidia.cu13.__path__))) / "include"
    source = TESTS / "support" / "launch_libcuda.c"
    command = [sys.executable, "-m", "ziglang", "cc", "-O1", "-shared", "-fPIC", "-w", "-I", str(headers), str(source)]
    subprocess.run([*command, "-o", str(folder / "libcuda.so.1")], check=True)


def work(name: str) -> None:
    """Time rounds: a line of input starts one, its answer is the time of a launch in microseconds."""
    run = LAUNCHERS[name]()
    run()
    for _ in sys.stdin:
        start = time.thread_time()
        for _ in range(CALLS):
            run()
        print((time.thread_time() - start) / CALLS * 1e6, flush=True)


def main(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        stand_in(Path(folder))
        paths = [str(TESTS), str(HERE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        env = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(paths),
            "LD_LIBRARY_PATH": folder,
            "TRITON_LIBCUDA_PATH": folder,
            "TRITON_CACHE_DIR": str(Path(folder) / "triton"),
        }
        workers = {
            name: subprocess.Popen(
                [sys.executable, "-W", "ignore", str(HERE)],
                env=env | {WORKER: name},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for name in LAUNCHERS
        }
        times: dict[str, list[float]] = {name: [] for name in LAUNCHERS}
        for _ in range(rounds + 2):
            for name, worker in workers.items():
                assert worker.stdin is not None and worker.stdout is not None
                worker.stdin.write("\n")
                worker.stdin.flush()
                while line := worker.stdout.readline():
                    if line[:1].isdigit():
                        times[name].append(float(line))
                        break
                else:
                    sys.exit(f"the worker of {name} ended with {worker.wait()}")
        for name, values in times.items():
            kept = values[2:]  # the first rounds warm up
            print(f"{name:36} {statistics.median(kept):7.2f} us   ({min(kept):.2f} .. {max(kept):.2f})")
        for worker in workers.values():
            assert worker.stdin is not None
            worker.stdin.close()
            worker.wait()


if __name__ == "__main__":
    if WORKER in os.environ:
        work(os.environ[WORKER])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
