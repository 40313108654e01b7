"""Tensor copies in programs: every form, all schedules, both engines."""

from __future__ import annotations

import numpy as np
import pytest

from pyptx import sim
from pyptx.errors import LaunchError
from pyptx.tensor_map import Im2col, TensorMap

from .engines import run_both
from .tensor_programs import (
    COPY_OUT,
    LOAD,
    NHWC,
    SCHEDULES,
    TILES,
    WAIT,
    X2,
    check_load,
    check_store,
    footprint,
    loading,
    maker,
    program,
    storing,
)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("m, start", TILES, ids=lambda v: repr(v) if isinstance(v, tuple) else None)
def test_tile_loads(m, start):
    bytes_ = footprint(m)
    run = loading(m.rank, "tile", m.box_bytes, bytes_)
    check_load(run, m, lambda o: o.tile(start), bytes_, start)


@pytest.mark.parametrize("space, by_value", [("shared::cta", True), ("shared::cluster", False)])
def test_loads_into_the_own_cta_and_maps_behind_pointers(space, by_value):
    m = TensorMap(X2, (8, 64), swizzle="128B")
    run = loading(2, "tile", 1024, 1024, space=space, by_value=by_value)
    check_load(run, m, lambda o: o.tile((0, 8)), 1024, (0, 8))


def test_gather4():
    m = TensorMap(X2, (1, 64), swizzle="128B")
    run = loading(2, "tile::gather4", 512, 512, count=5)
    check_load(run, m, lambda o: o.rows4(0, (7, -1, 39, 40)), 512, (0, 7, -1, 39, 40))


def test_im2col():
    m = TensorMap(NHWC, (20, 32), swizzle="64B", im2col=((-1, -1), (0, 1)))
    run = loading(4, "im2col", 20 * 64, 20 * 64, offsets=", {1, 2}")
    check_load(run, m, lambda o: o.im2col((0, 3, 2, 1), (1, 2)), 20 * 64, (0, 3, 2, 1))


@pytest.mark.parametrize("mode, pixels", [("w", 22), ("w128", 128 + 8)])
def test_im2col_w(mode, pixels):
    m = TensorMap(NHWC, (20, 16), swizzle="64B", im2col=Im2col(-1, 1, mode))
    run = loading(4, "im2col::w" if mode == "w" else "im2col::w::128", pixels * 32, pixels * 64, offsets=", {2, 1}")
    check_load(run, m, lambda o: o.im2col_w((0, 3, 2, 0), 2, 1), pixels * 64, (0, 3, 2, 0))


# stores ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "shape, kind, box, options, start",
    [
        ((30, 64), np.uint16, (8, 64), {"swizzle": "128B"}, (8, 25)),
        ((30, 64), np.uint16, (8, 32), {"swizzle": "64B"}, (-8, -2)),
        ((512,), np.uint8, (256,), {}, (300,)),
        ((2, 3, 4, 5, 8), np.int32, (2, 2, 2, 2, 8), {}, (0, 4, 3, 2, 1)),
        ((8, 96), np.uint8, (4, 128), {"dtype": "b6x16_p32", "swizzle": "128B"}, (0, 6)),
    ],
)
def test_tile_stores(shape, kind, box, options, start):
    make = maker(shape, kind, box, **options)
    bytes_ = footprint(make()[1])
    check_store(storing(len(shape), "tile", bytes_), make, lambda o: o.tile(start), bytes_, start)


def test_scatter4_and_im2col_stores():
    make = maker((20, 64), np.uint16, (1, 64), swizzle="128B")
    check_store(
        storing(2, "tile::scatter4", 512, count=5), make, lambda o: o.rows4(0, (3, 19, 25, 0)), 512, (0, 3, 19, 25, 0)
    )
    make = maker((2, 5, 6, 32), np.uint16, (20, 32), im2col=((0, 0), (0, -1)))
    check_store(storing(4, "im2col_no_offs", 1280), make, lambda o: o.im2col((0, 2, 3, 0), (0, 0)), 1280, (0, 2, 3, 0))


@pytest.mark.parametrize(
    "operation, combine",
    [
        ("add", lambda a, b: a + b & 0xFFFFFFFF),
        ("min", min),
        ("max", max),
        ("xor", lambda a, b: a ^ b),
        ("inc", lambda a, b: 0 if a >= b else a + 1),
    ],
)
def test_reductions(operation, combine):
    make = maker((20, 16), np.uint32, (8, 16), swizzle="64B")
    run = storing(2, "tile", 512, instruction="cp.reduce.async.bulk.tensor", operation=operation + ".")
    check_store(run, make, lambda o: o.tile((4, 15)), 512, (4, 15), combine)


def test_ctas_add_up_in_one_place():
    array, data = np.zeros((8, 32), np.float32), np.arange(256, dtype=np.float32)
    run = storing(2, "tile", 1024, instruction="cp.reduce.async.bulk.tensor", operation="add.")
    sim.launch(run, 5, 32, [TensorMap(array, (8, 32)), data, 0, 0])
    np.testing.assert_array_equal(array, 5 * data.reshape(8, 32))
    with pytest.raises(LaunchError, match="several threads would not keep"):
        sim.launch(run, 5, 32, [TensorMap(array, (8, 32)), data, 0, 0], threads=2)


def test_waiting_for_the_source_leaves_the_destination_open():
    array, data = np.zeros((8, 32), np.float32), np.arange(256, dtype=np.float32)
    run = storing(2, "tile", 1024, wait="wait_group.read 0")
    run_both(run, 1, 32, [TensorMap(array, (8, 32)), data.view(np.uint8).copy(), 0, 0], schedule="late")
    np.testing.assert_array_equal(array, data.reshape(8, 32))  # at the end of the CTA at the latest


def test_a_store_that_is_not_waited_for_sends_what_lies_there_when_it_lands():
    body = """mov.b64 %rd1, m; cvta.param.u64 %rd1, %rd1;
        mov.f32 %r4, 0f3F800000; st.shared.b32 [%r2], %r4;
        @%p0 cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1, {0}], [%r2];
        @%p0 cp.async.bulk.commit_group;
        mov.f32 %r4, 0f40000000; st.shared.b32 [%r2], %r4;"""
    run = program(body, ".param .align 64 .b8 m[128]")
    for schedule, value in (("eager", 1.0), ("late", 2.0)):
        array = np.zeros(4, np.float32)
        run_both(run, 1, 1, [TensorMap(array, (4,))], schedule=schedule)
        assert array[0] == value


def test_reading_before_the_mbarrier_shows_in_late_mode():
    run = program(
        f"""mov.b64 %rd1, m; cvta.param.u64 %rd1, %rd1;
        mbarrier.init.shared::cta.b64 [%r1], 1;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 128;
        cp.async.bulk.tensor.1d.shared::cta.global.tile.{LOAD} [%r2], [%rd1, {{0}}], [%r1];
        {COPY_OUT.format(bytes=128)}""",
        ".param .align 64 .b8 m[128], .param .u64 out",
    )
    x = np.arange(128, dtype=np.uint8)
    for schedule, seen in (("eager", x[:1]), ("late", 255)):
        out = np.zeros(128, np.uint8)
        run_both(run, 1, 1, [TensorMap(x, (128,)), out], schedule=schedule)
        assert out[0] == seen


# clusters -------------------------------------------------------------------------------------------------------------

MULTICAST = """mov.b64 %rd1, m; cvta.param.u64 %rd1, %rd1;
    mov.u32 %r6, %cluster_ctarank;
    ld.param.u64 %rd3, [out];
    @%p0 mbarrier.init.shared::cta.b64 [%r1], 1;
    @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], {expect};
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
    mov.b16 %h2, {mask};
    setp.ne.u32 %p3, %r6, {issuer};
    @%p3 bra ISSUED;
    @%p0 cp.async.bulk.tensor.1d.shared::cluster.global.tile.{load}.multicast::cluster{group}
        [%r2], [%rd1, {{64}}], [%r1], %h2;
ISSUED:
    setp.eq.u32 %p4, {waits}, 0;
    @%p4 bra READY;
    {wait}
READY:
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
    mul.lo.u32 %r8, %r6, 128; cvt.u64.u32 %rd6, %r8; add.u64 %rd3, %rd3, %rd6;
    add.u32 %r9, %r2, %r0; ld.shared.u8 %h1, [%r9]; cvt.u64.u32 %rd4, %r0; add.u64 %rd5, %rd3, %rd4;
    st.global.u8 [%rd5], %h1;"""


def test_multicast_gives_each_cta_a_copy_and_its_own_signal():
    body = MULTICAST.format(expect=128, mask=0b1101, issuer=2, load=LOAD, group="", waits="%r7", wait=WAIT)
    body = body.replace("setp.eq.u32 %p4, %r7, 0;", "setp.eq.u32 %p4, %r6, 1;")  # CTA 1 gets nothing
    run = program(body, ".param .align 64 .b8 m[128], .param .u64 out")
    x = np.arange(256, dtype=np.uint8)
    for schedule in SCHEDULES:
        out = np.zeros((4, 128), np.uint8)
        run_both(run, 4, 128, [TensorMap(x, (128,)), out], cluster=4, schedule=schedule)
        for rank in range(4):
            np.testing.assert_array_equal(out[rank], x[64:192] if rank != 1 else 0)


def test_with_a_pair_the_signals_go_to_the_even_ctas():
    body = MULTICAST.format(expect=256, mask=0b1111, issuer=0, load=LOAD, group=".cta_group::2", waits="%r7", wait=WAIT)
    body = body.replace("setp.eq.u32 %p4, %r7, 0;", "and.b32 %r7, %r6, 1; setp.ne.u32 %p4, %r7, 0;")
    run = program(body, ".param .align 64 .b8 m[128], .param .u64 out")
    x = np.arange(256, dtype=np.uint8)
    for schedule in SCHEDULES:
        out = np.zeros((4, 128), np.uint8)
        run_both(run, 4, 128, [TensorMap(x, (128,)), out], cluster=4, schedule=schedule)
        np.testing.assert_array_equal(out, [x[64:192]] * 4)
