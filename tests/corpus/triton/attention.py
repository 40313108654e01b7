"""Flash attention: heads of D columns, rows contiguous, n a multiple of the blocks; grid (n / BM, heads)."""

import triton
import triton.language as tl


@triton.jit
def forward(q, k, v, o, lse, n, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr):
    block, head = tl.program_id(0), tl.program_id(1) * n
    rows, columns = block * BM + tl.arange(0, BM), tl.arange(0, D)
    x = tl.load(q + (head + rows[:, None]) * D + columns[None, :])
    top = tl.full([BM], -float("inf"), tl.float32)
    sums = tl.zeros([BM], tl.float32)
    total = tl.zeros([BM, D], tl.float32)
    for start in range(0, (block + 1) * BM if CAUSAL else n, BN):
        others = start + tl.arange(0, BN)
        s = tl.dot(x, tl.trans(tl.load(k + (head + others[:, None]) * D + columns[None, :]))) * (scale * 1.44269504)
        if CAUSAL:
            s = tl.where(rows[:, None] >= others[None, :], s, -float("inf"))
        higher = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - higher[:, None])
        less = tl.exp2(top - higher)
        sums = sums * less + tl.sum(p, 1)
        y = tl.load(v + (head + others[:, None]) * D + columns[None, :])
        total = tl.dot(p.to(y.dtype), y, total * less[:, None])
        top = higher
    out = total / sums[:, None]
    tl.store(o + (head + rows[:, None]) * D + columns[None, :], out.to(o.dtype.element_ty))
    tl.store(lse + head + rows, (top + tl.log2(sums)) * 0.6931471805599453)


@triton.jit
def backward_kv(q, k, v, do, lse, delta, dk, dv, n, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(1) * n
    rows, columns = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    x = tl.load(k + (head + rows[:, None]) * D + columns[None, :])
    y = tl.load(v + (head + rows[:, None]) * D + columns[None, :])
    gk, gv = tl.zeros([BM, D], tl.float32), tl.zeros([BM, D], tl.float32)
    for start in range(0, n, BN):
        others = start + tl.arange(0, BN)
        at = (head + others[:, None]) * D + columns[None, :]
        u, g = tl.load(q + at), tl.load(do + at)
        p = tl.exp(tl.dot(x, tl.trans(u)) * scale - tl.load(lse + head + others)[None, :])
        gv = tl.dot(p.to(g.dtype), g, gv)
        d = p * (tl.dot(y, tl.trans(g)) - tl.load(delta + head + others)[None, :]) * scale
        gk = tl.dot(d.to(u.dtype), u, gk)
    tl.store(dk + (head + rows[:, None]) * D + columns[None, :], gk)
    tl.store(dv + (head + rows[:, None]) * D + columns[None, :], gv)


@triton.jit
def delta(o, do, out, D: tl.constexpr, BM: tl.constexpr):
    rows, columns = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    at = rows[:, None] * D + columns[None, :]
    tl.store(out + rows, tl.sum(tl.load(o + at).to(tl.float32) * tl.load(do + at).to(tl.float32), 1))


BLOCKS = {"BM": 64, "BN": 32, "D": 64}
POINTERS = "*fp16:16 *fp16:16 *fp16:16 *fp16:16"
CASES = {
    "attention": (forward, f"{POINTERS} *fp32:16 i32:16 fp32", BLOCKS | {"CAUSAL": False}, {"num_stages": 2}),
    "attention_causal": (forward, f"{POINTERS} *fp32:16 i32:16 fp32", BLOCKS | {"CAUSAL": True}, {"num_stages": 2}),
    "attention_backward_kv": (
        backward_kv,
        f"{POINTERS} *fp32:16 *fp32:16 *fp32:16 *fp32:16 i32:16 fp32",
        {"BM": 32, "BN": 32, "D": 32},
        {"num_stages": 1},
    ),
    "attention_delta": (delta, "*fp16:16 *fp16:16 *fp32:16", {"D": 64, "BM": 32}, {}),
}
