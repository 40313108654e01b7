"""mma, wgmma and its descriptors, ldmatrix and stmatrix."""

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tracing import Cases, accept, module_of, trace, written

from pyptx import ptx, reg, smem
from pyptx.errors import PtxValidationError, ShapeError
from pyptx.ptx._wgmma_descriptors import constant_bits
from pyptx.spec import strict
from pyptx.types import b16, b32, bf16, e4m3, e5m2, f16, f32, s8, s32, tf32, u8, u32, u64
from pyptx.types import pred as pred_type

writes = Cases()


def descriptors():
    return reg.scalar(u64), reg.scalar(u64)


@writes("""
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %rd0, %rd1, %p0, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
""")
def wgmma_of_descriptors():
    d, keep = reg.wgmma_frag(m=64, n=8, dtype=f32), reg.scalar(pred_type)
    a, b = descriptors()
    ptx.wgmma.fence()
    ptx.wgmma.mma_async(shape=(64, 8, 16), dtype_d=f32, dtype_a=bf16, dtype_b=bf16, d=d, a=a, b=b, scale_d=keep)
    ptx.wgmma.commit_group()
    ptx.wgmma.wait_group(0)


@writes("""
    mov.u64 %rd0, smem_0;
    add.s64 %rd1, %rd0, 32;
    shr.u64 %rd2, %rd1, 4;
    and.b64 %rd2, %rd2, 16383;
    mov.b64 %rd3, 4611686293305360384;
    or.b64 %rd2, %rd2, %rd3;
    mov.u64 %rd4, smem_1;
    shr.u64 %rd5, %rd4, 4;
    and.b64 %rd5, %rd5, 16383;
    mov.b64 %rd6, 4611686293305360384;
    or.b64 %rd5, %rd5, %rd6;
    mov.u32 %r0, 0;
    setp.ne.b32 %p0, %r0, 0;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd2, %rd5, %p0, 1, -1, 0, 0;
""")
def wgmma_of_tiles():
    d = reg.wgmma_frag(m=64, n=8, dtype=f32)
    a, b = smem.wgmma_tile(f16, (64, 64)), smem.wgmma_tile(f16, (8, 64))
    ptx.wgmma.mma_async(
        shape=(64, 8, 16), dtype_d=f32, dtype_a=f16, dtype_b=f16, d=d, a=a, b=b, scale_b=-1, a_k_offset=32
    )


@writes("wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%f0, %f1, %f2, %f3}, %rd0, %rd1, %p0, -1, 1;")
def wgmma_tf32_has_no_transposition():
    d, keep = reg.wgmma_frag(m=64, n=8, dtype=f32), reg.scalar(pred_type)
    a, b = descriptors()
    ptx.wgmma.mma_async(
        shape=(64, 8, 8), dtype_d=f32, dtype_a=tf32, dtype_b=tf32, d=d, a=a, b=b, scale_d=keep, scale_a=-1
    )


@writes("""
    setp.ne.b32 %p0, %r0, 0;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %rd0, %rd1, %p0, 1, 1, 0, 0;
    mov.u32 %r1, 1;
    setp.ne.b32 %p1, %r1, 0;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %rd0, %rd1, %p1, 1, 1, 0, 0;
""")
def wgmma_accumulates_where_a_number_is_not_zero():
    d, number = reg.wgmma_frag(m=64, n=8, dtype=f32), reg.scalar(u32)
    a, b = descriptors()
    for scale_d in (number, 1):
        ptx.wgmma.mma_async(shape=(64, 8, 16), dtype_d=f32, dtype_a=bf16, dtype_b=bf16, d=d, a=a, b=b, scale_d=scale_d)


@writes("wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2 {%f0, %f1, %f2, %f3}, %rd0, %rd1, %p0, 1, 1;")
def wgmma_fp8_has_no_transposition():
    d, keep = reg.wgmma_frag(m=64, n=8, dtype=f32), reg.scalar(pred_type)
    a, b = descriptors()
    ptx.wgmma.mma_async(shape=(64, 8, 32), dtype_d=f32, dtype_a=e4m3, dtype_b=e5m2, d=d, a=a, b=b, scale_d=keep)


@writes("wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8 {%r0, %r1, %r2, %r3}, %rd0, %rd1, %p0;")
def wgmma_integers_have_no_scales():
    d, keep = reg.wgmma_frag(m=64, n=8, dtype=s32), reg.scalar(pred_type)
    a, b = descriptors()
    ptx.wgmma.mma_async(shape=(64, 8, 32), dtype_d=s32, dtype_a=s8, dtype_b=u8, d=d, a=a, b=b, scale_d=keep)


@writes("""
    @%p0 wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, %rd1, %p0, 1, 1, 1;
""")
def wgmma_of_a_fragment():
    d, keep, fragment = reg.wgmma_frag(m=64, n=8, dtype=f32), reg.scalar(pred_type), reg.array(b32, 4)
    _, b = descriptors()
    ptx.wgmma.mma_async(
        shape=(64, 8, 16),
        dtype_d=f32,
        dtype_a=bf16,
        dtype_b=bf16,
        d=d,
        a=fragment,
        b=b,
        scale_d=keep,
        trans_b=1,
        pred=keep,
    )


@writes("""
    cvt.u64.u32 %rd0, %r0;
    shr.u64 %rd1, %rd0, 4;
    and.b64 %rd1, %rd1, 16383;
    mov.b64 %rd2, 13835058330160136192;
    or.b64 %rd1, %rd1, %rd2;
    add.u32 %r1, %r0, 256;
    and.b32 %r2, %r1, 262016;
    shr.u32 %r3, %r2, 4;
    cvt.u64.u32 %rd3, %r3;
    or.b64 %rd3, %rd3, 4611686293305360384;
""")
def descriptors_of_an_address():
    start = reg.scalar(u32)
    ptx.wgmma.make_descriptor(start, leading_byte_offset=16, stride_byte_offset=1024, swizzle=ptx.wgmma.SWIZZLE_32B)
    ptx.wgmma.masked_descriptor(start, byte_offset=256)


@writes(
    """
    mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%rarr0_0, %rarr0_1}, {%f0, %f1, %f2, %f3};
""",
    "sm_80",
)
def mma_of_a_warp():
    a, b, c = reg.array(b32, 4), reg.array(b32, 2), reg.array(f32, 4)
    ptx.mma.sync(shape=(16, 8, 16), dtype_d=f32, dtype_a=bf16, dtype_b=bf16, dtype_c=f32, d=c, a=a, b=list(b), c=c)


@writes("""
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%r5];
    ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r0, %r1, %r2, %r3}, [smem_0];
    ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%r5+32];
    stmatrix.sync.aligned.m8n8.x4.shared::cta.b16 [smem_0+128], {%r0, %r1, %r2, %r3};
    stmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 [%r5], {%r0, %r1, %r2, %r3};
    stmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 [%r5], {%r0, %r1};
    movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;
""")
def matrices_to_and_from_shared_memory():
    f, start = reg.array(b32, 4), reg.Reg("%r5", u32)
    ptx.raw(".reg .u32 %r5;")
    tile = smem.alloc(bf16, (2, 64))
    ptx.ldmatrix(dst=f, src=start)
    ptx.ldmatrix(dst=list(f), src=tile, layout="m8n8.x4", trans=True)
    ptx.ldmatrix(dst=f[0], src=ptx.addr(start, 32), layout="x1")
    ptx.stmatrix(smem=tile[1], regs=f)
    ptx.stmatrix(smem=start, regs=f, layout="x4.trans")
    ptx.stmatrix(smem=start, regs=f[0:2], layout="x2", trans=True)
    ptx.movmatrix(dst=f[0], src=f[1])


@writes("""
    and.b32 %r3, %r0, 31;
    shr.u32 %r4, %r0, 5;
    mad.lo.s32 %r8, %r4, 16, 0;
    and.b32 %r5, %r3, 7;
    mad.lo.s32 %r8, %r5, 64, %r8;
    shr.u32 %r6, %r3, 4;
    mad.lo.s32 %r8, %r6, 512, %r8;
    and.b32 %r7, %r3, 8;
    add.s32 %r8, %r8, %r7;
    shl.b32 %r10, %r8, 1;
    add.u32 %r9, %r1, %r10;
    {
    cvt.rn.bf16.f32 %rs0, %f0;
    cvt.rn.bf16.f32 %rs1, %f1;
    cvt.rn.bf16.f32 %rs2, %f2;
    cvt.rn.bf16.f32 %rs3, %f3;
    cvt.rn.bf16.f32 %rs4, %f4;
    cvt.rn.bf16.f32 %rs5, %f5;
    cvt.rn.bf16.f32 %rs6, %f6;
    cvt.rn.bf16.f32 %rs7, %f7;
    }
    mov.b32 %rarr0_0, {%rs0, %rs1};
    mov.b32 %rarr0_1, {%rs2, %rs3};
    mov.b32 %rarr0_2, {%rs4, %rs5};
    mov.b32 %rarr0_3, {%rs6, %rs7};
    add.u32 %r11, %r9, 0;
    stmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 [%r11], {%rarr0_0, %rarr0_1, %rarr0_2, %rarr0_3};
""")
def an_epilogue_of_8_columns():
    d, lane, start = reg.array(f32, 8), reg.scalar(u32), reg.scalar(u32)
    halves = reg.array(b16, 8)
    packs = reg.array(b32, 4)
    ptx.stmatrix_x4_trans_f32_bf16(frag=d, smem_base=start, lane=lane, row_stride=64, tmp_bf16=halves, tmp_pack=packs)


def test_a_mask_that_drops_bits_of_the_offset_is_warned_of():
    with pytest.warns(UserWarning, match=r"mask=0x3ff80 drops bits of the offset.*pass mask=0x3fff0"):
        trace(lambda: ptx.wgmma.masked_descriptor(reg.scalar(u32), byte_offset=64))
    lines = written(lambda: ptx.wgmma.masked_descriptor(reg.scalar(u32), byte_offset=64, mask=0x3FFF0))
    assert "and.b32 %r2, %r1, 262128;" in lines


@pytest.mark.parametrize("case", writes.cases, ids=str)
def test_each_call_emits_its_lines(case):
    case.check()


def test_ptxas_accepts_everything():
    writes.assemble()


def test_the_assembler_takes_wgmma_of_every_layout():
    """Each swizzle, K-major and MN-major, tiles of several rows of 128 bytes, static and dynamic."""

    def body(rows=(8, 16, 32, 64, 128)):
        d = reg.wgmma_frag(m=64, n=64, dtype=f32)
        for k, major in product(rows, ("K", "MN")):
            tile = smem.wgmma_tile(bf16, (64, k), major)
            ptx.wgmma.mma_async(
                shape=(64, 64, 16),
                dtype_d=f32,
                dtype_a=bf16,
                dtype_b=bf16,
                d=d,
                a=tile,
                b=tile,
                trans_a=major == "MN",
                trans_b=major == "MN",
                scale_d=True,
            )

    for rows in ((8, 16, 32, 64), (128,)):  # static shared memory ends at 48 KiB
        accept(module_of({"static": trace(lambda rows=rows: body(rows))}, "sm_90a"))
    accept(module_of({"dynamic": trace(body, force_dynamic_smem=True)}, "sm_90a"))


def test_a_descriptor_of_a_dynamic_tile_counts_its_offset():
    def body():
        smem.alloc(f32, 256)
        ptx.wgmma.auto_descriptor(smem.wgmma_tile(bf16, (64, 64)), dtype=bf16, shape=(64, 64), major="K")

    assert written(body, force_dynamic_smem=True)[:3] == [
        "mov.u64 %rd0, dyn_smem;",
        "mov.b64 %rd1, 1024;",
        "add.s64 %rd0, %rd0, %rd1;",
    ]


def test_a_descriptor_of_one_stage_counts_the_stages_before():
    def static():
        tiles = smem.alloc(bf16, (4, 64, 64))
        ptx.wgmma.make_descriptor(tiles[2], leading_byte_offset=16, stride_byte_offset=1024)

    assert "mov.b64 %rd1, 16384;" in written(static)

    def at_run_time():
        tiles, stage = smem.alloc(bf16, (4, 64, 64)), reg.scalar(u32)
        ptx.wgmma.make_descriptor(tiles[stage], leading_byte_offset=16, stride_byte_offset=1024)

    assert "mul.lo.u32 %r2, %r0, 8192;" in written(at_run_time)


@given(leading=st.integers(0, 0x3FFF), stride=st.integers(0, 0x3FFF), swizzle=st.integers(0, 3), base=st.integers(0, 7))
def test_the_fields_of_a_descriptor_can_be_read_back(leading, stride, swizzle, base):
    bits = constant_bits(16 * leading, 16 * stride, swizzle, base)
    assert (bits & 0x3FFF, bits >> 16 & 0x3FFF, bits >> 32 & 0x3FFF, bits >> 49 & 7, bits >> 62) == (
        0,
        leading,
        stride,
        base,
        swizzle,
    )


def test_the_masked_constant_is_the_usual_128_byte_layout():
    assert ptx.wgmma.MASKED_DESC_B128 == constant_bits(16, 1024, ptx.wgmma.SWIZZLE_128B)


REFUSED = [
    (dict(dtype_a=tf32, dtype_b=tf32, trans_b=1), "trans_b=1: tf32 operands cannot be transposed"),
    (dict(dtype_a=s8, dtype_b=s8, scale_a=-1), "s8 operands cannot be negated"),
    (dict(scale_a=2), "scale_a=2; expected 1 or -1"),
    (dict(trans_a=2), "trans_a=2; expected 0 or 1"),
]


@pytest.mark.parametrize(("changes", "message"), REFUSED, ids=[m for _, m in REFUSED])
def test_what_a_type_does_not_have_is_refused(changes, message):
    def body():
        d = reg.wgmma_frag(m=64, n=8, dtype=f32)
        a, b = descriptors()
        plain = dict(shape=(64, 8, 16), dtype_d=f32, dtype_a=bf16, dtype_b=bf16, d=d, a=a, b=b)
        ptx.wgmma.mma_async(**{**plain, **changes})

    with pytest.raises(ShapeError, match=re.escape(message)):
        trace(body)


def test_a_shape_that_does_not_exist_is_refused_by_name():
    def body():
        d = reg.wgmma_frag(m=64, n=8, dtype=f32)
        a, b = descriptors()
        ptx.wgmma.mma_async(shape=(64, 999, 16), dtype_d=f32, dtype_a=bf16, dtype_b=bf16, d=d, a=a, b=b)

    with pytest.raises(PtxValidationError, match="m64n999k16"):
        trace(body)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: ptx.wgmma.make_descriptor("s", leading_byte_offset=8, stride_byte_offset=0),
            ShapeError,
            "a multiple of 16",
        ),
        (
            lambda: ptx.wgmma.make_descriptor("s", leading_byte_offset=0, stride_byte_offset=0, swizzle=4),
            ShapeError,
            "swizzle=4",
        ),
        (
            lambda: ptx.wgmma.make_descriptor("s", leading_byte_offset=0, stride_byte_offset=0, base_offset=8),
            ShapeError,
            "base_offset=8",
        ),
        (lambda: ptx.wgmma.auto_descriptor("s", dtype=bf16, shape=(64, 64), major="M"), ShapeError, "'K' or 'MN'"),
        (
            lambda: ptx.mma.sync(
                shape=(16, 8, 16),
                dtype_d=f32,
                dtype_a=f16,
                dtype_b=f16,
                dtype_c=f32,
                d=[],
                a=[],
                b=[],
                c=[],
                b_layout="rows",
            ),
            ShapeError,
            "b_layout='rows'",
        ),
        (lambda: ptx.stmatrix(smem="s", regs=[], layout="x3"), ShapeError, "layout='x3'"),
        (
            lambda: ptx.stmatrix_x4_trans_f32_bf16(
                frag=reg.array(f32, 4), smem_base=reg.scalar(u32), lane=reg.scalar(u32), row_stride=64
            ),
            ShapeError,
            "a multiple of 8",
        ),
        (
            lambda: ptx.stmatrix_x4_trans_f32_bf16(
                frag=reg.array(f32, 8), smem_base=reg.scalar(u32), lane=reg.scalar(u32), row_stride=64, tmp_pack=[]
            ),
            ShapeError,
            "tmp_pack holds 0",
        ),
        (
            lambda: ptx.wgmma.mma_async(
                shape=(64, 8, 16),
                dtype_d=f32,
                dtype_a=f16,
                dtype_b=f16,
                d=[],
                b=reg.scalar(u64),
                a=smem.alloc(f16, (64, 64)),
            ),
            TypeError,
            "smem.wgmma_tile",
        ),
    ],
)
def test_wrong_arguments_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        trace(call)


# slices of shared memory as operands, and strictness -----------------------------------------------------------------


def sliced_product(b_shape=(3, 64, 128), swizzle="128B", trans_b=1):
    a, b = smem.alloc(bf16, (3, 64, 64), swizzle=swizzle), smem.alloc(bf16, b_shape, swizzle="128B")
    d = reg.wgmma_frag(m=64, n=128, dtype=f32)
    ptx.wgmma.mma_async(
        shape=(64, 128, 16), dtype_d=f32, dtype_a=bf16, dtype_b=bf16, d=d, a=a[0], b=b[1], trans_b=trans_b
    )


def test_a_slice_of_swizzled_memory_is_a_wgmma_operand():
    def with_tiles():
        a, b = smem.wgmma_tile(bf16, (64, 64)), smem.wgmma_tile(bf16, (64, 128), major="MN")
        d = reg.wgmma_frag(m=64, n=128, dtype=f32)
        ptx.wgmma.mma_async(shape=(64, 128, 16), dtype_d=f32, dtype_a=bf16, dtype_b=bf16, d=d, a=a, b=b, trans_b=1)

    def constants(body) -> list[str]:
        lines = written(body, force_dynamic_smem=True)
        return [line for line in lines if line.startswith("mov.b64") and len(line) > 24]

    assert constants(sliced_product) == constants(with_tiles) and len(constants(sliced_product)) == 2


@pytest.mark.parametrize(
    "options, says",
    [
        ({"trans_b": 0}, r"as a K-major tile it holds 64 of 128 rows \(trans_b=1 is MN-major\)"),
        ({"swizzle": "64B"}, "has swizzle='128B', not '64B'"),
        ({"b_shape": (2, 2, 64, 128)}, "expected two dimensions"),
    ],
)
def test_a_slice_without_a_wgmma_layout_is_refused(options, says):
    with pytest.raises(TypeError, match=says):
        written(lambda: sliced_product(**options))


def test_without_strictness_options_and_counts_are_not_checked():
    def body():
        r, p = reg.scalar(u32), reg.scalar(pred_type)
        ptx.setp("foo", u32, p, r, r)
        ptx.ld(f32, r, ptx.addr(r), space="elsewhere")
        ptx.cp.async_.cg(ptx.addr(r), ptx.addr(r), 12)

    with pytest.raises(ValueError, match="cmp='foo'"):
        written(body)
    with strict(False):
        lines = written(body)
    assert "setp.foo.u32 %p0, %r0, %r0;" in lines and "ld.elsewhere.f32 %r0, [%r0];" in lines
