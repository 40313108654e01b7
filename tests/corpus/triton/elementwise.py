"""Elementwise kernels: one program a block of BLOCK elements."""

import triton
import triton.language as tl


@triton.jit
def add(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(z + i, tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside), mask=inside)


@triton.jit
def gelu(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0).to(tl.float32)
    y_value = v * 0.5 * (1.0 + tl.math.erf(v * 0.7071067811865476))
    tl.store(y + i, y_value.to(y.dtype.element_ty), mask=i < n)


@triton.jit
def dropout(x, y, n, seed, keep, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(y + i, tl.where(tl.rand(seed, i) < keep, v / keep, 0.0), mask=i < n)


@triton.jit
def quantize(x, y, scale, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0) / tl.load(scale)
    tl.store(y + i, v.to(y.dtype.element_ty), mask=i < n)


@triton.jit
def transpose(x, y, rows, columns, BLOCK: tl.constexpr):
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = (r[:, None] < rows) & (c[None, :] < columns)
    v = tl.load(x + r[:, None] * columns + c[None, :], mask=inside)
    tl.store(y + c[:, None] * rows + r[None, :], tl.trans(v), mask=tl.trans(inside))


CASES = {
    "add": (add, "*fp32 *fp32 *fp32 i32", {"BLOCK": 1024}, {}),
    "add_f16": (add, "*fp16 *fp16 *fp16 i32", {"BLOCK": 2048}, {}),
    "add_aligned": (add, "*fp32:16 *fp32:16 *fp32:16 i32:16", {"BLOCK": 1024}, {}),
    "gelu": (gelu, "*bf16:16 *bf16:16 i32", {"BLOCK": 512}, {}),
    "dropout": (dropout, "*fp32 *fp32 i32 i32 fp32", {"BLOCK": 512}, {}),
    "quantize": (quantize, "*fp32:16 *fp8e4nv:16 *fp32 i32", {"BLOCK": 1024}, {"above": 89}),
    "transpose": (transpose, "*fp32:16 *fp32:16 i32:16 i32:16", {"BLOCK": 32}, {}),
}
