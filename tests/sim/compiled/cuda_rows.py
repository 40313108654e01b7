"""Kernels of nvcc over elements and rows: elementwise, reductions, scans, sorts, softmax, norms."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from sim.compiled.case import Case, case, numbers

__all__ = ["layer_norm_gradient", "layer_norm_of", "rms_norm_of", "softmax_of"]

BF16 = ml_dtypes.bfloat16


# elementwise.cu -----------------------------------------------------------------------------------------------------


@case("elementwise.cu:saxpy")
def saxpy():
    x, y = numbers(300), numbers(300, seed=1)
    return Case(3, 128, (300, 1.5, x, y), [(y, np.float32(1.5) * x + y, 1e-6)])


@case("elementwise.cu:saxpy4")
def saxpy4():
    x, y = numbers(512), numbers(512, seed=1)
    return Case(2, 64, (512, 0.25, x, y), [(y, np.float32(0.25) * x + y, 1e-6)])


@case("elementwise.cu:gridded_axpy")
def gridded_axpy():
    x, y = numbers(3000, dtype=np.float64), numbers(3000, seed=1, dtype=np.float64)
    return Case(3, 256, (3000, 0.1, x, y), [(y, 0.1 * x + y, 1e-15)])


@case("elementwise.cu:gelu")
def gelu():
    x, y = numbers(200), np.zeros(200, np.float32)
    v = x.astype(np.float64)
    return Case(2, 128, (200, x, y), [(y, 0.5 * v * (1 + np.tanh(0.7978845608 * (v + 0.044715 * v**3))), 1e-6)])


@case("elementwise.cu:silu_gate")
def silu_gate():
    gate, up, y = numbers(200), numbers(200, seed=1), np.zeros(200, np.float32)
    return Case(2, 128, (200, gate, up, y), [(y, gate / (1 + np.exp(-gate)) * up, 1e-5)])


@case("elementwise.cu:half_axpy")
def half_axpy():
    x, y, a = numbers(256, dtype=np.float16), numbers(256, seed=1, dtype=np.float16), np.array([1.5, -2], np.float16)
    exact = (np.tile(a, 128).astype(np.float64) * x + y).astype(np.float16)
    return Case(1, 128, (256, a.tobytes(), x, y), [(y, exact, 0)])


@case("elementwise.cu:bf16_relu")
def bf16_relu():
    x, y = numbers(200, dtype=BF16), np.zeros(200, BF16)
    return Case(2, 128, (200, x, y), [(y, np.maximum(x, BF16(0)), 0)])


@case("elementwise.cu:clamp_add")
def clamp_add():
    x, y = np.arange(-100, 100, dtype=np.int32), np.arange(200, dtype=np.int32) * 7 - 600
    return Case(2, 128, (200, np.int32(-50), 90, x, y), [(y, np.clip(x + y, -50, 90), 0)])


@case("elementwise.cu:brighten")
def brighten():
    x, y = np.arange(256, dtype=np.uint8), np.zeros(256, np.uint8)
    return Case(2, 128, (256, 1.7, x, y), [(y, np.rint(np.minimum(x * np.float32(1.7), 255)), 0)])


# reduce.cu, scan.cu, sort.cu ----------------------------------------------------------------------------------------


@case("reduce.cu:warp_sum")
def warp_sum():
    x, y = np.arange(32, dtype=np.int32) ** 3, np.zeros(1, np.int32)
    return Case(1, 32, (x, y), [(y, np.array([x.sum()]), 0)])


@case("reduce.cu:block_sum")
def block_sum():
    x, y = numbers(2000), np.zeros(2, np.float32)
    parts = [sum(x[s : s + 256].sum() for s in range(b * 256, 2000, 512)) for b in range(2)]
    return Case(2, 256, (2000, x, y), [(y, np.array(parts), 1e-5)])


@case("reduce.cu:tree_sum")
def tree_sum():
    x, y = numbers(512), np.zeros(2, np.float32)
    return Case(2, 256, (x, y), [(y, x.reshape(2, 256).sum(1), 1e-5)])


@case("reduce.cu:atomic_dot")
def atomic_dot():
    x, y, total = numbers(1000, dtype=np.float64), numbers(1000, seed=1, dtype=np.float64), np.zeros(1)
    return Case(2, 128, (1000, x, y, total), [(total, np.array([x @ y]), 1e-13)])


@case("reduce.cu:argmax")
def argmax():
    x, values, places = numbers(3, 700), np.zeros(3, np.float32), np.zeros(3, np.int32)
    x[1, [50, 600]] = 9
    return Case(3, 256, (700, x, values, places), [(values, x.max(1), 0), (places, x.argmax(1), 0)])


@case("scan.cu:block_scan")
def block_scan():
    x, y = np.arange(512, dtype=np.int32) % 37 - 9, np.zeros(512, np.int32)
    return Case(2, 256, (x, y), [(y, x.reshape(2, 256).cumsum(1).reshape(-1), 0)])


@case("scan.cu:chained_scan")
def chained_scan():
    x, y = np.arange(1024, dtype=np.int32) % 37, np.zeros(1024, np.int32)
    state, ticket = np.zeros(4, np.uint64), np.zeros(1, np.uint32)
    return Case(4, 256, (x, y, state, ticket), [(y, x.cumsum(), 0)])


@case("sort.cu:bitonic")
def bitonic():
    x = np.random.default_rng(0).integers(-999, 999, 2048).astype(np.int32)
    return Case(2, 512, (x,), [(x, np.sort(x.reshape(2, 1024), 1).reshape(-1), 0)])


@case("sort.cu:merge_sort")
def merge_sort():
    x = numbers(512)
    return Case(2, 256, (x,), [(x, np.sort(x.reshape(2, 256), 1).reshape(-1), 0)])


@case("sort.cu:radix_rank")
def radix_rank():
    x = np.random.default_rng(0).integers(0, 1000, 512).astype(np.uint32)
    rank, counts, digits = np.zeros(512, np.uint32), np.zeros(32, np.uint32), (x & 15).reshape(2, 256)
    before = np.array([[(row[:i] == d).sum() for i, d in enumerate(row)] for row in digits])
    total = np.concatenate([np.bincount(row, minlength=16) for row in digits])
    return Case(2, 256, (x, rank, counts), [(rank, before.reshape(-1), 0), (counts, total, 0)])


# softmax.cu, norms.cu -----------------------------------------------------------------------------------------------


def softmax_of(x):
    e = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True).astype(np.float64))
    return e / e.sum(-1, keepdims=True)


@case("softmax.cu:softmax_block")
def softmax_block():
    x = numbers(4, 300)
    y = np.zeros_like(x)
    return Case(4, 128, (300, x, y), [(y, softmax_of(x), 1e-5)])


@case("softmax.cu:softmax_online")
def softmax_online():
    x = numbers(6, 100)
    y = np.zeros_like(x)
    return Case(2, 128, (6, 100, x, y), [(y, softmax_of(x), 1e-5)])


@case("softmax.cu:softmax_half")
def softmax_half():
    x = numbers(6, 100, dtype=np.float16)
    y = np.zeros_like(x)
    return Case(2, 128, (6, 100, x, y), [(y, softmax_of(x), 2e-3)])


def layer_norm_of(x, gain, bias, eps=1e-5):
    v = x.astype(np.float64)
    scale = 1 / np.sqrt(v.var(-1) + eps)
    return (v - v.mean(-1, keepdims=True)) * scale[..., None] * gain + bias, v.mean(-1), scale


@case("norms.cu:layer_norm")
def layer_norm():
    x, gain, bias = numbers(3, 700), numbers(700, seed=1), numbers(700, seed=2)
    y, mean, scale = np.zeros_like(x), np.zeros(3, np.float32), np.zeros(3, np.float32)
    want = layer_norm_of(x, gain, bias)
    return Case(
        3,
        256,
        (700, 1e-5, x, gain, bias, y, mean, scale),
        [(y, want[0], 1e-5), (mean, want[1], 1e-4), (scale, want[2], 1e-5)],
    )


def layer_norm_gradient(dy, x, gain, mean, scale):
    g, h = dy.astype(np.float64) * gain, (x - mean[:, None]) * scale[:, None].astype(np.float64)
    return (g - g.mean(1, keepdims=True) - h * (g * h).mean(1, keepdims=True)) * scale[:, None]


@case("norms.cu:layer_norm_backward")
def layer_norm_backward():
    dy, x, gain = numbers(3, 700), numbers(3, 700, seed=1), numbers(700, seed=2)
    mean, scale = x.mean(1), (1 / x.std(1)).astype(np.float32)
    dx = np.zeros_like(x)
    return Case(
        3, 256, (700, dy, x, gain, mean, scale, dx), [(dx, layer_norm_gradient(dy, x, gain, mean, scale), 1e-5)]
    )


def rms_norm_of(x, gain, eps=1e-5):
    v = x.astype(np.float64)
    return v / np.sqrt((v * v).mean(-1, keepdims=True) + eps) * gain


@case("norms.cu:rms_norm")
def rms_norm():
    x, gain = numbers(3, 1100), numbers(1100, seed=1)
    y = np.zeros_like(x)
    return Case(3, 256, (1100, 1e-5, x, gain, y), [(y, rms_norm_of(x, gain), 1e-5)])


@case("norms.cu:rms_norm_bf16")
def rms_norm_bf16():
    x, gain = numbers(3, 600, dtype=BF16), numbers(600, seed=1, dtype=BF16)
    y = np.zeros_like(x)
    return Case(3, 256, (600, 1e-5, x, gain, y), [(y, rms_norm_of(x, gain), 4e-3)])
