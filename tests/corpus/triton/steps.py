"""Scans with user-defined operators, gathers, locks, scaled products, gathering and adding maps, persistent loops."""

import triton
import triton.language as tl


@triton.jit
def _then(a, x, b, y):
    return a * b, x * b + y


@triton.jit
def recurrence(a, x, h, columns, BLOCK: tl.constexpr):
    """h[i] = a[i] h[i - 1] + x[i] in each row, by a scan."""
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    inside = i < columns
    p = tl.load(a + row * columns + i, mask=inside, other=1.0)
    q = tl.load(x + row * columns + i, mask=inside, other=0.0)
    _, out = tl.associative_scan((p, q), 0, _then)
    tl.store(h + row * columns + i, out, mask=inside)


@triton.jit
def _both(n, m, s, k, o, t):
    total = n + k
    d = o - m
    r = k / tl.maximum(total, 1.0)
    return total, m + d * r, s + t + d * d * n * r


@triton.jit
def variance(x, mean, var, columns, BLOCK: tl.constexpr):
    """Mean and variance by Welford's update."""
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    inside = i < columns
    v = tl.load(x + row * columns + i, mask=inside, other=0.0)
    n, m, s = tl.reduce((inside.to(tl.float32), v, tl.zeros_like(v)), 0, _both)
    tl.store(mean + row, m)
    tl.store(var + row, s / n)


@triton.jit
def pick(x, places, y, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """y[i, j] = x[places[i, j], j]."""
    i, j = tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    at = i * COLUMNS + j
    tl.store(y + at, tl.gather(tl.load(x + at), tl.load(places + at), 0))


@triton.jit
def locked_sums(x, lock, sums, seen, columns, BLOCK: tl.constexpr):
    """Rows added to one, one program at a time; the largest by its bits; who came last."""
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * columns + i, mask=i < columns, other=0.0)
    tl.atomic_max(seen, tl.max(v, 0))
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(sums + i, tl.load(sums + i, mask=i < columns, other=0.0) + v, mask=i < columns)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)
    tl.atomic_min(seen + 1, tl.min(v, 0), sem="relaxed")


@triton.jit
def largest(x, y, N: tl.constexpr, K: tl.constexpr):
    row = tl.program_id(0)
    tl.store(y + row * K + tl.arange(0, K), tl.topk(tl.load(x + row * N + tl.arange(0, N)), K))


@triton.jit
def complex_products(a, b, c, N: tl.constexpr):
    """Interleaved complex numbers, split and joined; one step through inline PTX."""
    i = tl.program_id(0) * 2 * N + tl.arange(0, 2 * N)
    p, q = tl.split(tl.reshape(tl.load(a + i), (N, 2)))
    r, s = tl.split(tl.reshape(tl.load(b + i), (N, 2)))
    real = tl.inline_asm_elementwise(
        "{ .reg .f32 t; mul.rn.f32 t, $2, $4; neg.f32 t, t; fma.rn.f32 $0, $1, $3, t; }",
        "=f,f,f,f,f",
        [p, q, r, s],
        dtype=tl.float32,
        is_pure=True,
        pack=1,
    )
    tl.store(c + i, tl.reshape(tl.join(real, p * s + q * r), (2 * N,)))


@triton.jit
def batched(a, b, c, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Products of several small matrices at once, transposed on the way out."""
    k, m, n, d = tl.arange(0, B), tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + (k[:, None, None] * M + m[None, :, None]) * K + d[None, None, :])
    y = tl.load(b + (k[:, None, None] * K + d[None, :, None]) * N + n[None, None, :])
    out = tl.permute(tl.dot(x, y), (0, 2, 1))
    tl.store(c + (k[:, None, None] * N + n[None, :, None]) * M + m[None, None, :], out)


@triton.jit
def doubles(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, d = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, K)
    x, y = tl.load(a + m * K + d[None, :]), tl.load(b + d[:, None] * N + n)
    tl.store(c + m * N + n, tl.dot(x, y, out_dtype=tl.float64))


@triton.jit
def scaled(
    a,
    sa,
    b,
    sb,
    c,
    n,
    k,
    TA: tl.constexpr,
    TB: tl.constexpr,
    PA: tl.constexpr,
    PB: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    """Numbers of eight and four bits with a power of two for 32 of a row; PA, PB of them in a byte."""
    rows = tl.program_id(1) * BM + tl.arange(0, BM)[:, None]
    columns = tl.program_id(0) * BN + tl.arange(0, BN)[:, None]
    total = tl.zeros((BM, BN), tl.float32)
    ia, ib, i = tl.arange(0, BK // PA)[None, :], tl.arange(0, BK // PB)[None, :], tl.arange(0, BK // 32)[None, :]
    for start in range(0, k, BK):
        x = tl.load(a + rows * (k // PA) + start // PA + ia)
        y = tl.load(b + columns * (k // PB) + start // PB + ib)
        p = tl.load(sa + rows * (k // 32) + start // 32 + i)
        q = tl.load(sb + columns * (k // 32) + start // 32 + i)
        total = tl.dot_scaled(x, p, TA, y.T, q, TB, total)
    tl.store(c + rows * n + tl.program_id(0) * BN + tl.arange(0, BN)[None, :], total)


@triton.jit
def gathered(x, places, y, rows, columns, R: tl.constexpr, C: tl.constexpr):
    """Rows of x by number, through a tensor map; twice as large into the first rows of y, the same way."""
    xt = tl.make_tensor_descriptor(x, [rows, columns], [columns, 1], [1, C])
    yt = tl.make_tensor_descriptor(y, [rows, columns], [columns, 1], [1, C])
    at, start = tl.load(places + tl.arange(0, R)), tl.program_id(0) * C
    yt.scatter(xt.gather(at, start) * 2, tl.arange(0, R), start)


@triton.jit
def added(x, y, m, n, BM: tl.constexpr, BN: tl.constexpr):
    """Boxes of x added to y by tensor copies that reduce, every one twice."""
    xt = tl.make_tensor_descriptor(x, [m, n], [n, 1], [BM, BN])
    yt = tl.make_tensor_descriptor(y, [m, n], [n, 1], [BM, BN])
    row, column = tl.program_id(1) * BM, tl.program_id(0) * BN
    v = xt.load([row, column])
    yt.atomic_add([row, column], v)
    yt.atomic_add([row, column], v)


@triton.jit
def persistent(a, b, c, m, n, k, programs, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPECIAL: tl.constexpr):
    """Every program takes tile after tile; loads by warps of their own where SPECIAL."""
    at = tl.make_tensor_descriptor(a, [m, k], [k, 1], [BM, BK])
    bt = tl.make_tensor_descriptor(b, [n, k], [k, 1], [BN, BK])
    ct = tl.make_tensor_descriptor(c, [m, n], [n, 1], [BM, BN])
    across = n // BN
    for tile in tl.range(tl.program_id(0), (m // BM) * across, programs, flatten=True, warp_specialize=SPECIAL):
        row, column = tile // across * BM, tile % across * BN
        total = tl.zeros((BM, BN), tl.float32)
        for start in range(0, k, BK):
            total = tl.dot(at.load([row, start]), bt.load([column, start]).T, total)
        ct.store([row, column], total.to(tl.float16))


ROWS = "*fp32 *fp32 *fp32 i32"
SCALED = "*u8:16 *u8:16 *u8:16 *u8:16 *fp32:16 i32:16 i32:16"
TILE = {"BM": 128, "BN": 64, "BK": 128}
CASES = {
    "recurrence": (recurrence, ROWS, {"BLOCK": 512}, {"below": 90}),
    "variance": (variance, ROWS, {"BLOCK": 1024}, {"below": 90}),
    "pick": (pick, "*fp32:16 *i32:16 *fp32:16", {"ROWS": 32, "COLUMNS": 32}, {"below": 90}),
    "locked_sums": (locked_sums, "*fp32 *i32 *fp32 *fp32 i32", {"BLOCK": 128}, {"below": 90}),
    "largest": (largest, "*fp32 *fp32", {"N": 128, "K": 8}, {"below": 90}),
    "complex_products": (complex_products, "*fp32:16 *fp32:16 *fp32:16", {"N": 256}, {"below": 90}),
    "batched": (batched, "*fp16:16 *fp16:16 *fp32:16", {"B": 4, "M": 16, "N": 16, "K": 32}, {"below": 90}),
    "doubles": (doubles, "*fp64:16 *fp64:16 *fp64:16", {"M": 32, "N": 32, "K": 32}, {"below": 90}),
    "scaled_fp8": (scaled, SCALED, TILE | {"TA": "e4m3", "TB": "e4m3", "PA": 1, "PB": 1}, {"above": 100}),
    "scaled_fp4": (scaled, SCALED, TILE | {"TA": "e2m1", "TB": "e2m1", "PA": 2, "PB": 2}, {"above": 100}),
    "scaled_mixed": (
        scaled,
        SCALED,
        TILE | {"TA": "e5m2", "TB": "e2m1", "PA": 1, "PB": 2},
        {"above": 100, "below": 100},
    ),
    "gathered": (gathered, "*fp16:16 *i32:16 *fp16:16 i32:16 i32:16", {"R": 8, "C": 64}, {"above": 100, "below": 100}),
    "added": (added, "*fp32:16 *fp32:16 i32:16 i32:16", {"BM": 32, "BN": 32}, {"above": 90}),
    "persistent": (
        persistent,
        "*fp16:16 *fp16:16 *fp16:16 i32:16 i32:16 i32:16 i32",
        {"BM": 128, "BN": 64, "BK": 64, "SPECIAL": False},
        {"above": 90, "num_stages": 3},
    ),
    "persistent_spread": (
        persistent,
        "*fp16:16 *fp16:16 *fp16:16 i32:16 i32:16 i32:16 i32",
        {"BM": 128, "BN": 64, "BK": 64, "SPECIAL": False},
        {"num_stages": 3, "num_ctas": 2, "above": 90, "below": 100},
    ),
    "persistent_special": (
        persistent,
        "*fp16:16 *fp16:16 *fp16:16 i32:16 i32:16 i32:16 i32",
        {"BM": 128, "BN": 64, "BK": 64, "SPECIAL": True},
        {"above": 100, "num_stages": 3},
    ),
}
