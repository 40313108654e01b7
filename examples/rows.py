"""Row-wise kernels: distribution of rows of any length over warps, CTAs and clusters.

Shared by softmax, the norms and cross entropy. A short row is processed by a warp, a long one by a CTA, a very long one
by a cluster.

Techniques and their sources:

- Accesses of 16 bytes (CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory"), also for rows whose length
  is not a multiple of a vector: each of the few elements before the first and after the last vector goes to one thread,
  and the corresponding vector of a column array is assembled from two.
- Several vectors per thread are in flight before the first is used (Little's law; Volkov, "Better Performance at Lower
  Occupancy"), also in the loops over rows that do not fit in registers.
- CTAs of a cluster exchange partial results through distributed shared memory, tracked by mbarriers (PTX ISA, "mapa",
  "st.async"): a cluster barrier would wait for memory each time. A row that fits in the registers of the cluster is
  read once (Dao-AILab, "QuACK": softmax and norms at memory bandwidth).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from examples.vectors import THREADS, load, load_words, moved, unpacked, widest
from pyptx import Tile, kernel, ptx, reg, smem
from pyptx.isa import targets
from pyptx.kernel import Kernel
from pyptx.reg import Reg
from pyptx.types import PtxType, b32, f32, pred, s64, u32, u64

__all__ = [
    "LOG2_E",
    "THREADS",
    "Row",
    "Team",
    "cluster_for",
    "exponential",
    "in_place",
    "online",
    "over_row",
    "place",
    "row_kernel",
    "threads_of_row",
]

LONG_ROW = 2048  # elements from which on a row is processed by a whole CTA
RAGGED = 64  # elements from which on a row of partial vectors uses vector accesses inside
LOG2_E = math.log2(math.e)
LEAST = -3.4028234663852886e38  # lowest finite f32: -inf - LEAST is -inf, whereas -inf - -inf is NaN
MEETINGS = 2  # exchanges between the CTAs of a cluster per kernel, at most


def threads_of_row(columns: int, cluster: int = 1) -> int:
    """Return the number of threads that share a row."""
    return THREADS * cluster if columns >= LONG_ROW or cluster > 1 else 32


def cluster_for(columns: int, arch: str = "sm_90", each: int = 32) -> int:
    """Return the number of CTAs (up to 8) that share a row at `each` elements per thread; 1 without cluster support."""
    if targets.parse(arch).number < 90:
        return 1
    found = 1
    while found < 8 and columns > found * THREADS * each:
        found *= 2
    return found


def row_kernel(
    body: Callable, name: str, arch: str, inputs: Sequence[Tile], outputs: Sequence[Tile], each: int = 32
) -> Kernel:
    """Make a kernel over rows (M x N) with a parameter CLUSTER, the CTAs per row; 0 selects `cluster_for`."""

    def grid(M: int, N: int, CLUSTER: int) -> int:
        return -(-M * threads_of_row(N, CLUSTER or cluster_for(N, arch, each)) // THREADS)

    return kernel(
        body,
        name=name,
        arch=arch,
        in_specs=inputs,
        out_specs=outputs,
        grid=grid,
        cluster=lambda N, CLUSTER: (CLUSTER or cluster_for(N, arch, each), 1, 1),
        block=(THREADS, 1, 1),
        reqntid=(THREADS, 1, 1),
    )


@dataclass(frozen=True)
class Team:
    """The threads that share a row.

    Attributes:
        row: index of the row.
        at: index of this thread among them.
        width: number of threads.
        meetings: remaining exchanges between the CTAs of a cluster: shared memory for the values of all warps, and the
            mbarrier that tracks them.
    """

    row: Reg
    at: Reg
    width: int
    meetings: list[tuple[Reg, Reg]] = field(default_factory=list)

    @property
    def cluster(self) -> int:
        """CTAs per row."""
        return max(1, self.width // THREADS)


def place(rows: int, columns: int, cluster: int = 1) -> Team:
    """Assign this thread to a row; threads beyond the last row return from the kernel."""
    width = threads_of_row(columns, cluster)
    tid = reg.from_(ptx.special.tid.x(), u32)
    block = reg.from_(ptx.special.ctaid.x(), u32)
    if cluster > 1:
        rank = reg.from_(ptx.special.cluster_ctarank(), u32)
        return Team(block >> cluster.bit_length() - 1, rank * THREADS + tid, width, meetings_of(cluster, tid))
    if width == THREADS:
        return Team(block, tid, width)
    row = block * (THREADS // width) + (tid >> 5)
    if rows * width % THREADS:
        ptx.ret(pred=row >= rows)
    return Team(row, tid & 31, width)


def meetings_of(cluster: int, tid: Reg) -> list[tuple[Reg, Reg]]:
    """Allocate memory and mbarriers for values from the other CTAs of a cluster, which may send after `Row` has waited."""
    warps = cluster * THREADS // 32
    partial, arrived = smem.alloc(f32, (MEETINGS, warps)), smem.mbarrier(MEETINGS)
    start, barriers = reg.from_(partial.name, u32), reg.from_(arrived.name, u32)
    with ptx.if_(tid == 0):
        for i in range(MEETINGS):
            ptx.inst.mbarrier.init.shared__cta.b64(ptx.addr(barriers, 8 * i), 1)
        ptx.fence.mbarrier_init()
        for i in range(MEETINGS):
            ptx.inst.mbarrier.arrive.expect_tx.shared__cta.b64("_", ptx.addr(barriers, 8 * i), 4 * warps)
    with ptx.if_(tid < 32):  # one of these threads initialized the mbarriers
        ptx.inst.barrier.cluster.arrive.release.aligned()
    with ptx.else_():
        ptx.inst.barrier.cluster.arrive.relaxed.aligned()
    return [(start + 4 * warps * i, barriers + 8 * i) for i in range(MEETINGS)]


class Row:
    """A thread's part of a row: vectors at, at + width, at + 2 * width, ...

    Rows of up to `kept` vectors per thread are read once and stay in registers; every pass reads longer ones again,
    `ahead` vectors per thread at a time. In a ragged row, whose length is not a multiple of a vector, the vectors start
    at the first address that is a multiple of 16 bytes, `before` elements after the start of the row. These elements and
    those after the last vector, fewer than two vectors together, form the `edge`, one element per thread.
    """

    def __init__(self, start: Reg, dtype: PtxType, team: Team, columns: int, kept: int, ahead: int = 4):
        self.dtype, self.at, self.width, self.ahead = dtype, team.at, team.width, ahead
        self.vector, self.before, self.edge = widest(columns, dtype), 0, None
        self.vectors = columns // self.vector
        self.ragged = columns % (128 // dtype.bits) != 0 and columns >= RAGGED
        if self.ragged:
            self._cut(team.row, columns)
        self.start = self.first_of(start)
        self.rounds = -(-self.vectors // self.width)
        self.stays, self.words, self.edge_words = self.rounds <= kept, [], []
        self.raised: list[list[Reg]] | None = None  # the values after `in_place`
        if self.stays:
            self.words = [
                load_words(self.start, self.vector, dtype, self.guard(i), offset=i * self.step_bytes)
                for i in range(self.rounds)
            ]
            self.edge_words = self._edge()
        if team.meetings:
            ptx.inst.barrier.cluster.wait.aligned()  # all mbarriers of the cluster are initialized

    def _cut(self, row: Reg, columns: int) -> None:
        """Compute the start of the vectors of a ragged row, and this thread's edge element.

        The elements before the vectors go to the first threads, those after them to the next. One vector fewer than
        could fit is used, so that the corresponding elements of another array lie in two whole vectors (see `along`).
        """
        self.vector = vector = 128 // self.dtype.bits
        self.vectors = columns // vector - 1
        self.before = (0 - row * columns) & (vector - 1)
        inside = self.vectors * vector
        index, distance = reg.scalar(u32), reg.scalar(s64)  # relative to this thread's first vector
        ptx.inst.selp.u32(index, self.at, self.at + inside, self.at < self.before)
        ptx.inst.mul.wide.s32(distance, index - self.before - self.at * vector, self.dtype.bits // 8)
        self.edge = distance, self.at < columns - inside

    @property
    def step_bytes(self) -> int:
        """Bytes from one round to the next."""
        return self.width * self.vector * self.dtype.bits // 8

    def first_of(self, start: Reg) -> Reg:
        """Return the address of this thread's first vector in a row that starts at `start`."""
        return moved(start, self.at * self.vector + self.before, self.dtype.bits // 8)

    def guard(self, i: int) -> Reg | None:
        """Return the predicate of the threads with a vector in round i; None if all have one."""
        return None if (i + 1) * self.width <= self.vectors else self.at + i * self.width < self.vectors

    def columns_of(self, start: Reg) -> tuple[Reg, Reg]:
        """Return the addresses `along` needs for an array with one element per column: that of this thread's first vector,
        and the multiple of 16 bytes at or before it."""
        return self.first_of(start), moved(start, self.at * self.vector, self.dtype.bits // 8)

    def along(self, columns: tuple[Reg, Reg], count: int, guard: Reg | None, beside: Callable) -> list[Reg]:
        """Load the elements of a column array, 16-byte aligned, that correspond to a part of this row.

        For a vector of a ragged row they are the end of one vector and the start of the next.
        """
        first, whole = columns
        if not self.ragged or count == 1:
            return load(beside(first), count, self.dtype, guard)
        place = beside(whole)
        words = [word for part in (0, 16) for word in load_words(place, count, self.dtype, guard, offset=part)]
        return unpacked(later(words, self.before, self.dtype.bits), self.dtype)

    def each(self, use: Callable[[list[Reg], Reg | None, Callable[[Reg], Reg]], None]) -> None:
        """Call use(values, guard, beside) for every vector and the edge.

        beside(first) is the address of the corresponding elements of another row of the same type, where `first` is its
        result of `first_of`.
        """
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
        """Read and use the vectors in a loop, `ahead` of them at a time."""
        groups = self.vectors // self.width // self.ahead
        if groups:
            for group in ptx.range_(0, groups):
                distance = group * (self.ahead * self.step_bytes)
                self._read_and_use(
                    use, range(self.ahead), lambda first, distance=distance: moved(first, distance), [None] * self.ahead
                )
        left = range(groups * self.ahead, self.rounds)
        self._read_and_use(use, left, lambda first: first, [self.guard(i) for i in left])

    def _read_and_use(self, use: Callable, rounds: range, there: Callable[[Reg], Reg], guards: list) -> None:
        start = there(self.start)
        vectors = [
            load_words(start, self.vector, self.dtype, guard, offset=i * self.step_bytes)
            for i, guard in zip(rounds, guards, strict=True)
        ]
        for i, guard, words in zip(rounds, guards, vectors, strict=True):
            use(unpacked(words, self.dtype), guard, lambda first, i=i: moved(there(first), i * self.step_bytes))

    def _edge(self) -> list[Reg]:
        """Return the word of the edge element, if the row is ragged."""
        if self.edge is None:
            return []
        distance, guard = self.edge
        return load_words(further(self.start, distance), 1, self.dtype, guard)


def further(address: Reg, distance: Reg) -> Reg:
    """The address moved by a signed number of bytes."""
    result = reg.scalar(u64)
    ptx.inst.add.s64(result, address, distance)
    return result


def later(words: list[Reg], numbers: Reg | int, bits: int) -> list[Reg]:
    """Extract a vector from the words of two adjacent ones, starting at an element of the first."""
    by_words = numbers if bits == 32 else numbers >> 1
    half = len(words) // 2
    for step in (2, 1):
        moves, kept = (by_words & step) != 0, half + step - 1 + (bits == 16)
        chosen = [reg.scalar(words[0].dtype) for _ in range(kept)]
        for one, stays, comes in zip(chosen, words, words[step:], strict=False):
            ptx.inst.selp.b32(one, comes, stays, moves)
        words = chosen
    if bits == 32:
        return words
    shifted, distance = [reg.scalar(b32) for _ in range(half)], (numbers & 1) << 4
    for one, (low, high) in zip(shifted, pairwise(words), strict=True):
        ptx.inst.shf.r.wrap.b32(one, low, high, distance)
    return shifted


def over_row(team: Team, value: Reg, reduce: Callable[[Reg], Reg], combine: Callable[[Reg, Reg, Reg], Any]) -> None:
    """Reduce a value over all threads of a row, in place: in each warp, then over the warps.

    In a cluster each warp sends its result to all CTAs.
    """
    reduce(value)
    if team.width == 32:
        return
    lane, warp, warps = team.at & 31, team.at >> 5, team.width // 32
    start = send(team, value, warp, lane) if team.meetings else gather(value, warp, lane, warps)
    if warps >= 32:  # each lane reduces one or two, then the warp
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


def gather(value: Reg, warp: Reg, lane: Reg, warps: int) -> Reg:
    """Return the shared memory with the values of a CTA's warps."""
    start = reg.from_(smem.alloc(f32, warps, align=16).name, u32)
    ptx.inst.st.shared.f32(ptx.addr(start + (warp << 2)), value, pred=lane == 0)
    ptx.bar.sync(0)
    return start


def send(team: Team, value: Reg, warp: Reg, lane: Reg) -> Reg:
    """Return the shared memory with the values of a cluster's warps.

    One lane per CTA stores its warp's value there, tracked by that CTA's mbarrier. A CTA waits for all values sent to it.
    """
    start, barrier = team.meetings.pop(0)
    to = lane & (team.cluster - 1)
    there, counted = (ptx.cluster.map_shared_u32(one, to) for one in (start + (warp << 2), barrier))
    ptx.inst.st.async_.shared__cluster.mbarrier__complete_tx__bytes.f32(
        ptx.addr(there), value, ptx.addr(counted), pred=lane < team.cluster
    )
    all_came = reg.scalar(pred)
    with ptx.scope(), ptx.loop("not_yet", pred=~all_came):
        ptx.inst.mbarrier.try_wait.parity.acquire.cluster.shared__cta.b64(all_came, ptx.addr(barrier), 0)
    return start


def exponential(value: Reg, largest: Reg) -> Reg:
    """Return exp(value - largest), f32."""
    result = reg.scalar(f32)
    ptx.inst.sub.f32(result, value, largest)
    ptx.inst.mul.f32(result, result, LOG2_E)
    ptx.inst.ex2.approx.ftz.f32(result, result)
    return result


def online(team: Team, numbers: Row) -> tuple[Reg, Reg]:
    """Return the maximum of a row and its sum of exponentials relative to it, in one pass.

    Source: Milakov and Gimelshein, "Online normalizer calculation for softmax".
    """
    largest, total = reg.scalar(f32, LEAST), reg.scalar(f32, 0.0)  # running values of this thread

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
    over_row(team, largest, ptx.warp.reduce_max, ptx.inst.max.f32)
    ptx.inst.mul.f32(total, total, exponential(own, largest))
    over_row(team, total, ptx.warp.reduce_sum, ptx.inst.add.f32)
    return largest, total


def in_place(team: Team, numbers: Row) -> tuple[Reg, Reg]:
    """Replace the values of a row in registers by exp(value - maximum); return maximum and sum, f32."""
    largest, total = reg.scalar(f32, LEAST), reg.scalar(f32, 0.0)

    def compare(values: list[Reg], guard: Reg | None, beside: Callable) -> None:
        for value in values:
            ptx.inst.max.f32(largest, largest, value, pred=guard)

    numbers.each(compare)
    over_row(team, largest, ptx.warp.reduce_max, ptx.inst.max.f32)

    raised = []

    def raise_(values: list[Reg], guard: Reg | None, beside: Callable) -> None:
        raised.append([exponential(value, largest) for value in values])
        for value in raised[-1]:
            ptx.inst.add.f32(total, total, value, pred=guard)

    numbers.each(raise_)
    numbers.raised = raised
    over_row(team, total, ptx.warp.reduce_sum, ptx.inst.add.f32)
    return largest, total
