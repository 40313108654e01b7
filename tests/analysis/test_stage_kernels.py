"""The kernels of `stage_ladders.py` compute what their names say: small launches on the simulator beside NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from support.foreign_kernels import close, launch, random

BF16 = np.dtype(pytest.importorskip("ml_dtypes").bfloat16)

pytestmark = pytest.mark.sampled(8)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


# rows and columns of a CTA's tile, and its threads
TILES = {
    "tiles_64": (64, 64, (16, 8)),
    "vector_tiles_64": (64, 64, (16, 8)),
    "warp_vectors": (64, 128, (128,)),
    "warp_padded": (64, 128, (128,)),
    "two_stages": (128, 128, (128,)),
}


@pytest.mark.parametrize("entry", TILES)
def test_products_by_tiles(rng, entry):
    m, n, k, (rows, columns, block) = 128, 256, 48, TILES[entry]
    a, b, c = random(rng, m, k), random(rng, k, n), random(rng, m, n)
    wanted, grid = 2 * (a.astype(float) @ b) + 0.5 * c, (n // columns, m // rows)
    args = (a, b, c, m, n, k, 2.0, 0.5) if entry == "two_stages" else (m, n, k, 2.0, a, b, 0.5, c)
    launch("sealed_products", entry, *args, grid=grid, block=block)
    close(c, wanted)


@pytest.mark.parametrize("entry", ["wmma_global", "wmma_shared", "wmma_stages", "mma_stages"])
def test_products_of_bf16(rng, entry):
    m, n, k = 128, 256, 160
    a, b, c = random(rng, m, k, of=BF16), random(rng, k, n, of=BF16), np.zeros((m, n), np.float32)
    across, down = {"mma_stages": (128, 128), "wmma_stages": (64, 128)}.get(entry, (64, 64))
    block = {"wmma_global": (128, 4), "wmma_shared": (128,)}.get(entry, (256,))
    shared = 61440 if entry == "mma_stages" else 0
    second = np.ascontiguousarray(b.T) if entry == "mma_stages" else b
    grid = (n // across, m // down)
    launch("sealed_wmma", entry, m, n, k, a, second, c, grid=grid, block=block, smem_bytes=shared)
    close(c, a.astype(float) @ b.astype(float))


WGMMA = {"one_buffer": (64, 64, 128), "two_buffers_64": (64, 64, 128), "two_buffers_128": (128, 128, 512)}
WGMMA |= {"stages_2": (128, 128, 512), "stages_4": (128, 128, 512)}
WGMMA |= {"columns_128": (128, 128, 256), "columns_256": (256, 128, 256)}


@pytest.mark.parametrize("entry", WGMMA)
def test_products_by_wgmma(rng, entry):
    n, (across, down, threads) = 256, WGMMA[entry]
    a, b, c = random(rng, n, n, of=np.float16), random(rng, n, n, of=np.float16), np.zeros((n, n), np.float32)
    launch("sealed_wgmma", entry, a, b, c, n, grid=(n // across, n // down), block=(threads,))
    close(c, a.astype(float) @ b.astype(float).T, 1e-3)


@pytest.mark.parametrize(("entry", "outputs"), [("convolution", 1), *[(f"convolution_{n}", n) for n in (1, 2, 4, 8)]])
def test_convolutions(rng, entry, outputs):
    image, out = random(rng, 2048, 2048), np.zeros((2048, 2048), np.float32)
    launch("sealed_lessons", entry, image, out, grid=(2, 1), block=(32, 8))
    weights = (np.arange(289) % 13 + 1).reshape(17, 17) / 2048
    rows, columns = 8 * outputs, 64
    around = np.pad(image.astype(float), 8, mode="edge")[: rows + 16, : columns + 16]
    windows = np.lib.stride_tricks.sliding_window_view(around, (17, 17))
    close(out[:rows, :columns], np.einsum("yxab,ab->yx", windows, weights))
    assert not out[rows:].any() and not out[:, columns:].any()


@pytest.mark.parametrize("entry", ["points", "points_short", "points_full"])
def test_sums_over_points(rng, entry):
    queries, count = 300, 600
    asked, points = (rng.random((size, 2)).astype(np.float32) for size in (queries, count))
    mass, table = 0.1 + rng.random(count).astype(np.float32), ((1 - np.arange(33) / 32) ** 2).astype(np.float32)
    out, shared = np.zeros(queries, np.float32), 0 if entry == "points" else 3208
    args = (asked, points, mass, table, out, queries, count)
    launch("sealed_lessons", entry, *args, grid=(2,), block=(256,), smem_bytes=shared)
    squares = ((asked[:, None].astype(float) - points[None]) ** 2).sum(2)
    values = np.interp(32 * squares, np.arange(33), table) * (squares < 1)
    close(out, values @ mass.astype(float), 1e-3)


@pytest.mark.parametrize("count", [4, 8, 16, 32, 64])
@pytest.mark.parametrize("kind", ["fma", "sine", "fast_sine"])
def test_chains(rng, kind, count):
    n = 1100
    x, out = 12 * rng.random(n).astype(np.float32) - 6, np.zeros(n, np.float32)
    launch("sealed_chains", f"{kind}_{count}", x, out, n, grid=(2,), block=(256,))
    wanted = x.astype(float)
    for _ in range(count):
        wanted = wanted * 1.0000001 + 1e-7 if kind == "fma" else np.sin(wanted)
    close(out, wanted, 1e-3)
