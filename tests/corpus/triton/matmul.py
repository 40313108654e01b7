"""Matrix products C = A B, row-major; sizes multiples of the tile where no mask is written."""

import triton
import triton.language as tl


@triton.jit
def matmul(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(1) * BM + tl.arange(0, BM)
    columns = tl.program_id(0) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    at, bt = a + rows[:, None] * k + depth[None, :], b + depth[:, None] * n + columns[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        x = tl.load(at, mask=(rows[:, None] < m) & (start + depth[None, :] < k), other=0.0)
        y = tl.load(bt, mask=(start + depth[:, None] < k) & (columns[None, :] < n), other=0.0)
        total = tl.dot(x, y, total)
        at += BK
        bt += BK * n
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(c + rows[:, None] * n + columns[None, :], total.to(c.dtype.element_ty), mask=inside)


@triton.jit
def matmul_map(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    at = tl.make_tensor_descriptor(a, [m, k], [k, 1], [BM, BK])
    bt = tl.make_tensor_descriptor(b, [k, n], [n, 1], [BK, BN])
    ct = tl.make_tensor_descriptor(c, [m, n], [n, 1], [BM, BN])
    row, column = tl.program_id(1) * BM, tl.program_id(0) * BN
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        total = tl.dot(at.load([row, start]), bt.load([start, column]), total)
    ct.store([row, column], total.to(c.dtype.element_ty))


@triton.jit
def matmul_s8(a, b, c, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(1) * BM + tl.arange(0, BM)
    columns = tl.program_id(0) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.int32)
    for start in range(0, k, BK):
        x = tl.load(a + rows[:, None] * k + start + depth[None, :])
        y = tl.load(b + columns[None, :] * k + start + depth[:, None])
        total = tl.dot(x, y, total, out_dtype=tl.int32)
    tl.store(c + rows[:, None] * n + columns[None, :], total)


@triton.jit
def split_k(a, b, c, n, k, part, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(1) * BM + tl.arange(0, BM)
    columns = tl.program_id(0) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(tl.program_id(2) * part, tl.program_id(2) * part + part, BK):
        x = tl.load(a + rows[:, None] * k + start + depth[None, :])
        y = tl.load(b + (start + depth[:, None]) * n + columns[None, :])
        total = tl.dot(x, y, total)
    tl.atomic_add(c + rows[:, None] * n + columns[None, :], total)


TILE = {"BM": 64, "BN": 64, "BK": 32}
CASES = {
    "matmul_f16": (matmul, "*fp16:16 *fp16:16 *fp16:16 i32:16 i32:16 i32:16", TILE, {"num_stages": 3}),
    "matmul_bf16": (matmul, "*bf16:16 *bf16:16 *fp32:16 i32 i32:16 i32:16", TILE, {"num_stages": 2}),
    "matmul_tf32": (matmul, "*fp32:16 *fp32:16 *fp32:16 i32:16 i32:16 i32:16", TILE, {"num_stages": 2}),
    "matmul_fp8": (matmul, "*fp8e4nv:16 *fp8e4nv:16 *fp16:16 i32:16 i32:16 i32:16", TILE | {"BK": 64}, {"above": 89}),
    "matmul_map": (
        matmul_map,
        "*fp16:16 *fp16:16 *fp16:16 i32:16 i32:16 i32:16",
        {"BM": 128, "BN": 64, "BK": 64},
        {"above": 90, "num_stages": 3},
    ),
    "matmul_map_wide": (
        matmul_map,
        "*bf16:16 *bf16:16 *bf16:16 i32:16 i32:16 i32:16",
        {"BM": 128, "BN": 128, "BK": 64},
        {"above": 90, "num_warps": 8, "num_stages": 3},
    ),
    "matmul_s8": (matmul_s8, "*i8:16 *i8:16 *i32:16 i32:16 i32:16", TILE, {}),
    "split_k": (split_k, "*fp16:16 *fp16:16 *fp32:16 i32:16 i32:16 i32:16", TILE, {}),
}
