"""Speed of matrix products on the simulator:  python tests/benchmarks/sim_matrix_speed.py [rounds]

The compatibility kernels over real arrays, bf16 with f32 sums, on one thread:

    ampere 256^3    cp.async, ldmatrix, mma.sync m16n8k16
    hopper 1024^3   TMA, mbarriers, wgmma m64n256k16, specialised warpgroups

and, beside NumPy only, the GEMMs of examples/ampere, hopper and blackwell at 1024^3, in CPU time.

Beside the first two, on the same job: NumPy's f32 product; the Triton interpreter, where torch and triton are installed
(`pip install torch triton`); Numba's CUDA simulator, where numba is (`pip install numba`). NumPy runs in every round,
as the simulator does, in a new random order; times are medians, ratios medians of the ratios in a round. The Triton
interpreter is in the rounds at 256^3 and runs once at 1024^3. Numba's runs a thread for each CUDA thread and takes
minutes, so that it is measured once at 32^3 and its time scaled by the multiplications; the line says so.
"""

from __future__ import annotations

import os
import sys
import time
from importlib.util import find_spec
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # read when NumPy is loaded
os.environ["TRITON_INTERPRET"] = "1"  # read when triton is loaded
os.environ["NUMBA_ENABLE_CUDASIM"] = "1"  # read when numba is loaded
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

import ml_dtypes  # noqa: E402
import numpy as np  # noqa: E402
from compat.kernels_ampere import ampere_gemm  # noqa: E402
from compat.kernels_hopper import hopper_gemm  # noqa: E402
from sim_speed import EXAMPLES, interleaved, prepare, ratio_text  # noqa: E402

from pyptx import sim  # noqa: E402
from pyptx.cli.kernels import load_kernel  # noqa: E402


def triton_product(size: int):
    """A function that multiplies two square bf16 matrices with the Triton interpreter, or None without it."""
    if find_spec("triton") is None or find_spec("torch") is None:
        return None
    import torch
    from _triton_product import product

    a, b = (torch.randn(size, size).to(torch.bfloat16) for _ in range(2))
    c = torch.empty(size, size, dtype=torch.float32)
    return lambda: product(a, b, c)


def numba_seconds(size: int) -> float | None:
    """Seconds of Numba's CUDA simulator for a product of this size, from one of SCALED^3; None without numba."""
    if find_spec("numba") is None:
        return None
    from _numba_product import product

    a, b = (np.random.default_rng(1).standard_normal((SCALED, SCALED)).astype(np.float32) for _ in range(2))
    c = np.zeros((SCALED, SCALED), np.float32)
    start = time.perf_counter()
    product(a, b, c)
    seconds = time.perf_counter() - start
    np.testing.assert_allclose(c, a @ b, rtol=1e-3, atol=1e-3)
    return seconds * (size / SCALED) ** 3


SCALED = 32  # size at which Numba's simulator is measured
OFTEN = 256  # sizes up to this run the Triton interpreter in every round


def report(name: str, kernel, size: int, rounds: int, *, transposed: bool) -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((size, size)).astype(np.float32) for _ in range(2))
    left, right = a.astype(ml_dtypes.bfloat16), (b.T.copy() if transposed else b).astype(ml_dtypes.bfloat16)
    c, out = kernel(left, right), np.empty((size, size), np.float32)
    wanted = left.astype(np.float32) @ b.astype(ml_dtypes.bfloat16).astype(np.float32)
    np.testing.assert_allclose(np.asarray(c, np.float32), wanted, rtol=2**-7, atol=1e-2 * size**0.5)

    def simulated() -> float:
        kernel(left, right, out=c)
        return kernel.last_run.seconds

    candidates = {"sim": simulated, "numpy": lambda: np.matmul(a, b, out=out) is None or None}
    triton = triton_product(size)
    if triton is not None and size <= OFTEN:
        candidates["triton"] = lambda: triton() and None
    times = interleaved(candidates, rounds)
    if triton is not None and size > OFTEN:
        start = time.perf_counter()
        triton()
        times["triton"] = np.full(rounds, time.perf_counter() - start)
    issued, flops = kernel.last_run.counters.warp_instructions, int(kernel.last_run.counters.tensor_flops.sum())
    core = np.median(times["sim inside"])
    print(f"{name}: {issued} warp-instructions, {flops / 1e9:.2f} G tensor operations, medians of {rounds} rounds")
    print(
        f"  sim {1e3 * np.median(times['sim']):8.2f} ms, in the core {1e3 * core:8.2f} ms "
        f"({flops / core / 1e9:.1f} G operations/s)   numpy {1e3 * np.median(times['numpy']):8.2f} ms   ratio "
        f"{ratio_text(times['sim'], times['numpy'])}"
    )
    if triton is None:
        print("  Triton interpreter: not here (pip install torch triton)")
    else:
        print(
            f"  Triton interpreter {1e3 * np.median(times['triton']):8.2f} ms   ratio to sim "
            f"{ratio_text(times['triton'], times['sim'])}"
        )
    numba = numba_seconds(size)
    if numba is None:
        print("  Numba's CUDA simulator: not here (pip install numba)")
    else:
        print(
            f"  Numba's CUDA simulator {numba:8.0f} s, scaled from {SCALED}^3   ratio to sim "
            f"{numba / np.median(times['sim']):10.0f}"
        )
    milliseconds, instructions = prepare(kernel.module(M=size, N=size, K=size), min(rounds, 11))
    each = 1e3 * milliseconds / instructions
    print(f"  prepare {milliseconds:.2f} ms for {instructions} instructions, {each:.1f} us each")


def report_example(name: str, size: int, rounds: int) -> None:
    """Print the time of an example's GEMM beside NumPy's, both on one thread."""
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((size, size)).astype(np.float32) for _ in range(2))
    kernel = load_kernel(str(EXAMPLES / name))
    specialization, plan, args = kernel.launcher.bind(*(x.astype(ml_dtypes.bfloat16) for x in (a, b)))
    program, out = sim.load(specialization.module), np.empty((size, size), np.float32)
    sizes = {"cluster": plan.cluster, "smem_bytes": plan.smem_bytes, "threads": 1}
    candidates = {
        "sim": lambda: sim.launch(program, plan.grid, plan.block, args, **sizes) and None,
        "numpy": lambda: np.matmul(a, b, out=out) is None or None,
    }
    times = interleaved(candidates, rounds, time.thread_time)
    sim_ms, numpy_ms = (1e3 * np.median(times[which]) for which in ("sim", "numpy"))
    print(
        f"examples/{name} {size}^3: sim {sim_ms:.1f} ms   numpy {numpy_ms:.1f} ms   "
        f"ratio {ratio_text(times['sim'], times['numpy'])}"
    )


if __name__ == "__main__":
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 11
    for architecture in "ampere", "hopper", "blackwell":
        report_example(f"{architecture}/gemm.py", 1024, rounds)
    report("ampere 256^3", ampere_gemm, 256, rounds, transposed=False)
    report("hopper 1024^3", hopper_gemm, 1024, rounds, transposed=True)
