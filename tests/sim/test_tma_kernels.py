"""Kernels that copy by TMA, from the decorator to the result, on NumPy arrays, in every schedule."""

from __future__ import annotations

import numpy as np
import pytest
from compat.kernels_hopper import hopper_gemm

import pyptx
from pyptx import Layout, Tile, kernel, ptx, reg, smem
from pyptx.types import f32, u32

SCHEDULES = ("eager", "late", "random")
SIDE, STAGES = 32, 3
TILE_BYTES = SIDE * SIDE * 4


def swizzled(row, column):
    """Offset in bytes of an f32 in a tile of 128-byte rows with the 128-byte swizzle."""
    return row * 128 + ((column * 4) ^ ((row & 7) << 4))


@kernel(
    arch="sm_90a",
    in_specs=[Tile("M", "N", f32, Layout.TMA_128B, tma_box=(SIDE, SIDE))],
    out_specs=[Tile("N", "M", f32, Layout.TMA_128B, tma_box=(SIDE, SIDE))],
    grid=lambda M, N: (-(-N // SIDE), -(-M // SIDE)),
    block=(128, 1, 1),
)
def transpose(x, y):
    """y = x.T: a tile in by TMA, turned in shared memory without bank conflicts, out by TMA."""
    into, out = (smem.alloc(f32, (SIDE, SIDE), align=1024) for _ in range(2))
    bar = smem.mbarrier(1)
    tid = reg.from_(ptx.special.tid.x(), u32)
    column = reg.from_(ptx.special.ctaid.x(), u32) * SIDE
    row = reg.from_(ptx.special.ctaid.y(), u32) * SIDE
    with ptx.if_(tid == 0):
        ptx.mbarrier.init(bar[0], 1)
        ptx.fence.proxy_async()
        ptx.mbarrier.arrive_expect_tx(bar[0], TILE_BYTES)
        ptx.cp.async_bulk.tensor_2d(dst=into, src=x.tma_desc(), coord=(column, row), mbar=bar[0])
    ptx.bar.sync()
    ptx.mbarrier.wait(bar[0], 0)
    start_in, start_out = reg.from_(into.name, u32), reg.from_(out.name, u32)
    value = reg.scalar(f32)
    for first in range(0, SIDE, 4):
        r, c = (tid >> 5) + first, tid & 31
        ptx.inst.ld.shared.f32(value, ptx.addr(start_in + swizzled(r, c)))
        ptx.inst.st.shared.f32(ptx.addr(start_out + swizzled(c, r)), value)
    ptx.fence.proxy_async()
    ptx.bar.sync()
    with ptx.if_(tid == 0):
        ptx.cp.async_bulk.tensor_2d.store(dst=y.tma_desc(), src=out, coord=(row, column))
        ptx.cp.async_bulk.commit_group()
        ptx.cp.async_bulk.wait_group(0)


@kernel(
    arch="sm_90a",
    in_specs=[Tile("M", "N", f32, tma_box=(8, SIDE))],
    out_specs=[Tile("M", f32)],
    grid=lambda M: M // 8,
    block=(64, 1, 1),
)
def row_sums(x, y):
    """y[m] = sum of x[m, :]: one warp copies boxes into a ring of three stages, the other adds them up."""
    ring = smem.alloc(f32, (STAGES, 8, SIDE), align=1024)
    full, empty = smem.mbarrier(STAGES), smem.mbarrier(STAGES)
    tid, row = reg.from_(ptx.special.tid.x(), u32), reg.from_(ptx.special.ctaid.x(), u32) * 8
    steps = x.shape[1] // SIDE
    with ptx.if_(tid == 0):
        for stage in range(STAGES):
            ptx.mbarrier.init(full[stage], 1)
            ptx.mbarrier.init(empty[stage], 1)
        ptx.fence.mbarrier_init()
        ptx.fence.proxy_async()
    ptx.bar.sync()
    filled = ptx.mbarrier.array(reg.from_(full.name, u32), 0, STAGES)
    freed = ptx.mbarrier.array(reg.from_(empty.name, u32), 0, STAGES)
    turns = ptx.pipeline(STAGES)
    with ptx.if_(tid < 32):
        with ptx.if_(tid == 0):
            for step in ptx.range_(0, steps):
                stage, phase = turns.advance()
                freed.at(stage).wait(phase ^ 1)
                filled.at(stage).arrive_expect_tx(8 * SIDE * 4)
                ptx.cp.async_bulk.tensor_2d(
                    dst=ring[stage], src=x.tma_desc(), coord=(step * SIDE, row), mbar=filled.at(stage)
                )
    with ptx.else_():
        lane = tid & 31
        start = reg.from_(ring.name, u32) + lane * (SIDE * 4)
        total, value = reg.scalar(f32, 0.0), reg.scalar(f32)
        for _ in ptx.range_(0, steps):
            stage, phase = turns.advance()
            filled.at(stage).wait(phase)
            with ptx.if_(lane < 8):
                at = start + stage * (8 * SIDE * 4)
                for k in range(SIDE):
                    ptx.inst.ld.shared.f32(value, ptx.addr(at, 4 * k))
                    ptx.inst.add.f32(total, total, value)
            ptx.inst.bar.warp.sync(0xFFFFFFFF)
            with ptx.if_(lane == 0):
                freed.at(stage).arrive()
        with ptx.if_(lane < 8):
            (to,) = ptx.global_ptrs(y)
            ptx.inst.mad.wide.u32(to, row + lane, 4, to)
            ptx.inst.st.global_.f32(ptx.addr(to), total)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("shape", [(64, 96), (32, 36), (40, 100)])
def test_a_matrix_is_transposed_through_swizzled_tiles(schedule, shape):
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    with pyptx.use("sim", schedule=schedule):
        y = transpose(x)
    np.testing.assert_array_equal(y, x.T)
    assert transpose.last_run.counters.shared_conflicts.sum() < transpose.last_run.counters.issues.sum()


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_ring_of_tma_stages_feeds_a_warp(schedule):
    x = np.random.default_rng(1).integers(-8, 8, (24, 7 * SIDE)).astype(np.float32)
    with pyptx.use("sim", schedule=schedule):
        np.testing.assert_array_equal(row_sums(x), x.sum(axis=1))


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_the_hopper_compatibility_matrix_product(schedule):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    rng = np.random.default_rng(2)
    a, b = (rng.standard_normal((256, 192)).astype(ml_dtypes.bfloat16) for _ in range(2))
    with pyptx.use("sim", schedule=schedule):
        c = hopper_gemm(a, b)
    exact = a.astype(np.float32) @ b.astype(np.float32).T
    np.testing.assert_allclose(c.astype(np.float32), exact, rtol=2**-8, atol=1e-4)
    counters = hopper_gemm.last_run.counters
    assert counters.tma_bytes.sum() == 2 * 3 * (128 + 256) * 64 * 2  # CTAs, steps, rows of both tiles
    assert counters.tensor_flops.sum() == 2 * 256 * 256 * 192
