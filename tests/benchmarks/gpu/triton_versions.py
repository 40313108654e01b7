"""The same problems in idiomatic Triton, for comparison; imported where triton is installed."""

import torch
import triton
import triton.language as tl

__all__ = ["VERSIONS"]


@triton.jit
def _add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, i < n).to(tl.float32) + tl.load(y + i, i < n).to(tl.float32), i < n)


def add(x, y):
    out = torch.empty_like(x)
    _add[(triton.cdiv(x.numel(), 4096),)](x, y, out, x.numel(), BLOCK=4096, num_warps=8)
    return out


@triton.jit
def _swiglu(gate, up, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    g = tl.load(gate + i, i < n).to(tl.float32)
    tl.store(out + i, g * tl.sigmoid(g) * tl.load(up + i, i < n), i < n)


def swiglu(gate, up):
    out = torch.empty_like(gate)
    _swiglu[(triton.cdiv(gate.numel(), 4096),)](gate, up, out, gate.numel(), BLOCK=4096, num_warps=8)
    return out


@triton.jit
def _softmax(x, out, n, BLOCK: tl.constexpr):
    row, i = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
    values = tl.load(x + row * n + i, i < n, float("-inf")).to(tl.float32)
    weights = tl.exp(values - tl.max(values, 0))
    tl.store(out + row * n + i, weights / tl.sum(weights, 0), i < n)


def softmax(x):
    out = torch.empty_like(x)
    block = triton.next_power_of_2(x.shape[1])
    _softmax[(x.shape[0],)](x, out, x.shape[1], BLOCK=block, num_warps=min(32, max(4, block // 1024)))
    return out


@triton.jit
def _layer_norm(x, weight, bias, out, n, BLOCK: tl.constexpr):
    row, i = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
    values = tl.load(x + row * n + i, i < n, 0.0).to(tl.float32)
    centred = tl.where(i < n, values - tl.sum(values, 0) / n, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, 0) / n + 1e-5)
    tl.store(out + row * n + i, centred * scale * tl.load(weight + i, i < n) + tl.load(bias + i, i < n), i < n)


def layer_norm(x, weight, bias):
    out = torch.empty_like(x)
    block = triton.next_power_of_2(x.shape[1])
    _layer_norm[(x.shape[0],)](x, weight, bias, out, x.shape[1], BLOCK=block, num_warps=min(32, max(4, block // 1024)))
    return out


@triton.jit
def _rms_norm(x, weight, out, n, BLOCK: tl.constexpr):
    row, i = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
    values = tl.load(x + row * n + i, i < n, 0.0).to(tl.float32)
    scale = 1 / tl.sqrt(tl.sum(values * values, 0) / n + 1e-6)
    tl.store(out + row * n + i, values * scale * tl.load(weight + i, i < n), i < n)


def rms_norm(x, weight):
    out = torch.empty_like(x)
    block = triton.next_power_of_2(x.shape[1])
    _rms_norm[(x.shape[0],)](x, weight, out, x.shape[1], BLOCK=block, num_warps=min(32, max(4, block // 1024)))
    return out


@triton.jit
def _cross_entropy(x, targets, out, n, BLOCK: tl.constexpr):
    row, i = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
    values = tl.load(x + row * n + i, i < n, float("-inf")).to(tl.float32)
    chosen = tl.load(x + row * n + tl.load(targets + row)).to(tl.float32)
    largest = tl.max(values, 0)
    tl.store(out + row, tl.log(tl.sum(tl.exp(values - largest), 0)) + largest - chosen)


def cross_entropy(x, targets):
    out = torch.empty(x.shape[0], dtype=torch.float32, device=x.device)
    block = triton.next_power_of_2(x.shape[1])
    _cross_entropy[(x.shape[0],)](x, targets, out, x.shape[1], BLOCK=block, num_warps=min(32, max(4, block // 1024)))
    return out


@triton.jit
def _gemm(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    tile, down, across = tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN)
    first = tile // (GROUP * across) * GROUP
    high = min(down - first, GROUP)
    row = (first + tile % (GROUP * across) % high) * BM + tl.arange(0, BM)
    column = tile % (GROUP * across) // high * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        left = tl.load(a + row[:, None] * K + k[None, :], (row[:, None] < M) & (k[None, :] < K), 0.0)
        right = tl.load(b + k[:, None] * N + column[None, :], (k[:, None] < K) & (column[None, :] < N), 0.0)
        total = tl.dot(left, right, total)
    tl.store(c + row[:, None] * N + column[None, :], total, (row[:, None] < M) & (column[None, :] < N))


def gemm(a, b):
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    _gemm[(triton.cdiv(m, 128) * triton.cdiv(n, 256),)](
        a, b, c, m, n, k, BM=128, BN=256, BK=64, GROUP=8, num_warps=8, num_stages=3
    )
    return c


VERSIONS = {
    "vector_add": add,
    "swiglu": swiglu,
    "softmax": softmax,
    "rms_norm": rms_norm,
    "layer_norm": layer_norm,
    "cross_entropy": cross_entropy,
    "gemm": gemm,
}
