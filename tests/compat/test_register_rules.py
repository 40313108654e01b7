"""Compatibility rules for registers and operators."""

import pytest
from support.tracing import Cases, trace, written

from pyptx import ptx, reg, smem, types
from pyptx.reg import PipeRef
from pyptx.types import b32, b64, f32, from_name, pred, s32, u32, u64

writes = Cases()

PREFIX = {
    "%p": "pred",
    "%rs": "b16 u16 s16",
    "%r": "b32 u32 s32 b8 u8 s8",
    "%rd": "b64 u64 s64",
    "%rq": "b128",
    "%h": "f16 bf16",
    "%hh": "f16x2 bf16x2",
    "%f": "f32 tf32",
    "%fd": "f64",
    "%b": "e4m3 e5m2",
}
FAMILY = {
    "b8": "%ab",
    "b16": "%ah",
    "b32": "%ar",
    "b64": "%ad",
    "b128": "%aq",
    "u8": "%au8",
    "u16": "%au16",
    "u32": "%au",
    "u64": "%aud",
    "s8": "%as8",
    "s16": "%as16",
    "s32": "%as",
    "s64": "%asd",
    "f16": "%af16",
    "f16x2": "%af16x2",
    "bf16": "%abf",
    "bf16x2": "%abfx2",
    "tf32": "%atf",
    "f32": "%af",
    "f64": "%afd",
    "e4m3": "%ae4",
    "e5m2": "%ae5",
    "pred": "%ap",
}


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
    widths = {
        8: "b8 u8 s8 e4m3 e5m2",
        16: "b16 u16 s16 f16 bf16",
        32: "b32 u32 s32 f16x2 bf16x2 tf32 f32",
        64: "b64 u64 s64 f64",
        128: "b128",
        1: "pred",
    }
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
        ("u32", "%mine", None),
        ("pred", "%q", None),
        ("f32", "%acc", 8),
    ]


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


@writes("""
    mul.lo.u64 %rd2, %rd0, %rd1;
    or.b64 %rd3, %rd0, %rd1;
    xor.b64 %rd4, %rd0, 1;
    shl.b64 %rd5, %rd0, 2;
    cvt.u64.u32 %rd7, %r0;
    add.s64 %rd6, %rd7, %rd0;
    add.s64 %rd0, %rd0, 8;
    sub.s64 %rd0, %rd0, %rd1;
    mul.lo.u64 %rd0, %rd0, 3;
    shl.b64 %rd0, %rd0, 1;
    shr.u64 %rd0, %rd0, 1;
    and.b64 %rd0, %rd0, 7;
    xor.b64 %rd0, %rd0, 1;
    or.b64 %rd0, %rd0, 1;
    cvt.s64.s32 %rd8, %r1;
    add.s64 %rd0, %rd0, %rd8;
    add.s32 %r1, %r1, 4;
    shr.s32 %r1, %r1, 2;
""")
def wide_and_signed_operators_also_in_place():
    a, b, n, signed = reg.scalar(u64), reg.scalar(b64), reg.scalar(u32), reg.scalar(s32)
    a * b, a | b, 1 ^ a, a << 2, n + a
    a += 8
    a -= b
    a *= 3
    a <<= 1
    a >>= 1
    a &= 7
    a ^= 1
    a |= 1
    a += signed
    signed += 4
    signed >>= 2


@writes("""
    mov.b32 %r4, 3;
    mov.b32 %r0, %r4;
    add.u32 %r5, %r4, 1;
    mov.b32 %r1, %r5;
    mov.b32 %r2, %r5;
""")
def an_element_is_set_to_what_is_used_afterwards():
    row = reg.array(b32, 4)
    value = reg.scalar(b32, 3)
    row[0] = value
    row[1] = more = value + 1
    row[2] = more


@pytest.mark.parametrize("case", writes.cases, ids=str)
def test_each_call_emits_its_lines(case):
    case.check()


def test_ptxas_accepts_everything():
    writes.assemble()


def test_the_text_of_all_cases_reads_back():
    writes.read_back()


def test_a_register_where_python_needs_a_value_is_a_type_error():
    def body():
        r = reg.scalar(u32, 1)
        for use in (lambda: bool(r), lambda: range(r), lambda: list(r), lambda: int(r)):
            with pytest.raises(TypeError, match="has no value|single register"):
                use()
        with pytest.raises(TypeError, match=r"ptx\.if_"):
            bool(r < 5)

    trace(body)
