"""Tensor memory of Blackwell: allocation, products into it with derived descriptors, and fragments read from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyptx import reg, smem
from pyptx._loc import user_place
from pyptx.errors import ShapeError, TraceError
from pyptx.lib._arguments import register, thread
from pyptx.lib._swizzled_rows import fill_row, row_place
from pyptx.lib.boxed_fragment import BoxedFragment
from pyptx.ptx import cluster, tcgen05
from pyptx.ptx.barrier import bar
from pyptx.ptx.control import if_
from pyptx.reg import Reg, RegArray
from pyptx.tracing.trace import emit
from pyptx.types import PtxType, b32, f32

__all__ = ["TensorFragment", "TensorMemory"]


class TensorMemory:
    """An allocation of tensor memory: 128 lanes x `columns` columns of 32 bits.

    ::

        columns   0 ........ n-1   n ........ 2n-1
        lane 0    | accumulator 0 | accumulator 1 |        memory.start + n is the address of accumulator 1
         ...      |               |               |
        lane 127  |               |               |        warp w reads lanes 32 (w & 3) to 32 (w & 3) + 31

    Args:
        columns: a power of two from 32 to 512.
        ctas: 2 for the memory of a pair of CTAs (`cta_group::2`), a cluster, whose threads all set up and free together.
    Attributes:
        start: address of the first column, a b32 register; from `set_up` on.
    Raises:
        ShapeError: another number of columns or CTAs.
    Source: PTX ISA, "Tensor Memory Allocation and Management Instructions".
    """

    start: Reg

    def __init__(self, columns: int, *, ctas: int = 1):
        if columns not in (32, 64, 128, 256, 512) or ctas not in (1, 2):
            raise ShapeError(
                f"TensorMemory: columns={columns!r}; expected 32, 64, 128, 256 or 512, and 1 or 2 CTAs, not {ctas!r}",
                at=user_place(),
            )
        self.columns, self.ctas, self._slot = columns, ctas, smem.alloc(b32, 1, align=16)

    def set_up(self, tid: Reg) -> None:
        """Allocate, by the first warp, and synchronize the CTA, or the pair; called by all threads."""
        with if_(thread(tid) < 32):
            tcgen05.alloc(self._slot, self.columns, cta_group=self.ctas)
            tcgen05.relinquish_alloc_permit(cta_group=self.ctas)
        self._sync()
        self.start = smem.load(b32, self._slot)

    def free(self, tid: Reg) -> None:
        """Synchronize the CTA, or the pair, and free the memory, by the first warp; called by all threads, before they exit."""
        tid = thread(tid)
        if not hasattr(self, "start"):
            raise TraceError(
                "the tensor memory is not allocated", at=user_place(), hint="call memory.set_up(tid) first"
            )
        self._sync()
        with if_(tid < 32):
            tcgen05.dealloc(self.start, self.columns, cta_group=self.ctas)

    def _sync(self) -> None:
        tcgen05.fence_before_thread_sync()
        if self.ctas > 1:
            cluster.sync()
        else:
            bar.sync(0)
        tcgen05.fence_after_thread_sync()


class TensorFragment(BoxedFragment):
    """The row of a 128 x n accumulator in tensor memory that a thread reads: lane i of warp w has row 32 (w & 3) + i.

    ::

        columns    0    1    2   ...  n-1
        row 0    [ lane 0 of warp 0      ]
        row 1    [ lane 1 of warp 0      ]
         ...
        row 32   [ lane 0 of warp 1      ]

    Emits `tcgen05.ld.32x32b` of up to 64 columns at a time and `tcgen05.wait::ld`.

    Args:
        start: tensor memory address of the accumulator.
        n: columns, a multiple of 8 up to 256.
        tid: index of the thread in a u32 register; its warpgroup starts at a multiple of 128.
    Attributes:
        sums: the elements, f32 registers.
    """

    tid: Reg
    sums: list[Reg]
    row: Reg
    column: Reg
    lanes: int = 1
    warp_rows: int = 32
    tile_rows: int | None = 128

    def __init__(self, start: Reg, n: int, tid: Reg):
        if not isinstance(n, int) or n % 8 or not 8 <= n <= 256:
            raise ShapeError(f"TensorFragment: n={n!r}; expected a multiple of 8 from 8 to 256", at=user_place())
        start = register(start, "the address of an accumulator", "pass memory.start, or memory.start + column")
        self.tid = tid = thread(tid)
        self.row, self.column = tid & 127, reg.scalar(tid.dtype, 0)
        lanes, parts = start + (((tid >> 5) & 3) << 21), []  # the lane is in the upper half of an address
        while (first := len(parts)) < n:
            words: RegArray = reg.array(b32, next(size for size in (64, 32, 16, 8) if size <= n - first))
            tcgen05.ld(words, lanes + first, shape="32x32b", count=len(words))
            parts += list(words)
        tcgen05.wait_ld()
        self.sums = [reg.scalar(f32) for _ in parts]
        for value, word in zip(self.sums, parts, strict=True):
            emit("mov", "b32", value, word)

    def coords(self) -> Iterator[tuple[Reg, int, int]]:
        """Iterate over the elements of the thread.

        Yields:
            The register, and its distance in rows and columns from `row` and `column`.
        """
        for j, value in enumerate(self.sums):
            yield value, 0, j

    def box_place(self, lane: Reg, dtype: PtxType) -> Reg:
        """Return the byte offset at which the lane writes its row in a box."""
        return row_place(lane)

    def fill_box(self, place: Reg, offset: int, values: Sequence[Reg], lane: Reg, dtype: PtxType) -> None:
        """Write values of a box, 128 bytes of the lane's row, `offset` bytes behind `place`."""
        fill_row(place, offset, values, dtype)
