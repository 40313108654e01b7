"""Run a program in every schedule, on both engines."""

from __future__ import annotations

import numpy as np
from sim.engines import run_both

from pyptx import sim

__all__ = ["SCHEDULES", "run_all"]

SCHEDULES = (("eager", 0), ("late", 0), ("random", 1), ("random", 2))


def run_all(module, grid, block, make_args, check, **options) -> None:
    """Launch with fresh arguments of `make_args()` in each schedule; `check(*args)` looks at what came out."""
    program = module if isinstance(module, sim.Program) else sim.load(module)
    for schedule, seed in SCHEDULES:
        args = make_args()
        run_both(program, grid, block, args, schedule=schedule, seed=seed, **options)
        check(*args)


def words(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 1 << 32, n, dtype=np.uint32)
