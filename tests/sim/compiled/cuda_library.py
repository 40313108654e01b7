"""Kernels of nvcc that use CUB, libcu++, cooperative groups and the intrinsics of narrow types."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from sim.compiled.case import Case, case, numbers

BF16, F16 = ml_dtypes.bfloat16, np.float16
E4M3, E5M2, E3M2, E2M1 = (
    ml_dtypes.float8_e4m3fn,
    ml_dtypes.float8_e5m2,
    ml_dtypes.float6_e3m2fn,
    ml_dtypes.float4_e2m1fn,
)
WORD = 0xFFFFFFFF


def whole(n: int, low: int, high: int, seed: int = 0, dtype: object = np.int32) -> np.ndarray:
    return np.random.default_rng(seed).integers(low, high, n, dtype)


# blocks.cu ------------------------------------------------------------------------------------------------------------


@case("blocks.cu:block_scan")
def block_scan():
    x, sums, largest, totals = whole(1024, -50, 50), *(np.zeros(n, np.int32) for n in (1024, 1024, 2))
    tiles = x.reshape(2, 512)
    return Case(
        2,
        128,
        (x, sums, largest, totals),
        [
            (sums, (tiles.cumsum(1) - tiles).reshape(-1), 0),
            (largest, np.maximum.accumulate(tiles, 1).reshape(-1), 0),
            (totals, tiles.sum(1), 0),
        ],
    )


@case("blocks.cu:block_sort")
def block_sort():
    keys, values = whole(1024, 0, 1 << 32, dtype=np.uint32), np.zeros(1024, np.int32)
    tiles = keys.reshape(2, 512).copy()
    return Case(
        2,
        128,
        (keys, values),
        [(keys, np.sort(tiles, 1).reshape(-1), 0), (values, np.argsort(tiles, 1, kind="stable").reshape(-1), 0)],
    )


@case("blocks.cu:block_sort_floats")
def block_sort_floats():
    x = numbers(1024)
    return Case(2, 128, (x,), [(x, -np.sort(-x.reshape(2, 512), 1).reshape(-1), 0)])


@case("blocks.cu:warp_reduce")
def warp_reduce():
    x, sums, norms = numbers(256, 2), np.zeros((8, 2), np.float32), np.zeros(32, np.float32)
    wide = x.astype(np.float64)
    return Case(
        2,
        128,
        (x, sums, norms),
        [(sums, wide.reshape(8, 32, 2).sum(1), 1e-5), (norms, (wide**2).sum(1).reshape(32, 8).max(1), 1e-6)],
    )


@case("blocks.cu:block_runs")
def block_runs():
    x = np.repeat(whole(100, 0, 5), 3)[:256].astype(np.int32)
    first, place, want = np.zeros(256, np.int32), np.zeros(256, np.int32), np.ones(256, np.int32)
    heads = np.r_[True, x[1:] != x[:-1]]
    for i in np.flatnonzero(~heads):
        want[i] = want[i - 1] + 1
    return Case(1, 128, (x, first, place), [(first, heads.cumsum(), 0), (place, want, 0)])


@case("blocks.cu:block_histogram")
def block_histogram():
    x, bins = whole(1024, 0, 64, dtype=np.uint8), np.zeros(128, np.uint32)
    return Case(2, 128, (x, bins), [(bins, np.r_[tuple(np.bincount(t, minlength=64) for t in x.reshape(2, 512))], 0)])


@case("blocks.cu:warp_merge_sort")
def warp_merge_sort():
    x = whole(1024, -30000, 30000, dtype=np.int16)
    return Case(2, 128, (x,), [(x, np.sort(x.reshape(8, 128), 1).reshape(-1), 0)])


# together.cu ----------------------------------------------------------------------------------------------------------


@case("together.cu:grid_sums")
def grid_sums():
    x, partial, total = numbers(1000) + np.float32(0.1), np.zeros(8, np.float32), np.zeros(1, np.float32)
    wide = x.astype(np.float64)
    return Case(4, 64, (1000, x, partial, total), [(total, [wide.sum()], 1e-5), (x, wide / wide.sum(), 1e-5)])


@case("together.cu:compact")
def compact():
    x, y, count = whole(128, 0, 100), np.zeros(128, np.int32), np.zeros(1, np.int32)
    kept = x[x % 3 == 0]
    return Case(1, 128, (x, y, count), [(count, [len(kept)], 0), (y, np.pad(kept, (0, 128 - len(kept))), 0)])


@case("together.cu:labelled")
def labelled():
    labels, x = whole(128, 0, 4), whole(128, 0, 100, 1)
    sums, scanned, odd = (np.zeros(128, np.int32) for _ in range(3))
    warps, names = x.reshape(4, 32), labels.reshape(4, 32)
    totals = [w[n == name].sum() for w, n in zip(warps, names, strict=True) for name in n]
    tiles = x.reshape(8, 16)
    before = np.zeros_like(tiles)
    before[:, 1:] = np.bitwise_xor.accumulate(tiles, 1)[:, :-1]
    halves = [100 * (t % 2 == v % 2).sum() + (t[:k] % 2 == v % 2).sum() for t in tiles for k, v in enumerate(t)]
    return Case(
        1, 128, (labels, x, sums, scanned, odd), [(sums, totals, 0), (scanned, before.reshape(-1), 0), (odd, halves, 0)]
    )


@case("together.cu:wide_tiles")
def wide_tiles():
    x, sums, following = whole(256, 0, 100), np.zeros(256, np.int32), np.zeros(256, np.int32)
    tiles = x.reshape(4, 64)
    want = np.roll(tiles, -37, 1) + (tiles > 98).any(1)[:, None]
    return Case(
        1, 256, (x, sums, following), [(sums, np.repeat(tiles.sum(1), 64), 0), (following, want.reshape(-1), 0)]
    )


# library.cu -----------------------------------------------------------------------------------------------------------


@case("library.cu:piped")
def piped():
    x, y = whole(2560, -99, 99), np.zeros(2560, np.int32)
    return Case(2, 128, (5, x, y), [(y, 3 * x.reshape(10, 256)[:, ::-1].reshape(-1), 0)])


@case("library.cu:handed_over")
def handed_over():
    x, y = numbers(320), np.zeros(320, np.float32)
    return Case(1, 128, (5, x, y), [(y, 2 * x.reshape(5, 64)[:, ::-1].reshape(-1), 0)])


@case("library.cu:atomics_of_the_library")
def atomics_of_the_library():
    x, largest, flags = numbers(256, dtype=np.float64), np.full(1, -9.0), np.zeros(8, np.uint8)
    words, total, i = np.zeros(4, np.uint64), np.zeros(1, np.float32), np.arange(256)
    bits, chain = np.zeros(8, np.uint8), 0
    for k in i:
        bits[k % 8] |= 1 << k % 7
        chain = (3 * chain + 1) % (1 << 64)
    return Case(
        2,
        128,
        (x, largest, flags, words, total),
        [
            (largest, [x.max()], 0),
            (flags, bits, 0),
            (total, [(i % 4).sum()], 0),
            (words, np.array([*(int(i[i % 3 == m].sum()) for m in range(3)), chain], np.uint64), 0),
        ],
    )


@case("library.cu:complex_powers")
def complex_powers():
    x, y = numbers(200, 2), np.zeros((200, 2), np.float32)
    z = x.astype(np.float64).view(complex)[:, 0]
    want = z * z / (z + 1.5) - z.conj()
    return Case(2, 128, (200, x, y), [(y, np.stack([want.real, want.imag], 1), 1e-5)])


@case("library.cu:bulk_there_and_back")
def bulk_there_and_back():
    x, y = whole(1024, -99, 99), whole(1024, 0, 9, 1)
    return Case(1, 128, (x, y), [(y, np.r_[~x[:512], y[512:] + ~x[512:]], 0)])


# narrow.cu ------------------------------------------------------------------------------------------------------------


@case("narrow.cu:half_pairs")
def half_pairs():
    n = 150
    a, b, c = (numbers(n, 2, seed=i, dtype=F16) for i in range(3))
    y = np.zeros((5, n, 2), F16)
    p, q, r = (v.astype(np.float64) for v in (a, b, c))
    want = np.stack(
        [
            np.maximum((p * q + r).astype(F16), 0),
            np.minimum(np.clip(p * q, 0, 1).astype(F16), -c),
            p / (q + 3).astype(F16),
            a <= b,
            np.maximum(abs(a), c)[:, ::-1],
        ]
    )
    return Case(2, 128, (n, a, b, c, y), [(y[:2], want[:2], 0), (y[2], want[2], 1e-3), (y[3:], want[3:], 0)])


@case("narrow.cu:brain_pairs")
def brain_pairs():
    n = 150
    a, b = (numbers(n, 2, seed=i, dtype=BF16) for i in range(2))
    y, dots, masks = np.zeros((3, n, 2), BF16), np.zeros(n, np.float32), np.zeros(n, np.uint32)
    p, q = (v.astype(np.float64) for v in (a, b))
    want = np.stack([p * q + [0.5, -0.25], np.maximum(p, q), np.rint(p) - np.floor(q)])
    above = (p > q) * np.array([0xFFFF, 0xFFFF0000], np.uint64)
    return Case(
        2,
        128,
        (n, a, b, y, dots, masks),
        [(y[0], want[0], 4e-3), (y[1:], want[1:], 0), (dots, (p * q).sum(1), 1e-6), (masks, above.sum(1), 0)],
    )


@case("narrow.cu:around_small_formats")
def around_small_formats():
    n, x = 150, numbers(150, 4)
    fp8, fp6, fp4 = np.zeros((n, 4), np.uint8), np.zeros((n, 4), np.uint8), np.zeros(n, np.uint16)
    back = np.zeros((n, 4), np.float32)
    u, v, w = x.astype(E5M2), x.astype(E3M2), x.astype(E2M1)
    codes = (w.view(np.uint8).astype(np.uint16) & 15) << np.arange(0, 16, 4, dtype=np.uint16)
    p, q, r = (k.astype(np.float64) for k in (u, v, w))
    sums = np.stack(
        [p[:, 0] + q[:, 0] + r[:, 0], p[:, 1] + q[:, 1] + r[:, 1], p[:, 2] - q[:, 2] * r[:, 2], p[:, 3] * q[:, 3]], 1
    )
    return Case(
        2,
        128,
        (n, x, fp8, fp6, fp4, back),
        [(fp8, u.view(np.uint8), 0), (fp6, v.view(np.uint8), 0), (fp4, codes.sum(1), 0), (back, sums, 1e-6)],
    )


@case("narrow.cu:block_scaled")
def block_scaled():
    x = numbers(6, 32) * np.float32(10.0) ** np.arange(-9, 9, 3, dtype=np.float32)[:, None]
    codes, scales = np.zeros((6, 32), np.uint8), np.zeros(6, np.uint8)
    mantissa, exponent = np.frexp(abs(x).max(1) / np.float32(448))
    scale = exponent - (mantissa == 0.5)
    want = (x * 2.0 ** -scale[:, None]).astype(np.float32).astype(E4M3)
    return Case(6, 32, (x, codes, scales), [(codes, want.view(np.uint8), 0), (scales, scale + 127, 0)])


# words.cu -------------------------------------------------------------------------------------------------------------


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> bits - 1 else value


def fields(value: int, bits: int, *, minus: bool = False) -> list[int]:
    parts = [value >> k & (1 << bits) - 1 for k in range(0, 32, bits)]
    return [signed(v, bits) for v in parts] if minus else parts


def joined(parts: list[int], bits: int) -> int:
    return sum((v & (1 << bits) - 1) << k * bits for k, v in enumerate(parts))


def _bytes(a: int, b: int) -> list[int]:
    pairs, minus = (
        list(zip(fields(a, 8), fields(b, 8), strict=True)),
        list(zip(fields(a, 8, minus=True), fields(b, 8, minus=True), strict=True)),
    )
    halves = list(zip(fields(a, 16, minus=True), fields(b, 16, minus=True), strict=True))
    pool, both = fields(a, 8) + fields(b, 8), a | b << 32
    dots = a + b + sum(x * y for x, y in [*pairs, *zip(fields(a, 16), fields(b, 8)[:2], strict=True)])
    first = (b & -b).bit_length()
    return [
        joined([min(x + y, 255) for x, y in pairs], 8),
        joined([abs(x - y) for x, y in pairs], 8),
        joined([max(p) for p in halves], 16) ^ joined([255 * (x > y) for x, y in pairs], 8),
        sum(abs(x - y) for x, y in minus) + joined([x + y >> 1 for x, y in pairs], 8),
        joined([pool[b >> 4 * k & 7] for k in range(4)], 8),
        (both >> min(a & 63, 32) & WORD) + (both << (b & 31) >> 32 & WORD),
        max(signed(a + b & WORD, 32), -1000, 0) ^ joined([min(x, y, 5) for x, y in halves], 16),
        dots + int(f"{a:032b}"[::-1], 2) + first + (a + b >> 1),
    ]


@case("words.cu:bytes_of_words")
def bytes_of_words():
    n = 200
    a, b = (whole(n, 0, 1 << 32, seed, np.uint32) for seed in (0, 1))
    y = np.zeros((8, n), np.uint32)
    want = np.array([_bytes(*pair) for pair in zip(a.tolist(), b.tolist(), strict=True)]) & WORD
    return Case(2, 128, (n, a, b, y), [(y, want.T, 0)])


@case("words.cu:wide_numbers")
def wide_numbers():
    n = 200
    a, b = (whole(n, 0, 1 << 64, seed, np.uint64) for seed in (0, 1))
    y, want = np.zeros((6, n), np.uint64), []
    for u, v in zip(a.tolist(), b.tolist(), strict=True):
        p, s, t = (u * v + (v << 64)) % (1 << 128), signed(u, 64), signed(v, 64)
        row = p, p >> 64, p // (u | 1), s - (t << 3) >> 5, p % (v | 3), (u * v >> 64) + (s * t >> 64)
        want.append([k & (1 << 64) - 1 for k in row])
    return Case(2, 128, (n, a, b, y), [(y, np.array(want, np.uint64).T, 0)])


@case("words.cu:digits")
def digits():
    out, pi = np.zeros(64, np.uint8), b"31415926535897932384626433832"
    return Case(1, 1, (30, out), [(out[:30], np.frombuffer(pi + b"\0", np.uint8), 0)])
