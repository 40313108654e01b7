"""Sum of two vectors: c = a + b, of any length, f32, bf16 or f16.

    python examples/vector_add.py
    pyptx view examples/vector_add.py:vector_add -p N=1000000

Techniques, and where they are described:

- Accesses of 16 bytes (CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory"); the numbers after the last
  whole vector one by one.
- ROUNDS vectors of a and of b are on their way before the first is used: what a memory does at a time is its latency
  times its bandwidth (Little's law; Volkov, "Better Performance at Lower Occupancy").

Cost: 32 registers a thread: eight CTAs on an SM.
"""

from __future__ import annotations

import numpy as np

from examples.vectors import load, moved, store
from pyptx import Tile, kernel, ptx, reg
from pyptx.kernel import Kernel
from pyptx.reg import Reg
from pyptx.testing import compare
from pyptx.types import PtxType, f32, u32

THREADS = 256
SPACE = {"ROUNDS": (1, 2, 4, 8)}                # values worth trying


def add(a, b, c, *, ROUNDS=4):
    """c = a + b, all N long."""
    (N,), dtype = a.shape, a.dtype
    vector, size = 128 // dtype.bits, dtype.bits // 8
    vectors, tail = divmod(N, vector)
    tid, block = reg.from_(ptx.special.tid.x(), u32), reg.from_(ptx.special.ctaid.x(), u32)
    a_at, b_at, c_at = ptx.global_ptrs(a, b, c)

    if vectors:
        first = block * (THREADS * ROUNDS) + tid
        guards = [first + i * THREADS < vectors if vectors % (THREADS * ROUNDS) else None for i in range(ROUNDS)]
        from_a, from_b, to_c = (moved(start, first, 16) for start in (a_at, b_at, c_at))
        parts = [[load(start, vector, dtype, guard, offset=i * THREADS * 16) for start in (from_a, from_b)]
                 for i, guard in enumerate(guards)]
        for i, (guard, (left, right)) in enumerate(zip(guards, parts, strict=True)):
            store(to_c, added(left, right), dtype, guard, offset=i * THREADS * 16)
    if tail:
        with ptx.if_(block * THREADS + tid < tail):             # threads of the first block
            from_a, from_b, to_c = (moved(start, vectors * vector + tid, size) for start in (a_at, b_at, c_at))
            store(to_c, added(load(from_a, 1, dtype), load(from_b, 1, dtype)), dtype)


def added(left: list[Reg], right: list[Reg]) -> list[Reg]:
    """The sums of numbers at the same places."""
    return [x + y for x, y in zip(left, right, strict=True)]


def vector_add_of(dtype: PtxType) -> Kernel:
    """The kernel for vectors of `dtype` (f32, bf16 or f16)."""
    def blocks(N: int, ROUNDS: int) -> int:
        return max(1, -(-N // (128 // dtype.bits * THREADS * ROUNDS)))
    return kernel(add, name="vector_add", arch="sm_80", in_specs=[Tile("N", dtype, align=16)] * 2,
                  out_specs=[Tile("N", dtype, align=16)], grid=blocks, block=(THREADS, 1, 1), reqntid=(THREADS, 1, 1))


vector_add = vector_add_of(f32)


def reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The same in NumPy, in f32."""
    return a.astype(np.float32) + b.astype(np.float32)


def main() -> None:
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(100_003, dtype=np.float32) for _ in range(2))
    compare(vector_add, [a, b], reference(a, b), rtol=0)


if __name__ == "__main__":
    main()
