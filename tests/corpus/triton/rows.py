"""Reductions, norms and scans of rows: one program a row of at most BLOCK columns."""

import triton
import triton.language as tl


@triton.jit
def softmax(x, y, columns, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * columns + i, mask=i < columns, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + row * columns + i, e / tl.sum(e, 0), mask=i < columns)


@triton.jit
def layer_norm(x, gain, bias, y, mean, scale, columns, eps, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    inside = i < columns
    v = tl.load(x + row * columns + i, mask=inside, other=0.0).to(tl.float32)
    m = tl.sum(v, 0) / columns
    d = tl.where(inside, v - m, 0.0)
    s = tl.rsqrt(tl.sum(d * d, 0) / columns + eps)
    out = d * s * tl.load(gain + i, mask=inside) + tl.load(bias + i, mask=inside)
    tl.store(y + row * columns + i, out.to(y.dtype.element_ty), mask=inside)
    tl.store(mean + row, m)
    tl.store(scale + row, s)


@triton.jit
def layer_norm_backward(dy, x, gain, mean, scale, dx, columns, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    inside = i < columns
    at = row * columns + i
    m, s = tl.load(mean + row), tl.load(scale + row)
    g = tl.load(dy + at, mask=inside, other=0.0) * tl.load(gain + i, mask=inside, other=0.0)
    h = tl.where(inside, (tl.load(x + at, mask=inside, other=0.0) - m) * s, 0.0)
    a, b = tl.sum(g, 0) / columns, tl.sum(g * h, 0) / columns
    tl.store(dx + at, (g - a - h * b) * s, mask=inside)


@triton.jit
def rms_norm(x, gain, y, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        i = start + tl.arange(0, BLOCK)
        v = tl.load(x + row * columns + i, mask=i < columns, other=0.0).to(tl.float32)
        squares += v * v
    s = tl.rsqrt(tl.sum(squares, 0) / columns + eps)
    for start in range(0, columns, BLOCK):
        i = start + tl.arange(0, BLOCK)
        v = tl.load(x + row * columns + i, mask=i < columns, other=0.0).to(tl.float32)
        out = v * s * tl.load(gain + i, mask=i < columns)
        tl.store(y + row * columns + i, out.to(y.dtype.element_ty), mask=i < columns)


@triton.jit
def cumulative(x, y, columns, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * columns + i, mask=i < columns, other=0)
    tl.store(y + row * columns + i, tl.cumsum(v, 0), mask=i < columns)


@triton.jit
def larger(a, i, b, j):
    take = (b > a) | ((a == b) & (j < i))
    return tl.where(take, b, a), tl.where(take, j, i)


@triton.jit
def argmax(x, values, places, columns, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * columns + i, mask=i < columns, other=-float("inf"))
    value, place = tl.reduce((v, i), 0, larger)
    tl.store(values + row, value)
    tl.store(places + row, place)


@triton.jit
def sort(x, y, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.sort(tl.load(x + at)))


@triton.jit
def histogram(x, bins, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    counts = tl.histogram(tl.load(x + i, mask=i < n, other=0), BINS)
    tl.atomic_add(bins + tl.arange(0, BINS), counts)


@triton.jit
def cross_entropy(logits, labels, losses, columns, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    label = tl.load(labels + row)
    top, total = -float("inf"), 0.0
    for start in range(0, columns, BLOCK):
        v = tl.load(logits + row * columns + start + i, mask=start + i < columns, other=-float("inf"))
        higher = tl.maximum(top, tl.max(v, 0))
        total = total * tl.exp(top - higher) + tl.sum(tl.exp(v - higher), 0)
        top = higher
    tl.store(losses + row, tl.log(total) + top - tl.load(logits + row * columns + label))


CASES = {
    "softmax": (softmax, "*fp32:16 *fp32:16 i32", {"BLOCK": 1024}, {}),
    "softmax_wide": (softmax, "*fp32:16 *fp32:16 i32:16", {"BLOCK": 4096}, {"num_warps": 8}),
    "softmax_spread": (softmax, "*fp32:16 *fp32:16 i32:16", {"BLOCK": 4096}, {"num_ctas": 4, "above": 90, "below": 90}),
    "sort_spread": (sort, "*i32 *i32", {"BLOCK": 64}, {"num_warps": 1, "num_ctas": 2, "above": 90, "below": 90}),
    "layer_norm": (layer_norm, "*fp16:16 *fp32:16 *fp32:16 *fp16:16 *fp32 *fp32 i32 fp32", {"BLOCK": 1024}, {}),
    "layer_norm_backward": (layer_norm_backward, "*fp32 *fp32 *fp32 *fp32 *fp32 *fp32 i32", {"BLOCK": 512}, {}),
    "rms_norm": (rms_norm, "*bf16:16 *fp32:16 *bf16:16 i32:16 fp32", {"BLOCK": 1024}, {}),
    "cumulative": (cumulative, "*i32 *i32 i32", {"BLOCK": 512}, {}),
    "argmax": (argmax, "*fp32 *fp32 *i32 i32", {"BLOCK": 256}, {}),
    "sort": (sort, "*i32 *i32", {"BLOCK": 64}, {"num_warps": 1}),
    "histogram": (histogram, "*i32 *i32 i32", {"BLOCK": 512, "BINS": 64}, {}),
    "cross_entropy": (cross_entropy, "*fp32 *i32 *fp32 i32", {"BLOCK": 512}, {}),
}
