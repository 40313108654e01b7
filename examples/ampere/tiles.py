"""Helpers of the Ampere kernels: copy and shared-memory sizes, and the product of two fragments."""

from __future__ import annotations

from pyptx import ptx
from pyptx.ptx.mma import Fragment
from pyptx.types import PtxType, f32

__all__ = ["BOX", "LINE", "MMA_K", "MOST_BYTES", "PIECE", "multiply"]

PIECE = 16  # bytes of one copy: eight 16-bit elements
LINE, BOX = 128, 64  # bytes and columns of a box row in shared memory
MMA_K = 16  # of one mma
MOST_BYTES = 163 * 1024  # bytes of shared memory per CTA


def multiply(sums: Fragment, a: Fragment, b: Fragment, c: Fragment, dtype: PtxType) -> None:
    """Emit sums (16 x 8) = a (16 x 16) @ b (16 x 8) + c, f32 sums of `dtype`."""
    ptx.mma.sync(shape=(16, 8, MMA_K), dtype_d=f32, dtype_a=dtype, dtype_b=dtype, dtype_c=f32, d=sums, a=a, b=b, c=c)
