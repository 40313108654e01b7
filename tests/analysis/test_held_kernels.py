"""The kernels of `held_ladders.py` compute what their names say: small launches on the simulator beside NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from support.foreign_kernels import close, launch, random

BF16 = np.dtype(pytest.importorskip("ml_dtypes").bfloat16)
LOG2E = np.log2(np.e)

pytestmark = pytest.mark.sampled(8)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("name", ["rows", "columns", "tiles", "patches", "fours"])
def test_products_in_stages(rng, name):
    m, n, k = 70, 68, 36
    a, b, c = random(rng, m, k), random(rng, k, n), np.zeros((m, n), np.float32)
    side, block = (64, (16, 16)) if name in ("patches", "fours") else (32, (32, 32))
    grid = (-(-(m if name == "rows" else n) // side), -(-(n if name == "rows" else m) // side))
    launch("hidden_stages", f"stage_{name}", a, b, c, m, n, k, grid=grid, block=block)
    close(c, a.astype(float) @ b)


def test_a_product_by_wmma(rng):
    m, n, k = 64, 128, 48
    a, b, c = random(rng, m, k, of=np.float16), random(rng, k, n, of=np.float16), np.zeros((m, n), np.float32)
    launch("hidden_stages", "stage_wmma", a, b, c, m, n, k, grid=(2, 1), block=(32, 16))
    close(c, a.astype(float) @ b.astype(float))


@pytest.mark.parametrize(("name", "side"), [("each", 16), ("16", 16), ("32", 32)])
def test_products_of_small_matrices(rng, name, side):
    m, n, k = 50, 37, 41
    a, b, c = random(rng, m, k), random(rng, k, n), np.zeros((m, n), np.float32)
    grid = (-(-n // side), -(-m // side))
    launch("hidden_products", f"product_{name}", m, n, k, a, b, c, grid=grid, block=(side, side))
    close(c, a.astype(float) @ b)
