"""Run a program on both engines and hold them against each other."""

from __future__ import annotations

import numpy as np

from pyptx import sim

__all__ = ["run_both"]


def run_both(module, grid, block, args, **options) -> sim.Result:
    """Launch on the core and on the reference: same arrays, same counters. Arrays in `args` hold the core's results."""
    program = module if isinstance(module, sim.Program) else sim.load(module)
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    core = sim.launch(program, grid, block, args, engine="core", **options)
    reference = sim.launch(program, grid, block, copies, engine="reference", **options)
    for i, (a, b) in enumerate(zip(args, copies, strict=True)):
        if isinstance(a, np.ndarray):
            assert a.tobytes() == b.tobytes(), f"argument {i} differs at {np.flatnonzero(a.reshape(-1).view(np.uint8) != b.reshape(-1).view(np.uint8))[:8]}"
    for name, row in core.counters.by_line.items():
        assert row == reference.counters.row(name), f"{program.instructions[name]}: {row} != {reference.counters.row(name)}"
    assert core.counters == reference.counters
    return core
