"""Encoding of a tensor map for the simulator, 128 bytes. The layout a GPU uses is different and not public.

Little-endian; dimensions innermost first. `core/tensor_map.h` has the same as a C structure.

    0   8 bytes  magic                              8   u8  version
    9   u8  rank                                   10   u8  element type, as tensormap.replace numbers it
   11   u8  interleave: 0 none, 1 16B, 2 32B       12   u8  swizzle: 0 none, 1 32B, 2 64B, 3 128B, 4 96B
   13   u8  atomicity: 0 16B, 1 32B,               14   u8  fill: 0 zero, 1 NaN
            2 32B with 8B flip, 3 64B              15   u8  L2 promotion: 0 none, 1 64B, 2 128B, 3 256B
   16   u64 address                                24   u64[4] strides of dimensions 1..4 in bytes
   56   u32[5] sizes minus 1                       76   u32[5] box; of im2col: channels, pixels
   96   i16[3] lower corner (w, h, d)             102   i16[3] upper corner
  108   u8[5] element strides                     113   u8  mode: 0 tile, 1 im2col, 2 im2col::w, 3 im2col::w::128
  114   14 bytes zero
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct

__all__ = ["BYTES", "LAYOUT", "MAGIC", "VERSION", "pack"]

MAGIC, VERSION, BYTES = b"pyptxTMA", 1, 128
LAYOUT = Struct("<8s8BQ4Q5I5I3h3h5BB14x")
assert LAYOUT.size == BYTES


def pack(
    *,
    rank: int,
    element: int,
    interleave: int,
    swizzle: int,
    atomicity: int,
    fill: int,
    promotion: int,
    address: int,
    shape: Sequence[int],
    strides: Sequence[int],
    box: Sequence[int],
    steps: Sequence[int],
    mode: int,
    lower: Sequence[int],
    upper: Sequence[int],
) -> bytes:
    """Encode a tensor map; sequences are innermost first and padded to their full length."""

    def five(values: Sequence[int], rest: int) -> list[int]:
        return [*values, *[rest] * (5 - len(values))]

    return LAYOUT.pack(
        MAGIC,
        VERSION,
        rank,
        element,
        interleave,
        swizzle,
        atomicity,
        fill,
        promotion,
        address,
        *five(strides, 0)[:4],
        *[n - 1 for n in five(shape, 1)],
        *five(box, 1),
        *lower,
        *upper,
        *five(steps, 1),
        mode,
    )
