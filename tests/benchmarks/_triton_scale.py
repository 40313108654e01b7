"""The kernel that `launchers.py` launches with Triton."""

import triton
import triton.language as tl


@triton.jit
def scale(x, y, factor, count, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < count) * factor, mask=i < count)
