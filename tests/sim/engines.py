"""Run a program on both engines and compare their results."""

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
            differing = np.flatnonzero(np.frombuffer(a.tobytes(), np.uint8) != np.frombuffer(b.tobytes(), np.uint8))
            assert not differing.size, f"argument {i} differs at bytes {differing[:8]}"
    for name, row in core.counters.by_line.items():
        other = reference.counters.row(name)
        assert row == other, f"{program.instructions[name]}: {row} != {other}"
    assert core.counters == reference.counters
    return core
