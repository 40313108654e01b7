"""RMS norm: y = x / sqrt(mean(x**2) + eps) * weight, one thread block for every row.

    python examples/rms_norm.py
    pyptx sass examples/rms_norm.py:rms_norm -p M=512 N=1024

Python's own `for` and `if` run while the kernel is written: they unroll the row and choose how. What the GPU executes
is what the calls to `ptx` leave behind.
"""

from __future__ import annotations

import numpy as np

from pyptx import Tile, kernel, ptx, reg, smem
from pyptx.reg import Reg, RegArray
from pyptx.types import f32, u32

THREADS = 128
KEPT_ROUNDS = 16                # rows up to 16 * 128 vectors stay in registers, longer ones are read twice


@kernel(in_specs=(Tile("M", "N", f32), Tile("N", f32)), out_specs=(Tile("M", "N", f32),),
        grid=lambda M, N: (M, 1, 1), block=(THREADS, 1, 1))
def rms_norm(x, weight, y, *, eps=1e-6):
    """Normalise the rows of x (M x N, f32), N a multiple of 4, and scale its columns by weight (N, f32)."""
    columns = x.shape[1]
    if columns % 4:
        raise ValueError(f"rms_norm reads four numbers at a time; N={columns} is not a multiple of 4")

    # In round i a thread works on the four numbers that start at 4 * (tid + i * THREADS).
    tid = reg.from_(ptx.special.tid.x(), u32)
    x_at, weight_at, y_at = ptx.global_ptrs(x, weight, y)
    row = reg.from_(ptx.special.ctaid.x(), u32)
    for pointer in (x_at, y_at):
        ptx.inst.mad.wide.u32(pointer, row, columns * 4, pointer)
    for pointer in (x_at, weight_at, y_at):
        ptx.inst.mad.wide.u32(pointer, tid, 16, pointer)
    guards = row_guards(tid, columns // 4)

    # Sum of squares: of a thread, of its warp, of the block.
    total = reg.scalar(f32, 0.0)
    kept = []
    for i, guard in enumerate(guards):
        values = load(x_at, i, guard)
        for value in values:
            ptx.inst.fma.rn.f32(total, value, value, total, pred=guard)
        kept.append(values)
    ptx.warp.reduce_sum(total)
    total = block_sum(total, tid)

    scale = reg.scalar(f32)
    ptx.inst.fma.rn.f32(scale, total, 1 / columns, eps)
    ptx.inst.rsqrt.approx.f32(scale, scale)

    for i, guard in enumerate(guards):
        values = kept[i] if len(guards) <= KEPT_ROUNDS else load(x_at, i, guard)
        for value, factor in zip(values, load(weight_at, i, guard), strict=True):
            ptx.inst.mul.f32(value, value, scale)
            ptx.inst.mul.f32(value, value, factor)
        ptx.inst.st.global_.v4.f32(round_address(y_at, i), values, pred=guard)


def row_guards(tid: Reg, vectors: int) -> list[Reg | None]:
    """For every round the predicate of the threads that still have a vector in the row; None where all have."""
    full, rest = divmod(vectors, THREADS)
    return [None] * full + ([tid < rest] if rest else [])


def round_address(pointer: Reg, i: int):
    """Where this thread's vector of round i lies: a constant distance behind that of round 0."""
    return ptx.addr(pointer, i * THREADS * 16)


def load(pointer: Reg, i: int, guard: Reg | None) -> RegArray:
    """This thread's four numbers of round i."""
    values = reg.array(f32, 4)
    ptx.inst.ld.global_.v4.f32(values, round_address(pointer, i), pred=guard)
    return values


def block_sum(total: Reg, tid: Reg) -> Reg:
    """The sum of the warps' totals, in every thread of the block."""
    partial = smem.alloc(f32, 4)                        # one for each warp
    start = reg.from_(partial.name, u32)
    lane, warp = tid & 31, tid >> 5
    ptx.inst.st.shared.f32(ptx.addr(start + (warp << 2)), total, pred=lane == 0)
    ptx.bar.sync(0)
    sums = reg.array(f32, 4)
    ptx.inst.ld.shared.v4.f32(sums, ptx.addr(start))
    return sums[0] + sums[1] + sums[2] + sums[3]


def reference(x: np.ndarray, weight: np.ndarray, eps: float = 1e-6) -> np.ndarray:
    """The same in NumPy."""
    return x / np.sqrt(np.mean(x * x, axis=1, keepdims=True) + np.float32(eps)) * weight


def main() -> None:
    random = np.random.default_rng(0)
    x = random.standard_normal((512, 1024), dtype=np.float32)
    weight = random.standard_normal(1024, dtype=np.float32)

    y = rms_norm(x, weight)

    np.testing.assert_allclose(y, reference(x, weight), rtol=1e-5, atol=1e-6)
    run = rms_norm.last_run
    print(f"rms_norm of {x.shape[0]} x {x.shape[1]} f32 on {run.backend!r}: largest difference from NumPy "
          f"{np.abs(y - reference(x, weight)).max():.1e}")


if __name__ == "__main__":
    main()
