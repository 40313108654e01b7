"""The kernels of `training_ladders.py` compute what their names say: small launches on the simulator beside NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from support.foreign_kernels import close, launch, random

BF16 = np.dtype(pytest.importorskip("ml_dtypes").bfloat16)

pytestmark = pytest.mark.sampled(8)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("entry", ["add", "add_divergent", "copy_eighths"])
def test_vectors(rng, entry):
    count = 1000
    a, b, out = random(rng, count), random(rng, count), np.zeros(count, np.float32)
    if entry == "copy_eighths":
        launch("unopened_lessons", entry, a, out, count, grid=(1,), block=(256,))
        wanted = np.where(np.arange(count) % 8, 0, a)
    else:
        launch("unopened_lessons", entry, a, b, out, count, grid=(4,), block=(256,))
        extra = 0.0001 * 127 * 128 / 2 if entry == "add_divergent" else 0
        wanted = a.astype(float) + b + extra * (1 - np.arange(count) % 2)
    close(out, wanted)


@pytest.mark.parametrize(("entry", "side"), [("transpose_each", 16), ("transpose_tile", 32)])
def test_transposes(rng, entry, side):
    rows, columns = 50, 70
    x, out = random(rng, rows, columns), np.zeros((columns, rows), np.float32)
    grid = (-(-columns // side), -(-rows // side))
    launch("unopened_lessons", entry, x, out, rows, columns, grid=grid, block=(side, side))
    np.testing.assert_array_equal(out, x.T)


@pytest.mark.parametrize(("entry", "side"), [("product_each", 16), ("product_tiles", 32)])
def test_products(rng, entry, side):
    n = 50
    a, b, c = random(rng, n, n), random(rng, n, n), np.zeros((n, n), np.float32)
    grid = (-(-n // side), -(-n // side))
    launch("unopened_lessons", entry, a, b, c, n, grid=grid, block=(side, side))
    close(c, a.astype(float) @ b)


@pytest.mark.parametrize("entry", ["sum_tree", "dot_tree"])
def test_partial_sums(rng, entry):
    count, ctas = 1200, 3
    arrays = [random(rng, count) for _ in range(2 if entry == "dot_tree" else 1)]
    out, padded = np.zeros(ctas, np.float32), np.zeros(512 * ctas)
    launch("unopened_lessons", entry, *arrays, out, count, grid=(ctas,), block=(256,), smem_bytes=1024)
    padded[:count] = np.prod(np.asarray(arrays, float), axis=0)
    close(out, padded.reshape(ctas, -1).sum(1))


def test_histogram(rng):
    count = 3000
    data, bins = rng.integers(0, 1 << 32, count, dtype=np.uint32), np.zeros(256, np.uint32)
    launch("unopened_lessons", "histogram", data, count, bins, grid=(4,), block=(256,), smem_bytes=1024)
    np.testing.assert_array_equal(bins, np.bincount(data & 255, minlength=256))


@pytest.mark.parametrize("width", [3, 7])
def test_convolutions(rng, width):
    rows, columns = 30, 40
    image, weights, out = random(rng, rows, columns), random(rng, width, width), np.zeros((rows, columns), np.float32)
    args = (image, weights, out, rows, columns)
    launch("unopened_lessons", f"convolution_{width}", *args, grid=(3, 2), block=(16, 16))
    windows = np.lib.stride_tricks.sliding_window_view(image.astype(float), (width, width))
    wanted = np.zeros((rows, columns))
    wanted[: windows.shape[0], : windows.shape[1]] = np.einsum("yxab,ab->yx", windows, weights)
    close(out, wanted)


@pytest.mark.parametrize(("entry", "each"), [("embed_each", 1), ("embed_fours", 4)])
def test_embeddings(rng, entry, each):
    batch, time, width, words = 2, 5, 48, 20
    tokens = rng.integers(0, words, (batch, time)).astype(np.int32)
    table, places, out = random(rng, words, width), random(rng, time, width), np.zeros((batch, time, width), np.float32)
    grid = (-(-out.size // (64 * each)),)
    launch("unopened_training", entry, out, tokens, table, places, batch, time, width, grid=grid, block=(64,))
    np.testing.assert_array_equal(out, table[tokens] + places)


def test_a_residual(rng):
    a, b, out = random(rng, 500), random(rng, 500), np.zeros(500, np.float32)
    launch("unopened_training", "residual", out, a, b, 500, grid=(8,), block=(64,))
    np.testing.assert_array_equal(out, a + b)


@pytest.mark.parametrize("threads", [32, 128])
@pytest.mark.parametrize("entry", ["bias_warps", "bias_columns"])
def test_sums_of_columns(rng, entry, threads):
    batch, time, width = 2, 40, 64
    gradients, bias = random(rng, batch * time, width), random(rng, width)
    wanted = bias + gradients.astype(float).sum(0)
    grid, shared = (width * 32 // threads, 0) if entry == "bias_warps" else (width // 32, 4 * threads)
    args = (bias, gradients, batch, time, width)
    launch("unopened_training", entry, *args, grid=(grid,), block=(threads,), smem_bytes=shared)
    close(bias, wanted)


@pytest.mark.parametrize("down", [1, 4])
@pytest.mark.parametrize("entry", ["norm_deviations", "norm_squares"])
def test_layer_norms(rng, entry, down):
    rows, width = 6, 768
    x, weight, bias = random(rng, rows, width), random(rng, width), random(rng, width)
    out, mean, inverse = np.zeros((rows, width), np.float32), np.zeros(rows, np.float32), np.zeros(rows, np.float32)
    args, grid, shared = (out, mean, inverse, x, weight, bias, rows, width), (-(-rows // down),), (2 + down) * width * 4
    launch("unopened_training", entry, *args, grid=grid, block=(32, down), smem_bytes=shared)
    wide = x.astype(float)
    center, scale = wide.mean(1), 1 / np.sqrt(wide.var(1) + 1e-5)
    close(mean, center)
    close(inverse, scale)
    close(out, (wide - center[:, None]) * scale[:, None] * weight + bias, 1e-3)


@pytest.mark.parametrize("threads", [32, 256, 512])
@pytest.mark.parametrize("entry", ["bias_atomics", "bias_shuffles"])
def test_gradients_of_a_bias(rng, entry, threads):
    batch, time, width = 2, 75, 256
    gradients, bias = random(rng, batch * time, width, of=BF16), random(rng, width, of=BF16)
    wanted, buffer = gradients.astype(float).sum(0), np.zeros(width, np.float32)
    atomics, own = entry == "bias_atomics", max(threads, 256) if entry == "bias_atomics" else threads
    block, across = ((32, own // 32), 1) if atomics else ((4, 8, own // 32), width // 64)
    args, shared = (buffer, gradients, batch, time, width, *([own] if atomics else [])), 1024 if atomics else 0
    launch("unopened_bias", entry, *args, grid=(across, 2), block=block, smem_bytes=shared)
    close(buffer, wanted, 1e-3)
    wanted = (bias.astype(np.float32) + buffer).astype(BF16)
    launch("unopened_bias", "bias_from_buffer", bias, buffer, width, grid=(1,), block=(256,))
    np.testing.assert_array_equal(bias, wanted)


def test_a_sparse_matrix_times_a_vector(rng):
    side, factor = 20, 0.5
    i, j = np.divmod(np.arange(side**2), side)
    near = [(-1, 0), (0, -1), (0, 0), (0, 1), (1, 0)]
    there = np.stack([(0 <= i + di) & (i + di < side) & (0 <= j + dj) & (j + dj < side) for di, dj in near], 1)
    columns = (np.arange(side**2)[:, None] + [di * side + dj for di, dj in near])[there].astype(np.int32)
    starts = np.concatenate([[0], there.sum(1).cumsum()]).astype(np.int32)
    entries, x, y = rng.standard_normal(len(columns)), rng.standard_normal(side**2), np.zeros(side**2)
    args = (starts, columns, entries, x, y, side**2, side, factor)
    launch("unopened_matrix", "stencil_rows", *args, grid=(2,), block=(256,))
    close(y, factor * np.add.reduceat(entries * x[columns], starts[:-1]), 1e-12)


@pytest.mark.parametrize("depth", [16, 32, 48, 64])
@pytest.mark.parametrize("columns", [16, 32, 48, 64, 80, 96])
def test_products_by_tiles(rng, columns, depth):
    m, n, k = 100, columns + 20, 80
    a, b, c = random(rng, m, k, of=BF16), random(rng, k, n, of=BF16), np.zeros((m, n), np.float32)
    args, grid, shared = (a, b, c, m, n, k), (-(-n // columns), 2), 2 * depth * (96 + columns)
    launch("unopened_tiles", f"tile_{columns}_{depth}", *args, grid=grid, block=(128,), smem_bytes=shared)
    close(c, a.astype(float) @ b.astype(float))


@pytest.mark.parametrize("name", ["each", "tiles", "arrays"])
def test_steps_of_bodies(rng, name):
    count, step, soft = 300, 0.01, 0.1
    state = random(rng, count, 7)
    place, speed, mass = (state[:, part].astype(float) for part in (slice(3), slice(3, 6), 6))
    apart = place[None] - place[:, None]
    inverse = ((apart**2).sum(2) + soft**2) ** -1.5
    speed = speed + step * np.einsum("ijk,ij,j->ik", apart, inverse, mass)
    grid, block = (2,), (256,)
    if name == "arrays":
        x, y, z, vx, vy, vz, masses = (np.ascontiguousarray(state[:, i]) for i in range(7))
        launch(
            "unopened_bodies", "forces_arrays", x, y, z, masses, vx, vy, vz, count, step, soft, grid=grid, block=block
        )
        launch("unopened_bodies", "move_arrays", x, y, z, vx, vy, vz, count, step, grid=grid, block=block)
        state = np.stack([x, y, z, vx, vy, vz, masses], 1)
    else:
        launch("unopened_bodies", f"forces_{name}", state, count, step, soft, grid=grid, block=block)
        launch("unopened_bodies", "move_bodies", state, count, step, grid=grid, block=block)
    close(state[:, 3:6], speed, 1e-3)
    close(state[:, :3], place + step * speed, 1e-3)


def test_attention_that_keeps_all_scores(rng):
    batch, time, heads, size = 2, 24, 3, 8
    width, rows, block = heads * size, batch * heads * time, (32,)
    x = random(rng, batch, time, 3 * width)
    kept, weights = np.zeros((2, batch, heads, time, time), np.float32)
    out, sizes = np.zeros((batch, time, width), np.float32), (batch, time, width, heads)
    launch("unopened_attention", "scores", kept, x, *sizes, grid=(rows * time // 32,), block=block)
    launch("unopened_attention", "softmax", weights, kept, batch, time, heads, grid=(-(-rows // 32),), block=block)
    launch("unopened_attention", "weighted", out, weights, x, *sizes, grid=(-(-rows // 32),), block=block)
    q, k, v = (x[..., i * width :][..., :width].reshape(batch, time, heads, size).astype(float) for i in range(3))
    scores = np.einsum("bthd,bshd->bhts", q, k) / np.sqrt(size)
    scores = np.where(np.tri(time, dtype=bool), np.exp(scores - scores.max(3, keepdims=True)), 0)
    wanted = np.einsum("bhts,bshd->bthd", scores / scores.sum(3, keepdims=True), v)
    close(out, wanted.reshape(batch, time, width), 1e-3)
