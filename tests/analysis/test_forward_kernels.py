"""The kernels of `forward_ladders.py`, `query_ladders.py` and `move_ladders.py` compute what their names say: small launches on the simulator beside NumPy."""

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


def attended(q, k, v, scale, causal):
    """Return attention of arrays [..., tokens, numbers] and the logarithms of the sums of its weights."""
    q, k, v = (one.astype(float) for one in (q, k, v))
    scores = np.einsum("...td,...sd->...ts", q, k) * scale
    if causal:
        scores = np.where(np.tri(q.shape[-2], k.shape[-2], dtype=bool), scores, -np.inf)
    largest = scores.max(-1, keepdims=True)
    weights = np.exp(scores - largest)
    total = weights.sum(-1, keepdims=True)
    return weights / total @ v, (largest + np.log(total))[..., 0]


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


@pytest.mark.parametrize(("entry", "each"), [("silu_each", 1), ("silu_fours", 4)])
def test_activations(rng, entry, each):
    count = 600
    x, out = random(rng, count), np.zeros(count, np.float32)
    launch("hidden_forward", entry, x, out, count // each, grid=(3,), block=(256,))
    wide = x.astype(float)
    close(out, wide / (1 + np.exp(-wide)))


@pytest.mark.parametrize("entry", ["rms_tree", "rms_shuffles", "layer_tree"])
def test_norms(rng, entry):
    rows, width, eps = 3, 600, 1e-5
    x, weights, biases, out = (
        random(rng, rows, width),
        random(rng, width),
        random(rng, width),
        np.zeros((rows, width), np.float32),
    )
    inputs = (x, weights, biases) if entry == "layer_tree" else (x, weights)
    each = 4 if entry == "rms_shuffles" else 1
    launch("hidden_forward", entry, *inputs, out, width // each, eps, grid=(rows,), block=(256,))
    wide, center, added = x.astype(float), 0, 0
    if entry == "layer_tree":
        center, added = wide.mean(1, keepdims=True), biases
    scale = 1 / np.sqrt(((wide - center) ** 2).mean(1, keepdims=True) + eps)
    close(out, (wide - center) * scale * weights + added, 1e-3)


@pytest.mark.parametrize(("entry", "threads"), [("attend_each", 128), ("attend_tiles", 64)])
def test_attention_by_a_query_of_a_thread(rng, entry, threads):
    heads, length, width, scale = 2, 100, 64, 0.125
    q, k, v = (random(rng, heads, length, width) for _ in range(3))
    out, grid = np.zeros((heads, length, width), np.float32), (-(-length // threads), heads)
    launch("hidden_forward", entry, q, k, v, out, length, scale, grid=grid, block=(threads,))
    close(out, attended(q, k, v, scale, True)[0], 1e-3)


@pytest.mark.parametrize("causal", [0, 1])
def test_unfused_attention(rng, causal):
    batch, heads, length, width, scale = 1, 2, 40, 128, 0.1
    q, k, v = (random(rng, batch, length, heads, width) for _ in range(3))
    scores, logs = np.zeros((batch * heads, length, length), np.float32), np.zeros((batch * heads, length), np.float32)
    out, count, grid, block = np.zeros_like(q), batch * heads * length**2, (3, 3, batch * heads), (16, 16)
    launch("hidden_prefill", "plain_scores", q, k, scores, heads, length, grid=grid, block=block)
    args = (scores, count, length, scale, causal)
    launch("hidden_prefill", "plain_mask", *args, grid=(-(-count // 256),), block=(256,))
    launch("hidden_prefill", "plain_softmax", scores, logs, length, grid=(batch * heads * length,), block=(256,))
    launch("hidden_prefill", "plain_values", scores, v, out, heads, length, grid=(8, 3, batch * heads), block=block)
    wanted, wanted_logs = attended(*(one.transpose(0, 2, 1, 3) for one in (q, k, v)), scale=scale, causal=bool(causal))
    close(out, wanted.transpose(0, 2, 1, 3), 1e-3)
    close(logs, wanted_logs.reshape(logs.shape), 1e-3)


@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize("entry", ["fused_scores", "fused_patches", "mma_tiles", "mma_stages"])
def test_fused_attention(rng, entry, causal):
    heads, length, width, scale = 2, 90, 128, 0.1
    of, scales = BF16 if entry.startswith("mma") else np.float32, (scale, scale * LOG2E)
    q, k, v = (random(rng, 1, length, heads, width, of=of) for _ in range(3))
    out, logs = np.zeros_like(q), np.zeros((heads, length), np.float32)
    shared = {"fused_patches": (3 * 64 * 132 + 4 * 16 * 72) * 4, "mma_stages": 4 * 64 * 136 * 2}.get(entry, 0)
    tile, threads = (32, 256) if entry == "fused_scores" else (64, 128)
    args = (q, k, v, out, logs, heads, length, *(scales[:1] if entry == "fused_scores" else scales), causal)
    grid = (-(-length // tile), heads)
    launch("hidden_prefill", entry, *args, grid=grid, block=(threads,), smem_bytes=shared)
    wanted, wanted_logs = attended(*(one.transpose(0, 2, 1, 3) for one in (q, k, v)), scale=scale, causal=bool(causal))
    close(out, wanted.transpose(0, 2, 1, 3), 2e-2 if of == BF16 else 1e-3)
    close(logs, wanted_logs[0], 1e-3)


@pytest.mark.parametrize("parts", [1, 3])
def test_attention_of_a_query_by_parts(rng, parts):
    heads, capacity, width, scale = 2, 150, 128, 0.1
    lengths = np.array([150, 70], np.int32)
    q = random(rng, 2, heads, width, of=BF16)
    k, v = (random(rng, 2, capacity, heads, width, of=BF16) for _ in range(2))
    out, logs = np.zeros_like(q), np.zeros((2, heads), np.float32)
    partial, largest = np.zeros((2, heads, parts, width), np.float32), np.zeros((2, heads, parts, 2), np.float32)
    args = (q, k, v, lengths, out, logs, partial, largest, heads, capacity, parts, scale * LOG2E)
    launch("hidden_decode", "decode_part", *args, grid=(2 * heads, parts), block=(128,))
    if parts > 1:
        args = (partial, largest, out, logs, heads, parts)
        launch("hidden_decode", "decode_merge", *args, grid=(2 * heads,), block=(128,))
    for i, length in enumerate(lengths):
        keys, values = (one[i, :length].transpose(1, 0, 2) for one in (k, v))
        wanted, wanted_logs = attended(q[i][:, None], keys, values, scale, False)
        close(out[i], wanted[:, 0], 1e-2)
        close(logs[i], wanted_logs[:, 0], 1e-3)


@pytest.mark.parametrize("name", ["tiles", "patches", "stages"])
def test_products_in_steps(rng, name):
    m, n, k = 140, 36, 20
    a, b, c = random(rng, m, k), random(rng, k, n), np.zeros((m, n), np.float32)
    side, block = (32, (32, 32)) if name == "tiles" else (128, (256,))
    grid = (-(-n // side), -(-m // side))
    launch("hidden_ladder", f"ladder_{name}", a, b, c, m, n, k, grid=grid, block=block)
    close(c, a.astype(float) @ b)


@pytest.mark.parametrize(("name", "rows"), [("prefetch", 128), ("tall", 256)])
def test_products_whose_last_tiles_are_divided(rng, name, rows):
    m, n, k, whole, parts = rows + 20, 132, 52, 3, 2
    a, b, c = random(rng, m, k), random(rng, k, n), np.zeros((m, n), np.float32)
    args = (a, b, c, m, n, k, 2, whole, parts)
    launch("hidden_ladder", f"ladder_{name}", *args, grid=(whole + parts,), block=(256,))
    close(c, a.astype(float) @ b)


@pytest.mark.parametrize("of", [np.float32, BF16])
@pytest.mark.parametrize("name", ["each", "vectors"])
def test_a_gated_activation(rng, name, of):
    count = 1500
    gate, up, out = random(rng, count, of=of), random(rng, count, of=of), np.zeros(count, of)
    entry, grid = f"gate_{name}{'_bf16' if of == BF16 else ''}", (6,) if name == "each" else (1,)
    launch("hidden_ladder", entry, gate, up, out, count, grid=grid, block=(256,))
    wide = gate.astype(float)
    close(out, wide / (1 + np.exp(-wide)) * up.astype(float), 1e-2 if of == BF16 else 1e-4)


def test_attention_by_rows(rng):
    heads, length, width, scale = 2, 40, 64, 1 / 64
    q, k, v = (random(rng, heads, length, width) for _ in range(3))
    scores, out, grid, block = np.zeros((heads, length, length), np.float32), np.zeros_like(q), (heads,), (64,)
    launch("hidden_flash", "row_scores", q, k, scores, length, width, scale, grid=grid, block=block)
    launch("hidden_flash", "row_softmax", scores, length, grid=grid, block=block)
    launch("hidden_flash", "row_values", scores, v, out, length, width, grid=grid, block=block)
    close(out, attended(q, k, v, scale, True)[0], 1e-3)


@pytest.mark.parametrize(
    ("name", "threads", "shared"), [("threads", 32, 28672), ("teams", 256, 20480), ("wmma", 128, 27008)]
)
def test_attention_by_tiles(rng, name, threads, shared):
    length, width, scale = 96, 64, 0.125
    of = np.float16 if name == "wmma" else np.float32
    q, k, v = (random(rng, 1, 2, length, width, of=of) for _ in range(3))
    out, logs = np.zeros_like(q), np.zeros((1, 2, length), np.float32)
    last = (length, width, scale) if name == "threads" else (length, scale)
    args, grid = (q, k, v, out, logs, *last), (1, 2, length // 32)
    launch("hidden_flash", f"tile_{name}", *args, grid=grid, block=(threads,), smem_bytes=shared)
    wanted, wanted_logs = attended(q, k, v, scale, True)
    close(out, wanted, 5e-3 if of == np.float16 else 1e-3)
    close(logs, wanted_logs, 1e-3)


@pytest.mark.parametrize(("name", "count", "each"), [("each", 1500, 1), ("pairs", 1025, 2), ("apart", 1024, 2)])
def test_sums_of_vectors(rng, name, count, each):
    a, b, out = random(rng, count, of=np.float16), random(rng, count, of=np.float16), np.zeros(count, np.float16)
    grid = (max(1, count // each // 256) if each > 1 else -(-count // 256),)
    launch("hidden_vectors", f"add_{name}", a, b, out, count, grid=grid, block=(256,))
    np.testing.assert_array_equal(out, a + b)


@pytest.mark.parametrize(("name", "count", "grid"), [("each", 1500, 6), ("eights", 2048, 1)])
def test_copies_of_vectors(rng, name, count, grid):
    a, out = random(rng, count, of=np.float16), np.zeros(count, np.float16)
    launch("hidden_vectors", f"copy_{name}", a, out, count, grid=(grid,), block=(256,))
    np.testing.assert_array_equal(out, a)


@pytest.mark.parametrize(
    "name", ["copy", "rows", "columns", "fours", "eights", "tiles", "turned", "tall", "padded", "twice"]
)
def test_transposes_of_a_matrix(rng, name):
    rows, columns = 64, 96
    a = random(rng, rows, columns, of=np.float16)
    out = np.zeros((rows, columns) if name == "copy" else (columns, rows), np.float16)
    across, down = {"tiles": (16, 16), "turned": (16, 16), "twice": (32, 32)}.get(name, (16, 32))
    grid, block = (columns // across, rows // down), (16, down)
    if name in ("copy", "rows", "columns", "fours", "eights"):
        grid, block = (rows * columns // 256 // {"fours": 4, "eights": 8}.get(name, 1),), (256,)
    launch("hidden_transposes", f"move_{name}", out, a, rows, columns, grid=grid, block=block)
    np.testing.assert_array_equal(out, a if name == "copy" else a.T)


@pytest.mark.parametrize("of", [np.float32, np.int32])
@pytest.mark.parametrize("name", ["atomics", "shared", "tree", "shuffles"])
def test_sums_by_atomics_and_trees(rng, name, of):
    count, out = 700, np.zeros(1, of)
    a = rng.integers(-100, 100, count).astype(of)
    entry, shared = f"sum_{name}_{'f32' if of == np.float32 else 's32'}", 1024 if name in ("tree", "shuffles") else 0
    launch("hidden_sums", entry, out, a, count, grid=(3,), block=(256,), smem_bytes=shared)
    assert out[0] == a.sum()


@pytest.mark.parametrize("side", [3, 5])
def test_a_convolution(rng, side):
    height, width, reach = 30, 45, side // 2
    image, weights, out = random(rng, height, width), random(rng, side, side), np.zeros((height, width), np.float32)
    launch("hidden_convolution", "convolve", image, out, width, height, weights, side, grid=(3, 2), block=(16, 16))
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(image.astype(float), reach), (side, side))
    close(out, np.einsum("yxab,ab->yx", windows, weights))


def forces(states):
    """Return the electric and magnetic forces between charges, of all pairs: [on, by, 3]."""
    place, speed, charge = (states[part].astype(float) for part in (slice(3), slice(3, 6), 6))
    apart = (place[:, :, None] - place[:, None]).transpose(1, 2, 0)
    cubed = ((apart**2).sum(2) + 1e-12) ** -1.5 * charge * charge[:, None]
    along, both = np.einsum("ki,ijk->ij", speed, apart), speed.T @ speed
    moving = along[..., None] * speed.T - both[..., None] * apart
    found = cubed[..., None] * (apart / (4 * np.pi * 8.8541878e-12) + 1.2566371e-6 / (4 * np.pi) * moving)
    found[np.diag_indices(len(charge))] = 0
    return found


def test_forces_between_charges(rng):
    count = 100
    states = random(rng, 7, count)
    wanted, matrix, sums = forces(states), np.zeros((count, count, 4), np.float32), np.zeros((count, 4), np.float32)
    scale = np.abs(wanted).max()
    launch("hidden_charges", "charge_pairs", *states, matrix, count, grid=(7, 7), block=(16, 16))
    close(matrix[..., :3] / scale, wanted / scale)
    launch("hidden_charges", "charge_sums", matrix, sums, count, grid=(count,), block=(128,), smem_bytes=2048)
    close(sums[:, :3] / scale, wanted.sum(1) / scale)


def test_forces_between_charges_by_tiles(rng):
    count = 512
    states, sums = random(rng, 7, count), np.zeros((count, 4), np.float32)
    launch("hidden_charges", "charge_tiles", *states, sums, count, grid=(2,), block=(256,))
    wanted = forces(states).sum(1)
    scale = np.abs(wanted).max()
    close(sums[:, :3] / scale, wanted / scale)
