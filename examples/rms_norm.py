"""RMS norm: y = x / sqrt(mean(x**2) + eps) * weight, a warp for every row, a block for a long one.

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
LONG_ROW = 4096                 # numbers from which on a row has all threads of a block
KEPT_ROUNDS = 16                # vectors of a thread that stay in registers; rows of more are read twice


def threads_of_row(columns: int) -> int:
    """How many threads share a row."""
    return THREADS if columns >= LONG_ROW else 32


@kernel(in_specs=(Tile("M", "N", f32), Tile("N", f32)), out_specs=(Tile("M", "N", f32),),
        grid=lambda M, N: -(-M * threads_of_row(N) // THREADS), block=(THREADS, 1, 1))
def rms_norm(x, weight, y, *, eps=1e-6):
    """Normalise the rows of x (M x N, f32), N a multiple of 4, and scale its columns by weight (N, f32)."""
    rows, columns = x.shape
    if columns % 4:
        raise ValueError(f"rms_norm reads four numbers at a time; N={columns} is not a multiple of 4")

    # Thread `at` of a row works in round i on the four numbers that start at 4 * (at + i * width).
    width = threads_of_row(columns)
    row, at = place(width)
    if rows * width % THREADS:
        ptx.ret(pred=row >= rows)
    x_at, weight_at, y_at = ptx.global_ptrs(x, weight, y)
    for pointer in (x_at, y_at):
        ptx.inst.mad.wide.u32(pointer, row, columns * 4, pointer)
    for pointer in (x_at, weight_at, y_at):
        ptx.inst.mad.wide.u32(pointer, at, 16, pointer)
    guards = row_guards(at, columns // 4, width)

    # Sum of squares: of a thread, of its warp, and where four warps share a row, of the block.
    total = reg.scalar(f32, 0.0)
    kept = []
    for i, guard in enumerate(guards):
        values = load(x_at, i * width, guard)
        for value in values:
            ptx.inst.fma.rn.f32(total, value, value, total, pred=guard)
        kept.append(values)
    ptx.warp.reduce_sum(total)
    if width > 32:
        total = block_sum(total, at)

    scale = reg.scalar(f32)
    ptx.inst.fma.rn.f32(scale, total, 1 / columns, eps)
    ptx.inst.rsqrt.approx.f32(scale, scale)

    for i, guard in enumerate(guards):
        values = kept[i] if len(guards) <= KEPT_ROUNDS else load(x_at, i * width, guard)
        for value, factor in zip(values, load(weight_at, i * width, guard), strict=True):
            ptx.inst.mul.f32(value, value, scale)
            ptx.inst.mul.f32(value, value, factor)
        ptx.inst.st.global_.v4.f32(vectors_behind(y_at, i * width), values, pred=guard)


def place(width: int) -> tuple[Reg, Reg]:
    """The row of this thread, and its number among the `width` threads of the row."""
    tid = reg.from_(ptx.special.tid.x(), u32)
    block = reg.from_(ptx.special.ctaid.x(), u32)
    if width == THREADS:
        return block, tid
    return block * (THREADS // width) + (tid >> 5), tid & 31


def row_guards(at: Reg, vectors: int, width: int) -> list[Reg | None]:
    """For every round the predicate of the threads that still have a vector in the row; None where all have."""
    full, rest = divmod(vectors, width)
    return [None] * full + ([at < rest] if rest else [])


def vectors_behind(pointer: Reg, count: int):
    """The address `count` vectors of four numbers behind a pointer."""
    return ptx.addr(pointer, count * 16)


def load(pointer: Reg, count: int, guard: Reg | None) -> RegArray:
    """The four numbers that lie `count` vectors behind a pointer."""
    values = reg.array(f32, 4)
    ptx.inst.ld.global_.v4.f32(values, vectors_behind(pointer, count), pred=guard)
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
