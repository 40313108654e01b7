"""Rows of any length, shared out: a warp has a short row, a block a long one, a cluster of blocks one that is longer
still. What softmax, the norms and cross entropy have in common.

Techniques, and where they are described:

- Accesses of 16 bytes (CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory"), also of long rows whose
  length no vector divides: the few numbers before the first and after the last address that 16 divides are one thread's
  each.
- Several vectors of a thread are on their way before the first is used (Little's law; Volkov, "Better Performance at
  Lower Occupancy"), also in the loops of rows that do not fit in registers.
- What the CTAs of a cluster found goes to all of them through distributed shared memory (PTX ISA, "mapa",
  "barrier.cluster"), so that a row of any CTA's size times their number is read once (Dao-AILab, "QuACK": softmax and
  norms at the speed of memory).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from examples.vectors import load, load_words, moved, unpacked, widest
from pyptx import ptx, reg, smem
from pyptx.reg import Reg
from pyptx.types import PtxType, f32, s64, u32, u64

__all__ = ["LOG2_E", "THREADS", "Row", "blocks", "cluster_for", "exponential", "in_place", "online", "over_row",
           "place", "threads_of_row"]

THREADS = 256                   # of a block
LONG_ROW = 2048                 # numbers from which on a row has all threads of a block
LOG2_E = math.log2(math.e)
LEAST = -2e38                   # below all numbers that matter; -inf less -inf would be no number


def threads_of_row(columns: int, cluster: int = 1) -> int:
    """How many threads share a row."""
    return THREADS * cluster if columns >= LONG_ROW or cluster > 1 else 32


def cluster_for(columns: int) -> int:
    """How many CTAs, up to eight, hold a row with 32 numbers a thread."""
    found = 1
    while found < 8 and columns > found * THREADS * 32:
        found *= 2
    return found


def blocks(M: int, N: int, CLUSTER: int = 1) -> int:
    """The grid for M rows of N numbers."""
    return -(-M * threads_of_row(N, CLUSTER) // THREADS)


def place(rows: int, columns: int, cluster: int = 1) -> tuple[Reg, Reg, int]:
    """The row of this thread, its number among the threads of the row, and how many those are; threads beyond the
    last row return from the kernel."""
    width = threads_of_row(columns, cluster)
    tid = reg.from_(ptx.special.tid.x(), u32)
    block = reg.from_(ptx.special.ctaid.x(), u32)
    if cluster > 1:
        ptx.cluster.arrive()                            # before others write here, it must have started: see over_row
        rank = reg.from_(ptx.special.cluster_ctarank(), u32)
        return block >> cluster.bit_length() - 1, rank * THREADS + tid, width
    if width == THREADS:
        return block, tid, width
    row = block * (THREADS // width) + (tid >> 5)
    if rows * width % THREADS:
        ptx.ret(pred=row >= rows)
    return row, tid & 31, width


class Row:
    """One row of an array as a thread sees it: the vectors at, at + width, at + 2 * width, ... of it.

    Rows of up to `kept` vectors a thread are read once and stay in registers; of longer ones every pass reads them
    again, `ahead` vectors of a thread at a time. In a ragged row, which no number of whole vectors fills, the vectors
    start where 16 divides the address; `edge` is the number before or after them that is this thread's.
    """

    def __init__(self, start: Reg, dtype: PtxType, row: Reg, columns: int, at: Reg, width: int, kept: int,
                 ahead: int = 4):
        self.dtype, self.at, self.width, self.ahead = dtype, at, width, ahead
        self.vector, self.before, self.vectors, self.edge = widest(columns, dtype), 0, columns, None
        self.ragged = columns % (128 // dtype.bits) != 0 and columns >= LONG_ROW
        if self.ragged:
            self._cut(row, columns)
        else:
            self.vectors = self.least = columns // self.vector
        self.start = self.first_of(start)
        self.rounds = -(-(columns // self.vector) // width)
        self.stays, self.words, self.edge_words = self.rounds <= kept, [], []
        self.raised: list[list[Reg]] | None = None      # what the values were turned into
        if self.stays:
            self.words = [load_words(self.start, self.vector, dtype, self.guard(i), offset=i * self.step_bytes)
                          for i in range(self.rounds)]
            self.edge_words = self._edge()
        if width > THREADS:
            ptx.cluster.wait()                          # all its CTAs have started: they may be written to

    def _cut(self, row: Reg, columns: int) -> None:
        """Where the vectors of a ragged row start, how many they are, and which edge this thread has."""
        self.vector = vector = 128 // self.dtype.bits
        self.before = (0 - row * columns) & (vector - 1)
        whole = columns - self.before
        after = whole & (vector - 1)
        self.vectors, self.least = whole >> vector.bit_length() - 1, (columns - vector + 1) // vector
        behind, limit, index = self.at >= vector, reg.scalar(u32), reg.scalar(u32)
        ptx.inst.selp.u32(limit, after + vector, self.before, behind)
        ptx.inst.selp.u32(index, self.at + columns - after - vector, self.at, behind)
        distance = reg.scalar(s64)                      # from this thread's first vector
        size = self.dtype.bits // 8
        ptx.inst.mul.wide.s32(distance, index - self.before - self.at * vector, size)
        self.edge = distance, self.at < limit

    @property
    def step_bytes(self) -> int:
        """From one round to the next."""
        return self.width * self.vector * self.dtype.bits // 8

    def first_of(self, start: Reg) -> Reg:
        """The address of this thread's first vector in a row that starts at `start`."""
        return moved(start, self.at * self.vector + self.before, self.dtype.bits // 8)

    def guard(self, i: int | Reg) -> Reg | None:
        """The predicate of the threads that have a vector in round i; None where all have."""
        if isinstance(i, int) and (i + 1) * self.width <= self.least:
            return None
        return self.at + i * self.width < self.vectors

    def along(self, address: Reg, count: int, guard: Reg | None) -> list[Reg]:
        """Numbers of another array, which starts where 16 divides the address, at the columns of a part of this one."""
        if not self.ragged:
            return load(address, count, self.dtype, guard)
        size = self.dtype.bits // 8
        return [load(address, 1, self.dtype, guard, offset=i * size)[0] for i in range(count)]

    def each(self, use: Callable[[list[Reg], Reg | None, Callable[[Reg], Reg]], None]) -> None:
        """Call use(values, guard, beside) for every vector, and for the edge; beside(first) is where another row of
        numbers as wide has these, from what first_of gives for it."""
        if self.stays:
            for i, values in enumerate(self.raised or (unpacked(words, self.dtype) for words in self.words)):
                if i < self.rounds:
                    use(values, self.guard(i), lambda first, i=i: moved(first, i * self.step_bytes))
        else:
            self._in_a_loop(use)
        if self.edge is not None:
            distance, guard = self.edge
            values = self.raised[-1] if self.raised else unpacked(self.edge_words or self._edge(), self.dtype)
            use(values, guard, lambda first: further(first, distance))

    def _in_a_loop(self, use: Callable) -> None:
        """Read and use the vectors, `ahead` of them at a time."""
        groups = self.least // self.width // self.ahead
        if groups:
            for group in ptx.range_(0, groups):
                distance = group * (self.ahead * self.step_bytes)
                self._read_and_use(use, range(self.ahead), lambda first, distance=distance: moved(first, distance),
                                   [None] * self.ahead)
        left = range(groups * self.ahead, self.rounds)
        self._read_and_use(use, left, lambda first: first, [self.guard(i) for i in left])

    def _read_and_use(self, use: Callable, rounds: range, there: Callable[[Reg], Reg], guards: list) -> None:
        start = there(self.start)
        vectors = [load_words(start, self.vector, self.dtype, guard, offset=i * self.step_bytes)
                   for i, guard in zip(rounds, guards, strict=True)]
        for i, guard, words in zip(rounds, guards, vectors, strict=True):
            use(unpacked(words, self.dtype), guard, lambda first, i=i: moved(there(first), i * self.step_bytes))

    def _edge(self) -> list[Reg]:
        """The word of the number at an edge, if there are any."""
        if self.edge is None:
            return []
        distance, guard = self.edge
        return load_words(further(self.start, distance), 1, self.dtype, guard)


def further(address: Reg, distance: Reg) -> Reg:
    """The address so many bytes further on, which may be behind."""
    result = reg.scalar(u64)
    ptx.inst.add.s64(result, address, distance)
    return result


def over_row(value: Reg, reduce: Callable[[Reg], None], combine: Callable[[Reg, Reg, Reg], None], at: Reg,
             width: int) -> None:
    """Combine a value of all threads of a row, in place: in each warp, then over the warps' results, which in a cluster
    each warp writes to all CTAs."""
    reduce(value)
    if width == 32:
        return
    warps, cluster = width // 32, width // THREADS
    partial = smem.alloc(f32, warps)
    start, lane = reg.from_(partial.name, u32), at & 31
    own = start + (at >> 5 << 2)
    if cluster > 1:
        there = ptx.cluster.map_shared_u32(own, lane & (cluster - 1))
        ptx.inst.st.shared__cluster.f32(ptx.addr(there), value, pred=lane < cluster)
        ptx.cluster.sync()
    else:
        ptx.inst.st.shared.f32(ptx.addr(own), value, pred=lane == 0)
        ptx.bar.sync(0)
    if warps >= 32:                                     # a lane takes one or two, then the lanes meet once more
        found = [reg.scalar(f32) for _ in range(warps // 32)]
        for i, one in enumerate(found):
            ptx.inst.ld.shared.f32(one, ptx.addr(start + (lane << 2), 128 * i))
    else:
        parts = [reg.array(f32, 4) for _ in range(warps // 4)]
        for i, part in enumerate(parts):
            ptx.inst.ld.shared.v4.f32(part, ptx.addr(start, 16 * i))
        found = [one for part in parts for one in part]
    while len(found) > 1:
        for low, high in zip(found[::2], found[1::2], strict=True):
            combine(low, low, high)
        found = found[::2]
    ptx.inst.mov.f32(value, found[0])
    if warps >= 32:
        reduce(value)


def exponential(value: Reg, largest: Reg) -> Reg:
    """exp(value - largest), f32."""
    result = reg.scalar(f32)
    ptx.inst.sub.f32(result, value, largest)
    ptx.inst.mul.f32(result, result, LOG2_E)
    ptx.inst.ex2.approx.ftz.f32(result, result)
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


def in_place(numbers: Row) -> tuple[Reg, Reg]:
    """Turn the values of a row that stays in registers into exp(value - largest); the largest value of the row and the
    sum of those, f32."""
    largest, total = reg.scalar(f32, LEAST), reg.scalar(f32, 0.0)

    def compare(values: list[Reg], guard: Reg | None, beside: Callable) -> None:
        for value in values:
            ptx.inst.max.f32(largest, largest, value, pred=guard)
    numbers.each(compare)
    over_row(largest, ptx.warp.reduce_max, ptx.inst.max.f32, numbers.at, numbers.width)

    raised = []

    def raise_(values: list[Reg], guard: Reg | None, beside: Callable) -> None:
        raised.append([exponential(value, largest) for value in values])
        for value in raised[-1]:
            ptx.inst.add.f32(total, total, value, pred=guard)
    numbers.each(raise_)
    numbers.raised = raised
    over_row(total, ptx.warp.reduce_sum, ptx.inst.add.f32, numbers.at, numbers.width)
    return largest, total
