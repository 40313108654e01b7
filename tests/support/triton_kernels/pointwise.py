"""Elementwise kernels, reductions along rows, scans, sorts, and histograms."""

import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def gelu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n).to(tl.float32)
    y = 0.5 * x * (1 + libdevice.erf(x * 0.7071067811865476))
    tl.store(y_ptr + at, y.to(y_ptr.dtype.element_ty), mask=at < n)


@triton.jit
def dropout(x_ptr, y_ptr, n, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, at) > p
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(y_ptr + at, tl.where(keep, x / (1 - p), 0.0), mask=at < n)


@triton.jit
def softmax(x_ptr, y_ptr, x_stride, y_stride, rows, columns, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=STAGES):
        at = tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x_stride + at, mask=at < columns, other=float("-inf"))
        e = tl.exp(x - tl.max(x, axis=0))
        tl.store(y_ptr + row * y_stride + at, e / tl.sum(e, axis=0), mask=at < columns)


@triton.jit
def layer_norm_forward(x_ptr, y_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, stride, columns, eps, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    inside = at < columns
    x = tl.load(x_ptr + row * stride + at, mask=inside, other=0.0)
    mean = tl.sum(x, axis=0) / columns
    centered = tl.where(inside, x - mean, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(centered * centered, axis=0) / columns + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    w, b = tl.load(w_ptr + at, mask=inside), tl.load(b_ptr + at, mask=inside)
    tl.store(y_ptr + row * stride + at, centered * rstd * w + b, mask=inside)


@triton.jit
def layer_norm_backward(
    dy_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, dx_ptr, dw_ptr, db_ptr, stride, columns, BLOCK: tl.constexpr
):
    """The weight gradients of all rows are summed with atomics."""
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    inside = at < columns
    dy = tl.load(dy_ptr + row * stride + at, mask=inside, other=0.0)
    x = tl.load(x_ptr + row * stride + at, mask=inside, other=0.0)
    w = tl.load(w_ptr + at, mask=inside, other=0.0)
    mean, rstd = tl.load(mean_ptr + row), tl.load(rstd_ptr + row)
    normed = tl.where(inside, (x - mean) * rstd, 0.0)
    scaled = w * dy
    c1 = tl.sum(normed * scaled, axis=0) / columns
    c2 = tl.sum(scaled, axis=0) / columns
    tl.store(dx_ptr + row * stride + at, (scaled - (normed * c1 + c2)) * rstd, mask=inside)
    tl.atomic_add(dw_ptr + at, dy * normed, mask=inside)
    tl.atomic_add(db_ptr + at, dy, mask=inside)


@triton.jit
def add_pairs(a, b):
    return a + b


@triton.jit
def scan_rows(x_ptr, y_ptr, columns: tl.constexpr, REVERSE: tl.constexpr):
    at = tl.program_id(0) * columns + tl.arange(0, columns)
    tl.store(y_ptr + at, tl.associative_scan(tl.load(x_ptr + at), 0, add_pairs, reverse=REVERSE))


@triton.jit
def linear_recurrence(a, b, c, d):
    return a * c, b * c + d


@triton.jit
def scan_recurrence(gate_ptr, x_ptr, y_ptr, columns: tl.constexpr):
    at = tl.program_id(0) * columns + tl.arange(0, columns)
    _, y = tl.associative_scan((tl.load(gate_ptr + at), tl.load(x_ptr + at)), 0, linear_recurrence)
    tl.store(y_ptr + at, y)


@triton.jit
def sort_rows(x_ptr, y_ptr, columns: tl.constexpr, DESCENDING: tl.constexpr):
    at = tl.program_id(0) * columns + tl.arange(0, columns)
    tl.store(y_ptr + at, tl.sort(tl.load(x_ptr + at), descending=DESCENDING))


@triton.jit
def histogram(x_ptr, counts_ptr, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0)
    counts = tl.histogram(x, BINS, mask=at < n)
    tl.atomic_add(counts_ptr + tl.arange(0, BINS), counts)


@triton.jit
def sum_to_one(x_ptr, total_ptr, arrived_ptr, parts_ptr, n, BLOCK: tl.constexpr, PROGRAMS: tl.constexpr):
    """Each program writes a part; the last one to arrive adds them in order, so that the result repeats."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(parts_ptr + tl.program_id(0), tl.sum(tl.load(x_ptr + at, mask=at < n, other=0.0), axis=0))
    tl.debug_barrier()
    if tl.atomic_add(arrived_ptr, 1, sem="acq_rel") == PROGRAMS - 1:
        tl.debug_barrier()
        tl.store(total_ptr, tl.sum(tl.load(parts_ptr + tl.arange(0, PROGRAMS), volatile=True), axis=0))


@triton.jit
def spin_lock_sum(x_ptr, total_ptr, lock_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    part = tl.sum(tl.load(x_ptr + at, mask=at < n, other=0), axis=0)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    total = tl.load(total_ptr)  # by every warp
    tl.debug_barrier()
    tl.store(total_ptr, total + part)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


@triton.jit
def transpose(x_ptr, y_ptr, M, N, BLOCK: tl.constexpr):
    m = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    n = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = (m < M)[:, None] & (n < N)[None, :]
    x = tl.load(x_ptr + m[:, None] * N + n[None, :], mask=inside)
    tl.store(y_ptr + n[:, None] * M + m[None, :], tl.trans(x), mask=tl.trans(inside))


@triton.jit
def cross_entropy(logits_ptr, labels_ptr, loss_ptr, stride, columns, BLOCK: tl.constexpr):
    """Streams over a row in blocks with a running maximum and sum."""
    row = tl.program_id(0)
    largest, total = float("-inf"), 0.0
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + row * stride + at, mask=at < columns, other=float("-inf")).to(tl.float32)
        new = tl.maximum(largest, tl.max(x, axis=0))
        total = total * tl.exp(largest - new) + tl.sum(tl.exp(x - new), axis=0)
        largest = new
    chosen = tl.load(logits_ptr + row * stride + tl.load(labels_ptr + row)).to(tl.float32)
    tl.store(loss_ptr + row, largest + tl.log(total) - chosen)


@triton.jit
def gather_rows(table_ptr, index_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    source = tl.load(index_ptr + row)
    tl.store(
        y_ptr + row * columns + at, tl.load(table_ptr + source * columns + at, mask=at < columns), mask=at < columns
    )
