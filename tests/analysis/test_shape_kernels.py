"""The kernels of `shape_ladders.py` compute what their names say: small launches on the simulator beside NumPy."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from support.foreign_kernels import FOREIGN, launch, random

BF16 = np.dtype(pytest.importorskip("ml_dtypes").bfloat16)

pytestmark = pytest.mark.sampled(8)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="module")
def shape_ladders():
    sys.path.insert(0, str(FOREIGN.parent))
    try:
        import shape_ladders
    finally:
        del sys.path[0]
    return shape_ladders


SQUARES = ["square_plain", "square_padded", "square_xor"]
SEVERAL = [f"{kind}_{name}" for kind in ("looped", "unrolled") for name in ("plain", "padded", "xor")]


@pytest.mark.parametrize(
    "entry", ["gather", "gather_cached", "scatter", *SQUARES, *SEVERAL, "gather_16_64", "gather_32_32"]
)
def test_transposes(rng, entry):
    rows, columns = 64, 128
    matrix, out = random(rng, rows, columns), np.zeros((columns, rows), np.float32)
    down, across = (16, 64) if entry == "gather_16_64" else (32, 32)
    block = (
        (32, 32)
        if entry in SQUARES
        else (4, 64)
        if entry == "gather_16_64"
        else (32, 8)
        if entry in SEVERAL
        else (8, 32)
    )
    if entry in ("gather", "gather_cached", "scatter"):
        down, across = (8, 32) if entry.startswith("gather") else (32, 8)
    grid = (rows // down, columns // across) if entry.startswith("gather") else (columns // across, rows // down)
    launch("blind_moves", entry, matrix, out, rows, columns, grid=grid, block=block)
    np.testing.assert_array_equal(out, matrix.T)


@pytest.mark.parametrize("entry", ["add_each", "add_strided", "add_vectors"])
def test_sums_of_vectors(rng, entry):
    a, b, c = random(rng, 3, 1024)
    launch("blind_moves", entry, a, b, c, 1024, grid=(2 if entry != "add_each" else 8,), block=(128,))
    np.testing.assert_array_equal(c, a + b)


def test_a_scaled_sum_of_vectors(rng):
    x, y, z = random(rng, 3, 1000)
    launch("blind_moves", "saxpy", 2.0, x, y, z, 1000, grid=(8,), block=(128,))
    np.testing.assert_allclose(z, 2 * x + y, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("block", [(32, 4, 2), (4, 8, 1)])
def test_a_tensor_is_doubled(rng, block):
    tensor = random(rng, 4, 20, 50)
    wanted, sides = 2 * tensor, (50, 20, 4)
    grid = tuple(-(-side // of) for side, of in zip(sides, block, strict=True))
    launch("blind_moves", "doubled", tensor, *sides, grid=grid, block=block)
    np.testing.assert_array_equal(tensor, wanted)


PRODUCTS = {
    "down_rows": (32, (32, 32)),
    "along_rows": (32, (32, 32)),
    "shared_tiles": (32, (1024,)),
    "square_tiles": (64, (64,)),
    "column_tiles": (64, (512,)),
    "vector_tiles": (128, (256,)),
    "buffered_tiles": (128, (256,)),
}


@pytest.mark.parametrize("entry", PRODUCTS)
def test_products(rng, entry):
    m, n, k, (tile, block) = 128, 256, 32, PRODUCTS[entry]
    a, b, c = random(rng, m, k), random(rng, k, n), random(rng, m, n)
    wanted, grid = 2 * (a @ b) + 0.5 * c, (m // tile, n // tile)
    if entry in ("column_tiles", "vector_tiles", "buffered_tiles"):
        grid = grid[::-1]
    launch("blind_products", entry, m, n, k, 2.0, a, b, 0.5, c, grid=grid, block=block)
    np.testing.assert_allclose(c, wanted, rtol=1e-4, atol=1e-4)


def test_products_by_elements(rng):
    m, n, k = 20, 50, 30
    a, b, c = random(rng, m, k), random(rng, k, n), np.zeros((m, n), np.float32)
    launch("blind_products", "elements", a, b, c, m, n, k, grid=(7, 3), block=(8, 8))
    np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-4)


def softmax(rows: np.ndarray) -> np.ndarray:
    wanted = np.exp(rows - rows.max(1, keepdims=True))
    return wanted / wanted.sum(1, keepdims=True)


@pytest.mark.parametrize("entry", ["row_threads", "row_trees", "row_shuffles"])
def test_softmax(rng, entry):
    rows = random(rng, 4, 600)
    out, grid = np.zeros_like(rows), (1 if entry == "row_threads" else 4,)
    launch("blind_softmax", entry, rows, out, 600, rows.size, grid=grid, block=(256,), smem_bytes=2048)
    np.testing.assert_allclose(out, softmax(rows), rtol=1e-4)


@pytest.mark.parametrize(("name", "of"), [("f32", np.float32), ("f16", np.float16), ("bf16", BF16)])
def test_softmax_of_a_batch(rng, name, of):
    rows, gradients = (random(rng, 4, 600).astype(of) for _ in range(2))
    out, result, threads = np.zeros((4, 600), of), np.zeros((4, 600), of), 256
    launch("blind_softmax", f"forward_{name}", rows, out, 4, 600, grid=(4,), block=(threads,), smem_bytes=threads // 4)
    tolerance = {"f32": 1e-4, "f16": 2e-3, "bf16": 1e-2}[name]
    np.testing.assert_allclose(out.astype(float), softmax(rows.astype(float)), rtol=tolerance, atol=1e-6)
    args = (gradients, out, result, 4, 600)
    launch("blind_softmax", f"backward_{name}", *args, grid=(4,), block=(threads,), smem_bytes=threads // 8)
    y, dy = out.astype(float), gradients.astype(float)
    wanted = y * (dy - (y * dy).sum(1, keepdims=True))
    np.testing.assert_allclose(result.astype(float), wanted, rtol=tolerance, atol=tolerance * 1e-2)


def test_forces_between_bodies(rng):
    count = 256
    place, speed, charge = random(rng, 3, count), 1e3 * random(rng, 3, count), 1e-3 * random(rng, count)
    between = place[:, :, None] - place[:, None, :]
    cube = (between.astype(float) ** 2).sum(0) + 1e-12
    np.fill_diagonal(cube, 1)
    both = charge[:, None].astype(float) * charge[None, :] / cube**1.5
    along, dot = np.einsum("ci,cij->ij", speed, between), speed.T @ speed
    wanted = both * (8.98755179e9 * between + 1e-7 * (along * speed[:, None, :] - dot * between))
    each, sums, tiled = np.zeros((count, count, 4), np.float32), *np.zeros((2, count, 4), np.float32)
    bodies = (*place, *speed, charge)
    launch("blind_bodies", "force_matrix", *bodies, each, count, grid=(16, 16), block=(16, 16))
    scale = np.abs(wanted).max()
    np.testing.assert_allclose(each[..., :3], np.moveaxis(wanted, 0, -1), rtol=1e-3, atol=1e-5 * scale)
    launch("blind_bodies", "row_sums", each, sums, count, grid=(count,), block=(256,), smem_bytes=4096)
    launch("blind_bodies", "tiles", *bodies, tiled, count, grid=(1,), block=(256,))
    for one in (sums, tiled):
        np.testing.assert_allclose(one[:, :3], wanted.sum(2).T, rtol=1e-3, atol=1e-5 * scale)


STEPS = ["wmma_elements", "wmma_vectors", "wmma_stages", "wmma_two_sets", "mma_padded", "mma_xor", "mma_stages"]
STEPS += ["mma_two_sets_3", "mma_two_sets_4", "mma_two_sets_5", "mma_ordered_32", "mma_ordered_64"]


@pytest.mark.parametrize("entry", STEPS)
def test_f16_products_in_steps(rng, shape_ladders, entry):
    m, n, k = 256, 256, 320
    a, b = random(rng, m, k).astype(np.float16), random(rng, n, k).astype(np.float16)
    c, (grid, block, smem) = np.zeros((m, n), np.float16), shape_ladders.f16_launch(entry, m, n)
    launch("blind_mma", entry, m, n, k, a, b, c, grid=grid, block=block, smem_bytes=smem)
    wanted = a.astype(float) @ b.astype(float).T
    np.testing.assert_allclose(c.astype(float), wanted, rtol=3e-2, atol=0.3)


def test_f16_products_by_stages(rng):
    m, n, k = 128, 256, 80
    a, b = random(rng, m, k).astype(np.float16), random(rng, k, n).astype(np.float16)
    c = np.zeros((m, n), np.float16)
    launch("blind_wmma", "stages_of_16", a, b, c, m, n, k, grid=(2, 1), block=(512,), smem_bytes=24576)
    np.testing.assert_allclose(c.astype(float), a.astype(float) @ b.astype(float), rtol=3e-2, atol=0.1)
