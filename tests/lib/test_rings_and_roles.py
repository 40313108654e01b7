"""`pyptx.lib.TmaRing` and `roles`: correct in every schedule, and the machine code of the written-out spelling."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from support import written_out_gemm

from examples.hopper import gemm
from pyptx import Tile, kernel, lib, ptx, reg
from pyptx.types import f32, u32

BOX = (8, 32)


def copy_of(CLUSTER: int = 1):
    @kernel(
        in_specs=(Tile("M", 64, f32, tma_box=BOX),),
        out_specs=(Tile("M", 64, f32),),
        grid=lambda M: M // 8 if CLUSTER == 1 else CLUSTER,
        block=256,
        cluster=(CLUSTER, 1, 1),
    )
    def copied(x, y):
        """Copy rows of 64 columns, eight at a time, through a ring."""
        M, tid, lane = x.shape[0], reg.from_(ptx.tid.x, u32), reg.from_(ptx.laneid, u32)
        ring = lib.TmaRing(2, {"unused": 1024, "rows": 8 * 64 * 4}, readers=4, cluster=CLUSTER)
        ring.set_up(tid)
        steps, first = (1, reg.from_(ptx.ctaid.x, u32) * 8) if CLUSTER == 1 else (M // 8, reg.scalar(u32, 0))
        rank = reg.from_(ptx.cluster_ctarank, u32)
        team = lib.roles(consumers=1)
        with team.producer():
            for step in ptx.range_(0, steps):
                stage = ring.acquire(8 * 64 * 4)
                if CLUSTER == 1:
                    stage.load("rows", x, (0, first + step * 8), boxes=2, columns=32)
                else:  # every CTA loads its half for both
                    to = stage.address("rows") + rank * 1024
                    ptx.cp.async_bulk.tensor_2d(
                        dst=to, src=x, coord=(rank * 32, step * 8), mbar=stage.full, multicast_mask=3
                    )
        with team.consumer() as consumer:
            for step in ptx.range_(0, steps):
                stage = ring.wait()
                start, thread = stage.address("rows"), tid & 127
                for i in range(4):
                    element = thread + 128 * i
                    value, row, column = reg.scalar(f32), element >> 6, element & 63
                    place = start + ((column >> 5) * 1024 + row * 128 + (column & 31) * 4)
                    ptx.inst.ld.shared.f32(value, ptx.addr(place))
                    where = first + row + step * 8
                    y.store(where, column, value + consumer.to(f32), pred=(where & 1) == rank if CLUSTER > 1 else None)
                ring.release(stage, lane, sync=True)
        if CLUSTER > 1:
            ptx.cluster.sync()

    return copied


@pytest.mark.parametrize("cluster", [1, 2])
def test_a_ring_hands_over_every_stage_in_all_schedules(cluster):
    x = np.random.default_rng(0).standard_normal((48, 64), dtype=np.float32)
    copied = copy_of(cluster)
    np.testing.assert_array_equal(copied(x), x)
    assert not copied.check(x).errors


@pytest.mark.slow
@pytest.mark.parametrize("tiling", [{"BM": 128, "BN": 256}, {"BM": 128, "BN": 64, "STAGES": 3}])
def test_the_example_has_the_machine_code_of_the_written_out_kernel(tiling):
    long = kernel(
        written_out_gemm.product,
        name="gemm",
        in_specs=gemm.gemm.in_specs,
        out_specs=gemm.gemm.out_specs,
        grid=gemm.gemm.grid,
        block=(gemm.THREADS, 1, 1),
        reqntid=(gemm.THREADS, 1, 1),
    )
    codes = [[line.text for line in k.compile(M=512, N=512, K=256, **tiling).sass] for k in (gemm.gemm, long)]
    assert codes[0] == codes[1]


def test_the_example_is_shorter():
    short, long = (len(inspect.getsource(f).splitlines()) for f in (gemm.product, written_out_gemm.product))
    assert short <= long - 30


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (lambda: lib.TmaRing(0, {"a": 1024}, readers=4), ValueError, "stages is 0; expected a positive int"),
        (lambda: lib.TmaRing(2, {"a": 1024.0}, readers=4), ValueError, "a is 1024.0"),
        (lambda: lib.TmaRing(2, {"a": 1024}, readers=4).offset("b"), KeyError, "no tile 'b'; its tiles: a"),
        (lambda: lib.roles(consumers=0), ValueError, "consumers=0; expected 1 to 7"),
        (lambda: lib.roles(registers=(40, 250)), ValueError, "multiples of 8"),
        (lambda: lib.roles(registers=(240, 240), consumers=3), ValueError, "together at most 65536"),
    ],
)
def test_wrong_arguments_are_refused(use, error, message):
    @kernel
    def wrong():
        use()

    with pytest.raises(error, match=message):
        wrong.ptx()


def test_boxes_that_do_not_divide_the_tile_are_refused():
    @kernel(in_specs=(Tile(64, 64, f32, tma_box=BOX),))
    def wrong(x):
        ring = lib.TmaRing(2, {"a": 1024}, readers=4)
        ring.set_up(reg.from_(ptx.tid.x, u32))
        ring.acquire().load("a", x, (0, 0), boxes=3, columns=32)

    with pytest.raises(ValueError, match="tile 'a' of 1024 bytes cannot be copied as 3 boxes"):
        wrong.ptx()
