"""Triton with its own CUDA driver, without torch: a vector operation, a sum by row, a matrix product and an atomic."""

from __future__ import annotations

import numpy as np
import triton
import triton.language as tl
from cuda.bindings import driver


def check(result):
    status, *values = result
    if status != driver.CUresult.CUDA_SUCCESS:
        raise SystemExit(f"{status!r}")
    return values[0] if values else None


class Array:
    """Device memory as Triton takes it: an address and a type."""

    def __init__(self, values: np.ndarray):
        self.dtype, self.shape, self.bytes = values.dtype, values.shape, values.nbytes
        self.address = int(check(driver.cuMemAlloc(self.bytes)))
        check(driver.cuMemcpyHtoD(self.address, values.ctypes.data, self.bytes))

    def data_ptr(self) -> int:
        return self.address

    def numpy(self) -> np.ndarray:
        values = np.empty(self.shape, self.dtype)
        check(driver.cuMemcpyDtoH(values.ctypes.data, self.address, self.bytes))
        return values


@triton.jit
def scale_kernel(x, y, n, factor, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * factor, mask=at < n)


@triton.jit
def row_sum_kernel(x, y, total, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    found = tl.sum(tl.load(x + row * columns + at, mask=at < columns, other=0.0))
    tl.store(y + row, found)
    tl.atomic_add(total, 1)


@triton.jit
def product_kernel(a, b, c, N: tl.constexpr):
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    tl.store(c + i * N + j, tl.dot(tl.load(a + i * N + j), tl.load(b + i * N + j)))


def main() -> None:
    current = triton.runtime.driver.active
    assert type(current).__module__ == "triton.backends.nvidia.driver", type(current)
    print(current.get_current_target())
    x = np.arange(1000, dtype=np.float32)
    y = Array(np.zeros_like(x))
    scale_kernel[(triton.cdiv(1000, 256),)](Array(x), y, 1000, 2.5, BLOCK=256)
    assert (y.numpy() == 2.5 * x).all()

    rows = np.random.default_rng(0).standard_normal((7, 100)).astype(np.float32)
    sums, total = Array(np.zeros(7, np.float32)), Array(np.zeros(1, np.int32))
    row_sum_kernel[(7,)](Array(rows), sums, total, 100, BLOCK=128)
    assert np.allclose(sums.numpy(), rows.sum(1), atol=1e-4)
    assert total.numpy() == [7]

    a, b = (np.random.default_rng(k).integers(-3, 4, (64, 64)).astype(np.float16) for k in (1, 2))
    c = Array(np.zeros((64, 64), np.float32))
    product_kernel[(1,)](Array(a), Array(b), c, N=64)
    assert (c.numpy() == a.astype(np.float32) @ b.astype(np.float32)).all()
    print("done")


if __name__ == "__main__":
    main()
