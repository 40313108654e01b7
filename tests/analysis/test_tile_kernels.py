"""The kernels of `tile_ladders.py` and `sum_ladders.py` compute what their names say: small launches beside NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from support.foreign_kernels import launch, random

BF16 = np.dtype(pytest.importorskip("ml_dtypes").bfloat16)

pytestmark = pytest.mark.sampled(8)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


REMAINDERS = [(f"remainder_{threads}", threads, 1) for threads in (128, 256, 512, 1024)]
EACH = [("consecutive", 1), ("halves", 1), ("one_barrier", 1), ("several", 4), ("pairs", 2), ("neighbors", 4)]
EACH += [("shuffles", 32), ("vectors", 32)]


@pytest.mark.parametrize(("entry", "threads", "each"), [*REMAINDERS, *((entry, 128, each) for entry, each in EACH)])
def test_sums_by_trees(rng, entry, threads, each):
    numbers, sums = random(rng, 3, threads * each), np.zeros(3, np.float32)
    launch("fresh_tree_sums", entry, sums, numbers, threads * each, grid=(3,), block=(threads,))
    np.testing.assert_allclose(sums, numbers.sum(1), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("entry", ["divergent", "conflicting", "sequential", "first_add", "unrolled_warp", "unrolled"])
def test_sums_of_a_lecture(rng, entry):
    each = 512 if entry.startswith(("first", "unrolled")) else 256
    numbers, sums = rng.integers(0, 100, (3, each), np.int32), np.zeros(3, np.int32)
    launch("fresh_lecture_sums", entry, numbers, sums, grid=(3,), block=(256,), smem_bytes=1024)
    np.testing.assert_array_equal(sums, numbers.sum(1))


@pytest.mark.parametrize("entry", ["atomics", "float_atomics", "tree_atomic", "shuffled_atomic", "strided_atomics"])
def test_sums_with_atomics(rng, entry):
    dtype = np.float32 if entry.startswith("float") else np.int32
    numbers, total = rng.integers(0, 100, 1000).astype(dtype), np.zeros(1, dtype)
    grid = 2 if entry == "strided_atomics" else 4
    launch("fresh_atomic_sums", entry, numbers, total, numbers.size, grid=(grid,), block=(256,))
    assert total[0] == numbers.sum()


def test_prefix_sums(rng):
    numbers = rng.integers(0, 100, 1000, np.int32)
    here, there = numbers.copy(), np.zeros_like(numbers)
    for power in range(10):
        launch("fresh_scan", "pass", 1000, 1 << power, there, here, grid=(8,), block=(128,))
        here, there = there, here
    launch("fresh_scan", "shift", 1000, there, here, grid=(8,), block=(128,))
    np.testing.assert_array_equal(here, np.cumsum(numbers))
    np.testing.assert_array_equal(there, np.cumsum(numbers) - numbers)


@pytest.mark.parametrize("every", [True, False])
def test_prefix_sums_by_trees(rng, every):
    numbers = rng.integers(0, 100, 512, np.int32)
    data, entries = numbers.copy(), ("up_all", "down_all") if every else ("up", "down")
    for level in range(9):
        launch("fresh_scan", entries[0], 512, level, data, grid=(8,), block=(64,))
    data[-1] = 0
    for level in reversed(range(9)):
        launch("fresh_scan", entries[1], 512, level, data, grid=(8,), block=(64,))
    np.testing.assert_array_equal(data, np.cumsum(numbers) - numbers)


def test_prefix_sums_of_ctas(rng):
    numbers = rng.integers(0, 100, 1000, np.int32)
    out, totals, sums, total = (np.zeros(size, np.int32) for size in (1000, 8, 8, 1))
    launch("fresh_scan", "block_scan", 1000, out, numbers, totals, grid=(8,), block=(64,), smem_bytes=528)
    launch("fresh_scan", "block_scan", 8, sums, totals, total, grid=(1,), block=(64,), smem_bytes=528)
    launch("fresh_scan", "add_sums", 1000, out, sums, grid=(8,), block=(64,))
    np.testing.assert_array_equal(out, np.cumsum(numbers) - numbers)
    assert total[0] == numbers.sum()


@pytest.mark.parametrize("kind", ["f32", "f16", "f32x4", "f16x2"])
def test_steps_of_jacobi(rng, kind):
    side, words = 256, {"f32": 1, "f16": 1, "f32x4": 4, "f16x2": 2}[kind]
    dtype, grid, block = np.float16 if kind.startswith("f16") else np.float32, (side // words // 32, 2), (32, 8)
    before, after, copy = random(rng, 16, side).astype(dtype), np.zeros((16, side), dtype), np.zeros((16, side), dtype)
    launch("fresh_stencils", f"jacobi_{kind}", after, before, side - 2, 14, grid=grid, block=block)
    launch("fresh_stencils", f"copy_{kind}", copy, before, side - 2, 14, grid=grid, block=block)
    inner = np.s_[1:-1, words : -1 if words == 1 else None]  # vectors leave out the first of a row and not the last
    around = sum(np.roll(before.astype(float), by, axis) for axis in (0, 1) for by in (-1, 1)) / 4
    wanted = np.zeros((16, side))
    wanted[inner] = around[inner]
    if words > 1:  # the vector right of the last of a row is the first of the next
        wanted[1:-1, -1] += (before[2:, 0].astype(float) - before[1:-1, 0]) / 4
    tolerance = 1e-2 if dtype == np.float16 else 1e-6
    np.testing.assert_allclose(after.astype(float), wanted, rtol=tolerance, atol=tolerance)
    np.testing.assert_array_equal(copy[inner], before[inner])
    assert not copy[0].any() and not copy[-1].any() and not copy[:, :words].any()


@pytest.mark.parametrize(("entry", "side"), [("heat", 8), ("heat_tile", 8), ("heat_tile", 16)])
def test_steps_of_heat(rng, entry, side):
    points = 40
    before, after = random(rng, points, points), np.zeros((points, points), np.float32)
    grid, smem = -(-(points - 2) // side), 4 * (side + 2) ** 2 if entry == "heat_tile" else 0
    args = (before, after, points, 0.24)
    launch("fresh_stencils", entry, *args, grid=(grid, grid), block=(side, side), smem_bytes=smem)
    around = sum(np.roll(before, by, axis) for axis in (0, 1) for by in (-1, 1))
    wanted = np.zeros((points, points))
    wanted[1:-1, 1:-1] = (before + 0.24 * (around - 4 * before))[1:-1, 1:-1]
    np.testing.assert_allclose(after, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("entry", ["passes", "shuffles", "kept_1024", "kept_2048", "kept_4096", "kept_8192"])
def test_softmax(rng, entry):
    warps = entry.startswith("kept")
    columns = int(entry.partition("_")[2]) if warps else 600
    rows, out = random(rng, 4, columns), np.zeros((4, columns), np.float32)
    grid, block = (1, (32, 4)) if warps else (4, (256,))
    smem = 1024 if entry == "passes" else 0
    args = (rows, out) if warps else (rows, out, columns)
    launch("fresh_softmax", entry, *args, grid=(grid,), block=block, smem_bytes=smem)
    wanted = np.exp(rows - rows.max(1, keepdims=True))
    np.testing.assert_allclose(out, wanted / wanted.sum(1, keepdims=True), rtol=1e-4)


TILES = {"rows": (32, 32), "columns": (32, 32), "tile": (32, 32), "column_tile": (512,), "square_tile": (256,)}
TILES |= {"staged": (64,), "vector_tile": (256,), "warp_tiles": (128,)}


@pytest.mark.parametrize("entry", TILES)
def test_products(rng, entry):
    m, n, k, tile = (512, 512, 32, 128) if entry == "warp_tiles" else (128, 256, 32, 128)
    tile = 32 if len(TILES[entry]) == 2 else 128 if entry == "square_tile" else tile if entry == "warp_tiles" else 64
    a, b, c = random(rng, m, k), random(rng, k, n), random(rng, m, n)
    wanted = 2 * (a @ b) + 0.5 * c
    grid = (m // tile, n // tile) if entry == "rows" else (n // tile, m // tile)
    grid = (grid[0] * grid[1],) if entry == "warp_tiles" else grid
    launch("fresh_products", entry, m, n, k, 2.0, a, b, 0.5, c, grid=grid, block=TILES[entry])
    np.testing.assert_allclose(c, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("entry", "tile", "side"), [("element", 16, 16), ("shared_32", 32, 32), ("coarse", 32, 16)])
def test_square_products(rng, entry, tile, side):
    a, b = random(rng, 2, 64, 64)
    c = np.zeros((64, 64), np.float32)
    launch("fresh_products", entry, a, b, c, 64, grid=(64 // tile, 64 // tile), block=(side, side))
    np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("entry", ["by_rows", "by_tiles"])
def test_attention(rng, entry):
    heads, tokens, width, rows = 2, 128, 128, entry == "by_rows"
    q, k, v = (random(rng, heads, tokens, width).astype(np.float16) for _ in range(3))
    out, scores = np.zeros_like(q), np.zeros((heads, tokens, tokens), np.float32)
    args, grid = (q, k, v, out, *((scores,) if rows else ()), tokens, width**-0.5), (1 if rows else 2, heads)
    smem = 0 if rows else 98816
    launch("fresh_attention", entry, *args, grid=grid, block=(256 if rows else 128,), smem_bytes=smem)
    q, k, v = (one.astype(float) for one in (q, k, v))
    weights = np.exp(q @ k.transpose(0, 2, 1) * width**-0.5)
    wanted = weights / weights.sum(-1, keepdims=True) @ v
    np.testing.assert_allclose(out.astype(float), wanted, rtol=1e-2, atol=2e-3)


@pytest.mark.parametrize("entry", ["plain_f16", "plain_bf16", "buffered_bf16"])
def test_products_with_wmma(rng, entry):
    of = np.float16 if entry.endswith("_f16") else BF16
    a, b, c = random(rng, 256, 48).astype(of), random(rng, 48, 128).astype(of), random(rng, 256, 128)
    wanted = 2 * (a.astype(np.float32) @ b.astype(np.float32)) + 0.5 * c
    launch("fresh_wmma", entry, 128, 48, 2.0, a, b, 0.5, c, grid=(1, 1), block=(512,))
    np.testing.assert_allclose(c, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("entry", "own"), [("through_registers", 64), ("async_64", 64), ("async_32", 32)])
def test_attention_with_mma(rng, entry, own):
    heads, tokens, width = 2, 120, 64
    q, k, v = (random(rng, heads, tokens, width).astype(np.float16) for _ in range(3))
    out, logs = np.zeros_like(q), np.zeros((heads, tokens), np.float32)
    smem = 2 * (width + 8) * (own + 128 + (0 if entry.startswith("async") else own)) + 16 * own
    args, grid = (q, k, v, out, logs, tokens, width**-0.5), (-(-tokens // own), heads)
    launch("fresh_flash", entry, *args, grid=grid, block=(32, own // 8), smem_bytes=smem)
    q, k, v = (one.astype(float) for one in (q, k, v))
    scores = np.where(np.tri(tokens, dtype=bool), q @ k.transpose(0, 2, 1) * width**-0.5, -np.inf)
    weights = np.exp(scores)
    wanted = weights / weights.sum(-1, keepdims=True) @ v
    np.testing.assert_allclose(out.astype(float), wanted, rtol=1e-2, atol=3e-3)
    np.testing.assert_allclose(logs, np.log(weights.sum(-1)), rtol=1e-4, atol=1e-4)


TRANSPOSES = ["plain", "tile_8", "tile_16", "tile_32", "padded_8", "padded_16", "padded_32"]


@pytest.mark.parametrize("entry", TRANSPOSES)
def test_transposes(rng, entry):
    matrix, out = random(rng, 64, 96), np.zeros((96, 64), np.float32)
    side = 16 if entry == "plain" else int(entry.partition("_")[2])
    launch("fresh_moves", entry, matrix, out, 64, 96, grid=(96 // side, 64 // side), block=(side, side))
    np.testing.assert_array_equal(out, matrix.T)


def test_sum_of_vectors(rng):
    a, b, c = random(rng, 3, 1000)
    launch("fresh_moves", "add", a, b, c, 1000, grid=(8,), block=(128,))
    np.testing.assert_array_equal(c, a + b)
