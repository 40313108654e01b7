"""Rows of any length, shared out: a warp has a short row, a block a long one. What softmax, layer norm and cross
entropy have in common."""

from __future__ import annotations

import math
from collections.abc import Callable

from examples.vectors import load, moved, widest
from pyptx import ptx, reg, smem
from pyptx.reg import Reg
from pyptx.types import PtxType, f32, u32

__all__ = ["LOG2_E", "THREADS", "Row", "blocks", "exponential", "in_place", "online", "over_row", "place",
           "threads_of_row"]

THREADS = 256                   # of a block
LONG_ROW = 2048                 # numbers from which on a row has all threads of a block
LOG2_E = math.log2(math.e)
LEAST = -2e38                   # below all numbers that matter; -inf less -inf would be no number


def threads_of_row(columns: int) -> int:
    """How many threads share a row."""
    return THREADS if columns >= LONG_ROW else 32


def blocks(M: int, N: int) -> int:
    """The grid for M rows of N numbers."""
    return -(-M * threads_of_row(N) // THREADS)


def place(rows: int, columns: int) -> tuple[Reg, Reg, int]:
    """The row of this thread, its number among the threads of the row, and how many those are; threads beyond the
    last row return from the kernel."""
    width = threads_of_row(columns)
    tid = reg.from_(ptx.special.tid.x(), u32)
    block = reg.from_(ptx.special.ctaid.x(), u32)
    if width == THREADS:
        return block, tid, width
    row = block * (THREADS // width) + (tid >> 5)
    if rows * width % THREADS:
        ptx.ret(pred=row >= rows)
    return row, tid & 31, width


class Row:
    """One row of an array as a thread sees it: the vectors at, at + width, at + 2 * width, ... of it.

    Rows of up to `kept` vectors a thread are read once and stay in registers; of longer ones every pass reads them
    again, in a loop.
    """

    def __init__(self, start: Reg, dtype: PtxType, columns: int, at: Reg, width: int, kept: int):
        self.dtype, self.at, self.width = dtype, at, width
        self.vector = widest(columns, dtype)
        self.vectors = columns // self.vector
        self.start = self.first_of(start, dtype)
        self.rounds = -(-self.vectors // width)
        self.kept = None
        if self.rounds <= kept:
            self.kept = [load(self.start, self.vector, dtype, self.guard(i), offset=i * self.step_bytes)
                         for i in range(self.rounds)]

    @property
    def step_bytes(self) -> int:
        """From one round to the next."""
        return self.width * self.vector * self.dtype.bits // 8

    def first_of(self, start: Reg, dtype: PtxType) -> Reg:
        """The address of this thread's first vector in a row that starts at `start`."""
        return moved(start, self.at, self.vector * dtype.bits // 8)

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
                use(values, self.guard(i), lambda first, i=i: moved(first, i * self.step_bytes))
            return
        for i in ptx.range_(0, self.rounds):
            guard, distance = self.guard(i), i * self.step_bytes
            values = load(moved(self.start, distance), self.vector, self.dtype, guard)
            use(values, guard, lambda first, distance=distance: moved(first, distance))


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


def exponential(value: Reg, largest: Reg, result: Reg | None = None) -> Reg:
    """exp(value - largest), f32, in a new register or in `result`."""
    result = reg.scalar(f32) if result is None else result
    ptx.inst.sub.f32(result, value, largest)
    ptx.inst.mul.f32(result, result, LOG2_E)
    ptx.inst.ex2.approx.f32(result, result)
    return result


def online(numbers: Row) -> tuple[Reg, Reg]:
    """The largest value of a row and its sum of exponentials relative to that value, in one pass.

    Source: Milakov and Gimelshein, "Online normalizer calculation for softmax".
    """
    largest, total = reg.scalar(f32, LEAST), reg.scalar(f32, 0.0)          # so far, of this thread

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
    over_row(largest, ptx.warp.reduce_max, ptx.inst.max.f32, numbers.at, numbers.width)
    ptx.inst.mul.f32(total, total, exponential(own, largest))
    over_row(total, ptx.warp.reduce_sum, ptx.inst.add.f32, numbers.at, numbers.width)
    return largest, total


def in_place(numbers: Row) -> Reg:
    """Turn each value of a row that stays in registers into exp(value - largest); their sum over the row, f32."""
    largest, total = reg.scalar(f32, LEAST), reg.scalar(f32, 0.0)

    def compare(values: list[Reg], guard: Reg | None, beside: Callable) -> None:
        for value in values:
            ptx.inst.max.f32(largest, largest, value, pred=guard)
    numbers.each(compare)
    over_row(largest, ptx.warp.reduce_max, ptx.inst.max.f32, numbers.at, numbers.width)

    def raise_(values: list[Reg], guard: Reg | None, beside: Callable) -> None:
        for value in values:
            exponential(value, largest, value)
            ptx.inst.add.f32(total, total, value, pred=guard)
    numbers.each(raise_)
    over_row(total, ptx.warp.reduce_sum, ptx.inst.add.f32, numbers.at, numbers.width)
    return total
