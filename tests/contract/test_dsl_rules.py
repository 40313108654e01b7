"""Rules of the contract about registers, shared memory and `ptx.*` (§6 to §11) that no other test holds."""

from itertools import product

import pytest
from support.tracing import Cases, accept, module_of, trace, written

from pyptx import intrinsic, ptx, reg, smem, types
from pyptx._trace import trace_scope
from pyptx.emitter import emit
from pyptx.errors import ShapeError
from pyptx.ir.types import LinkingDirective, ScalarType, StateSpace
from pyptx.parser import parse
from pyptx.reg import PipeRef
from pyptx.types import b8, b32, b64, bf16, e4m3, f16, f32, f64, from_name, pred, s32, tf32, u8, u32, u64
from pyptx.wgmma_layout import GmmaLayout, LayoutType

writes = Cases()

# registers ---------------------------------------------------------------------------------------------------------

PREFIX = {"%p": "pred", "%rs": "b16 u16 s16", "%r": "b32 u32 s32 b8 u8 s8", "%rd": "b64 u64 s64", "%rq": "b128",
          "%h": "f16 bf16", "%hh": "f16x2 bf16x2", "%f": "f32 tf32", "%fd": "f64", "%b": "e4m3 e5m2"}
FAMILY = {"b8": "%ab", "b16": "%ah", "b32": "%ar", "b64": "%ad", "b128": "%aq", "u8": "%au8", "u16": "%au16",
          "u32": "%au", "u64": "%aud", "s8": "%as8", "s16": "%as16", "s32": "%as", "s64": "%asd", "f16": "%af16",
          "f16x2": "%af16x2", "bf16": "%abf", "bf16x2": "%abfx2", "tf32": "%atf", "f32": "%af", "f64": "%afd",
          "e4m3": "%ae4", "e5m2": "%ae5", "pred": "%ap"}


@pytest.mark.parametrize(("prefix", "dtypes"), PREFIX.items())
def test_types_of_one_prefix_count_together(prefix, dtypes):
    def body():
        for i, name in enumerate(dtypes.split()):
            assert reg.scalar(from_name(name)).name == f"{prefix}{i}"
    trace(body)


@pytest.mark.parametrize(("dtype", "family"), FAMILY.items())
def test_automatic_names_by_type(dtype, family):
    def body():
        assert [reg.alloc(from_name(dtype)).name for _ in range(2)] == [f"{family}0", f"{family}1"]
        assert reg.alloc_array(from_name(dtype), 2)[1].name == f"{family}arr0_1"
        assert reg.alloc_array(from_name(dtype), 1).base == f"{family}arr1_"
    trace(body)


def test_every_type_has_its_width():
    widths = {8: "b8 u8 s8 e4m3 e5m2", 16: "b16 u16 s16 f16 bf16", 32: "b32 u32 s32 f16x2 bf16x2 tf32 f32",
              64: "b64 u64 s64 f64", 128: "b128", 1: "pred"}
    for bits, names in widths.items():
        for name in names.split():
            dtype = getattr(types, name)
            assert (dtype.bits, dtype.name, dtype.ptx, repr(dtype)) == (bits, name, f".{name}", name)
            assert from_name(name) is from_name(f".{name}") is dtype


def test_names_given_are_taken_as_they_are():
    def body():
        assert reg.scalar(u32, name="%mine").name == "%mine" and reg.scalar(pred, name="%q").name == "%q"
        assert repr(reg.Reg("%r7", u32)) == "Reg(%r7, u32)" and hash(reg.Reg("%r7", u32)) == hash("%r7")
        for count in (0, -1):
            with pytest.raises(ValueError, match="positive"):
                reg.alloc_array(f32, count)
        acc = reg.wgmma_frag(m=64, n=16, dtype=f32, name="%acc")
        assert [r.name for r in acc.hw_order()] == [f"%acc{i}" for i in range(8)] == [r.name for r in acc.regs()]
    ctx = trace(body)
    assert [(d.type.value, d.name, d.count) for d in ctx.reg_decls] == [
        ("u32", "%mine", None), ("pred", "%q", None), ("f32", "%acc", 8)]


@writes("""
    setp.eq.u32 %p0, %r0, 1;
    setp.ne.u32 %p1, %r0, 1;
    setp.lt.u32 %p2, %r0, 1;
    setp.le.u32 %p3, %r0, 1;
    setp.gt.u32 %p4, %r0, 1;
    setp.ge.u32 %p5, %r0, 1;
    setp.lt.u64 %p6, %rd0, %rd0;
    setp.lt.s32 %p7, %r1, -1;
    mov.u32 %r2, %laneid;
    setp.eq.u32 %p8, %r2, 0;
""")
def comparisons_by_type():
    a, wide, signed = reg.scalar(b32), reg.scalar(b64), reg.scalar(s32)
    for compare in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"):
        getattr(a, compare)(1)
    _ = wide < wide, signed < -1, ptx.special.laneid() == 0


@writes("""
    mul.lo.s32 %r1, %r0, 3;
    mul.lo.u32 %r2, %r0, %r0;
    sub.s32 %r3, %r0, 1;
    and.b32 %r4, %r0, 7;
    xor.b32 %r5, %r0, 7;
    or.b32 %r6, %r0, 7;
    cvt.u64.u32 %rd2, %r0;
    and.b64 %rd1, %rd0, %rd2;
    mul.lo.u64 %rd3, %rd0, 3;
    shr.s64 %rd5, %rd4, 3;
    not.b64 %rd6, %rd0;
""")
def operators_from_either_side():
    n, wide = reg.scalar(u32), reg.scalar(u64)
    3 * n, n * n, n - 1, 7 & n, 7 ^ n, 7 | n, wide & n, wide * 3
    reg.scalar(types.s64) >> 3, ~wide


@writes("""
    mov.u32 %r0, %ctaid.x;
    mul.lo.s32 %r1, %r0, 128;
    mov.u32 %r2, %tid.x;
    add.u32 %r3, %r1, %r2;
    mov.u32 %r4, %laneid;
    not.b32 %r5, %r4;
    mov.u32 %r6, %laneid;
    neg.s32 %r7, %r6;
    mov.u32 %r8, %ntid.x;
    setp.lt.u32 %p0, %r3, %r8;
    mov.u64 %rd0, %clock64;
    sub.s64 %rd1, %rd0, 1;
    mov.u32 %r9, %warpid;
    add.u32 %r9, %r9, 1;
    mov.u32 %r10, %nctaid.x;
    mov.s32 %ri0, 0;
    $_loop_0:
    setp.ge.s32 %p1, %ri0, %r10;
    @%p1 bra $_endloop_1;
    add.s32 %ri0, %ri0, 1;
    bra $_loop_0;
    $_endloop_1:
    mov.u32 %r11, %ctaid.y;
    mov.u32 %r12, %tid.y;
    mul.lo.u32 %r14, %r11, 32;
    add.u32 %r13, %r14, %r12;
    shl.b32 %r15, %r13, 2;
    mov.b32 %r16, smem_0;
    add.u32 %r16, %r16, %r15;
    ld.shared.f32 %f0, [%r16];
""")
def special_registers_are_moved_before_they_are_used():
    special = ptx.special
    i = special.ctaid.x() * 128 + special.tid.x()
    ~special.laneid(), -special.laneid(), i < special.ntid.x(), special.clock64() - 1
    warp = special.warpid()
    warp += 1
    for _ in ptx.range_(0, special.nctaid.x()):
        pass
    smem.alloc(f32, (4, 32))[special.ctaid.y(), special.tid.y()]


def test_pairs_are_made_with_a_predicate_on_either_side():
    def body():
        p, r = reg.scalar(pred), reg.scalar(b32)
        assert isinstance(p | r, PipeRef) and isinstance(r | p, PipeRef)
        ptx.inst.elect.sync(r | p, -1)
    assert written(body) == ["elect.sync %r0|%p0, -1;"]


# shared memory -----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("swizzle", "mask"), [("32B", 128), ("64B", 384), ("128B", 896)])
def test_a_swizzle_is_three_instructions(swizzle, mask):
    lines = written(lambda: smem.apply_swizzle(reg.scalar(u32), swizzle))
    assert lines == [f"and.b32 %r1, %r0, {mask};", "shr.u32 %r1, %r1, 3;", "xor.b32 %r2, %r0, %r1;"]


def test_a_swizzle_nobody_knows_is_refused():
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
        for use in (lambda: line[0, 1], lambda: tile[0, 1, 2], lambda: tile["a"],
                    lambda: tile.__setitem__((0, 1), 1.0), lambda: tile.__setitem__(0, reg.scalar(f32)),
                    lambda: smem.store(f32, tile, 1.0)):
            with pytest.raises(TypeError):
                use()
    trace(body)


def test_what_an_allocation_knows():
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
        ("b", "b8", 64 * 128 * 2, 1024), ("smem_0", "b8", 128, 128), ("smem_1", "b8", 256, 128),
        ("mbar_0", "b64", 2, 8)]


# operands, addresses, declarations ---------------------------------------------------------------------------------

def test_handles_are_bare_symbols_and_tuples_are_call_lists():
    def body():
        tile, bars = smem.alloc(f32, (2, 4)), smem.mbarrier(2)
        at, p = reg.scalar(u32), reg.scalar(pred)
        for handle in (tile, tile[1], bars, bars[1]):
            ptx.inst.mov.u32(at, handle)
        ptx.inst.call((at,), "f", (at, 1))
        ptx.inst.setp.lt.u32(p | p, at, True)
        ptx.inst.bra("done", pred=~p)
    assert written(body) == ["mov.u32 %r0, smem_0;", "mov.u32 %r0, smem_0+16;", "mov.u32 %r0, mbar_0;",
                             "mov.u32 %r0, mbar_0+8;", "call (%r0), f, (%r0, 1);", "setp.lt.u32 %p0|%p0, %r0, 1;",
                             "@!%p0 bra done;"]


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


@pytest.mark.parametrize(("space", "options", "text"), [
    ("shared", dict(size=49152, align=128), ".shared .align 128 .b8 x[49152];"), ("local", {}, ".local .b8 x;"),
    ("shared__cta", dict(size=4), ".shared::cta .b8 x[4];"), ("global", dict(align=8), ".global .align 8 .b8 x;"),
])
def test_variables_are_declared_as_told(space, options, text):
    assert text in emit(module_of({"k": trace(lambda: ptx.var(space, b8, "x", **options))}, "sm_90"))


def test_offsets_in_text_get_a_plus_when_they_need_one():
    def body():
        at = reg.scalar(u64)
        for offset in (4, -4, "%r1", "sym", "+8", ", {0, 1}"):
            ptx.inst.prefetch.global_.L2(ptx.addr(at, offset))
    assert [line[line.index("["):-1] for line in written(body)] == [
        "[%rd0+4]", "[%rd0+-4]", "[%rd0+%r1]", "[%rd0+sym]", "[%rd0+8]", "[%rd0, {0, 1}]"]


@writes("""
    mul.f32 %f1, %f0, %f0;
    add.f32 %f2, %f1, 0f3F800000;
    sqrt.approx.f32 %f3, %f2;
""")
def a_pipe_of_three():
    x, a, b, c = (reg.scalar(f32) for _ in range(4))
    ptx.pipe(x).mul.f32(a, x).add.f32(b, 1.0).sqrt.approx.f32(c)


# control flow ------------------------------------------------------------------------------------------------------

def statements(body):
    return len(trace(body).statements)


def test_how_many_statements_a_construct_takes():
    def branch(otherwise):
        p = reg.scalar(pred)
        with ptx.if_(p):
            ptx.ret()
        if otherwise:
            with ptx.else_():
                ptx.ret()

    def counted():
        for _ in ptx.range_(0, 4):
            ptx.ret()
    assert statements(lambda: branch(False)) == 5 and statements(lambda: branch(True)) == 6
    assert statements(counted) == 8


def test_fresh_labels_count_through_all_prefixes():
    def body():
        with ptx.if_(reg.scalar(pred)):
            for _ in ptx.range_(0, 2):
                ptx.mbarrier.wait(smem.mbarrier(1)[0], 0)
    labels = [line[:-1] for line in written(body) if line.endswith(":")]
    assert labels == ["$_loop_2", "$_mbar_wait_4", "$_endloop_3", "$_else_0", "$_endif_1"]


def test_predicates_of_a_scope_are_pooled_outside_of_it():
    def body():
        with ptx.scope():
            reg.scalar(pred)
            reg.scalar(f32)
    ctx = trace(body)
    assert [(d.name, d.count) for d in ctx.reg_decls] == [("%p", 1)]
    assert [d.name for d in ctx.statements[0].body] == ["%f0"]


def test_declarations_stand_in_front_of_variables_and_statements():
    def body():
        ptx.ret()
        smem.alloc(f32, 4)
        reg.scalar(f32)
    assert [type(s).__name__ for s in trace(body).body()] == ["RegDecl", "VarDecl", "Instruction"]


def test_a_trace_is_restored_whatever_happens_inside():
    with trace_scope() as outer, pytest.raises(KeyError), trace_scope():
        raise KeyError
    assert not outer.statements
    with pytest.raises(RuntimeError, match="No active kernel trace"):
        ptx.ret()


def test_a_pipeline_goes_on_from_registers_it_is_given():
    def body():
        cursor, phase = reg.scalar(u32), reg.scalar(u32)
        ring = ptx.pipeline(3, cursor=cursor, phase=phase)
        assert ring.n_stages == 3 and ring.cursor is cursor and ring.phase is phase
        stage, flipped = ring.advance()
        assert flipped is phase and stage is not cursor
    assert written(body)[0] == "setp.eq.u32 %p0, %r0, 3;"


@pytest.mark.parametrize(("total", "unroll", "error"), [(8, 3, ValueError), (8, 0, ValueError), (1.5, 4, TypeError)])
def test_a_loop_that_cannot_be_unrolled(total, unroll, error):
    with pytest.raises(error):
        trace(lambda: ptx.kloop(total, unroll=unroll, body=lambda: None))


def test_what_ends_in_front_of_a_module_is_written_as_ptxas_reads_it():
    def body():
        ptx.file_(1, "kernel.py")
        ptx.loc(1, 40)
        ptx.ret()
    module = module_of({"k": trace(body)}, "sm_80")
    text = emit(module)
    assert '.file 1 "kernel.py"' in text[:text.index(".visible")] and "\t.loc 1 40 0\n" in text
    accept(module)


# warp, mbarriers, clusters -----------------------------------------------------------------------------------------

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


# matrices ----------------------------------------------------------------------------------------------------------

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


# intrinsics and enumerations ---------------------------------------------------------------------------------------

def test_an_intrinsic_shows_what_it_was_called_with():
    @intrinsic
    def helper(a, b, *, c=0):
        return a, b, c

    assert helper.__is_ptx_intrinsic__ and helper(1, 2, c=3) == (1, 2, 3) and ptx.intrinsic is intrinsic

    def body():
        helper(reg.scalar(f64), "x" * 60, c=[1, 2])
    assert written(body) == [f"// BEGIN helper(%fd0, 'xxxxx{'x' * 31}..., c=[1, 2])", "// END helper"]


@pytest.mark.parametrize("kind", [ScalarType, StateSpace, LinkingDirective])
def test_enumerations_are_read_with_and_without_a_dot(kind):
    for member in kind:
        assert kind.from_ptx(member.ptx) is kind.from_ptx(member.value) is member and member.ptx == "." + member.value
    with pytest.raises(ValueError, match="nobody"):
        kind.from_ptx("nobody")


def test_the_text_of_all_cases_reads_back():
    text = emit(module_of({str(case): trace(case.body) for case in writes.cases}, "sm_100a", (8, 8)))
    assert text.endswith("\n") and emit(parse(text)) == text


@pytest.mark.parametrize("case", writes.cases, ids=str)
def test_each_call_writes_its_lines(case):
    case.check()


def test_the_assembler_takes_all_of_it():
    writes.assemble()


def test_a_ring_needs_stages():
    with pytest.raises(ShapeError, match="n_stages=0"):
        trace(lambda: ptx.pipeline(0))
