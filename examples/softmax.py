"""Softmax of rows: y = exp(x - max(x)) / sum(exp(x - max(x))), a warp for every row, a block for a long one.

    python examples/softmax.py
    pyptx view examples/softmax.py:softmax -p M=512 N=1024

Techniques, and where they are described:

- Accesses of 16 bytes wherever the length of a row allows them (CUDA C++ Best Practices Guide, "Coalesced Access to
  Global Memory"); arithmetic in f32 whatever the type.
- The largest value and the sum in one pass, so that rows too long for the registers are read twice and not three times
  (Milakov and Gimelshein, "Online normalizer calculation for softmax").
- exp as 2 to the power of scaled differences, by ex2 (PTX ISA, "ex2").
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable

import numpy as np

from pyptx import Tile, kernel, ptx, reg, smem
from pyptx.kernel import Kernel
from pyptx.reg import Reg
from pyptx.types import PtxType, b16, b32, bf16, f32, u32, u64

THREADS = 256
LONG_ROW = 2048                 # numbers from which on a row has all threads of a block
KEPT_ROUNDS = 8                 # vectors of a thread that stay in registers
LOG2_E = math.log2(math.e)
LEAST = -2e38                   # below all numbers that matter; -inf less -inf would be no number


def rows(x, y):
    """Softmax of the rows of x (M x N), any N."""
    M, N = x.shape
    width = threads_of_row(N)
    row, at = place(width)
    if M * width % THREADS:
        ptx.ret(pred=row >= M)
    x_row, y_row = ptx.global_ptrs(x, y)
    for pointer in (x_row, y_row):
        ptx.inst.mad.wide.u32(pointer, row, N * x.dtype.bits // 8, pointer)
    numbers = Row(x_row, x.dtype, N, at, width)
    to = numbers.first_of(y_row, y.dtype)

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
    factor = reg.scalar(f32)
    ptx.inst.rcp.rn.f32(factor, total)

    def write(values: list[Reg], guard: Reg | None, beside: Callable) -> None:
        results = [exponential(value, largest) for value in values]
        for result in results:
            ptx.inst.mul.f32(result, result, factor)
        store(beside(to), results, y.dtype, guard)
    numbers.each(write)


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


def store(address: Reg, values: list[Reg], dtype: PtxType, guard: Reg | None) -> None:
    """Write f32 values as `dtype` to consecutive places."""
    if dtype == f32:
        words, size = values, 32
    elif len(values) == 1:
        words, size = [reg.scalar(b16)], 16
        getattr(ptx.inst.cvt.rn, dtype.name).f32(words[0], values[0])
    else:
        words, size = [reg.scalar(b32) for _ in values[::2]], 32
        for word, low, high in zip(words, values[::2], values[1::2], strict=True):
            getattr(ptx.inst.cvt.rn, f"{dtype.name}x2").f32(word, high, low)
    write = ptx.inst.st.global_ if len(words) == 1 else getattr(ptx.inst.st.global_, f"v{len(words)}")
    getattr(write, f"b{size}")(ptx.addr(address), words[0] if len(words) == 1 else words, pred=guard)


def softmax_of(dtype: PtxType) -> Kernel:
    """The kernel for arrays of `dtype` (f32, bf16 or f16)."""
    return kernel(rows, name="softmax", arch="sm_80", in_specs=[Tile("M", "N", dtype)],
                  out_specs=[Tile("M", "N", dtype)], grid=lambda M, N: -(-M * threads_of_row(N) // THREADS),
                  block=(THREADS, 1, 1), reqntid=(THREADS, 1, 1))


softmax = softmax_of(f32)


def reference(x: np.ndarray) -> np.ndarray:
    """The same in NumPy, in f32."""
    x = x.astype(np.float32)
    weights = np.exp(x - x.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def main() -> None:
    x = np.random.default_rng(0).standard_normal((512, 1000), dtype=np.float32)
    wanted = reference(x)
    for package in filter(importlib.util.find_spec, ("numpy", "torch", "jax")):
        y = np.asarray(softmax(of_package(package, x)))
        np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-7)
        print(f"softmax of {x.shape[0]} x {x.shape[1]} f32, {package} arrays, on {softmax.last_run.backend!r}: largest "
              f"difference from NumPy {np.abs(y - wanted).max():.1e}")


def of_package(package: str, array: np.ndarray):
    """A NumPy array as one of "numpy", "torch" or "jax"."""
    if package == "numpy":
        return array
    return importlib.import_module({"torch": "torch", "jax": "jax.numpy"}[package]).asarray(array)


if __name__ == "__main__":
    main()
