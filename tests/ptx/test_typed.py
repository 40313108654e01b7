"""Typed arithmetic and memory accesses, and the entry they share."""

import warnings

import pytest
from support.tracing import Cases, trace, written

from pyptx import ptx, reg, smem, spec
from pyptx.errors import PtxValidationError
from pyptx.types import b32, bf16, f16, f32, f64, s32, u32, u64
from pyptx.types import pred as pred_type

writes = Cases()


@writes("""
    mov.u32 %r0, 7;
    add.f32 %f0, %f0, 0f3FC00000;
    sub.s32 %r0, %r0, 1;
    mul.lo.u32 %r0, %r0, 3;
    mul.wide.u32 %rd0, %r0, 4;
    mul.f32 %f0, %f0, %f0;
    mad.hi.s32 %r0, %r0, 2, %r0;
    fma.rn.f32 %f0, %f0, %f0, %f0;
    shl.b32 %r0, %r0, 2;
    shr.u32 %r0, %r0, 2;
    and.b32 %r0, %r0, 15;
    or.b32 %r0, %r0, 1;
    xor.b32 %r0, %r0, 1;
    not.b32 %r0, %r0;
    setp.lt.u32 %p0, %r0, 4;
    selp.f32 %f0, %f0, 0f00000000, %p0;
""")
def arithmetic():
    r, f, wide, p = reg.scalar(u32), reg.scalar(f32), reg.scalar(u64), reg.scalar(pred_type)
    ptx.mov(u32, r, 7)
    ptx.add(f32, f, f, 1.5)
    ptx.sub(s32, r, r, 1)
    ptx.mul(u32, r, r, 3)
    ptx.mul(u32, wide, r, 4, mode="wide")
    ptx.mul(f32, f, f, f)
    ptx.mad(s32, r, r, 2, r, mode="hi")
    ptx.mad(f32, f, f, f, f)
    ptx.shl(b32, r, r, 2)
    ptx.shr(u32, r, r, 2)
    ptx.and_(b32, r, r, 15)
    ptx.or_(b32, r, r, 1)
    ptx.xor_(b32, r, r, 1)
    ptx.not_(b32, r, r)
    ptx.setp("lt", u32, p, r, 4)
    ptx.selp(f32, f, f, 0.0, p)


@writes("""
    mad.lo.s32 %r1, %r0, 4, %r0;
    mad.lo.u64 %rd1, %rd0, 2, %rd0;
    fma.rn.f32 %f1, %f0, %f0, %f0;
""")
def multiply_add_as_an_expression():
    r, wide, f = reg.scalar(u32), reg.scalar(u64), reg.scalar(f32)
    ptx.mad(r, 4, r)
    ptx.mad(wide, 2, wide)
    ptx.mad(f, f, f)


@writes("""
    @%p0 add.u32 %r0, %r0, 1;
    @!%p0 mov.u32 %r0, 0;
    @%p0 setp.eq.u32 %p0, %r0, 3;
    @!%p0 st.global.f32 [%rd0], %f0;
""")
def guards():
    r, p, f, at = reg.scalar(u32), reg.scalar(pred_type), reg.scalar(f32), reg.scalar(u64)
    ptx.add(u32, r, r, 1, pred=p)
    ptx.mov(u32, r, 0, pred=~p)
    ptx.setp("eq", u32, p, r, 3, pred_negate=p)
    ptx.st(f32, at, f, pred=~p)


@writes("""
    cvt.rn.f32.u32 %f0, %r0;
    cvt.rzi.ftz.u32.f32 %r0, %f0;
    cvt.rn.bf16.f32 %h0, %f0;
    cvt.f32.f16 %f0, %h1;
    cvt.rn.sat.f32.f64 %f0, %fd0;
""")
def conversions():
    r, f, b, h, d = reg.scalar(u32), reg.scalar(f32), reg.scalar(bf16), reg.scalar(f16), reg.scalar(f64)
    ptx.cvt(f32, u32, f, r, rounding="rn")
    ptx.cvt(u32, f32, r, f, rounding="rzi", ftz=True)
    ptx.cvt(bf16, f32, b, f, rounding="rn")
    ptx.cvt(f32, f16, f, h)
    ptx.cvt(f32, f64, f, d, rounding="rn", sat=True)


@writes("""
    ld.global.f32 %f5, [%rd0];
    ld.global.nc.v4.f32 {%f0, %f1, %f2, %f3}, [%rd0+16];
    ld.shared::cta.f32 %f5, [smem_0];
    ld.param.u64 %rd0, [p];
    ld.f32 %f5, [%rd0];
    st.global.cs.f32 [%rd0], %f5;
    st.shared.v2.f32 [smem_0+8], {%f0, %f1};
    st.shared::cluster.f32 [%r0], %f5;
""")
def memory():
    v, f, at, near = reg.array(f32, 4), reg.Reg("%f5", f32), reg.scalar(u64), reg.scalar(u32)
    ptx.raw(".reg .f32 %f5;")
    tile = smem.alloc(f32, 4)
    ptx.ld(f32, f, at)
    ptx.ld(f32, v, ptx.addr(at, 16), cache="nc")
    ptx.ld(f32, f, tile, space="shared__cta")
    ptx.ld(u64, at, "p", space="param")
    ptx.ld(f32, f, at, space="generic")
    ptx.st(f32, at, f, cache="cs")
    ptx.st(f32, ptx.addr(tile, 8), v[0:2], space="shared")
    ptx.st(f32, near, f, space="shared__cluster")


@pytest.mark.parametrize("case", writes.cases, ids=str)
def test_each_call_emits_its_lines(case):
    case.check()


def test_ptxas_accepts_everything():
    writes.assemble()


def test_typed_wrappers_return_nothing_but_mad_as_an_expression():
    returned = []

    def body():
        r = reg.scalar(u32)
        returned.append(ptx.add(u32, r, r, 1))
        returned.append(ptx.mad(r, 2, r))

    trace(body)
    assert returned[0] is None and returned[1].dtype == u32


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: ptx.mul(u32, reg.scalar(u32), 1, 2, mode="low"),
            ValueError,
            "mode='low'; expected 'lo', 'hi' or 'wide'",
        ),
        (lambda: ptx.setp("lo", u32, reg.scalar(pred_type), 1, 2), ValueError, "cmp='lo'"),
        (lambda: ptx.ld(f32, reg.scalar(f32), "x", space="heap"), ValueError, "space='heap'"),
        (lambda: ptx.mad(1, 2), TypeError, "got 2 operands"),
        (lambda: ptx.mad(1, 2, 3), TypeError, "needs a register"),
        (lambda: ptx.add("f33", reg.scalar(f32), 1.0, 1.0), ValueError, "Unknown PTX type"),
        (lambda: ptx.add(3, reg.scalar(f32), 1.0, 1.0), TypeError, "3 is not a PTX type"),
    ],
)
def test_wrong_arguments_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        trace(call)


# strict mode -------------------------------------------------------------------------------------------------------


def test_a_wrapper_refuses_at_the_users_line():
    def body():
        f = reg.scalar(f32)
        ptx.add(u32, f, f, 1)

    with pytest.raises(PtxValidationError) as caught:
        trace(body)
    assert caught.value.place.source_line.strip() == "ptx.add(u32, f, f, 1)"
    text = str(caught.value)
    first, *others = text.splitlines()
    assert "add.u32" in first and first.startswith(f"{__file__}:") and not any(__file__ in line for line in others)


def test_nothing_is_written_when_a_wrapper_refuses():
    def body():
        f = reg.scalar(f32)
        with pytest.raises(PtxValidationError):
            ptx.add(u32, f, f, 1)

    assert written(body) == []


def test_without_strictness_a_wrapper_emits_any_form():
    with spec.strict(False):
        assert written(lambda: ptx._emit("add", ("f99",), ["%a", "%b"])) == ["add.f99 %a, %b;"]


def test_the_generic_chain_never_refuses():
    lines = written(lambda: (ptx.inst.add.f99("%a"), ptx.inst.frobnicate.fast(1, 2)))
    assert lines == ["add.f99 %a;", "frobnicate.fast 1, 2;"]


@pytest.mark.parametrize("modifiers", ["rn.f32", ("rn", "f32"), [".rn", ".f32"], ".rn.f32"])
def test_modifiers_may_be_written_in_every_way(modifiers):
    def body():
        f = reg.scalar(f32)
        assert ptx._emit("add", modifiers, [f, f, 1.5]) is f

    assert written(body) == ["add.rn.f32 %f0, %f0, 0f3FC00000;"]


def test_an_unknown_opcode_is_emitted_with_a_warning():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert written(lambda: ptx._emit("frobnicate", "fast", [1])) == ["frobnicate.fast 1;"]
    assert any(issubclass(w.category, spec.UnvalidatedInstructionWarning) for w in seen)


def test_declarations_in_raw_text_are_known_to_wrappers():
    def body():
        ptx.raw(".reg .b32 %q<4>;\n.reg .f32 %z;")
        ptx.mov(b32, reg.Reg("%q3", b32), 1)
        ptx.mov(b32, reg.Reg("%z", b32), 1)
        with pytest.raises(PtxValidationError):
            ptx.add(u32, reg.Reg("%z", u32), 1, 2)

    assert written(body)[-2:] == ["mov.b32 %q3, 1;", "mov.b32 %z, 1;"]
