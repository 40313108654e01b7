"""Tensor memory and its matrix multiplications (sm_100a)."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tracing import Cases, trace, written

from pyptx import ptx, reg, smem
from pyptx.errors import PtxValidationError, ShapeError
from pyptx.sim.layouts.tmem import geometry
from pyptx.types import b32, b64, e4m3, u16, u32
from pyptx.types import pred as pred_type

writes = Cases()
TARGET = "sm_100a"


def operands():
    """Accumulator %r0, descriptors %rd0 and %rd1, instruction descriptor %r1."""
    d, idesc = reg.scalar(b32, 0), reg.scalar(b32, ptx.tcgen05.make_instr_desc_f16bf16_f32())
    return d, reg.scalar(b64, 0), reg.scalar(b64, 0), idesc


@writes(
    """
    tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [smem_0], 512;
    tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
    ld.shared.b32 %r0, [smem_0];
    tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r0, 512;
""",
    TARGET,
)
def tensor_memory_from_cradle_to_grave():
    slot = smem.alloc(b32, 1)
    ptx.tcgen05.alloc(slot, 512)
    ptx.tcgen05.relinquish_alloc_permit()
    ptx.tcgen05.dealloc(smem.load(b32, slot), 512)


@writes(
    """
    mov.u32 %r2, 0;
    setp.ne.b32 %p0, %r2, 0;
    tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd0, %rd1, %r1, %p0;
""",
    TARGET,
    (8, 6),
)
def a_product_before_version_8_8():
    ptx.tcgen05.mma(*operands())


@writes(
    """
    mov.u32 %r2, 0;
    setp.ne.b32 %p0, %r2, 0;
    mov.u32 %r3, 0;
    tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd0, %rd1, %r1, {%r3, %r3, %r3, %r3}, %p0;
""",
    TARGET,
)
def a_product_with_a_mask_of_no_lanes():
    ptx.tcgen05.mma(*operands())


@writes(
    """
    mov.u32 %r3, 0;
    @%p1 tcgen05.mma.cta_group::2.kind::tf32 [%r0], %rd0, %rd1, %r1, {%r3, %r3, %r3, %r3, %r3, %r3, %r3, %r3}, %p0;
""",
    TARGET,
)
def a_product_of_a_pair_of_ctas():
    d, a, b, idesc = operands()
    keep, elected = reg.scalar(pred_type), reg.scalar(u32) == 0
    ptx.tcgen05.mma(d, a, b, idesc, cta_group=2, kind="tf32", pred_operand=keep, pred=elected)


@writes(
    """
    setp.ne.b32 %p0, %r2, 0;
    mov.u32 %r3, 0;
    tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd0, %rd1, %r1, {%r3, %r3, %r3, %r3}, %p0;
    mov.u32 %r4, 1;
    setp.ne.b32 %p1, %r4, 0;
    mov.u32 %r5, 0;
    tcgen05.mma.cta_group::1.kind::f8f6f4 [%r0], %rd0, %rd1, %r1, {%r5, %r5, %r5, %r5}, %p1;
""",
    TARGET,
)
def the_accumulate_predicate():
    d, a, b, idesc = operands()
    ptx.tcgen05.mma(d, a, b, idesc, pred_operand=reg.scalar(b32))
    ptx.tcgen05.mma(d, a, b, idesc, scale_d=True, kind="f8f6f4")


@writes(
    """
    mov.u32 %r2, 0;
    tcgen05.mma.cta_group::1.kind::f16.ashift.collector::a::lastuse [%r0], [%r0], %rd1, %r1, {%r2, %r2, %r2, %r2}, %p0;
    tcgen05.mma.sp.cta_group::1.kind::f16 [%r0], %rd0, %rd1, [%r0], %r1, %p0;
    mov.u32 %r3, 0;
    tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd0, %rd1, %r1, {%r3, %r3, %r3, %r3}, %p0, 3;
    tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [%r0], %rd0, %rd1, %r1, [%r0], [%r0], %p0;
    tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16 [%r0], %rd0, %rd1, %r1, [%r0], [%r0], %p0;
""",
    TARGET,
)
def other_products():
    d, a, b, idesc = operands()
    keep = reg.scalar(pred_type)
    ptx.tcgen05.mma(d, d, b, idesc, a_is_tmem=True, ashift=True, collector_a="lastuse", pred_operand=keep)
    ptx.tcgen05.mma(d, a, b, idesc, sparse=True, sparse_metadata=d, pred_operand=keep)
    ptx.tcgen05.mma(d, a, b, idesc, scale_c=3, pred_operand=keep)
    scales = dict(scale_a_tmem=d, scale_b_tmem=d, pred_operand=keep)
    ptx.tcgen05.mma(d, a, b, idesc, kind="mxf8f6f4", scale_vec="1X", **scales)
    ptx.tcgen05.mma(d, a, b, idesc, kind="mxf4nvf4", scale_vec="block16", **scales)


@writes(
    """
    mov.b32 %r3, %r2;
    mov.u32 %r4, 0;
    tcgen05.mma.cta_group::1.kind::f16 [%r3], %rd0, %rd1, %r1, {%r4, %r4, %r4, %r4}, %p0;
""",
    TARGET,
)
def an_accumulator_address_that_is_no_b32():
    _, a, b, idesc = operands()
    ptx.tcgen05.mma(reg.scalar(u32), a, b, idesc, pred_operand=reg.scalar(pred_type))


@writes(
    """
    tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 [mbar_0];
    tcgen05.commit.cta_group::2.mbarrier::arrive::one.multicast::cluster.shared::cluster.b64 [mbar_0+8], %rs0;
    tcgen05.fence::before_thread_sync;
    tcgen05.fence::after_thread_sync;
    tcgen05.shift.cta_group::2.down [%r0];
""",
    TARGET,
)
def completion():
    bars, mask = smem.mbarrier(2), reg.scalar(u16, 3)
    ptx.tcgen05.commit(bars[0], cta_group=2)
    ptx.tcgen05.commit(bars[1], cta_group=2, multicast_mask=mask)
    ptx.tcgen05.fence_before_thread_sync()
    ptx.tcgen05.fence_after_thread_sync()
    ptx.tcgen05.shift(reg.scalar(b32), cta_group=2)


@writes(
    """
    tcgen05.ld.sync.aligned.16x128b.x1.b32 {%r0, %r1}, [%r5];
    tcgen05.ld.sync.aligned.32x32b.x4.b32.pack::16b {%r0, %r1, %r2, %r3}, [%r5];
    tcgen05.ld.sync.aligned.16x256b.x1.b32 {%r0, %r1, %r2, %r3}, [%r5];
    tcgen05.ld.sync.aligned.16x32bx2.x4.b32 {%r0, %r1, %r2, %r3}, [%r5], 8;
    tcgen05.wait::ld.sync.aligned;
    tcgen05.st.sync.aligned.16x64b.x4.b32.unpack::16b [%r5], {%r0, %r1, %r2, %r3};
    tcgen05.wait::st.sync.aligned;
""",
    TARGET,
)
def loads_and_stores():
    r, at = reg.array(b32, 4), reg.Reg("%r5", b32)
    ptx.raw(".reg .b32 %r5;")
    ptx.tcgen05.ld(r[0:2], at)
    ptx.tcgen05.ld(r, at, shape="32x32b", count=4, pack=True)
    ptx.tcgen05.ld(r, at, shape="16x256b")
    ptx.tcgen05.ld(r, at, shape="16x32bx2", count=4, split_offset=8)
    ptx.tcgen05.wait_ld()
    ptx.tcgen05.st(at, r, shape="16x64b", count=4, unpack=True)
    ptx.tcgen05.wait_st()


@writes(
    """
    tcgen05.cp.cta_group::1.128x256b [%r0], %rd0;
    tcgen05.cp.cta_group::1.64x128b.warpx2::02_13 [%r0], %rd0;
""",
    TARGET,
)
def copies_from_shared_memory():
    d, source, *_ = operands()
    ptx.tcgen05.cp(d, source)
    ptx.tcgen05.cp(d, source, size="64x128b.warpx2::02_13")


@writes(
    """
    add.u32 %r1, %r0, 64;
    and.b32 %r2, %r1, 262128;
    shr.u32 %r3, %r2, 4;
    cvt.u64.u32 %rd0, %r3;
    or.b64 %rd0, %rd0, 4611756662049538048;
    mov.b64 %rd1, %rd0;
""",
    TARGET,
)
def the_descriptor_of_a_matrix():
    ptx.tcgen05.descriptor(reg.scalar(u32), byte_offset=64, stride_bytes=1024)


@pytest.mark.parametrize("case", writes.cases, ids=str)
def test_each_call_emits_its_lines(case):
    case.check()


def test_ptxas_accepts_everything():
    writes.assemble()


def test_both_descriptor_functions_agree_on_the_usual_layout():
    plain = written(lambda: ptx.tcgen05.descriptor(reg.scalar(u32), stride_bytes=1024))
    assert plain == written(lambda: ptx.tcgen05.masked_descriptor(reg.scalar(u32)))


@pytest.mark.parametrize(
    ("options", "bits"),
    [
        ({}, 0x08400490),
        ({"ab_dtype": "f16"}, 0x08400010),
        ({"ab_dtype": "f16", "scale_a": -1}, 0x08402010),
        ({"ab_dtype": "tf32"}, 0x08400910),
    ],
)
def test_instruction_descriptors(options, bits):
    assert ptx.tcgen05.make_instr_desc_f16bf16_f32(**options) == bits


@given(
    m=st.sampled_from([64, 128, 256]),
    n=st.integers(1, 32).map(lambda i: 8 * i),
    a=st.sampled_from(["K", "MN"]),
    b=st.sampled_from(["K", "MN"]),
    sparse=st.booleans(),
    saturate=st.booleans(),
    shift=st.integers(0, 3),
)
def test_the_fields_of_an_instruction_descriptor_can_be_read_back(m, n, a, b, sparse, saturate, shift):
    bits = ptx.tcgen05.make_instr_desc_f16bf16_f32(
        m=m, n=n, a_major=a, b_major=b, sparse=sparse, saturate=saturate, max_shift=shift
    )
    assert bits < 1 << 32
    assert (bits >> 2 & 1, bits >> 3 & 1, bits >> 15 & 1, bits >> 16 & 1) == (sparse, saturate, a == "MN", b == "MN")
    assert ((bits >> 17 & 63) * 8, (bits >> 24 & 31) * 16, bits >> 30) == (n, m, shift)


@pytest.mark.parametrize(
    "options",
    [{"m": 96}, {"n": 12}, {"n": 264}, {"ab_dtype": "f32"}, {"a_major": "M"}, {"scale_b": 0}, {"max_shift": 4}],
)
def test_instruction_descriptors_out_of_range_are_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        ptx.tcgen05.make_instr_desc_f16bf16_f32(**options)


KINDS = {
    "f16": ("f16", "bf16"),
    "tf32": ("tf32",),
    "i8": ("u8", "s8"),
    "f8f6f4": ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1"),
    "mxf8f6f4": ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1"),
    "mxf4": ("e2m1",),
    "mxf4nvf4": ("e2m1",),
}


@given(data=st.data(), kind=st.sampled_from(list(KINDS)), m=st.sampled_from([128, 256]), n=st.integers(1, 8))
def test_an_instruction_descriptor_says_what_the_simulator_reads(data, kind, m, n):
    pick = {
        name: data.draw(st.sampled_from(choices))
        for name, choices in {
            "a": KINDS[kind],
            "b": KINDS[kind],
            "ids": (0, 1, 2, 3) if kind == "mxf8f6f4" else (0,),
            "negate": (False, kind != "i8"),
            "major": ("K", "MN"),
        }.items()
    }
    scaled = kind.startswith("mx")
    major = pick["major"] if kind in ("f16", "tf32") or pick["b"] in ("e4m3", "e5m2", "u8", "s8") else "K"
    options = {"scale_a_id": pick["ids"], "scale_b_id": 3 - pick["ids"] if pick["ids"] else 0} if scaled else {}
    bits = ptx.tcgen05.make_instr_desc(
        kind, m=m, n=32 * n, a=pick["a"], b=pick["b"], negate_b=pick["negate"], b_major=major, **options
    )
    found = geometry(
        bits,
        kind,
        m // 128,
        ws=False,
        sparse=False,
        in_tmem=False,
        ashift=False,
        vector={"mxf4": 2, "mxf4nvf4": 4}.get(kind, 1),
    )
    name = {"e2m1": "e2m1x8"} if kind in ("mxf4", "mxf4nvf4") else {}
    assert (found.m, found.n, found.a, found.b) == (m, 32 * n, *(name.get(pick[x], pick[x]) for x in "ab"))
    assert (found.d, found.negate, found.mn_b) == ("s32" if kind == "i8" else "f32", pick["negate"], major == "MN")
    assert found.scale_type == {"mxf4nvf4": "ue4m3"}.get(kind, "ue8m0" if scaled else "")
    if scaled:
        assert (found.id_a, found.id_b) == (options["scale_a_id"], options["scale_b_id"])
    if kind == "f16" and pick["a"] == pick["b"]:
        assert bits == ptx.tcgen05.make_instr_desc_f16bf16_f32(
            m=m, n=32 * n, ab_dtype=pick["a"], b_major=major, scale_b=-1 if pick["negate"] else 1
        )


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("f8", {}, "kind"),
        ("mxf4", {"a": e4m3}, "a of kind::mxf4"),
        ("f16", {"d": "f16"}, "bf16 operands accumulate"),
        ("mxf4", {"a": "e2m1", "b": "e2m1", "m": 64}, "m of kind::mxf4"),
        ("f16", {"n": 12}, "n of kind::f16"),
        ("f8f6f4", {"a": "e2m1", "b": "e4m3", "a_major": "MN"}, "a_major of e2m1"),
        ("f16", {"scale_a_id": 1}, "scale_a_id=1"),
        ("mxf8f6f4", {"a": "e4m3", "b": "e4m3", "scale": "ue4m3"}, "scale of kind::mxf8f6f4"),
    ],
)
def test_arguments_a_kind_does_not_support_are_refused(kind, options, message):
    with pytest.raises(ValueError, match=message):
        ptx.tcgen05.make_instr_desc(kind, **{"m": 128, "n": 128, "a": "bf16", "b": "bf16"} | options)


def test_what_ptxas_refuses_but_kernels_write_is_written_with_a_warning():
    def commits():
        ptx.tcgen05.commit("b", space="cta")
        ptx.tcgen05.commit("b", multicast=True)
        ptx.tcgen05.cp(reg.scalar(b32), smem.alloc(b32, 4))

    with pytest.warns(UserWarning, match="refused by ptxas") as warned:
        lines = written(commits)
    assert lines == [
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cta.b64 [b];",
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.multicast::cluster.shared::cluster.b64 [b];",
        "tcgen05.cp.cta_group::1.128x256b [%r0], [smem_0];",
    ]
    assert len(warned) == 3 and all(w.filename == __file__ for w in warned)


def mma(**options):
    return lambda: ptx.tcgen05.mma(*operands(), **options)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (mma(kind="f32"), ValueError, "kind='f32'; expected 'tf32', 'f16'"),
        (mma(collector_a="keep"), ValueError, "collector_a='keep'"),
        (mma(cta_group=4), ValueError, "cta_group=4"),
        (mma(sparse=True), ValueError, "sparse_metadata="),
        (mma(kind="mxf4"), ValueError, "scale_a_tmem= and scale_b_tmem="),
        (mma(scale_vec="1X"), ValueError, "'f16' has no block scales"),
        (mma(kind="mxf4", scale_a_tmem=0, scale_b_tmem=0, scale_vec="3X"), ValueError, "scale_vec='3X'"),
        (mma(scale_c=16), PtxValidationError, "16"),
        (lambda: ptx.tcgen05.commit("b", space="global"), ValueError, "space='global'"),
        (lambda: ptx.tcgen05.ld(reg.array(b32, 3), reg.scalar(b32)), ShapeError, "dst holds 3 registers.*moves 2"),
        (lambda: ptx.tcgen05.st(reg.scalar(b32), reg.array(b32, 3), shape="8x8"), ShapeError, "shape='8x8'"),
        (lambda: ptx.tcgen05.alloc(smem.alloc(b32, 1), 33), PtxValidationError, "33"),
        (lambda: ptx.tcgen05.descriptor(reg.scalar(u32), stride_bytes=8), ShapeError, "stride_bytes=8"),
        (lambda: ptx.tcgen05.descriptor(reg.scalar(u32), stride_bytes=16, byte_offset=4), ShapeError, "byte_offset=4"),
        (lambda: ptx.tcgen05.descriptor(reg.scalar(u32), stride_bytes=16, swizzle="16B"), ShapeError, "swizzle='16B'"),
    ],
)
def test_wrong_arguments_are_refused(call, error, message):
    with pytest.raises(error, match=re.compile(message, re.DOTALL)):
        trace(call)
