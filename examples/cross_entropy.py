"""Cross entropy of rows: loss = log(sum(exp(x))) - x[target], without storing the softmax.

    python examples/cross_entropy.py
    pyptx view examples/cross_entropy.py:cross_entropy -p M=512 N=1024

A warp for every row, a block for a long one. Techniques, and where they are described:

- Accesses of 16 bytes wherever the length of a row allows them (CUDA C++ Best Practices Guide, "Coalesced Access to
  Global Memory"); arithmetic in f32 whatever the type.
- The largest value and the sum in one pass, so that a row is read once whatever its length (Milakov and Gimelshein,
  "Online normalizer calculation for softmax").
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable

import numpy as np

from pyptx import Tile, kernel, ptx, reg, smem
from pyptx.kernel import Kernel
from pyptx.reg import Reg
from pyptx.types import PtxType, b16, b32, bf16, f32, s32, u32, u64

THREADS = 256
LONG_ROW = 2048                 # numbers from which on a row has all threads of a block
KEPT_ROUNDS = 8                 # vectors of a thread that stay in registers
LOG2_E = math.log2(math.e)
LEAST = -2e38                   # below all numbers that matter; -inf less -inf would be no number


def rows(x, targets, loss):
    """The losses (M, f32) of the rows of x (M x N), any N, for targets (M, s32); 0 for a target outside 0 to N - 1."""
    M, N = x.shape
    width = threads_of_row(N)
    row, at = place(width)
    if M * width % THREADS:
        ptx.ret(pred=row >= M)
    x_row, target_at, to = ptx.global_ptrs(x, targets, loss)
    ptx.inst.mad.wide.u32(x_row, row, N * x.dtype.bits // 8, x_row)
    for pointer in (target_at, to):
        ptx.inst.mad.wide.u32(pointer, row, 4, pointer)
    numbers = Row(x_row, x.dtype, N, at, width)

    # This thread's largest value and its sum of exponentials, relative to that value.
    largest, total = reg.scalar(f32, LEAST), reg.scalar(f32, 0.0)

    def take_in(values: list[Reg], guard: Reg | None, beside: Callable) -> None:
        before, share = reg.from_(largest, f32), reg.scalar(f32, 0.0)
        for value in values:
            ptx.inst.max.f32(largest, largest, value, pred=guard)
        for value in values:
            ptx.inst.add.f32(share, share, exponential(value, largest))
        shrinks = exponential(before, largest)
        ptx.inst.fma.rn.f32(total, total, shrinks, share, pred=guard)
    numbers.each(take_in)

    own = reg.from_(largest, f32)
    over_row(largest, ptx.warp.reduce_max, ptx.inst.max.f32, at, width)
    ptx.inst.mul.f32(total, total, exponential(own, largest))
    over_row(total, ptx.warp.reduce_sum, ptx.inst.add.f32, at, width)

    with ptx.if_(at == 0):
        target, result = reg.scalar(u32), reg.scalar(f32)
        ptx.inst.ld.global_.u32(target, ptx.addr(target_at))
        known = target < N                              # unsigned: a negative target is a large number
        (chosen,) = load(moved(x_row, target * (x.dtype.bits // 8)), 0, 1, x.dtype, known)
        ptx.inst.lg2.approx.f32(result, total)
        ptx.inst.fma.rn.f32(result, result, 1 / LOG2_E, largest)
        ptx.inst.sub.f32(result, result, chosen)
        ptx.inst.selp.f32(result, result, 0.0, known)
        ptx.inst.st.global_.f32(ptx.addr(to), result)


def exponential(value: Reg, largest: Reg) -> Reg:
    """exp(value - largest), f32."""
    result = reg.scalar(f32)
    ptx.inst.sub.f32(result, value, largest)
    ptx.inst.mul.f32(result, result, LOG2_E)
    ptx.inst.ex2.approx.f32(result, result)
    return result


def threads_of_row(columns: int) -> int:
    """How many threads share a row."""
    return THREADS if columns >= LONG_ROW else 32


def place(width: int) -> tuple[Reg, Reg]:
    """The row of this thread, and its number among the `width` threads of the row."""
    tid = reg.from_(ptx.special.tid.x(), u32)
    block = reg.from_(ptx.special.ctaid.x(), u32)
    if width == THREADS:
        return block, tid
    return block * (THREADS // width) + (tid >> 5), tid & 31


def over_row(value: Reg, reduce: Callable[[Reg], None], combine: Callable[[Reg, Reg, Reg], None], at: Reg,
             width: int) -> None:
    """Combine a value of all threads of a row, in place: in each warp, then over the warps' results."""
    reduce(value)
    if width == 32:
        return
    partial = smem.alloc(f32, THREADS // 32)
    start = reg.from_(partial.name, u32)
    ptx.inst.st.shared.f32(ptx.addr(start + (at >> 5 << 2)), value, pred=(at & 31) == 0)
    ptx.bar.sync(0)
    parts = [reg.array(f32, 4) for _ in range(THREADS // 128)]
    for i, part in enumerate(parts):
        ptx.inst.ld.shared.v4.f32(part, ptx.addr(start, 16 * i))
    first, *rest = [value for part in parts for value in part]
    ptx.inst.mov.f32(value, first)
    for other in rest:
        combine(value, value, other)


class Row:
    """One row of an array as a thread sees it: the vectors at, at + width, at + 2 * width, ... of it.

    Short rows are read once and stay in registers; of longer ones every pass reads them again, in a loop.
    """

    def __init__(self, start: Reg, dtype: PtxType, columns: int, at: Reg, width: int):
        self.dtype, self.at, self.width = dtype, at, width
        self.vector = math.gcd(columns, 128 // dtype.bits)              # numbers in one access, at most 16 bytes
        self.vectors = columns // self.vector
        self.start = self.first_of(start, dtype)
        self.rounds = -(-self.vectors // width)
        self.kept = None
        if self.rounds <= KEPT_ROUNDS:
            self.kept = [load(self.start, i * self.step, self.vector, dtype, self.guard(i)) for i in range(self.rounds)]

    @property
    def step(self) -> int:
        """Vectors' worth of numbers from one round to the next."""
        return self.width * self.vector

    def first_of(self, start: Reg, dtype: PtxType) -> Reg:
        """The address of this thread's first vector in a row that starts at `start`."""
        first = reg.scalar(u64)
        ptx.inst.mad.wide.u32(first, self.at, self.vector * dtype.bits // 8, start)
        return first

    def guard(self, i: int | Reg) -> Reg | None:
        """The predicate of the threads that have a vector in round i; None where all have."""
        if isinstance(i, int) and (i + 1) * self.width <= self.vectors:
            return None
        return self.at + i * self.width < self.vectors

    def each(self, use: Callable[[list[Reg], Reg | None, Callable[[Reg], Reg]], None]) -> None:
        """Call use(values, guard, beside) in every round; beside(first) is where another row of numbers as wide has
        this round's vector, from the address of its first one."""
        if self.kept is not None:
            for i, values in enumerate(self.kept):
                use(values, self.guard(i), lambda first, i=i: moved(first, i * self.step * self.dtype.bits // 8))
            return
        for i in ptx.range_(0, self.rounds):
            guard, distance = self.guard(i), i * (self.step * self.dtype.bits // 8)
            values = load(moved(self.start, distance), 0, self.vector, self.dtype, guard)
            use(values, guard, lambda first, distance=distance: moved(first, distance))


def moved(address: Reg, distance: int | Reg) -> Reg:
    """The address `distance` bytes further on."""
    result = reg.scalar(u64)
    if isinstance(distance, Reg):
        ptx.inst.mad.wide.u32(result, distance, 1, address)
    else:
        ptx.inst.add.u64(result, address, distance)
    return result


def load(address: Reg, offset: int, count: int, dtype: PtxType, guard: Reg | None) -> list[Reg]:
    """The `count` numbers from `offset` numbers behind an address on, as f32; zeros where the guard does not hold."""
    source = ptx.addr(address, offset * dtype.bits // 8)
    size = min(32, count * dtype.bits)                  # bits of a register that is read
    words = [reg.scalar(b32 if size == 32 else b16, 0) for _ in range(count * dtype.bits // size)]
    read = ptx.inst.ld.global_ if len(words) == 1 else getattr(ptx.inst.ld.global_, f"v{len(words)}")
    getattr(read, f"b{size}")(words[0] if len(words) == 1 else words, source, pred=guard)
    values = [reg.scalar(f32) for _ in range(count)]
    if dtype == f32:
        for value, word in zip(values, words, strict=True):
            ptx.inst.mov.b32(value, word)
        return values
    halves = words
    if size == 32:
        halves = [reg.scalar(b16) for _ in range(count)]
        for i, word in enumerate(words):
            ptx.inst.mov.b32(halves[2 * i:2 * i + 2], word)
    zero = reg.scalar(b16, 0)
    for value, half in zip(values, halves, strict=True):
        if dtype == bf16:
            ptx.inst.mov.b32(value, [zero, half])       # bf16 is the upper half of f32
        else:
            ptx.inst.cvt.f32.f16(value, half)
    return values


def cross_entropy_of(dtype: PtxType) -> Kernel:
    """The kernel for rows of `dtype` (f32, bf16 or f16)."""
    return kernel(rows, name="cross_entropy", arch="sm_80", in_specs=[Tile("M", "N", dtype), Tile("M", s32)],
                  out_specs=[Tile("M", f32)], grid=lambda M, N: -(-M * threads_of_row(N) // THREADS),
                  block=(THREADS, 1, 1), reqntid=(THREADS, 1, 1))


cross_entropy = cross_entropy_of(f32)


def reference(x: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """The same in NumPy, in f32."""
    x, known = x.astype(np.float32), (0 <= targets) & (targets < x.shape[1])
    most = x.max(axis=1)
    chosen = x[np.arange(len(x)), np.where(known, targets, 0)]
    return np.where(known, np.log(np.exp(x - most[:, None]).sum(axis=1)) + most - chosen, 0).astype(np.float32)


def main() -> None:
    random = np.random.default_rng(0)
    x, targets = random.standard_normal((512, 1000), dtype=np.float32), random.integers(0, 1000, 512, np.int32)
    wanted = reference(x, targets)
    for package in filter(importlib.util.find_spec, ("numpy", "torch", "jax")):
        loss = np.asarray(cross_entropy(of_package(package, x), of_package(package, targets)))
        np.testing.assert_allclose(loss, wanted, rtol=1e-5, atol=1e-5)
        print(f"cross_entropy of 512 x 1000 f32, {package} arrays, on {cross_entropy.last_run.backend!r}: largest "
              f"difference from NumPy {np.abs(loss - wanted).max():.1e}")


def of_package(package: str, array: np.ndarray):
    """A NumPy array as one of "numpy", "torch" or "jax"."""
    if package == "numpy":
        return array
    return importlib.import_module({"torch": "torch", "jax": "jax.numpy"}[package]).asarray(array)


if __name__ == "__main__":
    main()
