"""A matrix product in Triton, for its interpreter; imported where triton is installed."""

import triton
import triton.language as tl


@triton.jit
def _product(a, b, c, size, TILE: tl.constexpr, DEPTH: tl.constexpr):
    row = tl.program_id(0) * TILE + tl.arange(0, TILE)
    column = tl.program_id(1) * TILE + tl.arange(0, TILE)
    total = tl.zeros((TILE, TILE), dtype=tl.float32)
    for first in range(0, size, DEPTH):
        k = first + tl.arange(0, DEPTH)
        left = tl.load(a + row[:, None] * size + k[None, :])
        right = tl.load(b + k[:, None] * size + column[None, :])
        total = tl.dot(left, right, total)
    tl.store(c + row[:, None] * size + column[None, :], total)


def product(a, b, c) -> None:
    """c = a @ b of square matrices, 64 x 64 a program, 32 of k at a time."""
    size = a.shape[0]
    _product[size // 64, size // 64](a, b, c, size, TILE=64, DEPTH=32)
