"""A matrix product in Numba, for its CUDA simulator; imported where numba is installed, with NUMBA_ENABLE_CUDASIM=1."""

import numpy as np
from numba import cuda, float32

TILE = 16


@cuda.jit
def _product(a, b, c):
    left = cuda.shared.array((TILE, TILE), float32)
    right = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row, column = cuda.blockIdx.y * TILE + y, cuda.blockIdx.x * TILE + x
    total = float32(0)
    for first in range(0, a.shape[1], TILE):
        left[y, x] = a[row, first + x]
        right[y, x] = b[first + y, column]
        cuda.syncthreads()
        for k in range(TILE):
            total += left[y, k] * right[k, x]
        cuda.syncthreads()
    c[row, column] = total


def product(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    """c = a @ b of square f32 matrices, 16 x 16 a block."""
    blocks = a.shape[0] // TILE
    _product[(blocks, blocks), (TILE, TILE)](a, b, c)
