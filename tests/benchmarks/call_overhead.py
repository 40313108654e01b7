"""What Python does for a call on a GPU:  python tests/benchmarks/call_overhead.py [rounds]

Needs no GPU. The real cuda.bindings runs over a libcuda whose launches do nothing, and torch tensors of the CPU pose as
tensors of a GPU, so that what is left is the time before the driver. Microseconds of CPU time of a call, medians over
rounds in a new random order each, beside what cuda.bindings and torch take by themselves. On a GPU, launch_overhead.py
in gpu/ measures all of it.
"""

from __future__ import annotations

import os
import random
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve()
TESTS, CALLS = HERE.parents[1], 2000


def driver_without_a_gpu(folder: Path) -> Path:
    """A folder with a libcuda.so.1 of our own."""
    import nvidia.cu13

    headers = Path(next(iter(nvidia.cu13.__path__))) / "include"
    subprocess.run(
        [
            sys.executable,
            "-m",
            "ziglang",
            "cc",
            "-shared",
            "-fPIC",
            "-w",
            "-DQUIET",
            "-I",
            str(headers),
            str(TESTS / "support" / "fake_libcuda.c"),
            "-o",
            str(folder / "libcuda.so.1"),
        ],
        check=True,
    )
    return folder


def pose_as_gpu() -> None:
    """Let torch tensors of the CPU count as tensors on cuda:0."""
    from pyptx.runtime import arrays
    from pyptx.torch_support import arrays as torch_arrays

    class Posing(torch_arrays.TorchArrays):
        def device(self, array):
            return "cuda:0"

        def stream(self, array):
            return 0

        kind = staticmethod(torch_arrays._kind)

        def empty(self, shape, dtype_name, like, zeroed=False):
            return torch_arrays._empty(shape, dtype_name, like)

    torch_arrays.ARRAYS = Posing()
    arrays.arrays_of_type.cache_clear()


def candidates() -> dict[str, Callable[[], object]]:
    import torch
    from runtime.kernels import scale
    from runtime.test_tensor_maps import copy

    from pyptx.runtime.cuda import BACKEND, DeviceArray
    from pyptx.runtime.cuda.launch import PreparedLaunch

    x, y = torch.ones(1024), torch.empty(1024)
    a, b = (DeviceArray(BACKEND.driver, 0, (64, 32), "float32") for _ in range(2))
    BACKEND.driver.call("cuCtxPushCurrent", BACKEND.driver.device(0).context)  # as torch leaves it
    scale(x, factor=2.0, out=y)
    specialization = scale.last_specialization
    program, device = specialization._programs["cuda"], BACKEND.driver.device(0)
    prepared = PreparedLaunch(
        BACKEND.driver, program.on(device), specialization.plan((16, 1, 1), (64, 1, 1)), program.slots
    )
    pack = struct.Struct("<QQfI")

    def bare() -> None:
        pack.pack_into(prepared.block, 0, x.data_ptr(), y.data_ptr(), 2.0, 1024)
        prepared.launch(0)

    def first_call() -> None:
        scale.launch_cache.entries.clear()
        scale(x, factor=2.0, out=y)

    return {
        "cuda.bindings, two pointers and two numbers": bare,
        "pyptx call, out=": lambda: scale(x, factor=2.0, out=y),
        "pyptx call, output made by torch.empty": lambda: scale(x, factor=2.0),
        "pyptx call, two arrays of ours and their maps": lambda: copy(a, out=b),
        "pyptx launch, every argument checked": lambda: scale.launch(16, 64, x, y, 2.0, 1024, N=1024),
        "pyptx call not seen before, out=": first_call,
        "torch.empty": lambda: torch.empty((1024,), dtype=torch.float32, device="cpu"),
    }


def measure(rounds: int) -> None:
    pose_as_gpu()
    found = candidates()
    times: dict[str, list[float]] = {name: [] for name in found}
    for _ in range(rounds + 2):
        for name in random.sample(list(found), len(found)):
            call, count = found[name], CALLS if "everything" not in name and "new kind" not in name else CALLS // 20
            start = time.thread_time()
            for _ in range(count):
                call()
            times[name].append((time.thread_time() - start) / count * 1e6)
    for name, values in times.items():
        kept = values[2:]  # the first rounds warm up
        print(f"{name:45} {statistics.median(kept):7.2f} us   ({min(kept):.2f} .. {max(kept):.2f})")


if __name__ == "__main__":
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    if "PYPTX_MEASURED" in os.environ:
        measure(rounds)
    else:
        with tempfile.TemporaryDirectory() as folder:
            paths = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
            subprocess.run(
                [sys.executable, str(HERE), str(rounds)],
                check=True,
                env={
                    **os.environ,
                    "PYPTX_MEASURED": "1",
                    "PYTHONPATH": paths,
                    "LD_LIBRARY_PATH": str(driver_without_a_gpu(Path(folder))),
                },
            )
