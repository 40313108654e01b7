"""Fused attention, forward and backward, and decoding with a split along the keys."""

import triton
import triton.language as tl


@triton.jit
def forward(
    q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, scale, T,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """Online softmax over blocks of keys; q, k, v, o are (heads, T, D)."""
    head = tl.program_id(1) * T * D
    m, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    q = tl.load(q_ptr + head + m[:, None] * D + d[None, :])
    acc = tl.zeros((BM, D), tl.float32)
    largest, total = tl.full((BM,), float("-inf"), tl.float32), tl.zeros((BM,), tl.float32)
    last = (tl.program_id(0) + 1) * BM if CAUSAL else T
    for start in range(0, last, BN):
        n = start + tl.arange(0, BN)
        k = tl.load(k_ptr + head + n[:, None] * D + d[None, :])
        s = tl.dot(q, k.T) * (scale * 1.44269504)
        if CAUSAL:
            s = tl.where(m[:, None] >= n[None, :], s, float("-inf"))
        new = tl.maximum(largest, tl.max(s, axis=1))
        p, shrink = tl.exp2(s - new[:, None]), tl.exp2(largest - new)
        total = total * shrink + tl.sum(p, axis=1)
        v = tl.load(v_ptr + head + n[:, None] * D + d[None, :])
        acc = tl.dot(p.to(v.dtype), v, acc * shrink[:, None])
        largest = new
    tl.store(o_ptr + head + m[:, None] * D + d[None, :], (acc / total[:, None]).to(o_ptr.dtype.element_ty))
    tl.store(lse_ptr + tl.program_id(1) * T + m, largest + tl.log2(total))


@triton.jit
def backward_rows(o_ptr, do_ptr, delta_ptr, T, D: tl.constexpr, BM: tl.constexpr):
    """delta = sum of o * do along a row."""
    m, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    at = tl.program_id(1) * T * D + m[:, None] * D + d[None, :]
    product = tl.load(o_ptr + at).to(tl.float32) * tl.load(do_ptr + at).to(tl.float32)
    tl.store(delta_ptr + tl.program_id(1) * T + m, tl.sum(product, axis=1))


@triton.jit
def backward(
    q_ptr, k_ptr, v_ptr, do_ptr, lse_ptr, delta_ptr, dq_ptr, dk_ptr, dv_ptr, scale, T,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """Each program owns a block of keys; dq is summed with atomics."""
    head, d = tl.program_id(1) * T * D, tl.arange(0, D)
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    at_n = head + n[:, None] * D + d[None, :]
    k, v = tl.load(k_ptr + at_n), tl.load(v_ptr + at_n)
    dk, dv = tl.zeros((BN, D), tl.float32), tl.zeros((BN, D), tl.float32)
    first = tl.program_id(0) * BN // BM * BM if CAUSAL else 0
    for start in range(first, T, BM):
        m = start + tl.arange(0, BM)
        at_m = head + m[:, None] * D + d[None, :]
        q, do = tl.load(q_ptr + at_m), tl.load(do_ptr + at_m)
        lse, delta = tl.load(lse_ptr + tl.program_id(1) * T + m), tl.load(delta_ptr + tl.program_id(1) * T + m)
        p = tl.exp2(tl.dot(q, k.T) * (scale * 1.44269504) - lse[:, None])
        if CAUSAL:
            p = tl.where(m[:, None] >= n[None, :], p, 0.0)
        dv = tl.dot(p.to(do.dtype).T, do, dv)
        ds = (p * (tl.dot(do, v.T) - delta[:, None])).to(q.dtype)
        dk = tl.dot(ds.T, q, dk)
        tl.atomic_add(dq_ptr + at_m, tl.dot(ds, k) * scale)
    tl.store(dk_ptr + at_n, dk * scale)
    tl.store(dv_ptr + at_n, dv)


@triton.jit
def forward_specialized(
    q, k, v, o, scale, T, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, SPECIALIZE: tl.constexpr
):
    """Forward with tensor descriptors of (heads * T, D); the loop over keys is optionally warp-specialized."""
    row = tl.program_id(1) * T
    block = q.load([row + tl.program_id(0) * BM, 0])
    acc = tl.zeros((BM, D), tl.float32)
    largest, total = tl.full((BM,), float("-inf"), tl.float32), tl.zeros((BM,), tl.float32)
    for start in tl.range(0, T, BN, warp_specialize=SPECIALIZE):
        s = tl.dot(block, k.load([row + start, 0]).T) * (scale * 1.44269504)
        new = tl.maximum(largest, tl.max(s, axis=1))
        p, shrink = tl.exp2(s - new[:, None]), tl.exp2(largest - new)
        total = total * shrink + tl.sum(p, axis=1)
        acc = tl.dot(p.to(v.dtype), v.load([row + start, 0]), acc * shrink[:, None])
        largest = new
    o.store([row + tl.program_id(0) * BM, 0], (acc / total[:, None]).to(o.dtype))


@triton.jit
def decode_part(
    q_ptr, k_ptr, v_ptr, parts_ptr, lse_ptr, scale, T, D: tl.constexpr, BN: tl.constexpr, SPLIT: tl.constexpr
):
    """One query against a part of the keys."""
    head, part = tl.program_id(0), tl.program_id(1)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + head * D + d).to(tl.float32)
    acc, largest, total = tl.zeros((D,), tl.float32), float("-inf"), 0.0
    for start in range(part * (T // SPLIT), (part + 1) * (T // SPLIT), BN):
        n = start + tl.arange(0, BN)
        at = head * T * D + n[:, None] * D + d[None, :]
        s = tl.sum(tl.load(k_ptr + at).to(tl.float32) * q[None, :], axis=1) * scale
        new = tl.maximum(largest, tl.max(s, axis=0))
        p, shrink = tl.exp(s - new), tl.exp(largest - new)
        acc = acc * shrink + tl.sum(p[:, None] * tl.load(v_ptr + at).to(tl.float32), axis=0)
        total, largest = total * shrink + tl.sum(p, axis=0), new
    tl.store(parts_ptr + (head * SPLIT + part) * D + d, acc / total)
    tl.store(lse_ptr + head * SPLIT + part, largest + tl.log(total))


@triton.jit
def decode_combined(parts_ptr, lse_ptr, o_ptr, D: tl.constexpr, SPLIT: tl.constexpr):
    head, d, s = tl.program_id(0), tl.arange(0, D), tl.arange(0, SPLIT)
    lse = tl.load(lse_ptr + head * SPLIT + s)
    weight = tl.exp(lse - tl.max(lse, axis=0))
    parts = tl.load(parts_ptr + (head * SPLIT + s)[:, None] * D + d[None, :])
    tl.store(o_ptr + head * D + d, tl.sum(parts * weight[:, None], axis=0) / tl.sum(weight, axis=0))
