"""The kernels of the ladders compute what their names say: small launches on the simulator beside NumPy."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from support.foreign_kernels import FOREIGN, launch

BF16 = np.dtype(pytest.importorskip("ml_dtypes").bfloat16)

pytestmark = pytest.mark.sampled(8)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("kernel", ["copy", "scale", "add", "triad", "dot"])
def test_streams(rng, kernel):
    a, b, c = (rng.standard_normal(4096) for _ in range(3))
    count, grid, sums = 4096, (4,), np.zeros(2)
    args, target, wanted = {
        "copy": ((a, c), c, a),
        "scale": ((b, c), b, 0.4 * c),
        "add": ((a, b, c), c, a + b),
        "triad": ((a, b, c), a, b + 0.4 * c),
        "dot": ((a, b, sums, count), sums, [a @ b]),
    }[kernel]
    launch("five_streams", f"five_{kernel}", *args, grid=(2,) if kernel == "dot" else grid, block=(1024,))
    np.testing.assert_allclose(sums.sum() if kernel == "dot" else target, wanted[0] if kernel == "dot" else wanted)


SUMS = ["pass_tree", "pass_warp", "atomic_one", "atomic_words", "atomic_vectors", "shuffled_words", "reduced_words"]


@pytest.mark.parametrize("entry", [*SUMS, "shuffled_vectors", "reduced_vectors"])
def test_sums(rng, entry):
    numbers = rng.integers(0, 100, 20_000, np.int32)
    each = 512 * (12 if entry.endswith(("words", "vectors")) else 1)
    grid = -(-numbers.size // each)
    sums = np.zeros(grid if entry.startswith("pass") else 1, np.int32)
    launch("batch_sums", entry, numbers, sums, numbers.size, grid=(grid,), block=(512,))
    assert sums.sum() == numbers.sum()


def silu(x):
    return x / (1 + np.exp(-x))


@pytest.mark.parametrize("entry", ["gate", "gate_vectors", "gate_back", "gate_back_vectors"])
def test_gates(rng, entry):
    count, per = 2048, 8 if "vectors" in entry else 1
    x, gate, above = (rng.standard_normal(count).astype(BF16) for _ in range(3))
    out, other = np.zeros(count, BF16), np.zeros(count, BF16)
    args = (out, other, above, x, gate, count) if "back" in entry else (out, x, gate, count)
    launch("gated_rows", entry, *args, grid=(count // (64 * per),), block=(64,))
    x, gate, above = (one.astype(float) for one in (x, gate, above))
    slope = 1 / (1 + np.exp(-x))
    slope += silu(x) * (1 - slope)
    wanted = above * slope * gate if "back" in entry else silu(x) * gate
    np.testing.assert_allclose(out.astype(float), wanted, rtol=1e-2, atol=1e-2)
    if "back" in entry:
        np.testing.assert_allclose(other.astype(float), above * silu(x), rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("entry", ["norm_thread", "norm_warp"])
def test_norms(rng, entry):
    x = rng.standard_normal((64, 96)).astype(np.float32)
    weight, bias = rng.standard_normal((2, 96)).astype(np.float32)
    out = np.zeros_like(x)
    grid = (1,) if entry == "norm_thread" else (32,)
    launch("gated_rows", entry, out, x, weight, bias, *x.shape, grid=grid, block=(64,))
    wanted = x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-5) * weight + bias
    np.testing.assert_allclose(out, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("entry", ["repeat_tokens", "repeat_heads", "add_tokens", "add_heads"])
def test_heads(rng, entry):
    tokens, heads, times, width = (2, 4), 2, 4, 48
    few, many = (*tokens, heads, width), (*tokens, heads, times, width)
    repeats = entry.startswith("repeat")
    k, v = rng.standard_normal((2, *(few if repeats else many))).astype(np.float32)
    k_out, v_out = np.zeros((2, *(many if repeats else few)), np.float32)
    deep = heads if entry.endswith("heads") else 2
    block = (width if entry.endswith("heads") else 32,)
    launch("gated_rows", entry, k_out, v_out, k, v, tokens[1], heads, times, width, grid=(*tokens, deep), block=block)
    for out, one in ((k_out, k), (v_out, v)):
        wanted = np.broadcast_to(one[:, :, :, None], many) if repeats else one.sum(3)
        np.testing.assert_allclose(out, wanted, rtol=1e-5, atol=1e-5)


TILES = {"tile_naive": (16, 16), "tile_shared": (16, 16), "tile_flat": (64, 128)}
TILES |= dict.fromkeys(["tile_words", "tile_padded", "tile_registers", "tile_vectors", "tile_ahead"], (128, 128))


@pytest.mark.parametrize("entry", TILES)
def test_products_in_f32(rng, entry):
    m, n, k = 128, 256, 32
    a, b, c = (rng.standard_normal(shape).astype(np.float32) for shape in ((m, k), (k, n), (m, n)))
    wanted, (high, wide) = 0.5 * (a @ b) + 2 * c, TILES[entry]
    block = (16, 8) if entry == "tile_flat" else (16, 16)
    launch("register_tiles", entry, a, b, c, m, n, k, 0.5, 2.0, grid=(n // wide, m // high), block=block)
    np.testing.assert_allclose(c, wanted, rtol=1e-4, atol=1e-4)


HALVES = {"half_values": 32, "half_values_tiled": 64, "half_permuted": 64, "half_permuted_once": 64}


@pytest.mark.parametrize("entry", [*HALVES, "half_stages", "half_stages_tiled"])
def test_products_in_f16(rng, entry):
    m, n, k, edge = 128, 256, 128, {**HALVES, "half_stages": 64}.get(entry, 128)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((m, k), (k, n)))
    c = np.zeros((m, n), np.float32)
    given = b if "values" in entry else np.ascontiguousarray(b.T)
    launch("half_products", entry, a, given, c, m, n, k, grid=(n // edge, m // edge), block=(16, 16))
    np.testing.assert_allclose(c, a.astype(np.float32) @ b.astype(np.float32), rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize("entry", ["residual_norm", "residual_norm_wide"])
def test_norms_with_a_residual(rng, entry):
    rows, columns = 6, 1024
    x, residual = (rng.standard_normal((rows, columns)).astype(BF16) for _ in range(2))
    weight, out = rng.standard_normal(columns).astype(BF16), np.zeros((rows, columns), BF16)
    vectors = columns // (16 if entry.endswith("wide") else 8)
    args = (x, weight, residual, out, rows, vectors, 1e-5)
    launch("residual_norm" + entry[13:], entry, *args, grid=(4,), block=(vectors,), smem_bytes=columns * 2)
    x, residual, weight = (one.astype(float) for one in (x, residual, weight))
    wanted = x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-5) * weight + residual
    np.testing.assert_allclose(out.astype(float), wanted, rtol=2e-2, atol=2e-2)


def test_every_time_states_its_source():
    sys.path.insert(0, str(FOREIGN.parent))
    try:
        import rungs
    finally:
        del sys.path[0]
    for path in rungs.DATA.glob("*.json"):
        data = rungs.data_of(path.stem)
        assert {"source", "url", "author", "date", "method", "unit", "values"} <= data.keys(), path.name
