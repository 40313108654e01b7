"""Kernels of nvcc: stencils, steps of training, atomics, asynchronous copies, tensor maps, clusters."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from sim.compiled.case import Case, case, numbers
from sim.compiled.cuda_rows import softmax_of

from pyptx import TensorMap

BF16 = ml_dtypes.bfloat16


# stencil.cu, learning.cu, atomics.cu --------------------------------------------------------------------------------


@case("stencil.cu:heat3d")
def heat3d():
    x = numbers(6, 18, 20, dtype=np.float64)
    y, c, want = np.zeros_like(x), 0.1, np.zeros_like(x)
    inner = tuple([slice(1, -1)] * 3)
    around = sum(np.roll(x, s, axis) for axis in range(3) for s in (1, -1))
    want[inner] = (x + c * (around - 6 * x))[inner]
    return Case((3, 3, 2), (8, 8, 4), (20, 18, 6, c, x, y), [(y, want, 1e-14)])


@case("stencil.cu:life")
def life():
    x = (np.random.default_rng(0).random((20, 30)) < 0.4).astype(np.uint8)
    alive = sum(np.roll(x, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
    y = np.zeros_like(x)
    return Case((2, 2), (16, 16), (30, 20, x, y), [(y, (alive == 3) | ((alive == 2) & (x == 1)), 0)])


@case("stencil.cu:max_pool")
def max_pool():
    x, y, which = numbers(20, 40), np.zeros((10, 20), np.float32), np.zeros((10, 20), np.uint8)
    windows = x.reshape(10, 2, 20, 2).transpose(0, 2, 1, 3).reshape(10, 20, 4)
    return Case((2, 1), (16, 16), (40, 20, x, y, which), [(y, windows.max(-1), 0), (which, windows.argmax(-1), 0)])


@case("learning.cu:adamw")
def adamw():
    g, m, v, w = numbers(200), numbers(200, seed=1), np.abs(numbers(200, seed=2)), numbers(200, seed=3)
    rate, b1, b2, eps, decay, c1, c2 = 0.01, 0.9, 0.99, 1e-8, 0.1, 0.5, 0.25
    m2, v2 = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
    return Case(
        2,
        128,
        (200, rate, b1, b2, eps, decay, c1, c2, g, m, v, w),
        [(m, m2, 1e-6), (v, v2, 1e-6), (w, w - rate * (m2 / c1 / (np.sqrt(v2 / c2) + eps) + decay * w), 1e-6)],
    )


@case("learning.cu:rotary")
def rotary():
    x, places = numbers(3, 2, 2, 16), np.array([0, 5, 1000], np.int32)
    frequencies = np.geomspace(1, 1e-3, 16).astype(np.float32)
    angle = (places[:, None].astype(np.float32) * frequencies).astype(np.float64)[:, None]
    a, b = x[:, :, 0].astype(np.float64), x[:, :, 1].astype(np.float64)
    want = np.stack([a * np.cos(angle) - b * np.sin(angle), a * np.sin(angle) + b * np.cos(angle)], 2)
    return Case((3, 2), 16, (2, 16, places, frequencies, x), [(x, want, 1e-6)])


@case("learning.cu:embed")
def embed():
    table, tokens, y = numbers(10, 100, dtype=BF16), np.array([3, 0, 9], np.int32), np.zeros((3, 100), BF16)
    return Case(3, 32, (100, tokens, table, y), [(y, table[tokens], 0)])


@case("learning.cu:cross_entropy")
def cross_entropy():
    x, labels = numbers(6, 100), np.arange(6, dtype=np.int32) * 7
    loss, gradient, p = np.zeros(6, np.float32), np.zeros_like(x), softmax_of(x)
    want = p.copy()
    want[np.arange(6), labels] -= 1
    return Case(
        2,
        128,
        (6, 100, x, labels, loss, gradient),
        [(loss, -np.log(p[np.arange(6), labels]), 1e-5), (gradient, want, 1e-5)],
    )


@case("learning.cu:top_k")
def top_k():
    x, values, places = numbers(5, 200), np.zeros((5, 4), np.float32), np.zeros((5, 4), np.int32)
    order = np.argsort(-x, 1)[:, :4]
    return Case(
        2, 96, (5, 200, 4, x, values, places), [(places, order, 0), (values, np.take_along_axis(x, order, 1), 0)]
    )


@case("learning.cu:dependent")
def dependent():
    x, y = numbers(200), np.zeros(200, np.float32)
    return Case(2, 128, (200, x, y), [(y, 2 * x, 0)])


@case("atomics.cu:histogram")
def histogram():
    x, bins = np.random.default_rng(0).integers(0, 256, 3000).astype(np.uint8), np.zeros(256, np.uint32)
    return Case(3, 256, (3000, x, bins), [(bins, np.bincount(x, minlength=256), 0)])


# async.cu, tma.cu, cluster.cu ---------------------------------------------------------------------------------------


@case("async.cu:pipelined")
def pipelined():
    x = numbers(2, 5, 128, 4)
    y = np.zeros_like(x)
    return Case(2, 128, (5, x, y), [(y, 2 * x[:, :, ::-1], 0)])


@case("async.cu:arrive_and_wait")
def arrive_and_wait():
    x, y = np.arange(256, dtype=np.int32), np.zeros(256, np.int32)
    return Case(2, 128, (x, y), [(y, x.reshape(2, 128)[:, ::-1].reshape(-1), 0)])


@case("async.cu:padded")
def padded():
    x, y = np.arange(1, 513, dtype=np.int32), np.zeros(512, np.int32)
    kept = np.where(np.arange(512) < 300, x, 0)
    return Case(2, 128, (300, x, y), [(y, kept.reshape(2, 256)[:, ::-1].reshape(-1), 0)])


@case("tma.cu:bulk_add")
def bulk_add():
    x = numbers(2048)
    y = np.zeros_like(x)
    return Case(2, 128, (x, y), [(y, x + np.float32(1), 0)])


@case("tma.cu:tile_transpose")
def tile_transpose():
    x = numbers(64, 96)
    y = np.zeros((96, 64), np.float32)
    return Case((3, 2), 128, (TensorMap(x, (32, 32)), TensorMap(y, (32, 32))), [(y, x.T, 0)])


@case("tma.cu:tile_reduce")
def tile_reduce():
    total, x = numbers(8, 64), numbers(3, 8, 64, seed=1)
    return Case(3, 128, (TensorMap(total, (8, 64)), x), [(total, total + x[0] + x[1] + x[2], 1e-6)])


@case("tma.cu:multicast")
def multicast():
    x, y = numbers(16, 64), np.zeros((4, 8, 64), np.float32)
    return Case(4, 128, (TensorMap(x, (8, 64)), y), [(y, x.reshape(2, 8, 64).repeat(2, 0), 0)], cluster=2)


@case("cluster.cu:cluster_sum")
def cluster_sum():
    x, totals = numbers(8, 256), np.zeros(2, np.float32)
    return Case(8, 256, (x, totals), [(totals, x.reshape(2, 1024).sum(1), 1e-5)], cluster=4)


@case("cluster.cu:cluster_histogram")
def cluster_histogram():
    x, bins = np.random.default_rng(0).integers(0, 2000, 3000).astype(np.uint32), np.zeros(512, np.uint32)
    return Case(4, 256, (3000, x, bins), [(bins, np.bincount(x % 512, minlength=512), 0)], cluster=2)


@case("cluster.cu:neighbour")
def neighbour():
    x, y = np.arange(128, dtype=np.int32), np.zeros(128, np.int32)
    return Case(4, 32, (x, y), [(y, x.reshape(2, 2, 32)[:, ::-1].reshape(-1), 0)], cluster=2)
