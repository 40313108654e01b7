"""Tensor copies in programs: every form, all schedules, both engines; what traps; maps that are changed on the way."""

from __future__ import annotations

import numpy as np
import pytest

from pyptx import sim
from pyptx.errors import LaunchError, SimulationError
from pyptx.parser import parse
from pyptx.tensor_map import Im2col, TensorMap

from .both import run_both
from .tensor_oracle import Oracle

SCHEDULES = ("eager", "late", "random")
HEAD = ".version 8.6\n.target {target}\n.address_size 64\n"
LOAD = "mbarrier::complete_tx::bytes"


def program(body: str, params: str, *, shared: int = 8192, target: str = "sm_100a", declarations: str = ""):
    """An entry whose thread 0 is `%p0`; `tile` is shared memory, `bar` an mbarrier that %r1 names."""
    return sim.load(parse(HEAD.format(target=target) + declarations + f""".visible .entry k({params}) {{
        .reg .b64 %rd<16>; .reg .b32 %r<16>; .reg .b16 %h<8>; .reg .pred %p<8>;
        .shared .align 1024 .b8 tile[{shared}];
        .shared .align 128 .b8 aside[128];
        .shared .align 8 .b64 bar;
        mov.u32 %r0, %tid.x;
        setp.eq.u32 %p0, %r0, 0;
        mov.u32 %r1, bar;
        mov.u32 %r2, tile;
        {body}
        ret;
    }}"""))


def coordinates(count: int) -> str:
    return ", ".join(f".param .s32 c{i}" for i in range(count))


def take_in(count: int) -> str:
    """Coordinates from parameters into %r4..."""
    return "".join(f"ld.param.s32 %r{4 + i}, [c{i}];\n" for i in range(count))


def names(count: int) -> str:
    return "{" + ", ".join(f"%r{4 + i}" for i in range(count)) + "}"


COPY_OUT = """
    ld.param.u64 %rd3, [out];
    mov.u32 %r3, %r0;
OUT:
    add.u32 %r12, %r2, %r3;
    ld.shared.u8 %h1, [%r12];
    cvt.u64.u32 %rd4, %r3;
    add.u64 %rd5, %rd3, %rd4;
    st.global.u8 [%rd5], %h1;
    add.u32 %r3, %r3, 32;
    setp.lt.u32 %p2, %r3, {bytes};
    @%p2 bra OUT;
"""
WAIT = """
WAITING:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0;
    @!%p1 bra WAITING;
"""
COPY_IN = """
    ld.param.u64 %rd3, [data];
    mov.u32 %r3, %r0;
IN:
    add.u32 %r12, %r2, %r3;
    cvt.u64.u32 %rd4, %r3;
    add.u64 %rd5, %rd3, %rd4;
    ld.global.u8 %h1, [%rd5];
    st.shared.u8 [%r12], %h1;
    add.u32 %r3, %r3, 32;
    setp.lt.u32 %p2, %r3, {bytes};
    @%p2 bra IN;
    fence.proxy.async.shared::cta;
    bar.sync 0;
"""


def loading(rank: int, mode: str, tx: int, bytes_: int, *, offsets: str = "", space: str = "shared::cluster",
            count: int | None = None, by_value: bool = True):
    """Thread 0 loads a box, all threads copy shared memory out."""
    count = rank if count is None else count
    where = "mov.b64 %rd1, m; cvta.param.u64 %rd1, %rd1;" if by_value else "ld.param.u64 %rd1, [m];"
    param = ".param .align 64 .b8 m[128]" if by_value else ".param .u64 m"
    return program(f"""{take_in(count)} {where}
        @%p0 mbarrier.init.shared::cta.b64 [%r1], 1;
        bar.sync 0;
        @!%p0 bra LOADED;
        prefetch.tensormap [%rd1];
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], {tx};
        cp.async.bulk.tensor.{rank}d.{space}.global.{mode}.{LOAD} [%r2], [%rd1, {names(count)}], [%r1]{offsets};
    LOADED: {WAIT} {COPY_OUT.format(bytes=bytes_)}""", f"{param}, .param .u64 out, {coordinates(count)}", shared=bytes_)


RNG = np.random.default_rng(5)
X2 = RNG.integers(0, 1 << 16, (40, 64), np.uint16).view(np.float16)
X5 = RNG.integers(0, 1 << 30, (2, 3, 4, 5, 8), np.int32)
NHWC = RNG.integers(0, 1 << 16, (3, 6, 7, 64), np.uint16).view(np.float16)
SLICED = RNG.integers(0, 255, (2, 3, 4, 5, 16), np.uint8)
PACKED = RNG.integers(0, 255, (8, 96), np.uint8)
TILES = [
    (TensorMap(X2.reshape(-1), (64,)), (100,)),
    (TensorMap(X2, (8, 64), swizzle="128B"), (16, 36)),
    (TensorMap(X2, (8, 32), swizzle="64B", oob_fill="nan"), (-8, -3)),
    (TensorMap(X2, (16, 16), swizzle="32B", element_strides=(3, 1)), (8, 1)),
    (TensorMap(X2, (8, 64), swizzle="128B_ATOM_32B"), (0, 0)),
    (TensorMap(X2, (8, 64), swizzle="128B_ATOM_32B_FLIP_8B"), (0, 5)),
    (TensorMap(X2, (8, 64), swizzle="128B_ATOM_64B"), (0, 5)),
    (TensorMap(X2[:, :32], (8, 32)), (0, 2)),                               # a view
    (TensorMap(X5[0, 0], (2, 3, 4)), (2, 3, 1)),
    (TensorMap(X5[0], (2, 2, 2, 4)), (4, 4, 3, -1)),
    (TensorMap(X5, (2, 2, 2, 2, 8)), (0, 4, 3, 2, 1)),
    (TensorMap(SLICED, (1, 2, 3, 4), interleave="16B"), (1, 2, 1, 0)),
    (TensorMap(PACKED, (4, 128), dtype="b6x16_p32", swizzle="128B"), (0, 2)),
]


def expected_load(m: TensorMap, elements, bytes_: int) -> tuple[np.ndarray, np.ndarray]:
    """Shared memory afterwards, and which bytes of it the copy wrote (all but padding)."""
    base = np.asarray(m.source)
    oracle = Oracle(m, (base if base.flags.c_contiguous else base.base).reshape(-1).view(np.uint8))
    out = np.zeros(bytes_, np.uint8)
    return out, oracle.load(out, 0x400, elements(oracle))


def footprint(m: TensorMap) -> int:
    rows = m.box_bytes * 8 // (m.box[-1] * (8 * m.slice_bytes or m.element.bits))
    row = m.slice_bytes * m.box[-1] or (128 if m.element.padded else m.box[-1] * m.element.bits // 8)
    return -(-rows * max(row, m.span_bytes) // 128) * 128


def check_load(run, m: TensorMap, elements, bytes_: int, args) -> None:
    want, written = expected_load(m, elements, bytes_)
    for schedule in SCHEDULES:
        out = np.zeros(bytes_, np.uint8)
        run_both(run, 1, 32, [m, out, *args], schedule=schedule, seed=3)
        np.testing.assert_array_equal(out[written], want[written], err_msg=schedule)


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

def storing(rank: int, mode: str, bytes_: int, *, instruction: str = "cp.async.bulk.tensor", operation: str = "",
            count: int | None = None, wait: str = "wait_group 0"):
    count = rank if count is None else count
    return program(f"""{take_in(count)} mov.b64 %rd1, m; cvta.param.u64 %rd1, %rd1;
        {COPY_IN.format(bytes=bytes_)}
        @!%p0 bra DONE;
        {instruction}.{rank}d.global.shared::cta.{operation}{mode}.bulk_group [%rd1, {names(count)}], [%r2];
        cp.async.bulk.commit_group;
        cp.async.bulk.{wait};
    DONE:""", f".param .align 64 .b8 m[128], .param .u64 data, {coordinates(count)}", shared=bytes_)


def check_store(run, make, elements, bytes_: int, args, combine=None) -> None:
    data = np.random.default_rng(9).integers(0, 256, bytes_, np.uint8)
    for schedule in SCHEDULES:
        results = []
        for engine in ("core", "reference"):
            array, m = make()
            sim.launch(run, 1, 32, [m, data.copy(), *args], engine=engine, schedule=schedule, seed=3)
            results.append(array)
        np.testing.assert_array_equal(*(r.view(np.uint8) for r in results))
        array, m = make()
        memory = array.reshape(-1).view(np.uint8)
        Oracle(m, memory).store(data, 0x400, elements(Oracle(m, memory)), combine=combine)
        np.testing.assert_array_equal(results[0].view(np.uint8), array.view(np.uint8), err_msg=schedule)


def maker(shape, kind, box, **options):
    def make():
        array = np.random.default_rng(2).integers(0, 200, int(np.prod(shape)), np.uint8)
        array = np.resize(array, int(np.prod(shape)) * np.dtype(kind).itemsize).view(kind).reshape(shape)
        return array, TensorMap(array, box, **options)
    return make


@pytest.mark.parametrize("shape, kind, box, options, start", [
    ((30, 64), np.uint16, (8, 64), {"swizzle": "128B"}, (8, 25)),
    ((30, 64), np.uint16, (8, 32), {"swizzle": "64B"}, (-8, -2)),
    ((512,), np.uint8, (256,), {}, (300,)),
    ((2, 3, 4, 5, 8), np.int32, (2, 2, 2, 2, 8), {}, (0, 4, 3, 2, 1)),
    ((8, 96), np.uint8, (4, 128), {"dtype": "b6x16_p32", "swizzle": "128B"}, (0, 6))])
def test_tile_stores(shape, kind, box, options, start):
    make = maker(shape, kind, box, **options)
    bytes_ = footprint(make()[1])
    check_store(storing(len(shape), "tile", bytes_), make, lambda o: o.tile(start), bytes_, start)


def test_scatter4_and_im2col_stores():
    make = maker((20, 64), np.uint16, (1, 64), swizzle="128B")
    check_store(storing(2, "tile::scatter4", 512, count=5), make, lambda o: o.rows4(0, (3, 19, 25, 0)), 512,
                (0, 3, 19, 25, 0))
    make = maker((2, 5, 6, 32), np.uint16, (20, 32), im2col=((0, 0), (0, -1)))
    check_store(storing(4, "im2col_no_offs", 1280), make, lambda o: o.im2col((0, 2, 3, 0), (0, 0)), 1280, (0, 2, 3, 0))


@pytest.mark.parametrize("operation, combine", [
    ("add", lambda a, b: a + b & 0xFFFFFFFF), ("min", min), ("max", max), ("xor", lambda a, b: a ^ b),
    ("inc", lambda a, b: 0 if a >= b else a + 1)])
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
    np.testing.assert_array_equal(array, data.reshape(8, 32))                # at the end of the CTA at the latest


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
    run = program(f"""mov.b64 %rd1, m; cvta.param.u64 %rd1, %rd1;
        mbarrier.init.shared::cta.b64 [%r1], 1;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 128;
        cp.async.bulk.tensor.1d.shared::cta.global.tile.{LOAD} [%r2], [%rd1, {{0}}], [%r1];
        {COPY_OUT.format(bytes=128)}""", ".param .align 64 .b8 m[128], .param .u64 out")
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
    body = body.replace("setp.eq.u32 %p4, %r7, 0;", "setp.eq.u32 %p4, %r6, 1;")                  # CTA 1 gets nothing
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


# maps on the way ------------------------------------------------------------------------------------------------------

REPLACE = """mov.b64 %rd1, m; cvta.param.u64 %rd1, %rd1;
    mov.u32 %r3, aside;
    shl.b32 %r4, %r0, 2; cvt.u64.u32 %rd2, %r4; add.u64 %rd2, %rd1, %rd2; ld.param.b32 %r5, [%rd2];
    add.u32 %r6, %r3, %r4; st.shared.b32 [%r6], %r5;
    bar.sync 0;
    ld.param.u64 %rd7, [y]; ld.param.u64 %rd8, [space];
    @!%p0 bra REPLACED;
    {fields}
REPLACED:
    bar.sync 0;
    tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd8], [%r3], 128;
    fence.proxy.tensormap::generic.acquire.gpu [%rd8], 128;
    @%p0 mbarrier.init.shared::cta.b64 [%r1], 1;
    bar.sync 0;
    @!%p0 bra LOADED;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], {tx};
    cp.async.bulk.tensor.2d.shared::cta.global.tile.{load} [%r2], [%rd8, {{0, 1}}], [%r1];
LOADED: {wait} {out}"""


def replaced(fields: str, tx: int, bytes_: int, x, y, box=(4, 8), **options) -> np.ndarray:
    """What a box at (0, 1) holds after fields of a map of x were replaced."""
    text = REPLACE.format(fields=fields, tx=tx, load=LOAD, wait=WAIT, out=COPY_OUT.format(bytes=bytes_))
    params = ".param .align 64 .b8 m[128], .param .u64 y, .param .u64 space, .param .u64 out"
    run = program(text.replace("ld.param.b32 %r5", "ld.b32 %r5"), params, target="sm_100a")
    out = np.zeros(bytes_, np.uint8)
    for schedule in ("eager", "late"):
        run_both(run, 1, 32, [TensorMap(x, box, **options), y, np.zeros(128, np.uint8), out], schedule=schedule)
    return out


def test_every_field_of_a_map_can_be_replaced():
    x, y = np.zeros((4, 8), np.float32), np.arange(64 * 6, dtype=np.float16).reshape(6, 64)
    fields = "".join(f"tensormap.replace.tile.{text};\n" for text in (
        "global_address.shared::cta.b1024.b64 [%r3], %rd7", "rank.shared::cta.b1024.b32 [%r3], 1",
        "box_dim.shared::cta.b1024.b32 [%r3], 0, 16", "box_dim.shared::cta.b1024.b32 [%r3], 1, 8",
        "global_dim.shared::cta.b1024.b32 [%r3], 0, 60", "global_dim.shared::cta.b1024.b32 [%r3], 1, 6",
        "global_stride.shared::cta.b1024.b64 [%r3], 0, 128", "element_stride.shared::cta.b1024.b32 [%r3], 1, 2",
        "elemtype.shared::cta.b1024.b32 [%r3], 6", "interleave_layout.shared::cta.b1024.b32 [%r3], 0",
        "swizzle_mode.shared::cta.b1024.b32 [%r3], 3", "swizzle_atomicity.shared::cta.b1024.b32 [%r3], 1",
        "fill_mode.shared::cta.b1024.b32 [%r3], 1"))
    out = replaced(fields, 4 * 32, 512, x, y)
    m = TensorMap(y, (8, 16), shape=(6, 60), strides=(128,), element_strides=(2, 1), swizzle="128B_ATOM_32B",
                  oob_fill="nan")
    want, written = expected_load(m, lambda o: o.tile((0, 1)), 512)
    np.testing.assert_array_equal(out[written], want[written])


def test_a_swizzle_of_96_bytes_comes_from_a_replaced_map():
    y = np.arange(48 * 8, dtype=np.float16).reshape(8, 48)
    fields = "tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%r3], 4;"
    out = replaced(fields, 4 * 96, 384, y, np.zeros(8), box=(4, 48))
    dense = np.ascontiguousarray(y[1:5]).reshape(-1).view(np.uint8)
    for k in range(384):
        assert out[k ^ (k >> 7 & 1) << 4] == dense[k]


def test_a_map_can_be_made_of_zeros():
    y = np.arange(64 * 6, dtype=np.float16).reshape(6, 64)
    zeros = "".join(f"st.shared.b64 [%r3+{8 * k}], 0;\n" for k in range(16))
    fields = zeros + "".join(f"tensormap.replace.tile.{text};\n" for text in (
        "global_address.shared::cta.b1024.b64 [%r3], %rd7", "rank.shared::cta.b1024.b32 [%r3], 1",
        "box_dim.shared::cta.b1024.b32 [%r3], 0, 64", "box_dim.shared::cta.b1024.b32 [%r3], 1, 4",
        "global_dim.shared::cta.b1024.b32 [%r3], 0, 64", "global_dim.shared::cta.b1024.b32 [%r3], 1, 6",
        "global_stride.shared::cta.b1024.b64 [%r3], 0, 128", "element_stride.shared::cta.b1024.b32 [%r3], 0, 1",
        "element_stride.shared::cta.b1024.b32 [%r3], 1, 1", "elemtype.shared::cta.b1024.b32 [%r3], 6",
        "swizzle_mode.shared::cta.b1024.b32 [%r3], 3"))
    out = replaced(fields, 512, 512, np.zeros((4, 8), np.float32), y)
    np.testing.assert_array_equal(out, expected_load(TensorMap(y, (4, 64), swizzle="128B"), lambda o: o.tile((0, 1)),
                                                     512)[0])


def test_a_map_can_lie_in_constant_memory():
    x = np.arange(256, dtype=np.uint8)
    data = ", ".join(map(str, TensorMap(0x7000_0000_0000, (128,), shape=(256,), dtype="u8").encode()))
    run = program(f"""
        @%p0 mbarrier.init.shared::cta.b64 [%r1], 1;
        @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 128;
        @%p0 cp.async.bulk.tensor.1d.shared::cta.global.tile.{LOAD} [%r2], [held, {{16}}], [%r1];
        bar.sync 0;
        {WAIT} {COPY_OUT.format(bytes=128)}""", ".param .u64 x, .param .u64 out",
        declarations=f".const .align 64 .b8 held[128] = {{{data}}};\n")
    out = np.zeros(128, np.uint8)
    run_both(run, 1, 32, [x, out])
    np.testing.assert_array_equal(out, x[16:144])


# what traps -----------------------------------------------------------------------------------------------------------

def both_fail(run, args, message: str, **options) -> None:
    texts = []
    for engine in ("core", "reference"):
        with pytest.raises(SimulationError, match=message) as error:
            sim.launch(run, 1, 32, args, engine=engine, **options)
        texts.append(str(error.value))
    assert texts[0] == texts[1]


def test_bytes_that_are_no_map_are_named():
    run = loading(2, "tile", 1024, 1024)
    out = np.zeros(1024, np.uint8)
    both_fail(run, [bytes(128), out, 0, 0], "takes its tensor map from 0x7f40.*, but the 128 bytes")


def test_rank_and_mode_must_be_those_of_the_map():
    both_fail(loading(1, "tile", 64, 1024), [TensorMap(X2, (8, 64)), np.zeros(1024, np.uint8), 0], "rank of the map")
    images = TensorMap(NHWC, (8, 64), im2col=((0, 0), (0, 0)))
    both_fail(loading(4, "tile", 64, 1024), [images, np.zeros(1024, np.uint8), 0, 0, 0, 0], "mode it was not made for")


def test_a_map_that_lies_about_its_array_is_caught():
    m = TensorMap(X2, (8, 64), shape=(80, 64))
    args = [m, np.zeros(1024, np.uint8), 0, 36]
    both_fail(loading(2, "tile", 1024, 1024), args, "touches 0x7000.*outside every buffer")


def test_a_box_that_does_not_fit_in_shared_memory_is_caught():
    both_fail(loading(2, "tile", 4096, 128), [TensorMap(X2, (32, 64)), np.zeros(128, np.uint8), 0, 0],
              "copies a box of 4096 bytes to or from shared memory at 0x400, where it does not fit")


def test_arguments_that_take_no_map_say_what_would():
    run = program("", ".param .u32 n")
    with pytest.raises(LaunchError, match=r"parameter n is .u32; a tensor map is 128 bytes by value"):
        sim.launch(run, 1, 32, [TensorMap(X2, (8, 64))])


def test_bytes_moved_are_counted():
    run = loading(2, "tile", 1024, 1024)
    result = sim.launch(run, 1, 32, [TensorMap(X2, (8, 64)), np.zeros(1024, np.uint8), 0, 0])
    assert result.counters.tma_bytes.sum() == 1024
