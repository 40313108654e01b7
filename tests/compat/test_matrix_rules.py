"""Compatibility rules for warps, mbarriers, clusters and matrices."""

from itertools import product

import pytest
from support.tracing import Cases, accept, module_of, trace, written

from pyptx import ptx, reg, smem, types
from pyptx.types import b32, b64, bf16, e4m3, f16, f32, pred, s32, tf32, u8, u16, u32, u64

writes = Cases()


@pytest.mark.parametrize(
    ("dtype", "name", "op"),
    [
        (b32, "sum", "add.u32"),
        (u32, "max", "max.u32"),
        (s32, "sum", "add.s32"),
        (s32, "min", "min.s32"),
        (f32, "sum", "add.f32"),
        (f32, "max", "max.f32"),
    ],
)
def test_reductions_know_the_sign(dtype, name, op):
    lines = written(lambda: getattr(ptx.warp, f"reduce_{name}")(reg.scalar(dtype)))
    assert [line.split()[0] for line in lines if line.startswith(op)] == [op] * 5
    shuffles = [line for line in lines if line.startswith("shfl")]
    assert [line.split(", ")[2:] for line in shuffles] == [[str(m), "31", "-1;"] for m in (16, 8, 4, 2, 1)]


@writes("""
    {
    .reg .b32 remAddr32;
    @%p0 mapa.shared::cluster.u32 remAddr32, %r0, 1;
    @%p0 mbarrier.arrive.shared::cluster.b64 _, [remAddr32], 1;
    }
    add.u32 %r1, %r0, 8;
    {
    .reg .b32 remAddr32;
    @%p0 mapa.shared::cluster.u32 remAddr32, %r1, 1;
    @%p0 mbarrier.arrive.shared::cluster.b64 _, [remAddr32], 1;
    }
    setmaxnreg.inc.sync.aligned.u32 240;
""")
def every_slot_of_another_cta():
    start, leader = reg.scalar(u32), reg.scalar(pred)
    ring = ptx.mbarrier.array(start, 0, 2)
    ring.arrive_remote_all(1, pred=leader)
    assert ring[1].byte_offset == 8 and ring[0].addr_reg() is start
    ptx.setmaxnreg_inc(240)


@writes("@!%p0 mbarrier.init.shared::cta.b64 [mbar_0], 1;")
def a_guarded_init():
    ptx.mbarrier.init(smem.mbarrier(1)[0], 1, pred=~reg.scalar(pred))


def test_every_group_of_an_epilogue_has_its_own_address():
    def body():
        frag = reg.array(f32, 24)
        ptx.stmatrix_x4_trans_f32_bf16(frag=frag, smem_base=reg.scalar(u32), lane=reg.scalar(u32), row_stride=72)

    lines = written(body)
    stores = [i for i, line in enumerate(lines) if line.startswith("stmatrix")]
    assert [lines[i - 1].rpartition(", ")[2] for i in stores] == [f"{group * 72 * 32};" for group in range(3)]
    assert sum(line.startswith("cvt.rn.bf16.f32") for line in lines) == 24


def test_wgmma_takes_each_type_it_has_and_no_operand_too_many():
    """tf32, fp8 and integers carry no transposition, integers no scales: the assembler takes each."""

    def body():
        wide, half, ints = (reg.wgmma_frag(m=64, n=16, dtype=d) for d in (f32, b32, s32))
        a, b = reg.scalar(u64, 0), reg.scalar(u64, 0)
        for dtype, k in ((bf16, 16), (f16, 16), (tf32, 8), (e4m3, 32), (types.e5m2, 32)):
            ptx.wgmma.mma_async(shape=(64, 16, k), dtype_d=f32, dtype_a=dtype, dtype_b=dtype, d=wide, a=a, b=b)
        ptx.wgmma.mma_async(shape=(64, 16, 16), dtype_d=f16, dtype_a=f16, dtype_b=f16, d=half.regs()[:4], a=a, b=b)
        for dtype in (types.s8, u8):
            ptx.wgmma.mma_async(shape=(64, 16, 32), dtype_d=s32, dtype_a=dtype, dtype_b=dtype, d=ints, a=a, b=b)

    accept(module_of({"k": trace(body)}, "sm_90a"))


@pytest.mark.parametrize(("major", "shape"), list(product(("K", "MN"), ((64, 64), (128, 16), (64, 128)))))
def test_an_automatic_descriptor_is_the_one_of_the_tile(major, shape):
    def by_hand():
        tile = smem.wgmma_tile(bf16, shape, major)
        layout = tile.gmma_layout
        ptx.wgmma.make_descriptor(
            tile,
            leading_byte_offset=layout.leading_byte_offset,
            stride_byte_offset=layout.stride_byte_offset,
            swizzle=layout.swizzle_code,
        )

    assert written(by_hand) == written(
        lambda: ptx.wgmma.auto_descriptor(smem.wgmma_tile(bf16, shape, major), dtype=bf16, shape=shape, major=major)
    )


@writes(
    """
    tcgen05.ld.sync.aligned.16x64b.x1.b32.pack::16b {%r0}, [%r1];
    tcgen05.st.sync.aligned.16x64b.x1.b32.unpack::16b [%r1], {%r0};
    tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [smem_0], 32;
    tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;
    tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r1, 32;
""",
    "sm_100a",
)
def tensor_memory_of_a_pair():
    value, at = reg.scalar(b32), reg.scalar(b32)
    ptx.tcgen05.ld([value], at, shape="16x64b", count=1, dtype="b32", pack=True)
    ptx.tcgen05.st(at, [value], shape="16x64b", count=1, dtype=b32, unpack=True)
    ptx.tcgen05.alloc(smem.alloc(b32, 1), 32, cta_group=2)
    ptx.tcgen05.relinquish_alloc_permit(cta_group=2)
    ptx.tcgen05.dealloc(at, 32, cta_group=2)


@writes(
    """
    mov.u32 %r2, 0;
    tcgen05.mma.cta_group::1.kind::i8 [%r0], %rd0, %rd1, %r1, {%r2, %r2, %r2, %r2}, %p0;
    tcgen05.cp.cta_group::1.128x256b [%r0], %rd0;
    mov.u32 %r3, 0;
    tcgen05.mma.cta_group::1.kind::f16.collector::a::discard [%r0], %rd0, %rd1, %r1, {%r3, %r3, %r3, %r3}, %p0;
    mov.u32 %r4, 0;
    tcgen05.mma.cta_group::1.kind::f16.collector::a::fill [%r0], %rd0, %rd1, %r1, {%r4, %r4, %r4, %r4}, %p0;
    mov.u32 %r5, 0;
    tcgen05.mma.cta_group::1.kind::f16.collector::a::use [%r0], %rd0, %rd1, %r1, {%r5, %r5, %r5, %r5}, %p0;
    tcgen05.mma.cta_group::1.kind::mxf4.block_scale [%r0], %rd0, %rd1, %r1, [%r0], [%r0], %p0;
""",
    "sm_100a",
)
def products_of_every_kind():
    d, idesc, a, b, keep = reg.scalar(b32), reg.scalar(b32), reg.scalar(b64), reg.scalar(b64), reg.scalar(pred)
    ptx.tcgen05.mma(d, a, b, idesc, kind="i8", pred_operand=keep)
    ptx.tcgen05.cp(d, a, src_is_addr=False)
    for collector in ("discard", "fill", "use"):
        ptx.tcgen05.mma(d, a, b, idesc, collector_a=collector, pred_operand=keep)
    ptx.tcgen05.mma(d, a, b, idesc, kind="mxf4", scale_a_tmem=d, scale_b_tmem=d, pred_operand=keep)


def test_a_source_is_in_brackets_where_it_is_an_address():
    def body():
        at, source = reg.scalar(b32), reg.scalar(u64)
        ptx.tcgen05.cp(at, source)
        ptx.tcgen05.cp(at, source, src_is_addr=True)
        ptx.tcgen05.cp(at, ptx.addr(source, 16))

    with pytest.warns(UserWarning, match="refused by ptxas"):
        lines = written(body)
    assert [line.rpartition(", ")[2] for line in lines] == ["%rd0;", "[%rd0];", "[%rd0+16];"]


@pytest.mark.parametrize(("swizzle", "code"), [("NONE", 0), ("128B_BASE32B", 1), ("128B", 2), ("64B", 4), ("32B", 6)])
def test_the_constant_of_a_blackwell_descriptor(swizzle, code):
    """Leading and stride in units of 16 bytes at 16 and 32, version at 46, base at 49, mode at 52, layout at 61."""

    def body():
        ptx.tcgen05.descriptor(
            reg.scalar(u32), stride_bytes=512, leading_bytes=32, swizzle=swizzle, version=2, base_offset=3, lbo_mode=1
        )

    bits = 2 << 16 | 32 << 32 | 2 << 46 | 3 << 49 | 1 << 52 | code << 61
    assert written(body) == [
        "and.b32 %r1, %r0, 262128;",
        "shr.u32 %r2, %r1, 4;",
        "cvt.u64.u32 %rd0, %r2;",
        f"or.b64 %rd0, %rd0, {bits};",
        "mov.b64 %rd1, %rd0;",
    ]


@writes("""
    mov.b32 %r0, %f0;
    shfl.sync.bfly.b32 %r1, %r0, 2, 31, -1;
    mov.b32 %f1, %r1;
    max.f32 %f0, %f0, %f1;
    mov.b32 %r2, %f0;
    shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1;
    mov.b32 %f2, %r3;
    max.f32 %f0, %f0, %f2;
    mov.b32 %r5, %r4;
    shfl.sync.bfly.b32 %r6, %r5, 1, 31, -1;
    min.u32 %r4, %r4, %r6;
""")
def a_reduction_line_by_line():
    ptx.warp.reduce_max(reg.scalar(f32), width=4)
    ptx.warp.reduce_min(reg.scalar(u32), width=2)


@writes("""
    mbarrier.init.shared::cta.b64 [mbar_0+0], 1;
    mbarrier.arrive.shared.b64 %rd0, [mbar_0+16];
    mov.u32 %r0, mbar_0;
    add.u32 %r1, %r0, 16;
""")
def slots_of_a_named_ring():
    smem.mbarrier(4)
    ptx.mbarrier.array("mbar_0", 0, 1)[0].init(1)
    slot = ptx.mbarrier.array("mbar_0", 8, 2)[1]
    slot.arrive()
    slot.addr_reg()


@pytest.mark.parametrize("rank", range(1, 6))
def test_a_box_of_every_rank_is_loaded_and_stored(rank):
    def body():
        copy = getattr(ptx.cp.async_bulk, f"tensor_{rank}d")
        tile, bar, at, x = smem.alloc(f32, 64), smem.mbarrier(1)[0], reg.scalar(u64), reg.scalar(u32)
        coord = (x, *[8] * (rank - 1))
        copy(dst=tile, src=at, coord=coord, mbar=bar)
        copy.shared_cta_global_tile(dst=tile, src=at, coord=coord, mbar=bar)
        copy.store(dst=at, src=tile, coord=coord)

    box, start = "{" + ", ".join(["%r0", *["8"] * (rank - 1)]) + "}", f"cp.async.bulk.tensor.{rank}d"
    done = "mbarrier::complete_tx::bytes [smem_0], [%rd0, " + box + "], [mbar_0];"
    assert written(body) == [
        f"{start}.shared::cluster.global.{done}",
        f"{start}.shared::cta.global.tile.{done}",
        f"{start}.global.shared::cta.bulk_group [%rd0, {box}], [smem_0];",
    ]
    accept(module_of({"k": trace(body)}, "sm_90a"))


def test_matrices_in_dynamic_memory_keep_their_offset():
    def body():
        smem.alloc(f32, 64)
        tile, fragment = smem.alloc(bf16, (2, 64)), reg.array(b32, 4)
        ptx.stmatrix(smem=tile[0], regs=fragment)
        ptx.stmatrix(smem=tile[1], regs=fragment)
        ptx.ldmatrix(dst=fragment, src=tile[1])

    lines = written(body, force_dynamic_smem=True)
    assert [line.rpartition(", ")[2] for line in lines if line.startswith("add")] == ["256;", "384;", "384;"]
    assert [line.split()[1 if "st" in line[:2] else -1].strip(",;") for line in lines if "matrix" in line] == [
        "[%r5]",
        "[%r7]",
        "[%r9]",
    ]
    accept(module_of({"k": trace(body, force_dynamic_smem=True)}, "sm_90a"))


@writes("""
    @%p0 bar.sync 2;
    bar.sync 3, 64;
    @!%p0 cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [smem_0], [%rd0, {0, 0, 1}], [mbar_0], %rs0;
""")
def barriers_and_multicasts_of_some():
    some, mask = reg.scalar(pred), reg.scalar(u16)
    ptx.named_barrier(2).sync(pred=some)
    ptx.named_barrier(3, count=64).sync()
    ptx.tma.load_3d_multicast(smem.alloc(f32, 64), reg.scalar(u64), 0, 64, smem.mbarrier(1)[0], mask, issuer=~some)


@writes(
    """
    mov.u32 %r2, 1;
    setp.ne.b32 %p1, %r2, 0;
    tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd0, %rd1, %r1, %p1;
    tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd0, %rd1, %r1, %p0;
    setp.ne.b32 %p2, %r1, 0;
    tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd0, %rd1, %r1, %p2;
""",
    "sm_100a",
    (8, 6),
)
def the_predicate_goes_before_the_scale_of_the_accumulator():
    d, idesc, a, b, keep = reg.scalar(b32), reg.scalar(b32), reg.scalar(b64), reg.scalar(b64), reg.scalar(pred)
    ptx.tcgen05.mma(d, a, b, idesc, pred_operand=True, scale_d=False)
    ptx.tcgen05.mma(d, a, b, idesc, pred_operand=keep, scale_d=1)
    ptx.tcgen05.mma(d, a, b, idesc, scale_d=idesc, enable_input_d=False)


@writes("""
    shr.u64 %rd2, %rd1, 4;
    and.b64 %rd2, %rd2, 16383;
    mov.b64 %rd3, 4611686293305360384;
    or.b64 %rd2, %rd2, %rd3;
    and.b32 %r1, %r0, 262016;
    shr.u32 %r2, %r1, 4;
    cvt.u64.u32 %rd4, %r2;
    or.b64 %rd4, %rd4, 4611686293305360384;
    mov.u64 %rd5, smem_0;
    add.s64 %rd6, %rd5, 64;
    shr.u64 %rd7, %rd6, 4;
    and.b64 %rd7, %rd7, 16383;
    mov.b64 %rd8, 4611686293305360384;
    or.b64 %rd7, %rd7, %rd8;
""")
def descriptors_of_wide_addresses_and_symbols():
    _, wide, narrow = reg.scalar(u64), reg.scalar(u64), reg.scalar(u32)
    fields = dict(leading_byte_offset=16, stride_byte_offset=1024, swizzle=ptx.wgmma.SWIZZLE_128B)
    ptx.wgmma.make_descriptor(wide, **fields)
    ptx.wgmma.masked_descriptor(narrow)
    ptx.wgmma.make_descriptor(smem.alloc(bf16, (64, 64)), addr_byte_offset=64, **fields)


@pytest.mark.parametrize("wrong", [{"leading_bytes": 8}, {"version": 8}, {"base_offset": 8}, {"lbo_mode": 2}])
def test_fields_of_a_blackwell_descriptor_out_of_range_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        trace(lambda: ptx.tcgen05.descriptor(reg.scalar(u32), stride_bytes=1024, **wrong))


@writes("""
    stmatrix.sync.aligned.m8n8.x1.shared::cta.b16 [smem_0], {%r0};
    stmatrix.sync.aligned.m8n8.x1.trans.shared::cta.b16 [smem_0], {%r0};
""")
def one_matrix_stored():
    tile, fragment = smem.alloc(bf16, (8, 8)), reg.array(b32, 1)
    ptx.stmatrix(smem=tile, regs=fragment, layout="x1")
    ptx.stmatrix(smem=tile, regs=fragment, layout="x1.trans")


def test_signs_of_an_instruction_descriptor_are_bits_13_and_14():
    plain = ptx.tcgen05.make_instr_desc_f16bf16_f32()
    for sides, bits in (({"scale_a": -1}, 1 << 13), ({"scale_b": -1}, 1 << 14)):
        assert ptx.tcgen05.make_instr_desc_f16bf16_f32(ab_dtype=bf16, **sides) == plain | bits


@pytest.mark.parametrize("case", writes.cases, ids=str)
def test_each_call_emits_its_lines(case):
    case.check()


def test_ptxas_accepts_everything():
    writes.assemble()


def test_the_text_of_all_cases_reads_back():
    writes.read_back()
