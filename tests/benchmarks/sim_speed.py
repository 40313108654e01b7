"""Speed of the simulator beside NumPy, in one run:  python tests/benchmarks/sim_speed.py

Two kernels of the examples over real arrays: rms_norm 512 x 1024 f32 and a tiled sgemm 256^3 f32. For each: the best
time of a launch, warp-instructions a second, NumPy's best time, and the ratio of the two.
"""

from __future__ import annotations

import importlib.util
import time
from pathlib import Path

import numpy as np

from pyptx import sim

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def example(name: str):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def best(function, repeats: int = 15) -> float:
    """Seconds of the fastest of several calls."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def prepare_ms(module) -> tuple[float, int]:
    """Milliseconds to resolve and encode a module, warm, and its instructions."""
    from pyptx.sim.core.actions import encode
    program = sim.load(module)
    return 1e3 * best(lambda: encode(sim.load(module)), 5), len(program.instructions)


def report(name: str, kernel, module, numpy, *arrays) -> None:
    kernel(*arrays)
    simulated, plain = best(lambda: kernel(*arrays)), best(lambda: numpy(*arrays))
    issued = kernel.last_run.counters.warp_instructions
    prepared, instructions = prepare_ms(module)
    print(f"{name:10} sim {1e3 * simulated:7.2f} ms  {issued / simulated / 1e6:6.1f} M warp-instructions/s  "
          f"numpy {1e3 * plain:6.2f} ms  ratio {simulated / plain:6.1f}  "
          f"prepare {prepared:5.2f} ms for {instructions} instructions")


def main() -> None:
    rng = np.random.default_rng(0)
    rms, sgemm = example("rms_norm"), example("sgemm")
    x, weight = rng.standard_normal((512, 1024)).astype(np.float32), rng.standard_normal(1024).astype(np.float32)
    a, b = (rng.standard_normal((256, 256)).astype(np.float32) for _ in range(2))
    report("rms_norm", rms.rms_norm, rms.rms_norm.module(M=512, N=1024), rms.reference, x, weight)
    report("sgemm", sgemm.sgemm, sgemm.sgemm.module(M=256, N=256, K=256), np.matmul, a, b)


if __name__ == "__main__":
    main()
