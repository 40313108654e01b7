"""Kernels that Triton compiled from tests/corpus/triton. Shared memory is more than any of them needs."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from sim.compiled.case import Case, case, numbers
from sim.compiled.cuda_matrices import attention_gradients, attention_of
from sim.compiled.cuda_rows import layer_norm_gradient, layer_norm_of, rms_norm_of, softmax_of

BF16, E4M3, F16 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, np.float16
SMEM = 99 << 10  # what a CTA can have on every chip of the corpus


def _case(name, grid, args, expected, block=128):
    case(f"triton:{name}")(lambda: Case(grid, block, *_made(args, expected), smem_bytes=SMEM))


def _made(args, expected):
    given = args()
    return given, expected(*given)


def _zeros(shape, dtype=np.float32):
    return np.zeros(shape, dtype)


def _add(n, dtype):
    return lambda: (numbers(n, dtype=dtype), numbers(n, seed=1, dtype=dtype), _zeros(n, dtype), n)


_case("add", 2, _add(1500, np.float32), lambda x, y, z, n: [(z, x + y, 0)])
_case("add_aligned", 2, _add(1600, np.float32), lambda x, y, z, n: [(z, x + y, 0)])
_case("add_f16", 2, _add(3001, F16), lambda x, y, z, n: [(z, x + y, 0)])
_case("transpose", (2, 3), lambda: (numbers(48, 80), _zeros((80, 48)), 48, 80), lambda x, y, *_: [(y, x.T, 0)])
_case(
    "quantize",
    2,
    lambda: (numbers(1500), _zeros(1500, E4M3), np.full(1, 0.25, np.float32), 1500),
    lambda x, y, scale, n: [(y, (x / scale).astype(E4M3), 0)],
)


def _erf(x):
    from math import erf

    return np.vectorize(erf)(x)


_case(
    "gelu",
    2,
    lambda: (numbers(700, dtype=BF16), _zeros(700, BF16), 700),
    lambda x, y, n: [(y, (v := x.astype(np.float64)) * 0.5 * (1 + _erf(v / np.sqrt(2))), 4e-3)],
)

_case("softmax", 3, lambda: (numbers(3, 700), _zeros((3, 700)), 700), lambda x, y, n: [(y, softmax_of(x), 1e-5)])
_case(
    "softmax_wide",
    2,
    lambda: (numbers(2, 3008), _zeros((2, 3008)), 3008),
    lambda x, y, n: [(y, softmax_of(x), 1e-5)],
    block=256,
)


def _expected_layer_norm(x, gain, bias, y, mean, scale, *_):
    want = layer_norm_of(x, gain, bias)
    return [(y, want[0], 2e-3), (mean, want[1], 1e-4), (scale, want[2], 1e-5)]


_case(
    "layer_norm",
    3,
    lambda: (
        numbers(3, 700, dtype=F16),
        numbers(700, seed=1),
        numbers(700, seed=2),
        _zeros((3, 700), F16),
        _zeros(3),
        _zeros(3),
        700,
        1e-5,
    ),
    _expected_layer_norm,
)


def _layer_norm_backward():
    x = numbers(3, 400, seed=1)
    scale = (1 / x.std(1)).astype(np.float32)
    return numbers(3, 400), x, numbers(400, seed=2), x.mean(1), scale, _zeros((3, 400)), 400


_case(
    "layer_norm_backward",
    3,
    _layer_norm_backward,
    lambda dy, x, gain, mean, scale, dx, n: [(dx, layer_norm_gradient(dy, x, gain, mean, scale), 1e-5)],
)
_case(
    "rms_norm",
    3,
    lambda: (numbers(3, 1600, dtype=BF16), numbers(1600, seed=1), _zeros((3, 1600), BF16), 1600, 1e-5),
    lambda x, gain, y, *_: [(y, rms_norm_of(x, gain), 4e-3)],
)
_case(
    "cumulative",
    3,
    lambda: (np.arange(1200, dtype=np.int32).reshape(3, 400) % 17, _zeros((3, 400), np.int32), 400),
    lambda x, y, n: [(y, x.cumsum(1), 0)],
)
_case(
    "argmax",
    3,
    lambda: (numbers(3, 200), _zeros(3), _zeros(3, np.int32), 200),
    lambda x, v, p, n: [(v, x.max(1), 0), (p, x.argmax(1), 0)],
)
_case(
    "sort",
    3,
    lambda: (np.random.default_rng(0).integers(-99, 99, 192).astype(np.int32), _zeros(192, np.int32)),
    lambda x, y: [(y, np.sort(x.reshape(3, 64), 1).reshape(-1), 0)],
    block=32,
)
_case(
    "histogram",
    2,
    lambda: (np.random.default_rng(0).integers(0, 64, 1024, np.int32), _zeros(64, np.int32), 1024),
    lambda x, bins, n: [(bins, np.bincount(x, minlength=64), 0)],
)
_case(
    "cross_entropy",
    3,
    lambda: (numbers(3, 1200), np.array([0, 500, 1199], np.int32), _zeros(3), 1200),
    lambda x, labels, losses, n: [(losses, -np.log(softmax_of(x)[np.arange(3), labels]), 1e-5)],
)


def _matmul(name, dtype, out, tolerance, tile=(64, 64), sizes=(128, 64, 96), block=128):
    m, n, k = sizes
    _case(
        name,
        (n // tile[1], m // tile[0]),
        lambda: (numbers(m, k, dtype=dtype), numbers(k, n, seed=1, dtype=dtype), _zeros((m, n), out), m, n, k),
        lambda a, b, c, *_: [(c, a.astype(np.float64) @ b.astype(np.float64), tolerance)],
        block,
    )


_matmul("matmul_f16", F16, F16, 1e-3)
_matmul("matmul_bf16", BF16, np.float32, 1e-5)
_matmul("matmul_tf32", np.float32, np.float32, 2e-3)
_matmul("matmul_fp8", E4M3, F16, 1e-3, sizes=(128, 64, 128))
_matmul("matmul_map", F16, F16, 1e-3, tile=(128, 64), sizes=(256, 128, 192))
_matmul("matmul_map_wide", BF16, BF16, 8e-3, tile=(128, 128), sizes=(128, 256, 128), block=256)
_case(
    "matmul_s8",
    (2, 1),
    lambda: (
        np.random.default_rng(0).integers(-99, 99, (64, 96), np.int8),
        np.random.default_rng(1).integers(-99, 99, (128, 96), np.int8),
        _zeros((64, 128), np.int32),
        128,
        96,
    ),
    lambda a, b, c, *_: [(c, a.astype(int) @ b.astype(int).T, 0)],
)
_case(
    "split_k",
    (1, 1, 3),
    lambda: (numbers(64, 192, dtype=F16), numbers(192, 64, seed=1, dtype=F16), _zeros((64, 64)), 64, 192, 64),
    lambda a, b, c, *_: [(c, a.astype(np.float64) @ b.astype(np.float64), 1e-5)],
)


def _attention():
    q, k, v = (numbers(2, 128, 64, seed=i, dtype=F16) for i in range(3))
    return q, k, v, _zeros((2, 128, 64), F16), _zeros((2, 128)), 128, 0.125


def _expected_attention(causal):
    def expected(q, k, v, o, lse, n, scale):
        want, log = attention_of(q, k, v, scale, causal)
        return [(o, want, 3e-3), (lse, log, 1e-4)]

    return expected


_case("attention", (2, 2), _attention, _expected_attention(False))
_case("attention_causal", (2, 2), _attention, _expected_attention(True))
_case(
    "attention_delta",
    2,
    lambda: (numbers(64, 64, dtype=F16), numbers(64, 64, seed=1, dtype=F16), _zeros(64)),
    lambda o, do, out: [(out, (o.astype(np.float64) * do).sum(1), 1e-5)],
)


def _backward():
    q, k, v, do = (numbers(2, 64, 32, seed=i, dtype=F16) for i in range(4))
    lse, delta = attention_of(q, k, v, 0.125)[1], attention_gradients(q, k, v, do, 0.125)[3]
    return (
        q,
        k,
        v,
        do,
        lse.astype(np.float32),
        delta.astype(np.float32),
        _zeros((2, 64, 32)),
        _zeros((2, 64, 32)),
        64,
        0.125,
    )


def _expected_backward(q, k, v, do, lse, delta, dk, dv, *_):
    _, want_k, want_v, _ = attention_gradients(q, k, v, do, 0.125)
    return [(dk, want_k, 3e-3), (dv, want_v, 3e-3)]


_case("attention_backward_kv", (2, 2), _backward, _expected_backward)
