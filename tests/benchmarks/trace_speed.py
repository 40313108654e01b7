"""What tracing costs: microseconds an emitted instruction, for growing kernels, beside one NumPy call in the same run.

    python tests/benchmarks/trace_speed.py

Each kernel writes n instructions of the kinds that kernels are made of, through `ptx.inst` and through operators; one
is the f32 matrix product of examples/sgemm.py. `trace` is the time of the Python function with its tree, `version` that
of finding the PTX version it needs, `text` that of printing it. The time for each instruction should not grow with n:
tracing is linear. NumPy's line is `a + b` on two arrays of 32 numbers, the cheapest thing an interpreter of warps could
do instead.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from pyptx import kernel, ptx, reg, validate
from pyptx.cli.kernels import load_module
from pyptx.emitter import emit_lines
from pyptx.ir.nodes import Module
from pyptx.ir.visit import instructions
from pyptx.kernel import Kernel
from pyptx.types import f32, u32

SIZES = (1_000, 4_000, 16_000, 64_000)
REPEATS = 5


def least(function: Callable[[], object], repeats: int = REPEATS) -> float:
    """Least seconds of several runs, without the garbage collector."""
    times = []
    for _ in range(repeats):
        gc.collect()
        gc.disable()
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
        gc.enable()
    return min(times)


def chains(n: int) -> Kernel:
    """A kernel of n instructions written through `ptx.inst`."""

    @kernel(arch="sm_90a")
    def chain_kernel(p):
        (at,) = ptx.global_ptrs(p)
        a, b = reg.scalar(f32), reg.scalar(f32)
        for i in range(n // 4):
            ptx.inst.ld.global_.f32(a, ptx.addr(at, 4 * i))
            ptx.inst.fma.rn.f32(b, a, a, b)
            ptx.inst.mul.f32(a, a, b)
            ptx.inst.st.global_.f32(ptx.addr(at, 4 * i), a)

    return chain_kernel


def operators(n: int) -> Kernel:
    """A kernel of n instructions written with Python's operators; each makes a new register."""

    @kernel(arch="sm_90a")
    def operator_kernel():
        a = reg.from_(ptx.special.tid.x(), u32)
        for i in range(n // 4):
            a = ((a + i) & 255) ^ (a << 1)

    return operator_kernel


def count(module: Module) -> int:
    return sum(1 for function in module.functions for _ in instructions(function))


def report(name: str, make: Callable[[], Kernel], **params: int) -> None:
    """Print the costs of one kernel; a new Kernel for every run, since a traced one is kept."""
    module = make().module(**params)
    n = count(module)
    text, version = least(lambda: emit_lines(module)), least(lambda: validate.required_version(module))
    trace = least(lambda: make().module(**params)) - least(make) - text - version
    costs = {"trace": trace, "version": version, "text": text}
    print(f"{name:24} {n:7} instructions   " + "   ".join(f"{what} {s / n * 1e6:6.2f} us" for what, s in costs.items()))


def main() -> None:
    a, b = np.ones(32, np.float32), np.ones(32, np.float32)
    calls = 100_000
    numpy_call = least(lambda: [np.add(a, b) for _ in range(calls)]) / calls
    print(f"{'NumPy a + b, 32 numbers':24} {'':7} {'':12}         {numpy_call * 1e6:6.2f} us a call")
    for n in SIZES:
        report("ptx.inst", lambda n=n: chains(n))
    for n in SIZES:
        report("operators", lambda n=n: operators(n))
    example = Path(__file__).parents[2] / "examples" / "sgemm.py"
    report("examples/sgemm.py", lambda: load_module(str(example)).sgemm, M=256, N=256, K=256)


if __name__ == "__main__":
    main()
