"""What the sanitizer costs:  python tests/benchmarks/check_speed.py [rounds]

Examples in each schedule, simulated plainly and watched (sim.launch(..., sanitize=True)), in turn in each round; the
ratio is the median of the ratios within a round with its 95 % interval, in CPU seconds of one thread. `check` is the
fastest of some whole warm `kernel.check`, with its six runs or with one that proves the others equal: CPU time with one run
after the other, wall time with as many at a time as there are cores, and plain runs in the eager schedule that take as long.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import ml_dtypes
import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from sim_speed import interleaved, ratio_text

from pyptx import sim
from pyptx.cli.kernels import load_kernel

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
BF16, F32 = ml_dtypes.bfloat16, np.float32
KERNELS = {
    "hopper/gemm.py": [(256, 1024), (1024, 512), BF16],
    "hopper/attention.py": [(1, 1, 512, 64), (1, 1, 1024, 64), (1, 1, 1024, 64), BF16],
    "ampere/gemm.py": [(256, 512), (512, 256), BF16],
    "blackwell/gemm.py": [(256, 256), (256, 512), BF16],
    "sgemm.py": [(256, 256), (256, 256), F32],
    "rms_norm.py": [(256, 1024), (1024,), F32],
    "vector_add.py": [(1 << 20,), (1 << 20,), F32],
}


def report(name: str, rounds: int) -> None:
    *shapes, kind = KERNELS[name]
    random = np.random.default_rng(0)
    arrays = [random.standard_normal(shape).astype(kind) for shape in shapes]
    kernel = load_kernel(str(EXAMPLES / name))
    specialization, plan, args = kernel.launcher.bind(*arrays)
    program = sim.load(specialization.module)

    def run(schedule: str, sanitize: bool) -> Callable[[], None]:
        def once() -> None:
            sim.launch(
                program,
                plan.grid,
                plan.block,
                args,
                cluster=plan.cluster,
                smem_bytes=plan.smem_bytes,
                schedule=schedule,
                sanitize=sanitize,
            )

        return once

    candidates = {
        f"{schedule} {watched}": run(schedule, watched == "watched")
        for schedule in ("eager", "late", "random")
        for watched in ("plain", "watched")
    }
    times = interleaved(candidates, rounds, time.thread_time)
    print(name)
    for schedule in ("eager", "late", "random"):
        plain, watched = (times[f"{schedule} {which}"] for which in ("plain", "watched"))
        print(
            f"  {schedule:6} plain {1e3 * np.median(plain):8.2f} ms   watched {1e3 * np.median(watched):8.2f} ms   "
            f"ratio {ratio_text(watched, plain)}"
        )
    plain_run = np.median(times["eager plain"])
    for text, clock, options in (
        ("CPU time", time.process_time, {"threads": 1}),
        ("wall time on all cores", time.perf_counter, {}),
    ):
        seconds = min(elapsed(clock, lambda given=options: kernel.check(*arrays, **given)) for _ in range(rounds + 1))
        print(f"  check, {text}: {1e3 * seconds:.1f} ms, {seconds / plain_run:.1f} plain runs")


def elapsed(clock: Callable[[], float], function: Callable[[], object]) -> float:
    started = clock()
    function()
    return clock() - started


def main(rounds: int) -> None:
    for name in KERNELS:
        report(name, rounds)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
