"""Accumulators of wgmma with the coordinates of their elements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyptx import reg
from pyptx._loc import user_place
from pyptx.errors import ShapeError
from pyptx.lib._arguments import thread
from pyptx.lib._swizzled_rows import fill_pairs, pairs_place
from pyptx.lib.boxed_fragment import BoxedFragment
from pyptx.reg import Reg, RegArray
from pyptx.tracing.trace import get_ctx
from pyptx.types import PtxType, f32

__all__ = ["WgmmaFragment"]


class WgmmaFragment(BoxedFragment):
    """The 64 x n accumulator of a wgmma over the 128 threads of a warpgroup.

    A thread holds n/2 elements: pairs of neighbors in two rows, eight rows apart, every eight columns.

    ::

        columns    0    1    2    3    4    5    6    7    8 ...
        row 0    [lane 0  ] [lane 1  ] [lane 2  ] [lane 3  ] [lane 0  ]
        row 1    [lane 4  ] [lane 5  ] [lane 6  ] [lane 7  ] [lane 4  ]      warp w: rows 16 w to 16 w + 15
         ...
        row 8    [lane 0  ] [lane 1  ] [lane 2  ] [lane 3  ] [lane 0  ]

    Args:
        n: columns, a multiple of 8 from 8 to 256.
        tid: index of the thread in a u32 register; its warpgroup starts at a multiple of 128.
        dtype: type of the accumulator.
    Attributes:
        sums: the registers, the operand `d` of `ptx.wgmma.mma_async`.
        row, column: coordinates of the first element of the thread in the tile, u32 registers.
    Raises:
        ShapeError: n is not such a number, or a kernel with CTAs of fewer threads.
    Source: PTX ISA, "Register Fragments for wgmma.mma_async", matrix D.
    """

    tid: Reg
    sums: RegArray
    row: Reg
    column: Reg
    warp_rows: int = 16
    tile_rows: int | None = 64

    def __init__(self, n: int, tid: Reg, dtype: PtxType = f32):
        if not isinstance(n, int) or n % 8 or not 8 <= n <= 256:
            raise ShapeError(f"WgmmaFragment: n={n!r}; expected a multiple of 8 from 8 to 256", at=user_place())
        get_ctx().need_threads(128, "a fragment of wgmma is spread over", "@kernel(block=128)")
        self.sums = reg.wgmma_frag(m=64, n=n, dtype=dtype)
        self.tid = tid = thread(tid)
        self.row = ((tid >> 5) & 3) * 16 + ((tid >> 2) & 7)
        self.column = (tid & 3) * 2

    def coords(self) -> Iterator[tuple[Reg, int, int]]:
        """Iterate over the elements of the thread.

        Yields:
            The register, and its distance in rows and columns from `row` and `column`.
        """
        for i, value in enumerate(self.sums):
            yield value, i // 2 % 2 * 8, i // 4 * 8 + i % 2

    def box_place(self, lane: Reg, dtype: PtxType) -> Reg:
        """Return the byte offset at which the lane writes the rows of its warp in a box."""
        return pairs_place(lane, dtype)

    def fill_box(self, place: Reg, offset: int, values: Sequence[Reg], lane: Reg, dtype: PtxType) -> None:
        """Write values of a box, 128 bytes of each row of the warp, `offset` bytes behind `place`."""
        fill_pairs(place, offset, values, lane, dtype)
