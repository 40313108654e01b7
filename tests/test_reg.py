"""Registers: PTX of declarations and operators, and refused uses in Python."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tracing import Cases, accept, module_of, trace, written

from pyptx import ptx, reg, types
from pyptx.errors import NoValueError, ShapeError
from pyptx.tracing.operand import float_literal
from pyptx.types import (
    PtxType,
    b16,
    b32,
    b64,
    bf16,
    e4m3,
    f16,
    f16x2,
    f32,
    f64,
    from_name,
    pred,
    s8,
    s32,
    s64,
    tf32,
    u8,
    u32,
    u64,
)

writes = Cases()


@writes("""
    add.u32 %r1, %r0, 4;
    add.u32 %r2, %r0, 4;
    sub.s32 %r3, %r0, 1;
    mul.lo.s32 %r4, %r0, 12;
    mul.lo.u32 %r5, %r0, %r0;
    shl.b32 %r6, %r0, 2;
    shr.u32 %r7, %r0, %r1;
    and.b32 %r8, %r0, 31;
    or.b32 %r9, %r0, %r1;
    xor.b32 %r10, %r0, 1;
    div.u32 %r11, %r0, 3;
    rem.u32 %r12, %r0, 3;
    max.u32 %r13, %r0, %r1;
    min.u32 %r14, %r0, 7;
    not.b32 %r15, %r0;
    neg.s32 %r16, %r0;
""")
def operators_of_32_bits():
    a = reg.scalar(u32)
    b = a + 4
    4 + a, a - 1, a * 12, a * a, a << 2, a >> b, a & 31, a | b, a ^ 1, a // 3, a % 3
    a.max(b), a.min(7), ~a, -a


@writes("""
    add.s32 %r1, %r0, 4;
    shr.s32 %r2, %r0, 2;
    div.s32 %r3, %r0, 3;
    max.s32 %r4, %r0, %r0;
    setp.lt.s32 %p0, %r0, 0;
""")
def signed_operators():
    a = reg.scalar(s32)
    a + 4, a >> 2, a // 3, a.max(a), a < 0


@writes("""
    add.s64 %rd1, %rd0, 4;
    sub.s64 %rd2, %rd0, %rd1;
    mul.lo.u64 %rd3, %rd0, 12;
    shl.b64 %rd4, %rd0, 2;
    shr.u64 %rd5, %rd0, 2;
    and.b64 %rd6, %rd0, 31;
    cvt.u64.u32 %rd8, %r0;
    add.s64 %rd7, %rd0, %rd8;
    cvt.u64.u32 %rd10, %r0;
    add.s64 %rd9, %rd10, %rd0;
    cvt.s64.s32 %rd12, %r1;
    mul.lo.u64 %rd11, %rd0, %rd12;
""")
def operators_of_64_bits():
    a, n, signed = reg.scalar(b64), reg.scalar(u32), reg.scalar(s32)
    b = a + 4
    a - b, a * 12, a << 2, a >> 2, a & 31, a + n, n + a, a * signed


@writes("""
    mov.u32 %r1, 100;
    sub.s32 %r2, %r1, %r0;
    mov.u32 %r3, 1;
    shl.b32 %r4, %r3, %r0;
    add.u32 %r0, %r0, 1;
    sub.s32 %r0, %r0, %r2;
    mul.lo.s32 %r0, %r0, 3;
    shl.b32 %r0, %r0, 2;
    shr.u32 %r0, %r0, 2;
    and.b32 %r0, %r0, 7;
    xor.b32 %r0, %r0, 1;
    or.b32 %r0, %r0, 1;
""")
def reflected_and_in_place():
    a = reg.scalar(u32)
    b = 100 - a
    1 << a
    a += 1
    a -= b
    a *= 3
    a <<= 2
    a >>= 2
    a &= 7
    a ^= 1
    a |= 1
    assert a.name == "%r0"


@writes("""
    add.f32 %f1, %f0, 0f3F800000;
    mul.f32 %f2, %f0, %f0;
    div.rn.f32 %f3, %f0, 0f40000000;
    neg.f32 %f4, %f0;
    max.f32 %f5, %f0, 0f00000000;
    setp.gt.f32 %p0, %f0, 0f3F800000;
    sub.f64 %fd1, %fd0, 0d3FF0000000000000;
""")
def operators_of_floats():
    a, d = reg.scalar(f32), reg.scalar(f64)
    a + 1, a * a, a / 2, -a, a.max(0.0), a > 1
    d - 1.0


@writes("""
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p0, %r1, 32;
    setp.ne.u32 %p1, %r0, 4;
    setp.ge.u64 %p2, %rd0, 4;
    selp.u32 %r0, 1, 0, %p2;
""")
def comparisons():
    n = reg.scalar(b32)
    _ = ptx.special.tid.x() < 32, n != 4
    keep = reg.scalar(b64) >= 4
    ptx.selp(u32, n, 1, 0, keep)


@pytest.mark.parametrize("case", writes.cases, ids=str)
def test_each_operator_emits_its_line(case):
    case.check()


def test_ptxas_accepts_everything():
    writes.assemble()


# declaring ---------------------------------------------------------------------------------------------------------


def declarations(body):
    ctx = trace(body)
    return [f"{d.type.value} {d.name}{f'<{d.count}>' if d.count else ''}" for d in ctx.reg_decls]


def test_names_follow_the_type():
    assert declarations(lambda: [reg.scalar(t) for t in (pred, b16, u32, s64, f16, bf16, f32, tf32, f64, e4m3)]) == [
        "pred %p<1>",
        "b16 %rs0",
        "u32 %r0",
        "s64 %rd0",
        "f16 %h0",
        "b16 %h1",
        "f32 %f0",
        "b32 %f1",
        "f64 %fd0",
        "b8 %b0",
    ]


def test_types_that_ptxas_cannot_declare_get_the_type_of_their_bits():
    every = [t for t in vars(types).values() if isinstance(t, PtxType)]

    def body():
        for dtype in every:
            reg.scalar(dtype)
            reg.alloc(dtype)
            reg.alloc_array(dtype, 2)

    accept(module_of({"k": trace(body)}, "sm_90a"))


def test_arrays_take_the_bare_prefix_first():
    def body():
        first, second = reg.array(f32, 4), reg.array(f32, 2)
        assert (first.base, second.base) == ("%f", "%farr0_")
        assert reg.scalar(f32).name == "%f5"  # the second array burnt an index
        named = reg.array(b32, 10, name="%r")
        assert named[9].name == "%r9" and reg.scalar(u32).name == "%r10"

    trace(body)


def test_automatic_names_are_a_family_of_their_own():
    def body():
        names = [reg.alloc(t).name for t in (f32, f32, u32, s32, b64, pred)]
        assert names == ["%af0", "%af1", "%au0", "%as0", "%ad0", "%ap0"]
        assert reg.alloc_array(f32, 4)[3].name == "%afarr0_3"
        assert reg.scalar(f32).name == "%f0"

    trace(body)


def test_predicates_share_one_declaration():
    def body():
        reg.scalar(pred)
        with ptx.scope():
            reg.scalar(pred)
        reg.scalar(pred, name="%mine")

    assert declarations(body) == ["pred %p<2>", "pred %mine"]


@pytest.mark.parametrize(
    ("dtype", "init", "line"),
    [
        (u32, 7, "mov.u32 %r0, 7;"),
        (f32, 1.5, "mov.f32 %f0, 0f3FC00000;"),
        (f32, 2, "mov.f32 %f0, 0f40000000;"),
        (f64, 1, "mov.f64 %fd0, 0d3FF0000000000000;"),
        (u32, "%tid.x", "mov.u32 %r0, %tid.x;"),
        (f32, float("inf"), "mov.f32 %f0, 0f7F800000;"),
        (tf32, 1.0, "mov.b32 %f0, 0f3F800000;"),
        (u32, True, "mov.u32 %r0, 1;"),
    ],
)
def test_initial_values(dtype, init, line):
    def body():
        reg.scalar(dtype, init)

    assert written(body) == [line]
    accept(module_of({"k": trace(body)}, "sm_80"))


@given(st.floats(width=32))
def test_float_literals_are_exact(value):
    assert float_literal(value, 32) == "0f" + struct.pack(">f", value).hex().upper()
    assert struct.unpack(">d", bytes.fromhex(float_literal(value, 64)[2:]))[0] == value or value != value


def test_assigning_to_an_element_copies_and_keeps_the_source():
    def body():
        r = reg.array(b32, 5)
        r[3] = r[2] << 7
        r[4] = r[3]
        r[3] = r[3]

    assert written(body) == ["shl.b32 %r5, %r2, 7;", "mov.b32 %r3, %r5;", "mov.b32 %r4, %r3;"]


def test_elements_of_an_array():
    def body():
        r = reg.array(f32, 4)
        assert len(r) == r.count == 4 and [x.name for x in r] == ["%f0", "%f1", "%f2", "%f3"]
        assert [x.name for x in r.hw_order(reverse=True)] == ["%f3", "%f2", "%f1", "%f0"]
        for i in (-1, 4):
            with pytest.raises(IndexError, match=r"expected 0\.\.3"):
                r[i]
        with pytest.raises(TypeError, match="takes a register"):
            r[0] = 1

    trace(body)


def test_the_accumulator_of_a_tile_is_spread_over_a_warpgroup():
    def body():
        assert len(reg.wgmma_frag(m=64, n=256, dtype=f32)) == 128
        with pytest.raises(ShapeError, match="multiple of 128"):
            reg.wgmma_frag(m=64, n=3, dtype=f32)

    trace(body)


# what Python must not do -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "use", [bool, int, float, len, iter, lambda r: range(r), lambda r: [1, 2][r], lambda r: not r, lambda r: 1 < r < 3]
)
def test_a_register_has_no_value_while_tracing(use):
    def body():
        use(reg.scalar(u32))

    with pytest.raises(NoValueError, match=r"ptx\.if_|ptx\.range_|reg\.array|ptx\.inst"):
        trace(body)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: reg.scalar(u8) + 1, "not defined on u8"),
        (lambda: reg.scalar(f16) / 2.0, r"(?s)not defined on f16.*in f32"),
        (lambda: reg.scalar(u32) + 1.5, "cannot be combined with a u32"),
        (lambda: reg.scalar(f32) & 1, "not defined on f32"),
        (lambda: reg.scalar(u32) / 2, "use // for integer division"),
        (lambda: reg.scalar(f32) + reg.scalar(u32), "convert one"),
        (lambda: reg.scalar(f32) + reg.scalar(f64), "on f32 and f64"),
        (lambda: reg.scalar(f16) * reg.scalar(bf16), r"(?s)on f16 and bf16.*x.to\(f16\)"),
        (lambda: reg.scalar(u32) < reg.scalar(f32), "on u32 and f32"),
        (lambda: reg.scalar(u64) == reg.scalar(u32), "on u64 and u32"),
        (lambda: reg.scalar(f16x2) < 1.0, "holds two numbers"),
        (lambda: reg.scalar(u32) + object(), "unsupported operand"),
        (lambda: reg.scalar(s8).max(1), "not defined on s8"),
        (lambda: reg.scalar(u64) << reg.scalar(u64), "shift amount"),
        (lambda: reg.scalar(f16, 1.5), "cannot initialize a f16"),
        (lambda: ~reg.scalar(f32), "not defined on f32"),
    ],
)
def test_operators_that_would_write_nonsense_are_refused(use, message):
    with pytest.raises(TypeError, match=message):
        trace(use)


def test_a_wide_register_does_not_fit_into_a_narrow_one():
    def body():
        a = reg.scalar(u32)
        a += reg.scalar(u64)

    with pytest.raises(TypeError, match="would discard the upper 32 bits"):
        trace(body)


def test_negation_and_pairs_of_predicates():
    def body():
        p, q, n = reg.scalar(pred), reg.scalar(pred), reg.scalar(u32)
        assert (~p).reg is p and ~~p is p
        ptx.inst.setp.lt.and_.u32(p | q, n, 4, ~q)
        with pytest.raises(NoValueError):
            bool(~p)

    assert written(body) == ["setp.lt.and.u32 %p0|%p1, %r0, 4, !%p1;"]


def test_every_type_has_a_name_and_is_found_by_it():
    assert from_name(".f32") is f32 and repr(f32) == "f32" and f32.ptx == ".f32" and pred.bits == 1
    assert f32 != "f32" and len({f32, from_name("f32")}) == 1
    with pytest.raises(ValueError, match="Unknown PTX type"):
        from_name("f33")
