"""The kernels of `norm_ladders.py` compute what their names say: small launches on the simulator beside NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from support.foreign_kernels import close, launch, random

pytestmark = pytest.mark.sampled(8)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def half(number: float) -> bytes:
    """Return an f16 of a kernel's arguments, which CUDA C++ passes as a structure."""
    return np.float16(number).tobytes()


NORMS = {f"norm_{name}": 4 for name in ("warps", "pairs", "fours", "shared", "any", "any_pairs", "kept")}
NORMS |= {"norm_threads": 1, "norm_strides": 2, "norm_any_f16": 4, "norm_any_pairs_f16": 4, "norm_kept_f16": 4}


@pytest.mark.parametrize("entry", NORMS)
def test_norms_plus_a_residual(rng, entry):
    rows, width, of = 30, 768, np.float16 if entry.endswith("f16") else np.float32
    x, other, w = random(rng, rows, width, of=of), random(rng, rows, width, of=of), random(rng, width, of=of)
    (y, z), mean = np.zeros((2, rows, width), of), np.zeros(rows, np.float32)
    sizes = (rows,) if "kept" in entry else (rows, width)
    shared = 4 * width if entry in ("norm_shared", "norm_strides") else 0
    args = (y, z, mean, x, other, w, *sizes)
    launch("sealed_residual", entry, *args, grid=(NORMS[entry],), block=(256,), smem_bytes=shared)
    both = (x + other).astype(float)
    np.testing.assert_array_equal(z.astype(float), both)
    squares = (both**2).mean(1)
    close(mean, squares)
    close(y, both * w.astype(float) / np.sqrt(squares + 1e-5)[:, None], 1e-4 if of is np.float32 else 4e-3)


GRADIENTS = {"gradient_threads": 1, "gradient_warps": 4, "gradient_shared": 4, "gradient_any": 4, "gradient_any_f16": 4}
GRADIENTS |= dict.fromkeys(("gradient_strides", "gradient_pairs", "gradient_any_pairs", "gradient_any_pairs_f16"), 2)
GRADIENTS |= {"gradient_kept": 2, "gradient_kept_f16": 2}


@pytest.mark.parametrize("entry", GRADIENTS)
def test_gradients_of_norms(rng, entry):
    rows, width, of = 30, 768, np.float16 if entry.endswith("f16") else np.float32
    dy, x, w = random(rng, rows, width, of=of), random(rng, rows, width, of=of), random(rng, width, of=of)
    dx, dw = np.zeros((rows, width), of), np.zeros(width, np.float32)
    wide = [a.astype(float) for a in (dy, x, w)]
    mean = (wide[1] ** 2).mean(1)
    inverse = 1 / np.sqrt(mean + 1e-5)[:, None]
    part = (wide[0] * wide[1] * wide[2]).mean(1, keepdims=True) * inverse**2
    shared = 0 if entry in ("gradient_threads", "gradient_warps") else 4 * width * (8 if "kept" in entry else 1)
    sizes = (rows,) if "kept" in entry else (rows, width)
    args = (dx, dw, dy, x, w, mean.astype(np.float32), *sizes)
    launch("sealed_residual", entry, *args, grid=(GRADIENTS[entry],), block=(256,), smem_bytes=shared)
    close(dx, (wide[0] * wide[2] - wide[1] * part) * inverse, 1e-4 if of is np.float32 else 4e-3)
    close(dw, (wide[0] * wide[1] * inverse).sum(0), 1e-3)


VECTORS = {"vector_threads": (1, 256), "vector_warps": (3, 256), "vector_fours": (3, 256)}
VECTORS |= {"vector_ctas": (20, 256), "vector_unrolled": (2, 128)}


@pytest.mark.parametrize("entry", VECTORS)
def test_products_with_a_vector(rng, entry):
    m, k, (grid, threads) = 20, 1056, VECTORS[entry]
    a, x, y = random(rng, m, k), random(rng, k), np.zeros(m, np.float32)
    launch("sealed_rows", entry, a, x, y, m, k, grid=(grid,), block=(threads,))
    close(y, a.astype(float) @ x.astype(float), 1e-3)


@pytest.mark.parametrize("entry", ["softmax_threads", "softmax_warps", "softmax_ctas", "softmax_running"])
def test_softmax(rng, entry):
    m, n = 10, 1200
    rows, out = 4 * random(rng, m, n), np.zeros((m, n), np.float32)
    grid = {"softmax_threads": 1, "softmax_warps": 2}.get(entry, m)
    launch("sealed_rows", entry, rows, out, m, n, grid=(grid,), block=(256,))
    wanted = np.exp(rows - rows.max(1, keepdims=True))
    close(out, wanted / wanted.sum(1, keepdims=True))


def normed(x, w, tiny=1e-5):
    wide = x.astype(float)
    return wide * w.astype(float) / np.sqrt((wide**2).mean(1, keepdims=True) + tiny)


@pytest.mark.parametrize("entry", ["norm_threads", "norm_ctas", "norm_fours"])
def test_norms_by_steps(rng, entry):
    m, n = 5, 1200
    x, w, y = random(rng, m, n), random(rng, n), np.zeros((m, n), np.float32)
    grid = 1 if entry == "norm_threads" else m
    launch("sealed_rows", entry, x, w, y, m, n, 1e-5, grid=(grid,), block=(256,))
    close(y, normed(x, w))


@pytest.mark.parametrize("entry", ["silu_each", "silu_strides", "silu_fours"])
def test_silu(rng, entry):
    x, y = 5 * random(rng, 2050), np.zeros(2050, np.float32)
    launch("sealed_rows", entry, x, y, 2050, grid=(9 if entry == "silu_each" else 2,), block=(256,))
    close(y, x / (1 + np.exp(-x.astype(float))))


@pytest.mark.parametrize("entry", ["all_scores", "tiles", "parts"])
def test_attention_of_one_query(rng, entry):
    heads, length, width, parts = 2, 300, 128, 4
    q, keys, values = random(rng, heads, width), random(rng, heads, length, width), random(rng, heads, length, width)
    out, scale, block = np.zeros((heads, width), np.float32), width**-0.5, (128,)
    if entry == "parts":
        mosts, sums = np.zeros((2, heads, parts), np.float32)
        results, given = np.zeros((heads, parts, width), np.float32), (q, keys, values)
        args = (*given, mosts, sums, results, heads, length, width, scale, parts)
        launch("sealed_decode", "tiles_in_parts", *args, grid=(heads, parts), block=block, smem_bytes=1664)
        args = (mosts, sums, results, out, heads, width, parts)
        launch("sealed_decode", "merge_parts", *args, grid=(heads,), block=block)
    else:
        shared = 1664 if entry == "tiles" else 4 * (length + width + 32)
        args = (q, keys, values, out, heads, length, width, scale)
        launch("sealed_decode", entry, *args, grid=(heads,), block=block, smem_bytes=shared)
    scores = np.einsum("hd,hld->hl", q, keys).astype(float) * scale
    weights = np.exp(scores - scores.max(1, keepdims=True))
    close(out, np.einsum("hl,hld->hd", weights / weights.sum(1, keepdims=True), values))


@pytest.mark.parametrize("block", [(32, 32), (256, 4), (512, 2)])
@pytest.mark.parametrize("name", ["f16", "8_bits", "4_bits"])
def test_products_of_small_integers_with_a_vector(rng, name, block):
    n = 16 * block[0]
    vector, out, each = random(rng, n, of=np.float16), np.zeros(n, np.float16), n // block[0]
    rows = 4 * block[1]
    if name == "f16":
        matrix = random(rng, n, n, of=np.float16)
        wide, sizes = matrix.astype(float), (n, each)
    elif name == "8_bits":
        matrix = rng.integers(-128, 128, (n, n)).astype(np.int8)
        wide, sizes = 0.01 * (matrix.astype(float) - 3), (n, half(0.01), half(3), each)
    else:
        matrix = rng.integers(0, 256, (n, n // 2)).astype(np.uint8)
        halves = np.stack([matrix & 15, matrix >> 4], -1).reshape(n, n)
        wide, sizes = 0.1 * (halves.astype(float) - 7), (n, half(0.1), half(7), each)
    launch("sealed_vectors", f"of_{name}", matrix, vector, out, *sizes, grid=(1, 4), block=block)
    np.testing.assert_allclose(out[:rows].astype(float), (wide @ vector.astype(float))[:rows], rtol=5e-3, atol=0.2)


@pytest.mark.parametrize(("name", "of"), [("f32", np.float32), ("f16", np.float16)])
def test_norms_by_quarters(rng, name, of):
    rows, columns = 3, 2080
    x, w, y = random(rng, rows, columns, of=of), random(rng, columns, of=of), np.zeros((rows, columns), of)
    launch("sealed_norms", f"quarters_{name}", x, w, y, columns, 1e-5, grid=(rows,), block=(256,))
    close(y, normed(x, w), 1e-4 if of is np.float32 else 4e-3)


@pytest.mark.parametrize("threads", [64, 128, 1024])
@pytest.mark.parametrize("entry", ["two", "in_one", "in_one_fours", "in_one_f16"])
def test_norms_by_one_kernel_or_two(rng, entry, threads):
    rows, columns, of = 3, 2056, np.float16 if entry.endswith("f16") else np.float32
    x, w, y = random(rng, rows, columns, of=of), random(rng, columns, of=of), np.zeros((rows, columns), of)
    if entry == "two":
        scales, every = np.zeros(rows, np.float32), -(-x.size // threads)
        launch("sealed_norms", "row_scales", x, scales, columns, 1e-5, grid=(rows,), block=(threads,))
        launch("sealed_norms", "scaled", x, w, scales, y, x.size, columns, grid=(every,), block=(threads,))
    else:
        sizes = {"in_one": (columns,), "in_one_fours": (columns // 4, columns), "in_one_f16": (columns // 2, columns)}
        launch("sealed_norms", entry, x, w, y, *sizes[entry], 1e-5, grid=(rows,), block=(threads,))
    close(y, normed(x, w), 1e-4 if of is np.float32 else 4e-3)
