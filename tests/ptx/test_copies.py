"""Asynchronous copies, by thread and by TMA."""

import pytest
from support.tracing import Cases, trace, written

from pyptx import ptx, reg, smem
from pyptx.errors import ShapeError
from pyptx.tensor import TensorSpec
from pyptx.types import b16, b64, bf16, f32, u32, u64

writes = Cases()
LOAD = "shared::cluster.global.mbarrier::complete_tx::bytes"


def a_map():
    return ptx.param(u64, "m")


@writes("cp.async.cg.shared.global [%r0], [%rd0+16], 16;")
def sixteen_bytes_through_l2():
    ptx.cp.async_.cg(ptx.addr(reg.scalar(u32)), ptx.addr(reg.scalar(u64), 16), 16)


@writes("cp.async.ca.shared.global [smem_0], [%rd0], 4;")
def four_bytes_into_an_allocation():
    ptx.cp.async_.ca(smem.alloc(f32, 4), reg.scalar(u64), 4)


@writes("""
    cp.async.commit_group;
    cp.async.wait_group 2;
    cp.async.wait_all;
""")
def groups_of_copies():
    ptx.cp.async_.commit_group()
    ptx.cp.async_.wait_group(2)
    ptx.cp.async_.wait_all()


@writes(f"cp.async.bulk.tensor.2d.{LOAD} [smem_0], [%rd0, {{0, %r0}}], [mbar_0+8];")
def a_box_of_a_matrix():
    row = reg.scalar(u32)
    ptx.cp.async_.bulk.tensor_2d(dst=smem.alloc(bf16, (64, 64)), src=a_map(), coord=(0, row), mbar=smem.mbarrier(2)[1])


@writes(f"cp.async.bulk.tensor.1d.{LOAD} [smem_0], [%rd0, {{64}}], [mbar_0];")
def a_box_of_a_vector():
    ptx.cp.async_bulk.tensor_1d(dst=smem.alloc(f32, 64), src=a_map(), coord=(64,), mbar=smem.mbarrier(1)[0])


@writes(f"cp.async.bulk.tensor.5d.{LOAD}.multicast::cluster [smem_0], [%rd0, {{0, 1, 2, 3, 4}}], [mbar_0], %rs0;")
def a_box_for_several_ctas():
    mask = reg.scalar(b16, 3)
    ptx.cp.async_bulk.tensor_5d(
        dst=smem.alloc(f32, 64), src=a_map(), coord=(0, 1, 2, 3, 4), mbar=smem.mbarrier(1)[0], multicast_mask=mask
    )


@writes(f"@%p0 cp.async.bulk.tensor.2d.cta_group::2.{LOAD} [smem_0], [%rd0, {{0, 0}}], [mbar_0];", "sm_100a")
def a_box_for_a_pair_of_ctas():
    elected = reg.scalar(u32) == 0
    ptx.cp.async_bulk.tensor_2d(
        dst=smem.alloc(f32, 64), src=a_map(), coord=(0, 0), mbar=smem.mbarrier(1)[0], cta_group=2, pred=elected
    )


@writes(
    "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes.cta_group::2 "
    "[smem_0], [%rd0, {0, 0}], [mbar_0];",
    "sm_100a",
)
def a_box_for_the_own_cta():
    ptx.cp.async_bulk.tensor_2d.shared_cta_global_tile(
        dst=smem.alloc(f32, 64), src=a_map(), coord=(0, 0), mbar=smem.mbarrier(1)[0], cta_group=2
    )


@writes("""
    cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%rd0, {0, 0, 8}], [smem_0];
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group.read 1;
    cp.async.bulk.wait_group 0;
""")
def a_store_and_its_group():
    bulk = ptx.cp.async_.bulk
    bulk.tensor_3d.store(dst=a_map(), src=smem.alloc(f32, 64), coord=(0, 0, 8))
    bulk.commit_group()
    bulk.wait_group(1, read=True)
    bulk.wait_group(0)


TILE = "shared::cluster.global.tile.mbarrier::complete_tx::bytes"


@writes(f"""
    cp.async.bulk.tensor.1d.{TILE} [smem_0], [%rd0, {{0}}], [mbar_0];
    cp.async.bulk.tensor.2d.{TILE}.L2::cache_hint [smem_0], [%rd0, {{0, 0}}], [mbar_0], %rd1;
    cp.async.bulk.tensor.3d.{TILE}.multicast::cluster [smem_0], [%rd0, {{0, 0, 0}}], [mbar_0], %rs0;
    cp.async.bulk.tensor.4d.{TILE}.multicast::cluster.L2::cache_hint [smem_0], [%rd0, {{0, 0, 0, 0}}], [mbar_0], %rs0, %rd1;
    cp.async.bulk.tensor.5d.{TILE} [smem_0], [%rd0, {{0, 0, 0, 0, 0}}], [mbar_0];
""")
def boxes_by_name():
    target, at, bar = smem.alloc(f32, 64), a_map(), smem.mbarrier(1)[0]
    policy, mask = reg.scalar(b64, 0), reg.scalar(b16, 1)
    tensor = ptx.cp.async_.bulk.tensor
    tensor.tile_1d(target, at, (0,), mbar=bar)
    tensor.tile_2d(target, at, (0, 0), mbar=bar, cache_hint=policy)
    tensor.tile_3d(target, at, (0, 0, 0), mbar=bar, multicast_mask=mask)
    tensor.tile_4d(target, at, (0, 0, 0, 0), mbar=bar, multicast_mask=mask, cache_hint=policy)
    tensor.tile_5d(target, at, (0, 0, 0, 0, 0), mbar=bar)


IM2COL = "shared::cluster.global.im2col.mbarrier::complete_tx::bytes"


@writes(f"""
    cp.async.bulk.tensor.3d.{IM2COL} [smem_0], [%rd0, {{0, 0, 0}}], [mbar_0], {{%rs0}};
    cp.async.bulk.tensor.4d.{IM2COL} [smem_0], [%rd0, {{0, 0, 0, 0}}], [mbar_0], {{%rs0, %rs0}};
    cp.async.bulk.tensor.5d.{IM2COL} [smem_0], [%rd0, {{0, 0, 0, 0, 0}}], [mbar_0], {{%rs0, %rs0, %rs0}};
""")
def columns_of_an_image():
    target, at, bar, offset = smem.alloc(f32, 64), a_map(), smem.mbarrier(1)[0], reg.scalar(b16, 0)
    tensor = ptx.cp.async_.bulk.tensor
    tensor.im2col_3d(target, at, (0,) * 3, [offset], mbar=bar)
    tensor.im2col_4d(target, at, (0,) * 4, [offset] * 2, mbar=bar)
    tensor.im2col_5d(target, at, (0,) * 5, [offset] * 3, mbar=bar)


@writes(
    """
    cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes [smem_0], [%rd0, {0, 1, 2, 3, 4}], [mbar_0];
    cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%rd0, {0, 1, 2, 3, 4}], [smem_0];
""",
    "sm_100a",
)
def four_rows_from_anywhere():
    target, at, bar = smem.alloc(f32, 64), a_map(), smem.mbarrier(1)[0]
    ptx.cp.async_bulk.tensor.gather4_2d(target, at, (0, 1, 2, 3, 4), mbar=bar)
    ptx.cp.async_bulk.tensor.scatter4_2d(at, target, (0, 1, 2, 3, 4))


@writes("""
    cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%rd0, {0}], [smem_0];
    cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint [%rd0, {0, 0}], [smem_0], %rd1;
    cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%rd0, {0, 0, 0}], [smem_0];
    cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%rd0, {0, 0, 0, 0}], [smem_0];
    cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group [%rd0, {0, 0, 0, 0, 0}], [smem_0];
""")
def stores_by_name():
    source, at, policy = smem.alloc(f32, 64), a_map(), reg.scalar(b64, 0)
    tensor = ptx.cp.async_.bulk.tensor
    tensor.store_1d(at, source, (0,))
    tensor.store_2d(at, source, (0, 0), cache_hint=policy)
    tensor.store_3d(at, source, (0,) * 3)
    tensor.store_4d(at, source, (0,) * 4)
    tensor.store_5d(at, source, (0,) * 5)


@writes(f"""
    cp.async.bulk.tensor.3d.{TILE} [smem_0], [%rd0, {{0, 16, 2}}], [mbar_0];
    shr.u32 %r1, %r0, 6;
    cp.async.bulk.tensor.3d.{TILE} [smem_0], [%rd0, {{0, %r0, %r1}}], [mbar_0];
    cp.async.bulk.tensor.3d.{TILE} [smem_0], [%rd0, {{1, 2, 3}}], [mbar_0];
    cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%rd0, {{0, 0, 1}}], [smem_0];
""")
def blocks_of_64_columns():
    tile, at, bar, n = smem.alloc(bf16, (64, 64)), a_map(), smem.mbarrier(1)[0], reg.scalar(u32)
    ptx.tma.load_3d(tile, at, 16, 128, bar)
    ptx.tma.load_3d(tile, at, n, n, bar)
    ptx.tma.load_3d(tile, at, mbar=bar, coords=(1, 2, 3))
    ptx.tma.store_3d(at, tile, 0, 64)


@writes(f"""
    mov.u32 %r0, %cluster_ctarank;
    setp.eq.u32 %p0, %r0, 1;
    @%p0 cp.async.bulk.tensor.3d.{TILE}.multicast::cluster [smem_0], [%rd0, {{0, 0, 0}}], [mbar_0], %rs0;
""")
def one_cta_loads_for_all():
    mask = reg.scalar(b16, 3)
    ptx.tma.load_3d_multicast(smem.alloc(bf16, (64, 64)), a_map(), 0, 0, smem.mbarrier(1)[0], mask, issuer=1)


@pytest.mark.parametrize("case", writes.cases, ids=str)
def test_each_call_emits_its_lines(case):
    case.check()


def test_ptxas_accepts_everything():
    writes.assemble()


def in_dynamic_memory(call):
    """The lines a copy writes when an earlier allocation took the first 60 KiB of dynamic shared memory."""

    def body():
        smem.alloc(f32, 15 * 1024)
        call(smem.alloc(bf16, (2, 64, 64)), smem.mbarrier(2))

    return written(body, force_dynamic_smem=True)


def test_dynamic_handles_become_registers_before_the_copy():
    def copy(tile, bars):
        ptx.cp.async_bulk.tensor_1d(dst=tile[1], src="m", coord=(0,), mbar=bars[1])

    lines = in_dynamic_memory(copy)
    assert lines == [
        "mov.b32 %r0, dyn_smem;",
        f"add.s32 %r1, %r0, {60 * 1024 + 8192};",
        "mov.b32 %r2, dyn_smem;",
        f"add.s32 %r3, %r2, {60 * 1024 + 16384 + 8};",
        f"cp.async.bulk.tensor.1d.{LOAD} [%r1], [m, {{0}}], [%r3];",
    ]


def test_a_tensor_is_accepted_as_its_map():
    def body():
        ptx.cp.async_bulk.tensor_1d(dst=smem.alloc(f32, 64), src=TensorSpec("x"), coord=(0,), mbar=smem.mbarrier(1)[0])

    ctx = trace(body)
    assert ctx.tma_tensors == ["x"] and "[%rd0, {0}]" in written(body)[-1]


BOX = dict(dst="s", src="m", mbar="b")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ptx.cp.async_.cg("s", "g", 8), ShapeError, "cp.async.cg copies 16 bytes, not 8"),
        (lambda: ptx.cp.async_.ca("s", "g", 2), ShapeError, "4 or 8 or 16 bytes, not 2"),
        (lambda: ptx.cp.async_bulk.tensor_2d(**BOX, coord=(0,)), ValueError, "takes 2 coordinates.*got 1"),
        (lambda: ptx.cp.async_bulk.tensor_2d(**BOX, coord=None), ValueError, "takes 2 coordinates"),
        (lambda: ptx.cp.async_bulk.tensor_2d(**BOX, coord=(0, 1.5)), TypeError, "coordinate 1.5"),
        (lambda: ptx.cp.async_bulk.tensor_2d(**BOX, coord=(0, object())), TypeError, "not a PTX operand"),
        (
            lambda: ptx.cp.async_bulk.tensor_2d(**BOX, coord=(0, 0), cta_group=3),
            ValueError,
            "cta_group=3; expected 1 or 2",
        ),
        (lambda: ptx.cp.async_bulk.tensor_2d(dst="s", src="m", coord=(0, 0)), ValueError, "needs mbar="),
        (lambda: ptx.cp.async_bulk.tensor.scatter4_2d("m", "s", (0,) * 5, mbar="b"), ValueError, "is a store"),
        (
            lambda: ptx.cp.async_bulk.tensor.im2col_4d("s", "m", (0,) * 4, [0], mbar="b"),
            ValueError,
            "takes 2 offsets, got 1",
        ),
        (lambda: ptx.tma.load_3d("s", "m", mbar="b"), TypeError, "row= and col=, or coords="),
        (
            lambda: ptx.tma.load_3d_multicast("s", "m", 0, 0, "b", 1, issuer=0, pred=reg.scalar(u32) == 0),
            ValueError,
            "not both",
        ),
    ],
)
def test_wrong_arguments_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        trace(call)


def test_a_multicast_takes_coordinates_instead_of_row_and_column():
    def body(**where):
        def write():
            bar = smem.mbarrier(1)[0]
            ptx.tma.load_3d_multicast(smem.alloc(bf16, (64, 64)), "map", mbar=bar, mask=3, **where)

        return written(write)

    assert body(coords=(0, 5, 1)) == body(row=5, col=64)
    with pytest.raises(TypeError, match="needs row= and col=, or coords="):
        body()
    with pytest.raises(TypeError, match="needs mask="):
        written(lambda: ptx.tma.load_3d_multicast("s", "m", coords=(0, 0, 0), mbar="b"))
