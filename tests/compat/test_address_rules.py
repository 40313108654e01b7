"""Compatibility rules for shared memory, operands and declarations."""

import pytest
from support.tracing import Cases, module_of, trace, written

from pyptx import ptx, reg, smem
from pyptx.emitter import emit
from pyptx.tensor import TensorSpec
from pyptx.types import b8, b32, b64, bf16, f32, pred, u32, u64
from pyptx.wgmma_layout import GmmaLayout, LayoutType

writes = Cases()


@pytest.mark.parametrize(("swizzle", "mask"), [("32B", 128), ("64B", 384), ("128B", 896)])
def test_a_swizzle_is_three_instructions(swizzle, mask):
    lines = written(lambda: smem.apply_swizzle(reg.scalar(u32), swizzle))
    assert lines == [f"and.b32 %r1, %r0, {mask};", "shr.u32 %r1, %r1, 3;", "xor.b32 %r2, %r0, %r1;"]


def test_an_unknown_swizzle_is_refused():
    with pytest.raises(ValueError, match="swizzle '16B'"):
        trace(lambda: smem.apply_swizzle(reg.scalar(u32), "16B"))
    trace(lambda: [smem.apply_swizzle(reg.scalar(u32), none) for none in (None, "NONE")])


@writes("""
    mov.u32 %r1, %r0;
    mov.b32 %r2, smem_0;
    add.u32 %r2, %r2, %r1;
    ld.shared.b8 %r3, [%r2];
    mul.lo.u32 %r5, %r0, 16;
    add.u32 %r4, %r5, %r0;
    mov.b32 %r6, smem_0;
    add.u32 %r6, %r6, %r4;
    st.shared.b8 [%r6], %r3;
""")
def elements_of_one_byte_need_no_shift():
    tile, i = smem.alloc(b8, (4, 16)), reg.scalar(u32)
    tile[i, i] = tile[0, i]


def test_element_access_is_for_two_dimensions_and_registers():
    def body():
        tile, line = smem.alloc(f32, (4, 4)), smem.alloc(f32, 4)
        for use in (
            lambda: line[0, 1],
            lambda: tile[0, 1, 2],
            lambda: tile["a"],
            lambda: tile.__setitem__((0, 1), 1.0),
            lambda: tile.__setitem__(0, reg.scalar(f32)),
            lambda: smem.store(f32, tile, 1.0),
        ):
            with pytest.raises(TypeError):
                use()

    trace(body)


def test_attributes_of_an_allocation():
    def body():
        tile = smem.wgmma_tile(bf16, (64, 128), major="MN", name="b", align=1024)
        assert (tile.name, tile.dtype, tile.shape, tile.byte_offset) == ("b", bf16, (64, 128), 0)
        assert (tile.swizzle, tile.gmma_major) == ("128B", "MN") and tile.gmma_layout.stride_byte_offset == 1024
        layout = GmmaLayout(LayoutType.B64, 16, 512, "64B", "64B")
        own = smem.alloc_with_layout(f32, 32, "64B", None, None, layout, "K")
        assert (own.gmma_layout, own.gmma_major, own.swizzle) == (layout, "K", "64B")
        one = smem.alloc(f32, (4, 2, 8))[3]
        assert (one.alloc.shape, one.stage) == ((4, 2, 8), 3)
        bars = smem.mbarrier(2)
        assert (bars.count, len(bars), bars[1].array, bars[1].idx) == (2, 2, bars, 1)
        with pytest.raises(ValueError, match="'K' or 'MN'"):
            smem.wgmma_tile(bf16, (64, 64), major="M")

    ctx = trace(body)
    assert [(v.name, v.type.value, v.array_size, v.alignment) for v in ctx.var_decls] == [
        ("b", "b8", 64 * 128 * 2, 1024),
        ("smem_0", "b8", 128, 128),
        ("smem_1", "b8", 256, 128),
        ("mbar_0", "b64", 2, 8),
    ]


def test_handles_are_bare_symbols_and_tuples_are_call_lists():
    def body():
        tile, bars = smem.alloc(f32, (2, 4)), smem.mbarrier(2)
        at, p = reg.scalar(u32), reg.scalar(pred)
        for handle in (tile, tile[1], bars, bars[1]):
            ptx.inst.mov.u32(at, handle)
        ptx.inst.call((at,), "f", (at, 1))
        ptx.inst.setp.lt.u32(p | p, at, True)
        ptx.inst.bra("done", pred=~p)

    assert written(body) == [
        "mov.u32 %r0, smem_0;",
        "mov.u32 %r0, smem_0+16;",
        "mov.u32 %r0, mbar_0;",
        "mov.u32 %r0, mbar_0+8;",
        "call (%r0), f, (%r0, 1);",
        "setp.lt.u32 %p0|%p0, %r0, 1;",
        "@!%p0 bra done;",
    ]


@pytest.mark.parametrize("dynamic", [False, True])
def test_every_way_to_address_a_handle_counts_its_offset(dynamic):
    """Stages, mbarriers and second allocations: one after another they are all different places."""

    def body():
        smem.alloc(f32, 64)
        tile, bars = smem.alloc(f32, (2, 32)), smem.mbarrier(2)
        value = reg.scalar(b32)
        for handle in (tile, tile[1], bars[0], bars[1]):
            ptx.inst.ld.shared.b32(value, ptx.addr(handle))
            ptx.inst.ld.shared.b32(value, ptx.addr(handle, 4))

    where = ["smem_1", "smem_1+4", "smem_1+128", "smem_1+132", "mbar_0", "mbar_0+4", "mbar_0+8", "mbar_0+12"]
    if dynamic:
        where = [f"dyn_smem+{256 + i}" for i in (0, 4, 128, 132, 256, 260, 264, 268)]
    lines = [line for line in written(body, force_dynamic_smem=dynamic) if line.startswith("ld")]
    assert lines == [f"ld.shared.b32 %r0, [{at}];" for at in where]


@pytest.mark.parametrize(
    ("space", "options", "text"),
    [
        ("shared", dict(size=49152, align=128), ".shared .align 128 .b8 x[49152];"),
        ("local", {}, ".local .b8 x;"),
        ("shared__cta", dict(size=4), ".shared::cta .b8 x[4];"),
        ("global", dict(linking="visible"), ".visible .global .b8 x;"),
        ("global", dict(align=8), ".global .align 8 .b8 x;"),
    ],
)
def test_variables_are_declared_as_specified(space, options, text):
    assert text in emit(module_of({"k": trace(lambda: ptx.var(space, b8, "x", **options))}, "sm_90"))


def test_offsets_in_text_get_a_plus_when_they_need_one():
    def body():
        at = reg.scalar(u64)
        for offset in (4, -4, "%r1", "sym", "+8", ", {0, 1}"):
            ptx.inst.prefetch.global_.L2(ptx.addr(at, offset))

    assert [line[line.index("[") : -1] for line in written(body)] == [
        "[%rd0+4]",
        "[%rd0+-4]",
        "[%rd0+%r1]",
        "[%rd0+sym]",
        "[%rd0+8]",
        "[%rd0, {0, 1}]",
    ]


@writes("""
    mul.f32 %f1, %f0, %f0;
    add.f32 %f2, %f1, 0f3F800000;
    sqrt.approx.f32 %f3, %f2;
""")
def a_pipe_of_three():
    x, a, b, c = (reg.scalar(f32) for _ in range(4))
    ptx.pipe(x).mul.f32(a, x).add.f32(b, 1.0).sqrt.approx.f32(c)


@writes("""
    ld.param.u64 %rd0, [m];
    cvta.to.global.u64 %rd0, %rd0;
    ld.param.u64 %rd1, [p];
    cvta.to.global.u64 %rd1, %rd1;
    ld.global.f32 %f0, [%rd1+-4];
""")
def a_pointer_for_each_tensor():
    first, second = ptx.global_ptrs(TensorSpec("m"), TensorSpec("p"))
    assert first.dtype == second.dtype == b64
    ptx.ld(f32, reg.scalar(f32), ptx.addr(second, -4))


def test_special_registers_by_name_are_32_bits_wide_unless_they_are_wider():
    for name, dtype in (("%tid.x", u32), ("%laneid", u32), ("%nobody", u32), ("%clock64", u64)):
        assert (ptx.sreg(name).name, ptx.sreg(name).dtype) == (name, dtype)


def test_what_can_be_the_base_of_an_address():
    def body():
        at, by = reg.scalar(u64), reg.scalar(u32)
        for base, offset in ((at, None), (at, by), ("sym", 8), (TensorSpec("x"), None), (ptx.addr(at, 4), 4)):
            ptx.inst.prefetch.global_.L2(ptx.addr(base, offset))

    assert [line.split()[-1] for line in written(body)] == ["[%rd0];", "[%rd0+%r0];", "[sym+8];", "[x];", "[%rd0+8];"]


@pytest.mark.parametrize("case", writes.cases, ids=str)
def test_each_call_emits_its_lines(case):
    case.check()


def test_ptxas_accepts_everything():
    writes.assemble()


def test_the_text_of_all_cases_reads_back():
    writes.read_back()
