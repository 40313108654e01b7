"""CPU time of tracing, in microseconds an instruction: first trace of a process and later ones, with validation.

    python tests/benchmarks/trace_speed.py [COMMIT]

Each kernel is of another style: plain `ptx.inst` calls, operators, typed wrappers, and examples that mix them. `cold` is
the first trace of a process, with all that it loads; `warm` the least of several later ones; `checked` what validation
of the module adds to a warm trace. A trace is linear if the figures of a style do not grow with its size. Every figure
is the least of several fresh processes; with a commit, its checkout is measured alternately with this one.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from checkouts import checkouts, compiled_once

REPEATS = 3
# (name, expression that gives a kernel, parameters)
KERNELS = (
    ("ptx.inst", "chains(1_000)", {}),
    ("ptx.inst", "chains(50_000)", {}),
    ("operators", "operators(1_000)", {}),
    ("typed wrappers", "wrappers(1_000)", {}),
    ("rms_norm", "example('rms_norm.py')", {"M": 64, "N": 4096}),
    ("sgemm", "example('sgemm.py')", {"M": 256, "N": 256, "K": 256}),
    ("ampere/gemm", "example('ampere/gemm.py')", {"M": 256, "N": 256, "K": 256}),
    ("hopper/gemm", "example('hopper/gemm.py')", {"M": 256, "N": 256, "K": 256}),
    ("hopper/attention", "example('hopper/attention.py')", {"B": 1, "H": 1, "S": 256, "T": 256, "D": 64}),
)

# Executed in each checkout, with its pyptx.
CHILD = """
import json, sys, time
from pyptx import kernel, ptx, reg
from pyptx.types import b32, f32, tf32, u32

def chains(n):
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

def operators(n):
    @kernel(arch="sm_90a")
    def operator_kernel():
        a = reg.from_(ptx.special.tid.x(), u32)
        for i in range(n // 4):
            a = ((a + i) & 255) ^ (a << 1)
    return operator_kernel

def wrappers(n):
    @kernel(arch="sm_90a")
    def wrapper_kernel():
        a, b = reg.scalar(u32, init=1), reg.scalar(u32, init=2)
        c, x = reg.array(f32, 4), reg.array(b32, 4)
        for i in range(n // 4):
            ptx.add(u32, a, a, b)
            ptx.shl(b32, b, a, i % 32)
            ptx.mma.sync(shape=(16, 8, 8), dtype_d=f32, dtype_a=tf32, dtype_b=tf32, dtype_c=f32,
                         d=c, a=list(x), b=list(x)[:2], c=c)
            ptx.mov(u32, b, a)
    return wrapper_kernel

def example(path):
    from pathlib import Path
    from pyptx.cli.kernels import load_kernel
    return load_kernel(str(Path("examples", path)))

made, params = eval(sys.argv[1]), json.loads(sys.argv[2])

def trace(checked):
    fresh = made.with_fresh_cache()
    start = time.process_time()
    found = fresh.specialize(**params)
    if checked:
        found.require_valid()
    return time.process_time() - start

cold = trace(True)
found = made.specialize(**params)
from pyptx.ir.visit import instructions
count = sum(1 for function in found.module.functions for _ in instructions(function))
runs = max(1, 20_000 // count)
warm, checked = (min(trace(each) for _ in range(runs)) for each in (False, True))
print(json.dumps([count, cold, warm, checked - warm]))
"""


def sample(checkout: Path, made: str, params: dict[str, int]) -> tuple[int, list[float]]:
    """Instructions, and seconds of one process: cold, warm, validation."""
    run = subprocess.run(
        [sys.executable, "-c", CHILD, made, json.dumps(params)],
        env=compiled_once() | {"PYTHONPATH": str(checkout)},
        cwd=checkout,
        text=True,
        capture_output=True,
    )
    if run.returncode:
        raise RuntimeError(run.stderr)
    count, *seconds = json.loads(run.stdout)
    return count, seconds


def main() -> None:
    with checkouts(sys.argv[1] if len(sys.argv) > 1 else None) as measured:
        print(f"{'':18}{'instructions':>13}" + "".join(f"{name:>28}" for name in measured))
        print(f"{'':31}" + f"{'cold':>12}{'warm':>8}{'checked':>8}" * len(measured) + "   us of CPU an instruction")
        for style, made, params in KERNELS:
            least: dict[str, list[float]] = {}
            count = 0
            for _ in range(REPEATS):
                for name, checkout in measured.items():
                    count, seconds = sample(checkout, made, params)
                    least[name] = [min(pair) for pair in zip(least.get(name, seconds), seconds, strict=True)]
            figures = "".join(
                f"{cold / count * 1e6:12.1f}{warm / count * 1e6:8.2f}{checked / count * 1e6:8.2f}"
                for cold, warm, checked in least.values()
            )
            print(f"{style:18}{count:13,}{figures}", flush=True)


if __name__ == "__main__":
    main()
