"""Gluon kernels: layouts, shared memory, asynchronous copies, TMA, and tensor cores by hand."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)


@gluon.jit
def copy_with_layout(x_ptr, y_ptr, n, BLOCK: gl.constexpr, layout: gl.constexpr):
    at = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=layout)
    gl.store(y_ptr + at, gl.load(x_ptr + at, mask=at < n) * 2, mask=at < n)


@gluon.jit
def transpose_through_shared(x_ptr, y_ptr, BLOCK: gl.constexpr):
    rows: gl.constexpr = gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0])
    m = gl.arange(0, BLOCK, layout=gl.SliceLayout(1, rows))
    n = gl.arange(0, BLOCK, layout=gl.SliceLayout(0, rows))
    shared: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, order=[1, 0])
    tile = gl.allocate_shared_memory(gl.float32, [BLOCK, BLOCK], shared)
    tile.store(gl.load(x_ptr + m[:, None] * BLOCK + n[None, :]))
    y = tile.permute([1, 0]).load(rows)
    gl.store(y_ptr + m[:, None] * BLOCK + n[None, :], y)


@gluon.jit
def copy_asynchronously(x_ptr, y_ptr, BLOCK: gl.constexpr, layout: gl.constexpr):
    at = gl.arange(0, BLOCK, layout=layout)
    tile = gl.allocate_shared_memory(gl.float32, [BLOCK], gl.SwizzledSharedLayout(1, 1, 1, order=[0]))
    async_copy.async_load(tile, x_ptr + at)
    async_copy.commit_group()
    async_copy.wait_group(0)
    gl.store(y_ptr + at, tile.load(layout) + 1)


@gluon.jit
def product_by_wgmma(a, b, c, BM: gl.constexpr, BN: gl.constexpr, K: gl.constexpr):
    """One tile: both operands by TMA, a single asynchronous warpgroup product, the result by TMA."""
    a_tile = gl.allocate_shared_memory(a.dtype, [BM, K], a.layout)
    b_tile = gl.allocate_shared_memory(b.dtype, [K, BN], b.layout)
    arrived = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(arrived, count=1)
    fence_async_shared()
    m, n = gl.program_id(0) * BM, gl.program_id(1) * BN
    mbarrier.expect(arrived, a.block_type.nbytes + b.block_type.nbytes)
    tma.async_load(a, [m, 0], arrived, a_tile)
    tma.async_load(b, [0, n], arrived, b_tile)
    mbarrier.wait(arrived, 0)
    mbarrier.invalidate(arrived)
    layout: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, BN, 16])
    acc = warpgroup_mma(a_tile, b_tile, gl.zeros([BM, BN], gl.float32, layout), is_async=True)
    acc = warpgroup_mma_wait(0, deps=(acc,))
    c_tile = gl.allocate_shared_memory(c.dtype, [BM, BN], c.layout)
    c_tile.store(acc.to(c.dtype))
    fence_async_shared()
    tma.async_store(c, [m, n], c_tile)
    tma.store_wait(0)
