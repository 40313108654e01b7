"""Layer norm: y = (x - mean(x)) / sqrt(var(x) + eps) * weight + bias, a warp for every row, a block for a long one.

    python examples/layer_norm.py
    pyptx view examples/layer_norm.py:layer_norm -p M=512 N=1024

Techniques, and where they are described:

- Accesses of 16 bytes wherever the length of a row allows them (CUDA C++ Best Practices Guide, "Coalesced Access to
  Global Memory"); arithmetic in f32 whatever the type.
- The variance from differences from the mean, in a pass of its own: sums of squares would cancel for numbers far from
  zero (Chan, Golub and LeVeque, "Algorithms for computing the sample variance"). Rows that fit in registers are read
  once all the same.
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


def rows(x, weight, bias, y, *, eps=1e-5):
    """Normalise the rows of x (M x N), any N; scale and shift its columns by weight and bias (N)."""
    M, N = x.shape
    width = threads_of_row(N)
    row, at = place(width)
    if M * width % THREADS:
        ptx.ret(pred=row >= M)
    x_row, weight_row, bias_row, y_row = ptx.global_ptrs(x, weight, bias, y)
    for pointer in (x_row, y_row):
        ptx.inst.mad.wide.u32(pointer, row, N * x.dtype.bits // 8, pointer)
    numbers = Row(x_row, x.dtype, N, at, width)
    weights, biases, to = (numbers.first_of(start, x.dtype) for start in (weight_row, bias_row, y_row))

    mean = reg.scalar(f32, 0.0)

    def add(values: list[Reg], guard: Reg | None, beside: Callable) -> None:
        for value in values:                            # zeros where there is nothing
            ptx.inst.add.f32(mean, mean, value)
    numbers.each(add)
    over_row(mean, ptx.warp.reduce_sum, ptx.inst.add.f32, at, width)
    ptx.inst.mul.f32(mean, mean, 1 / N)

    squares = reg.scalar(f32, 0.0)

    def add_square(values: list[Reg], guard: Reg | None, beside: Callable) -> None:
        for value in values:
            difference = reg.scalar(f32)
            ptx.inst.sub.f32(difference, value, mean)
            ptx.inst.fma.rn.f32(squares, difference, difference, squares, pred=guard)
    numbers.each(add_square)
    over_row(squares, ptx.warp.reduce_sum, ptx.inst.add.f32, at, width)
    scale = reg.scalar(f32)
    ptx.inst.fma.rn.f32(scale, squares, 1 / N, eps)
    ptx.inst.rsqrt.approx.f32(scale, scale)

    def write(values: list[Reg], guard: Reg | None, beside: Callable) -> None:
        factors, shifts = (load(beside(start), 0, numbers.vector, x.dtype, guard) for start in (weights, biases))
        results = []
        for value, factor, shift in zip(values, factors, shifts, strict=True):
            result = reg.scalar(f32)
            ptx.inst.sub.f32(result, value, mean)
            ptx.inst.mul.f32(result, result, scale)
            ptx.inst.fma.rn.f32(result, result, factor, shift)
            results.append(result)
        store(beside(to), results, y.dtype, guard)
    numbers.each(write)


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


def layer_norm_of(dtype: PtxType) -> Kernel:
    """The kernel for arrays of `dtype` (f32, bf16 or f16)."""
    return kernel(rows, name="layer_norm", arch="sm_80",
                  in_specs=[Tile("M", "N", dtype), Tile("N", dtype), Tile("N", dtype)],
                  out_specs=[Tile("M", "N", dtype)], grid=lambda M, N: -(-M * threads_of_row(N) // THREADS),
                  block=(THREADS, 1, 1), reqntid=(THREADS, 1, 1))


layer_norm = layer_norm_of(f32)


def reference(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, eps: float = 1e-5) -> np.ndarray:
    """The same in NumPy, in f32."""
    x, weight, bias = (array.astype(np.float32) for array in (x, weight, bias))
    scale = 1 / np.sqrt(x.var(axis=1, keepdims=True) + np.float32(eps))
    return (x - x.mean(axis=1, keepdims=True)) * scale * weight + bias


def main() -> None:
    random = np.random.default_rng(0)
    arrays = [random.standard_normal(shape, dtype=np.float32) for shape in ((512, 1000), 1000, 1000)]
    wanted = reference(*arrays)
    for package in filter(importlib.util.find_spec, ("numpy", "torch", "jax")):
        y = np.asarray(layer_norm(*(of_package(package, array) for array in arrays)))
        np.testing.assert_allclose(y, wanted, rtol=1e-4, atol=1e-5)
        print(f"layer_norm of 512 x 1000 f32, {package} arrays, on {layer_norm.last_run.backend!r}: largest difference "
              f"from NumPy {np.abs(y - wanted).max():.1e}")


def of_package(package: str, array: np.ndarray):
    """A NumPy array as one of "numpy", "torch" or "jax"."""
    if package == "numpy":
        return array
    return importlib.import_module({"torch": "torch", "jax": "jax.numpy"}[package]).asarray(array)


if __name__ == "__main__":
    main()
