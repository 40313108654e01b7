"""Pipelines written with pyptx itself: a producer fills a ring of stages, a consumer adds them up. Right ones give the
same in every schedule; a forgotten wait shows in at least one.
"""

from __future__ import annotations

import numpy as np
import pytest

import pyptx
from pyptx import Tile, kernel, ptx, reg, smem
from pyptx.errors import LaunchError, SimulationError
from pyptx.types import f32, u32

STAGES, WIDTH = 3, 128
SCHEDULES = [("eager", 0), ("late", 0), ("random", 1), ("random", 2)]


def pipeline_kernel(*, waits_for_full: bool = True, waits_for_empty: bool = True):
    """y[c] = sum over r of x[r, c]: warp 0 copies rows in bulk, warps 1 to 4 add them up."""

    @kernel(
        arch="sm_90a",
        in_specs=[Tile("R", "C", f32)],
        out_specs=[Tile("C", f32)],
        grid=lambda R, C: C // WIDTH,
        block=(WIDTH + 32, 1, 1),
    )
    def column_sums(x, y):
        ring = smem.alloc(f32, (STAGES, WIDTH), align=128)
        full, empty = smem.mbarrier(STAGES), smem.mbarrier(STAGES)
        tid, first = reg.from_(ptx.special.tid.x(), u32), reg.from_(ptx.special.ctaid.x(), u32) * WIDTH
        rows, columns = x.shape
        from_x, to_y = ptx.global_ptrs(x, y)
        with ptx.if_(tid == 0):
            for stage in range(STAGES):
                ptx.mbarrier.init(full[stage], 1)
                ptx.mbarrier.init(empty[stage], WIDTH // 32)
            ptx.fence.mbarrier_init()
        ptx.bar.sync()
        filled = ptx.mbarrier.array(reg.from_(full.name, u32), 0, STAGES)
        freed = ptx.mbarrier.array(reg.from_(empty.name, u32), 0, STAGES)
        turns = ptx.pipeline(STAGES)
        start = reg.from_(ring.name, u32)
        with ptx.if_(tid < 32):
            with ptx.if_(tid == 0):
                ptx.inst.mad.wide.u32(from_x, first, 4, from_x)
                for _ in ptx.range_(0, rows):
                    stage, phase = turns.advance()
                    if waits_for_empty:
                        freed.at(stage).wait(phase ^ 1)
                    filled.at(stage).arrive_expect_tx(WIDTH * 4)
                    to = start + stage * (WIDTH * 4)
                    copy = ptx.inst.cp.async_.bulk.shared__cluster.global_.mbarrier__complete_tx__bytes
                    copy(ptx.addr(to), ptx.addr(from_x), WIDTH * 4, ptx.addr(filled.at(stage).addr_reg()))
                    from_x += columns * 4
        with ptx.else_():
            lane, thread = tid & 31, tid - 32
            total, value = reg.scalar(f32, 0.0), reg.scalar(f32)
            for _ in ptx.range_(0, rows):
                stage, phase = turns.advance()
                if waits_for_full:
                    filled.at(stage).wait(phase)
                ptx.inst.ld.shared.f32(value, ptx.addr(start + stage * (WIDTH * 4) + thread * 4))
                ptx.inst.add.f32(total, total, value)
                ptx.inst.bar.warp.sync(0xFFFFFFFF)
                with ptx.if_(lane == 0):
                    freed.at(stage).arrive()
            ptx.inst.mad.wide.u32(to_y, first + thread, 4, to_y)
            ptx.inst.st.global_.f32(ptx.addr(to_y), total)

    return column_sums


@kernel(arch="sm_80", in_specs=[Tile("N", f32)], out_specs=[Tile("N", f32)], grid=lambda N: N // 1024, block=(64, 1, 1))
def moving_sums(x, y):
    """y[i] = x[i] + what the thread next to it copied, 256 numbers at a time through cp.async groups."""
    ring = smem.alloc(f32, (STAGES, 256), align=16)
    tid, first = reg.from_(ptx.special.tid.x(), u32), reg.from_(ptx.special.ctaid.x(), u32) * 1024
    from_x, to_y = ptx.global_ptrs(x, y)
    ptx.inst.mad.wide.u32(from_x, first + tid * 4, 4, from_x)
    ptx.inst.mad.wide.u32(to_y, first + tid * 4, 4, to_y)
    start = reg.from_(ring.name, u32)
    mine, other = start + tid * 16, start + (tid ^ 1) * 16
    for step in range(4 + STAGES - 1):
        if step < 4:
            ptx.cp.async_.ca(ptx.addr(mine, step % STAGES * 1024), ptx.addr(from_x, step * 1024), 16)
        ptx.cp.async_.commit_group()
        if step < STAGES - 1:
            continue
        done = step - (STAGES - 1)
        ptx.cp.async_.wait_group(STAGES - 1)
        ptx.bar.sync()
        own, theirs = reg.array(f32, 4), reg.array(f32, 4)
        ptx.inst.ld.shared.v4.f32(own, ptx.addr(mine, done % STAGES * 1024))
        ptx.inst.ld.shared.v4.f32(theirs, ptx.addr(other, done % STAGES * 1024))
        for k in range(4):
            ptx.inst.add.f32(own[k], own[k], theirs[k])
        ptx.inst.st.global_.v4.f32(ptx.addr(to_y, done * 1024), own)
        ptx.bar.sync()


right = pipeline_kernel()
RNG = np.random.default_rng(0)
X = RNG.integers(-50, 50, (11, 2 * WIDTH)).astype(np.float32)


@pytest.mark.parametrize(("schedule", "seed"), SCHEDULES)
def test_a_ring_of_stages_gives_the_same_in_every_schedule(schedule, seed):
    with pyptx.use("sim", schedule=schedule, seed=seed):
        np.testing.assert_array_equal(right(X), X.sum(axis=0))
    counters = right.last_run.counters
    assert counters.tma_bytes.sum() == X.nbytes and counters.async_operations.sum() == 2 * len(X)


@pytest.mark.parametrize(("schedule", "seed"), SCHEDULES)
def test_groups_of_cp_async_give_the_same_in_every_schedule(schedule, seed):
    x = RNG.integers(-50, 50, 4096).astype(np.float32)
    wanted = x + x.reshape(-1, 2, 4)[:, ::-1].reshape(-1)
    with pyptx.use("sim", schedule=schedule, seed=seed):
        np.testing.assert_array_equal(moving_sums(x), wanted)


def shown(broken) -> set[str]:
    """The schedules in which a kernel gives something wrong, or is stopped."""
    found = set()
    for schedule, seed in SCHEDULES:
        with pyptx.use("sim", schedule=schedule, seed=seed):
            try:
                if np.array_equal(broken(X), X.sum(axis=0)):
                    continue
            except SimulationError:
                pass
            found.add(schedule)
    return found


def test_a_forgotten_wait_for_data_shows_when_copies_land_late():
    assert "late" in shown(pipeline_kernel(waits_for_full=False))


def test_a_forgotten_wait_for_room_shows_when_copies_land_at_once():
    assert "eager" in shown(pipeline_kernel(waits_for_empty=False))


def test_a_seed_repeats_a_run():
    results = []
    for seed in (3, 3, 4):
        with pyptx.use("sim", schedule="random", seed=seed):
            right(X)
            results.append(right.last_run.counters)
    assert results[0] == results[1] and results[0] != results[2]


def test_a_schedule_that_does_not_exist_is_refused():
    with (
        pytest.raises(LaunchError, match="schedule='lazy'; expected 'eager', 'late', 'random'"),
        pyptx.use("sim", schedule="lazy"),
    ):
        right(X)
