"""The first launch of a kernel in a process, with the machine code in the cache: pyptx beside loading the same cubin.

    python tests/benchmarks/first_launch.py [rounds]

Needs no GPU: all launch on a stand-in for the driver whose calls cost nothing. Each round runs every case in a fresh process, in
turns. Milliseconds of CPU time of the process and of the programs that it runs, medians over rounds:

    import   of the packages and the example, and the arrays
    launch   from there to the return of the first launch
    total    both: from the start of the script to the first launch
    next     the first launch of another specialization of the kernel in the same process

    cuda.bindings    reads the cubin of the example from a file, loads it by calls of the driver, and launches it
    cuda.core        the same
    pyptx            finds the trace of the example and its cubin in the cache, loads it, and launches it
    pyptx, traced    the same with PYPTX_TRACE_CACHE=0: traces and validates the example first
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from launchers import stand_in

HERE = Path(__file__).resolve()
REPOSITORY = HERE.parents[2]
WORKER = "PYPTX_FIRST_LAUNCH"

# example, its sizes, and those of the second specialization
EXAMPLES: dict[str, tuple[dict[str, int], dict[str, int]]] = {
    "softmax:softmax": ({"M": 512, "N": 1024}, {"M": 512, "N": 2048}),
    "sgemm:sgemm": ({"M": 256, "N": 256, "K": 256}, {"M": 256, "N": 256, "K": 512}),
    "hopper.gemm:gemm": ({"M": 256, "N": 256, "K": 256}, {"M": 256, "N": 256, "K": 512}),
    "hopper.attention:attention": (
        {"B": 1, "H": 1, "S": 256, "T": 256, "D": 64},
        {"B": 1, "H": 1, "S": 256, "T": 256, "D": 128},
    ),
}


def kernel_of(example: str) -> Any:
    """Import an example; return its kernel."""
    from importlib import import_module

    module, _, name = example.partition(":")
    return getattr(import_module(f"examples.{module}"), name)


def arrays_of(kernel: Any, sizes: dict[str, int]) -> tuple[list[Any], list[Any]]:
    """Return arrays on the stand-in's GPU for the inputs and the outputs of a call."""
    from pyptx.runtime.cuda import BACKEND, DeviceArray
    from pyptx.runtime.numpy_arrays import numpy_dtype

    known = {**kernel.declaration.default_sizes, **sizes}

    def made(specs: Any) -> list[Any]:
        return [
            DeviceArray(BACKEND.driver, 0, spec.resolve_shape(known), numpy_dtype(spec.dtype.name)) for spec in specs
        ]

    return made(kernel.declaration.in_specs), made(kernel.declaration.out_specs)


def pyptx(example: str, folder: Path) -> tuple[Callable[[], object], Callable[[], object]]:
    kernel = kernel_of(example)
    calls = []
    for sizes in EXAMPLES[example]:
        inputs, outputs = arrays_of(kernel, sizes)
        out = outputs[0] if len(outputs) == 1 else tuple(outputs)
        calls.append(lambda inputs=inputs, out=out: kernel(*inputs, out=out))
    return calls[0], calls[1]


def cuda_core(example: str, folder: Path) -> tuple[Callable[[], object], Callable[[], object]]:
    from cuda.core import Device, LaunchConfig, ObjectCode, launch

    device = Device(0)
    device.set_current()

    def run(number: int) -> None:
        about = json.loads((folder / f"{example}.{number}.json").read_text())
        code = (folder / f"{example}.{number}.cubin").read_bytes()
        kernel = ObjectCode.from_cubin(code).get_kernel(about["entry"])
        config = LaunchConfig(grid=tuple(about["grid"]), block=tuple(about["block"]), shmem_size=about["smem"])
        launch(device.default_stream, config, kernel, *[4096] * about["parameters"])

    return lambda: run(0), lambda: run(1)


def cuda_bindings(example: str, folder: Path) -> tuple[Callable[[], object], Callable[[], object]]:
    import ctypes

    from cuda.bindings import driver

    def call(name: str, *args: Any) -> Any:
        status, *values = getattr(driver, name)(*args)
        assert status == driver.CUresult.CUDA_SUCCESS, name
        return values[0] if values else None

    call("cuInit", 0)
    call("cuCtxSetCurrent", call("cuDevicePrimaryCtxRetain", call("cuDeviceGet", 0)))

    def run(number: int) -> None:
        about = json.loads((folder / f"{example}.{number}.json").read_text())
        code = (folder / f"{example}.{number}.cubin").read_bytes()
        library = call("cuLibraryLoadData", code, [], [], 0, [], [], 0)
        function = call("cuKernelGetFunction", call("cuLibraryGetKernel", library, about["entry"].encode()))
        values = (4096,) * about["parameters"], (ctypes.c_uint64,) * about["parameters"]
        call("cuLaunchKernel", function, *about["grid"], *about["block"], about["smem"], 0, values, 0)

    return lambda: run(0), lambda: run(1)


CASES: dict[str, Callable[[str, Path], tuple[Callable[[], object], Callable[[], object]]]] = {
    "cuda.bindings": cuda_bindings,
    "cuda.core": cuda_core,
    "pyptx": pyptx,
    "pyptx, traced": pyptx,
}


def spent() -> float:
    """Return the CPU time of this process and of the programs that it ran, in milliseconds."""
    return 1e3 * (sum(os.times()[2:4]) + time.process_time())


def work(case: str, example: str, folder: Path) -> None:
    """Run one case; print its times in milliseconds."""
    times = [spent()]
    first, second = CASES[case](example, folder)
    times.append(spent())
    for launch in (first, second):
        launch()
        times.append(spent())
    start, ready, launched, done = times
    print("times", ready - start, launched - ready, launched - start, done - launched)


def prepare(folder: Path) -> None:
    """Assemble the examples, and write what the launchers of cubins read."""
    for example, both in EXAMPLES.items():
        for number, sizes in enumerate(both):
            specialization, plan, _ = kernel_of(example).launcher.bind(**sizes)
            arch = specialization.module.target.targets[0]
            (folder / f"{example}.{number}.cubin").write_bytes(specialization.compile(arch=arch).cubin)
            about = {"entry": specialization.entry.name, "grid": plan.grid, "block": plan.block}
            about |= {"smem": plan.smem_bytes, "parameters": len(specialization.entry.params)}
            (folder / f"{example}.{number}.json").write_text(json.dumps(about))


def main(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        stand_in(folder)
        paths = [str(REPOSITORY), str(HERE.parents[1]), str(HERE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        env = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(paths),
            "LD_LIBRARY_PATH": name,
            "PYPTX_CACHE_DIR": str(folder / "cache"),
            "OPENBLAS_NUM_THREADS": "1",  # its threads spin after the import of NumPy
        }

        def child(*words: str) -> str:
            command = [sys.executable, "-W", "ignore", str(HERE)]
            more = {WORKER: json.dumps([*words, name]), "PYPTX_TRACE_CACHE": str(int("pyptx, traced" not in words))}
            done = subprocess.run(command, env=env | more, stdout=subprocess.PIPE, text=True, check=True)
            return done.stdout

        child("prepare", "")
        times: dict[tuple[str, str], list[list[float]]] = {(e, c): [] for e in EXAMPLES for c in CASES}
        for _ in range(rounds + 1):
            for example, case in times:
                line = next(line for line in child(case, example).splitlines() if line.startswith("times"))
                times[example, case].append([float(word) for word in line.split()[1:]])
        print(f"{'':28} {'':14} {'import':>8} {'launch':>8} {'total':>8} {'next':>8}")
        for (example, case), rows in times.items():
            medians = [statistics.median(column) for column in zip(*rows[1:], strict=True)]
            print(f"{example:28} {case:14}" + "".join(f" {value:8.1f}" for value in medians))


if __name__ == "__main__":
    if WORKER in os.environ:
        case, example, folder = json.loads(os.environ[WORKER])
        prepare(Path(folder)) if case == "prepare" else work(case, example, Path(folder))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
