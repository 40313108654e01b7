"""Kernels of nvcc that multiply matrices: from plain loops to wgmma and tcgen05; attention."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from sim.compiled.case import Case, case, numbers

from pyptx import TensorMap

__all__ = ["attention_gradients", "attention_of"]

BF16 = ml_dtypes.bfloat16


# sgemm.cu, hgemm.cu, hopper_gemm.cu, tcgen05_gemm.cu, wmma.cu -------------------------------------------------------


@case("sgemm.cu:sgemm_naive")
def sgemm_naive():
    a, b, c = numbers(40, 50), numbers(50, 33, seed=1), np.zeros((40, 33), np.float32)
    return Case((3, 3), (16, 16), (40, 33, 50, a, b, c), [(c, a.astype(np.float64) @ b, 1e-5)])


@case("sgemm.cu:sgemm")
def sgemm():
    a, b, c = numbers(128, 48), numbers(48, 64, seed=1), np.zeros((128, 64), np.float32)
    return Case((1, 2), 256, (128, 64, 48, a, b, c), [(c, a.astype(np.float64) @ b, 1e-5)])


@case("sgemm.cu:dgemm")
def dgemm():
    a, b, c = (numbers(*s, seed=k, dtype=np.float64) for k, s in enumerate([(20, 50), (50, 35), (20, 35)]))
    return Case((3, 2), (16, 16), (20, 35, 50, 1.5, -0.5, a, b, c), [(c, 1.5 * a @ b - 0.5 * c, 1e-13)])


def _product(dtype, m, n, k):
    a, b, c = numbers(m, k, dtype=dtype), numbers(n, k, seed=1, dtype=dtype), np.zeros((m, n), np.float32)
    return a, b, c, a.astype(np.float64) @ b.astype(np.float64).T


@case("hgemm.cu:hgemm")
def hgemm():
    a, b, c, want = _product(np.float16, 128, 64, 96)
    return Case((1, 2), 128, (64, 96, a, b, c), [(c, want, 1e-5)])


@case("hgemm.cu:bf16_gemm")
def bf16_gemm():
    a, b, c, want = _product(BF16, 64, 128, 64)
    return Case((2, 1), 128, (128, 64, a, b, c), [(c, want, 1e-5)])


def _map_gemm(threads, smem, k=192):
    a, b, c, want = _product(np.float16, 128, 256, k)
    maps = [TensorMap(x, (128, 64), swizzle="128B") for x in (a, b)]
    return Case((2, 1), threads, (256, k, *maps, c), [(c, want, 1e-5)], smem_bytes=smem)


@case("hopper_gemm.cu:wgmma_simple")
def wgmma_simple():
    return _map_gemm(128, 33 << 10)


@case("hopper_gemm.cu:wgmma_specialized")
def wgmma_specialized():
    return _map_gemm(384, 129 << 10, k=384)


@case("tcgen05_gemm.cu:tcgen05_gemm")
def tcgen05_gemm():
    return _map_gemm(128, 33 << 10)


@case("wmma.cu:wmma_f32")
def wmma_f32():
    a, b = numbers(32, 48, dtype=np.float16), numbers(48, 16, seed=1, dtype=np.float16)
    c = np.zeros((32, 16), np.float32)
    return Case((1, 2), 32, (16, 48, a, b, c), [(c, a.astype(np.float64) @ b.astype(np.float64), 1e-5)])


@case("wmma.cu:wmma_s8")
def wmma_s8():
    rng = np.random.default_rng(0)
    a, b = rng.integers(-128, 128, (16, 64), np.int8), rng.integers(-128, 128, (32, 64), np.int8)
    c = np.zeros((16, 32), np.int32)
    return Case((2, 1), 32, (32, 64, a, b, c), [(c, a.astype(int) @ b.astype(int).T, 0)])


@case("wmma.cu:wmma_f64")
def wmma_f64():
    a, b, c = numbers(8, 16, dtype=np.float64), numbers(16, 16, seed=1, dtype=np.float64), np.zeros((8, 16))
    return Case((2, 1), 32, (16, 16, a, b, c), [(c, a @ b, 1e-14)])


# attention.cu -------------------------------------------------------------------------------------------------------


def attention_of(q, k, v, scale, causal=False):
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    s = q @ k.swapaxes(-1, -2) * scale
    if causal:
        s = np.where(np.tril(np.ones(s.shape[-2:], bool)), s, -np.inf)
    top = s.max(-1, keepdims=True)
    total = np.exp(s - top).sum(-1, keepdims=True)
    return np.exp(s - top) / total @ v, (top + np.log(total))[..., 0]


def _heads(dtype, n=128, heads=2, d=64):
    return [numbers(heads, n, d, seed=k, dtype=dtype) for k in range(3)]


def _attention(dtype, threads, causal, tolerance):
    q, k, v = _heads(dtype)
    o, lse = np.zeros_like(q), np.zeros(q.shape[:2], np.float32)
    want, log = attention_of(q, k, v, 0.125, causal)
    return Case((2, 2), threads, (128, 0.125, q, k, v, o, lse), [(o, want, tolerance), (lse, log, 1e-4)])


@case("attention.cu:attention")
def attention():
    return _attention(np.float16, 128, False, 3e-3)


@case("attention.cu:attention_causal")
def attention_causal():
    return _attention(np.float16, 128, True, 3e-3)


@case("attention.cu:attention_f32")
def attention_f32():
    return _attention(np.float32, 64, False, 1e-4)


def attention_gradients(q, k, v, do, scale):
    q, k, v, do = (x.astype(np.float64) for x in (q, k, v, do))
    s = q @ k.swapaxes(-1, -2) * scale
    p = np.exp(s - s.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    delta = (do * (p @ v)).sum(-1)
    d = p * (do @ v.swapaxes(-1, -2) - delta[..., None]) * scale
    return d @ k, d.swapaxes(-1, -2) @ q, p.swapaxes(-1, -2) @ do, delta


@case("attention.cu:attention_delta")
def attention_delta():
    o, do, delta = numbers(2, 128, 64), numbers(2, 128, 64, seed=1), np.zeros((2, 128), np.float32)
    return Case((2, 2), 64, (128, o, do, delta), [(delta, (o.astype(np.float64) * do).sum(-1), 1e-5)])


def _backward():
    q, k, v = _heads(np.float32)
    do = numbers(2, 128, 64, seed=3)
    gradients = attention_gradients(q, k, v, do, 0.125)
    lse = attention_of(q, k, v, 0.125)[1].astype(np.float32)
    return (128, 0.125, q, k, v, do, lse, gradients[3].astype(np.float32)), gradients


@case("attention.cu:attention_backward_kv")
def attention_backward_kv():
    args, (_, want_k, want_v, _) = _backward()
    dk, dv = np.zeros_like(args[2]), np.zeros_like(args[2])
    return Case((2, 2), 64, (*args, dk, dv), [(dk, want_k, 1e-4), (dv, want_v, 1e-4)])


@case("attention.cu:attention_backward_q")
def attention_backward_q():
    args, (want, *_) = _backward()
    dq = np.zeros_like(args[2])
    return Case((2, 2), 64, (*args, dq), [(dq, want, 1e-4)])
