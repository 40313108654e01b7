"""Kernels of tests/corpus/triton/steps.py: scans, gathers, locks, scaled products, tensor maps that gather and add."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from sim.compiled.case import Case, case, numbers
from sim.compiled.cuda_rows import softmax_of
from sim.compiled.triton_kernels import SMEM

F16, E4M3, E5M2 = np.float16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
FP4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


def _zeros(shape, dtype=np.float32):
    return np.zeros(shape, dtype)


@case("triton:recurrence")
def recurrence():
    a = np.random.default_rng(0).uniform(-0.99, 0.99, (3, 400)).astype(np.float32)
    x, h, want, state = numbers(3, 400), _zeros((3, 400)), np.zeros((3, 400)), np.zeros(3)
    for i in range(400):
        want[:, i] = state = a[:, i] * state + x[:, i]
    return Case(3, 128, (a, x, h, 400), [(h, want, 1e-5)], smem_bytes=SMEM)


@case("triton:variance")
def variance():
    x, mean, var = numbers(3, 700), _zeros(3), _zeros(3)
    wide = x.astype(np.float64)
    return Case(3, 128, (x, mean, var, 700), [(mean, wide.mean(1), 1e-5), (var, wide.var(1), 1e-5)], smem_bytes=SMEM)


@case("triton:pick")
def pick():
    x, y = numbers(32, 32), _zeros((32, 32))
    places = np.random.default_rng(1).integers(0, 32, (32, 32)).astype(np.int32)
    return Case(1, 128, (x, places, y), [(y, np.take_along_axis(x, places, 0), 0)], smem_bytes=SMEM)


@case("triton:locked_sums")
def locked_sums():
    x, lock, sums, seen = numbers(6, 100), _zeros(1, np.int32), _zeros(100), np.array([-9, 9], np.float32)
    return Case(
        6,
        128,
        (x, lock, sums, seen, 100),
        [(sums, x.astype(np.float64).sum(0), 1e-5), (lock, np.zeros(1), 0), (seen, [x.max(), x.min()], 0)],
        smem_bytes=SMEM,
    )


@case("triton:largest")
def largest():
    x, y = numbers(3, 128), _zeros((3, 8))
    return Case(3, 128, (x, y), [(y, -np.sort(-x, 1)[:, :8], 0)], smem_bytes=SMEM)


@case("triton:complex_products")
def complex_products():
    a, b, c = numbers(1024), numbers(1024, seed=1), _zeros(1024)
    want = a.view(np.complex64).astype(complex) * b.view(np.complex64)
    return Case(2, 128, (a, b, c), [(c, want.view(np.float64), 1e-6)], smem_bytes=SMEM)


@case("triton:batched")
def batched():
    a, b, c = numbers(4, 16, 32, dtype=F16), numbers(4, 32, 16, seed=1, dtype=F16), _zeros((4, 16, 16))
    want = (a.astype(np.float64) @ b.astype(np.float64)).transpose(0, 2, 1)
    return Case(1, 128, (a, b, c), [(c, want, 1e-5)], smem_bytes=SMEM)


@case("triton:doubles")
def doubles():
    a, b, c = numbers(32, 32, dtype=np.float64), numbers(32, 32, seed=1, dtype=np.float64), _zeros((32, 32), np.float64)
    return Case(1, 128, (a, b, c), [(c, a @ b, 1e-14)], smem_bytes=SMEM)


def _codes(rows, depth, kind, seed):
    """Bytes, and the numbers they stand for."""
    rng = np.random.default_rng(seed)
    if kind == "e2m1":
        bytes_ = rng.integers(0, 256, (rows, depth // 2)).astype(np.uint8)
        return bytes_, FP4[np.stack([bytes_ & 15, bytes_ >> 4], -1).reshape(rows, depth)]
    made = rng.normal(size=(rows, depth)).astype({"e4m3": E4M3, "e5m2": E5M2}[kind])
    return made.view(np.uint8), made.astype(np.float64)


def _scaled(left, right):
    def make():
        m, n, k = 256, 128, 256
        (a, x), (b, y) = _codes(m, k, left, 0), _codes(n, k, right, 2)
        sa, sb = (
            np.random.default_rng(seed).integers(124, 130, (rows, k // 32)).astype(np.uint8)
            for seed, rows in ((1, m), (3, n))
        )
        x, y = (v * np.repeat(2.0 ** (s.astype(float) - 127), 32, 1) for v, s in ((x, sa), (y, sb)))
        c = _zeros((m, n))
        return Case((2, 2), 128, (a, sa, b, sb, c, n, k), [(c, x @ y.T, 1e-5)], smem_bytes=SMEM)

    return make


case("triton:scaled_fp8")(_scaled("e4m3", "e4m3"))
case("triton:scaled_fp4")(_scaled("e2m1", "e2m1"))
case("triton:scaled_mixed")(_scaled("e5m2", "e2m1"))


@case("triton:gathered")
def gathered():
    x, y, places = numbers(32, 128, dtype=F16), _zeros((32, 128), F16), np.array([3, 31, 0, 7, 7, 12, 30, 1], np.int32)
    return Case(
        2, 128, (x, places, y, 32, 128), [(y, np.r_[x[places] * F16(2), np.zeros((24, 128))], 0)], smem_bytes=SMEM
    )


@case("triton:added")
def added():
    x, y = numbers(64, 64), numbers(64, 64, seed=1)
    return Case((2, 2), 128, (x, y, 64, 64), [(y, y.astype(np.float64) + 2 * x, 1e-6)], smem_bytes=SMEM)


def _persistent(block, ctas=1):
    def make():
        a, b, c = numbers(256, 192, dtype=F16), numbers(128, 192, seed=1, dtype=F16), _zeros((256, 128), F16)
        want = a.astype(np.float64) @ b.astype(np.float64).T
        return Case(2 * ctas, block, (a, b, c, 256, 128, 192, 2), [(c, want, 1e-3)], smem_bytes=SMEM)

    return make


case("triton:persistent")(_persistent(128))
case("triton:persistent_special")(_persistent(256))
case("triton:persistent_spread")(_persistent(128, 2))


@case("triton:softmax_spread")
def softmax_spread():
    x, y = numbers(2, 3008), _zeros((2, 3008))
    return Case(8, 128, (x, y, 3008), [(y, softmax_of(x), 1e-5)], smem_bytes=SMEM)


@case("triton:sort_spread")
def sort_spread():
    x, y = np.random.default_rng(0).integers(-99, 99, 192).astype(np.int32), _zeros(192, np.int32)
    return Case(6, 32, (x, y), [(y, np.sort(x.reshape(3, 64), 1).reshape(-1), 0)], smem_bytes=SMEM)
