"""Row kernels of the attention backward pass, delta = rowsum(dO * O) and rounding of dQ, and the reference."""

from __future__ import annotations

import numpy as np

from examples import scores
from examples.vectors import load, moved, store, wide
from pyptx import Tile, kernel, ptx, reg
from pyptx.kernel import Kernel
from pyptx.types import PtxType, f32, u32

__all__ = ["reference", "rounded_of", "row_products_of"]

THREADS = 128
VECTOR = 4  # numbers a thread rounds


def row_products(o, d_o, delta):
    """Compute delta (B x H x SP, f32), the row sums of O * dO (B x H x S x D), 0 from S on; one warp per row."""
    (H, S, D), SP = o.shape[1:], delta.shape[2]
    tid = reg.from_(ptx.special.tid.x(), u32)
    row, lane = reg.from_(ptx.special.ctaid.x(), u32) * (THREADS // 32) + (tid >> 5), tid & 31
    head = reg.from_(ptx.special.ctaid.z(), u32) * H + reg.from_(ptx.special.ctaid.y(), u32)
    from_o, from_d, to = ptx.global_ptrs(o, d_o, delta)
    count = D // 32  # numbers of a lane
    halves = [
        load(start + wide(head, S * D * 2) + wide(row, D * 2) + wide(lane, count * 2), count, o.dtype, row < S)
        for start in (from_o, from_d)
    ]
    total = reg.scalar(f32, 0.0)
    for left, right in zip(*halves, strict=True):
        ptx.inst.fma.rn.f32(total, left, right, total)
    ptx.warp.reduce_sum(total)
    ptx.inst.st.global_.f32(ptx.addr(to + wide(head, SP * 4) + wide(row, 4)), total, pred=lane == 0)


def rounded(sums, d_q, *, SCALE=None):
    """Compute dQ = SCALE * sums (f32), both B x H x S x D; SCALE defaults to 1 / sqrt(D)."""
    H, S, D = d_q.shape[1:]
    factor = scores.scale_of("rounded_queries", D, SCALE)
    at = (reg.from_(ptx.special.ctaid.x(), u32) * THREADS + reg.from_(ptx.special.tid.x(), u32)) * VECTOR
    head = reg.from_(ptx.special.ctaid.z(), u32) * H + reg.from_(ptx.special.ctaid.y(), u32)
    guard = at < S * D if S * D % (THREADS * VECTOR) else None
    from_sums, to = ptx.global_ptrs(sums, d_q)
    from_sums, to = moved(from_sums + wide(head, S * D * 4), at, 4), moved(to + wide(head, S * D * 2), at, 2)
    values = load(from_sums, VECTOR, f32, guard)
    for value in values:
        ptx.inst.mul.f32(value, value, factor)
    store(to, values, d_q.dtype, guard)


def row_products_of(dtype: PtxType) -> Kernel:
    """Return the kernel for delta, for O and dO of `dtype` (bf16 or f16)."""
    tile = Tile("B", "H", "S", "D", dtype)
    return kernel(
        row_products,
        arch="sm_80",
        in_specs=[tile, tile],
        out_specs=[Tile("B", "H", "SP", f32)],
        grid=lambda B, H, SP: (SP // (THREADS // 32), H, B),
        block=(THREADS, 1, 1),
        reqntid=(THREADS, 1, 1),
    )


def rounded_of(dtype: PtxType) -> Kernel:
    """Return the kernel that makes dQ of `dtype` (bf16 or f16) of its sums."""
    return kernel(
        rounded,
        name="rounded_queries",
        arch="sm_80",
        in_specs=[Tile("B", "H", "S", "D", f32)],
        out_specs=[Tile("B", "H", "S", "D", dtype)],
        grid=lambda B, H, S, D: (-(-S * D // (THREADS * VECTOR)), H, B),
        block=(THREADS, 1, 1),
        reqntid=(THREADS, 1, 1),
    )


def reference(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, d_o: np.ndarray, causal: bool = False, scale: float | None = None
) -> list[np.ndarray]:
    """Return o, d_q, d_k and d_v in NumPy, in f32."""
    o = scores.reference(q, k, v, causal, scale)
    q, k, v, d_o = (x.astype(np.float32) for x in (q, k, v, d_o))
    factor = np.float32(scores.scale_of("reference", q.shape[3], scale))
    weights = q @ k.swapaxes(2, 3) * factor
    if causal:
        weights = np.where(np.tri(*weights.shape[2:], dtype=bool), weights, -np.inf)
    weights = np.exp(weights - weights.max(axis=3, keepdims=True))
    weights /= weights.sum(axis=3, keepdims=True)
    changes = weights * (d_o @ v.swapaxes(2, 3) - (o * d_o).sum(axis=3, keepdims=True)) * factor
    return [o, changes @ k, changes.swapaxes(2, 3) @ q, weights.swapaxes(2, 3) @ d_o]
