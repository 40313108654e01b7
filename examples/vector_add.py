"""Sum of two vectors: c = a + b, of any length, f32, bf16 or f16.

    python examples/vector_add.py
    pyptx view examples/vector_add.py:vector_add -p N=1000000

Techniques and their sources:

- Accesses of 16 bytes (CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory"); the elements after the last
  whole vector one by one: see `elementwise`.
- ROUNDS vectors of a and of b are in flight before the first is used: the bytes in flight are latency times bandwidth
  (Little's law; Volkov, "Better Performance at Lower Occupancy").

Cost: 32 registers per thread: eight CTAs per SM.
"""

from __future__ import annotations

import numpy as np

from examples.vectors import THREADS, blocks_of, elementwise
from pyptx import Tile, kernel
from pyptx.kernel import Kernel
from pyptx.testing import compare
from pyptx.types import PtxType, f32

SPACE = {"ROUNDS": (1, 2, 4, 8)}  # tuning space


def add(a, b, c, *, ROUNDS=4):
    """Compute c = a + b, vectors of length N."""
    elementwise([a, b], [c], lambda x, y: [x + y], ROUNDS)


def vector_add_of(dtype: PtxType) -> Kernel:
    """Return the kernel for vectors of `dtype` (f32, bf16 or f16)."""
    return kernel(
        add,
        name="vector_add",
        arch="sm_80",
        in_specs=[Tile("N", dtype, align=16)] * 2,
        out_specs=[Tile("N", dtype, align=16)],
        grid=lambda N, ROUNDS: blocks_of(N, dtype, ROUNDS),
        block=(THREADS, 1, 1),
        reqntid=(THREADS, 1, 1),
    )


vector_add = vector_add_of(f32)


def reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the reference result in NumPy, in f32."""
    return a.astype(np.float32) + b.astype(np.float32)


def main() -> None:
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(100_003, dtype=np.float32) for _ in range(2))
    compare(vector_add, [a, b], reference(a, b), rtol=0)


if __name__ == "__main__":
    main()
