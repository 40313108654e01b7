"""How long a sweep of the Hopper matrix product takes without a GPU: 48 configurations, 23 of them infeasible.

    python tests/benchmarks/sweep_speed.py [--quick]

Every feasible one is traced, assembled, run on the simulator at 256 x 256 x 256, compared with NumPy, and modeled at
4096 x 4096 x 4096. To reach: 20 s on two cores, and 0.2 s when all results are stored. The sweep is stopped in the middle
and goes on in another study. Exit status 1 when it takes longer, or when anything is lost or differs.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

MOST_S, MOST_RESTORED_S = 20.0, 0.2
SPACE = {"BM": [128, 256], "BN": [64, 128, 256], "BK": [64, 128], "STAGES": [2, 3, 4, 6]}
QUICK = {"BM": [128, 256], "BN": [128, 256], "BK": [64], "STAGES": [2, 6]}
GEMM = Path(__file__).parents[2] / "examples" / "hopper" / "gemm.py"


def sweep(space: dict, size: int = 4096) -> tuple[object, float, int, float]:
    """The study at its end, the seconds it took, how many trials the first half had done, and the seconds to restore it."""
    from pyptx.cli.kernels import load_module
    from pyptx.tune import Study

    example = load_module(str(GEMM))
    arguments = {"reference": example.reference, "check_args": {"M": 256, "N": 256, "K": 256}}
    started = time.perf_counter()
    first = Study(example.gemm, space, {"M": size, "N": size, "K": size}, **arguments)
    half = len(first.trials) // 2

    def stop_halfway(event) -> None:
        if event.trial is not None and first.progress.done >= half:
            first.control.stop()

    first.subscribe(stop_halfway)
    first.run()
    kept = {trial.key: (trial.state, trial.seconds) for trial in first.trials if trial.done}
    second = Study(example.gemm, space, {"M": size, "N": size, "K": size}, **arguments)
    found = {trial.key: (trial.state, trial.seconds) for trial in second.trials if trial.done}
    assert found == kept, f"trials were lost: {sorted(set(kept.items()) ^ set(found.items()), key=str)}"
    second.run()
    seconds = time.perf_counter() - started
    assert all(trial.restored for trial in second.trials if trial.key in kept), "trials were done again"
    assert all(trial.done for trial in second.trials)
    assert all(trial.checked for trial in second.trials if trial.usable), "a result was not compared"
    started = time.perf_counter()
    third = Study(example.gemm, space, {"M": size, "N": size, "K": size}, **arguments)
    third.run()
    assert all(trial.restored for trial in third.trials), "trials were done again"
    return second, seconds, len(kept), time.perf_counter() - started


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PYPTX_CACHE_DIR"] = folder  # nothing is assembled yet
        study, seconds, half, restored = sweep(QUICK if "--quick" in sys.argv else SPACE)
    print(study)
    print(f"\n{len(study.trials)} configurations in {seconds:.1f} s, stopped after {half}; to reach: {MOST_S:.0f} s")
    print(f"restored in {restored:.3f} s; to reach: {MOST_RESTORED_S} s")
    return seconds > MOST_S or restored > MOST_RESTORED_S


if __name__ == "__main__":
    sys.exit(main())
