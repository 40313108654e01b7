"""Matrix products: plain, split, grouped, by tensor descriptors, persistent, fp8, block-scaled, warp-specialized."""

import triton
import triton.language as tl


@triton.jit
def matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, sam, sak, sbk, sbn, scm, scn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, ACTIVATION: tl.constexpr,
):  # fmt: skip
    """Row-grouped program order, pointers, masks at all edges."""
    pid = tl.program_id(0)
    rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
    first = pid // (GROUP * columns) * GROUP
    height = min(rows - first, GROUP)
    m = (first + pid % (GROUP * columns) % height) * BM + tl.arange(0, BM)
    n = pid % (GROUP * columns) // height * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    a_at = a_ptr + m[:, None] * sam + k[None, :] * sak
    b_at = b_ptr + k[:, None] * sbk + n[None, :] * sbn
    acc = tl.zeros((BM, BN), tl.float32)
    for step in range(0, tl.cdiv(K, BK)):
        left = K - step * BK
        a = tl.load(a_at, mask=(m[:, None] < M) & (k[None, :] < left), other=0.0)
        b = tl.load(b_at, mask=(n[None, :] < N) & (k[:, None] < left), other=0.0)
        acc = tl.dot(a, b, acc)
        a_at += BK * sak
        b_at += BK * sbk
    if ACTIVATION == "leaky_relu":
        acc = tl.where(acc >= 0, acc, 0.01 * acc)
    c_at = c_ptr + m[:, None] * scm + n[None, :] * scn
    tl.store(c_at, acc.to(c_ptr.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def matmul_split_k(
    a_ptr, b_ptr, c_ptr, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT: tl.constexpr
):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(tl.program_id(2) * BK, K, SPLIT * BK):
        k = start + tl.arange(0, BK)
        acc = tl.dot(tl.load(a_ptr + m[:, None] * K + k[None, :]), tl.load(b_ptr + k[:, None] * N + n[None, :]), acc)
    tl.atomic_add(c_ptr + m[:, None] * N + n[None, :], acc)


@triton.jit
def matmul_descriptors(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Operands by TMA where the target has it; b is stored as (N, K)."""
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([m, k]), b.load([n, k]).T, acc)
    c.store([m, n], acc.to(c.dtype))


@triton.jit
def matmul_persistent(
    a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PROGRAMS: tl.constexpr,
    SPECIALIZE: tl.constexpr, FLATTEN: tl.constexpr,
):  # fmt: skip
    """Each program computes several tiles, with descriptors made on the device; optionally warp-specialized."""
    a = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BN, BK])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    columns = tl.cdiv(N, BN)
    tiles = tl.cdiv(M, BM) * columns
    for tile in tl.range(tl.program_id(0), tiles, PROGRAMS, flatten=FLATTEN, warp_specialize=SPECIALIZE):
        m, n = tile // columns * BM, tile % columns * BN
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, tl.cdiv(K, BK)):
            acc = tl.dot(a.load([m, k * BK]), b.load([n, k * BK]).T, acc)
        c.store([m, n], acc.to(c_ptr.dtype.element_ty))


@triton.jit
def matmul_specialized(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """One tile for each program; loads and products in different warps."""
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, K, BK, warp_specialize=True):
        acc = tl.dot(a.load([m, k]), b.load([n, k]).T, acc)
    c.store([m, n], acc.to(c.dtype))


@triton.jit
def matmul_grouped(
    table_ptr, sizes_ptr, groups, PROGRAMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """Products of different sizes in one launch, with a table of addresses."""
    tile = tl.program_id(0)
    before = 0
    for g in range(groups):
        M, N, K = tl.load(sizes_ptr + g * 3), tl.load(sizes_ptr + g * 3 + 1), tl.load(sizes_ptr + g * 3 + 2)
        columns = tl.cdiv(N, BN)
        count = tl.cdiv(M, BM) * columns
        a_ptr = tl.load(table_ptr + g * 3).to(tl.pointer_type(tl.float16))
        b_ptr = tl.load(table_ptr + g * 3 + 1).to(tl.pointer_type(tl.float16))
        c_ptr = tl.load(table_ptr + g * 3 + 2).to(tl.pointer_type(tl.float16))
        while tile >= before and tile < before + count:
            at = tile - before
            m = at // columns * BM + tl.arange(0, BM)
            n = at % columns * BN + tl.arange(0, BN)
            acc = tl.zeros((BM, BN), tl.float32)
            for start in range(0, tl.cdiv(K, BK)):
                k = start * BK + tl.arange(0, BK)
                a = tl.load(a_ptr + m[:, None] * K + k[None, :], mask=(m < M)[:, None] & (k < K)[None, :], other=0.0)
                b = tl.load(b_ptr + k[:, None] * N + n[None, :], mask=(k < K)[:, None] & (n < N)[None, :], other=0.0)
                acc = tl.dot(a, b, acc)
            tl.store(c_ptr + m[:, None] * N + n[None, :], acc.to(tl.float16), mask=(m < M)[:, None] & (n < N)[None, :])
            tile += PROGRAMS
        before += count


@triton.jit
def matmul_scaled(
    a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, c_ptr, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, A: tl.constexpr, B: tl.constexpr,
):  # fmt: skip
    """Block-scaled product (MX): a scale of e8m0 for 32 elements along K; fp4 operands hold two elements a byte."""
    PA: tl.constexpr = 2 if A == "e2m1" else 1
    PB: tl.constexpr = 2 if B == "e2m1" else 1
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        ka, kb, ks = tl.arange(0, BK // PA), tl.arange(0, BK // PB), tl.arange(0, BK // 32)
        a = tl.load(a_ptr + m[:, None] * (K // PA) + start // PA + ka[None, :])
        b = tl.load(b_ptr + n[None, :] * (K // PB) + start // PB + kb[:, None])
        sa = tl.load(a_scale_ptr + m[:, None] * (K // 32) + start // 32 + ks[None, :])
        sb = tl.load(b_scale_ptr + n[:, None] * (K // 32) + start // 32 + ks[None, :])
        acc = tl.dot_scaled(a, sa, A, b, sb, B, acc)
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc)


@triton.jit
def batched_vector_product(a_ptr, x_ptr, y_ptr, N, BM: tl.constexpr, BN: tl.constexpr):
    """y = a @ x for each batch, without tensor cores."""
    batch, m = tl.program_id(1), tl.program_id(0) * BM + tl.arange(0, BM)
    rows = tl.num_programs(0) * BM
    acc = tl.zeros((BM,), tl.float32)
    for start in range(0, N, BN):
        n = start + tl.arange(0, BN)
        a = tl.load(a_ptr + (batch * rows + m[:, None]) * N + n[None, :]).to(tl.float32)
        acc += tl.sum(a * tl.load(x_ptr + batch * N + n)[None, :].to(tl.float32), axis=1)
    tl.store(y_ptr + batch * rows + m, acc)
