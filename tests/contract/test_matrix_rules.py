"""Rules of the contract about warps, mbarriers, clusters and matrices (§9) that no other test holds."""

from itertools import product

import pytest
from support.tracing import Cases, accept, module_of, trace, written

from pyptx import ptx, reg, smem, types
from pyptx.types import b32, bf16, e4m3, f16, f32, pred, s32, tf32, u8, u32, u64

writes = Cases()

@pytest.mark.parametrize(("dtype", "name", "op"), [
    (b32, "sum", "add.u32"), (u32, "max", "max.u32"), (s32, "sum", "add.s32"), (s32, "min", "min.s32"),
    (f32, "sum", "add.f32"), (f32, "max", "max.f32"),
])
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
        ptx.wgmma.make_descriptor(tile, leading_byte_offset=layout.leading_byte_offset,
                                  stride_byte_offset=layout.stride_byte_offset, swizzle=layout.swizzle_code)
    assert written(by_hand) == written(
        lambda: ptx.wgmma.auto_descriptor(smem.wgmma_tile(bf16, shape, major), dtype=bf16, shape=shape, major=major))


@writes("""
    tcgen05.ld.sync.aligned.16x64b.x1.b32.pack::16b {%r0}, [%r1];
    tcgen05.st.sync.aligned.16x64b.x1.b32.unpack::16b [%r1], {%r0};
    tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [smem_0], 32;
    tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;
    tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r1, 32;
""", "sm_100a")
def tensor_memory_of_a_pair():
    value, at = reg.scalar(b32), reg.scalar(b32)
    ptx.tcgen05.ld([value], at, shape="16x64b", count=1, dtype="b32", pack=True)
    ptx.tcgen05.st(at, [value], shape="16x64b", count=1, dtype=b32, unpack=True)
    ptx.tcgen05.alloc(smem.alloc(b32, 1), 32, cta_group=2)
    ptx.tcgen05.relinquish_alloc_permit(cta_group=2)
    ptx.tcgen05.dealloc(at, 32, cta_group=2)


@pytest.mark.parametrize("case", writes.cases, ids=str)
def test_each_call_writes_its_lines(case):
    case.check()


def test_the_assembler_takes_all_of_it():
    writes.assemble()


def test_the_text_of_all_cases_reads_back():
    writes.read_back()
