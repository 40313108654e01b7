"""Programs that are equal up to names, and programs that are not."""

from __future__ import annotations

import pytest

from pyptx.codegen.verify import differences
from pyptx.parser import parse

HEADER = ".version 8.5\n.target sm_90a\n.address_size 64\n"
REGISTERS = (
    ".reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .f32 %f<4>; .reg .u32 other, extra; "
    ".reg .b32 %x<20>; .reg .pred q;"
)


def differ(a: str, b: str) -> bool:
    modules = [parse(f"{HEADER}.visible .entry k(.param .u64 p)\n{{ {REGISTERS} {body} }}") for body in (a, b)]
    return bool(differences(*modules, names=False))


@pytest.mark.parametrize(
    "a, b",
    [
        ("add.u32 %r1, %r2, %r3;", "add.u32 %x3, other, %r1;"),
        ("L: bra L;", "M: bra M;"),
        ("{ .reg .b32 %r1; mov.b32 %r1, 1; } mov.b32 %r1, 2;", "mov.b32 %r2, 1; mov.b32 %r1, 2;"),
        ("@%p1 bra L; bra M; L: ret; M: ret;", "@!%p1 bra M; L: ret; M: ret;"),
        ("@%p1 bra L; ret; bra L; L: ret;", "@%p1 bra L; ret; L: ret;"),
        ("bra.uni L; L: ret;", "ret;"),
        ("A: B: @%p1 bra A; @%p2 bra B; ret;", "A: @%p1 bra A; @%p2 bra A; ret;"),
        ("unused: ret;", "ret;"),
        ("@%p1 bra B; bra A; A: bra C; B: trap; C: ret;", "@!%p1 bra C; trap; C: ret;"),
        ("sub.s32 %r1, %r2, 1;", "sub.u32 %r1, %r2, 1;"),
        ("mul.lo.s32 %r1, %r2, 3;", "mul.lo.u32 %r1, %r2, 3;"),
        ("mov.u32 %r1, %tid.x;", "mov.b32 %r1, %tid.x;"),
        ("ld.global.u32 %r1, [%rd1+0];", "ld.global.b32 %r1, [%rd1];"),
        ("st.shared.u32 [%r1], %r2;", "st.shared::cta.b32 [%r1], %r2;"),
        ("// a comment\n.loc 1 2 3\nret;", "ret;"),
    ],
)
def test_equivalent_programs(a: str, b: str):
    assert not differ(a, b)


@pytest.mark.parametrize(
    "a, b",
    [
        ("add.u32 %r1, %r2, %r3;", "add.u32 %r1, %r3, %r3;"),
        ("add.u32 %r1, %r2, %r3; add.u32 %r4, %r1, %r2;", "add.u32 %r1, %r2, %r3; add.u32 %r4, %r2, %r1;"),
        ("add.u32 %r1, %r1, 1;", "add.u32 %r1, %r2, 1;"),
        ("add.u32 %r1, %r2, 1;", "add.u32 %r1, %r2, 2;"),
        ("add.u32 %r1, %r2, 1;", "add.sat.s32 %r1, %r2, 1;"),
        ("add.s32 %r1, %r2, 1;", "add.u32 %r1, %r2, 1;"),
        ("mul.hi.s32 %r1, %r2, %r3;", "mul.hi.u32 %r1, %r2, %r3;"),
        ("mul.wide.s32 %rd1, %r2, 4;", "mul.wide.u32 %rd1, %r2, 4;"),
        ("mul.lo.s64 %rd1, %rd2, 4;", "mul.lo.u64 %rd1, %rd2, 4;"),
        ("shr.s32 %r1, %r2, 1;", "shr.u32 %r1, %r2, 1;"),
        ("setp.lt.s32 %p1, %r1, %r2;", "setp.lt.u32 %p1, %r1, %r2;"),
        ("setp.lt.s32 %p1, %r1, %r2;", "setp.gt.s32 %p1, %r2, %r1;"),
        ("max.s32 %r1, %r1, 0;", "max.u32 %r1, %r1, 0;"),
        ("@%p1 bra L; ret; L: trap;", "@!%p1 bra L; ret; L: trap;"),
        ("@%p1 ret; trap;", "@%p1 bra L; trap; L: ret;"),
        ("L: M: @%p1 bra L; ret; bra M;", "L: @%p1 bra L; M: ret; bra M;"),
        ("@%p1 bra L; bra M; M: ret; L: trap;", "@%p1 bra L; L: trap; ret;"),
        ("ld.global.u32 %r1, [%rd1+4];", "ld.global.u32 %r1, [%rd1];"),
        ("ld.global.u32 %r1, [%rd1];", "ld.u32 %r1, [%rd1];"),
        ("ld.volatile.global.u32 %r1, [%rd1];", "ld.global.u32 %r1, [%rd1];"),
        ("mov.b32 %r1, 1; mov.b32 %r2, 2;", "mov.b32 %r2, 2; mov.b32 %r1, 1;"),
        ("bar.sync 0; bar.sync 0;", "bar.sync 0;"),
        ("mov.b32 %r1, 1;", "mov.b64 %rd1, 1;"),
        ("mov.f32 %f1, 0f3F800000;", "mov.f32 %f1, 0f3F800001;"),
        ("{ .reg .b32 %r1; mov.b32 %r1, 1; } mov.b32 %r2, %r1;", "mov.b32 %r1, 1; mov.b32 %r2, %r1;"),
        ('.pragma "nounroll"; ret;', "ret;"),
        (".shared .b32 s; ret;", "ret;"),
        (".shared .align 8 .b32 s; mov.u32 %r1, s;", ".shared .b32 s; mov.u32 %r1, s;"),
        ("vadd.u32.u32.u32 %r0, %r1.b0, %r2.b1;", "vadd.u32.u32.u32 %r0, %r1.b0, %r2.b0;"),
        (
            "tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%rd1, {%r1}]; neg.f32 %f0, %f2;",
            "tex.1d.v4.f32.s32 {%f0, %f1, %f3, %f2}, [%rd2, {%r1}]; neg.f32 %f0, %f2;",
        ),
    ],
)
def test_different_programs(a: str, b: str):
    assert differ(a, b)


def test_exact_comparison_includes_names():
    a, b = (parse(f"{HEADER}.visible .entry k() {{ .reg .b32 {name}; mov.b32 {name}, 1; }}") for name in ("a", "b"))
    assert differences(a, b) and not differences(a, b, names=False)
    moved = parse(f"{HEADER}.visible .entry k() {{ ret; .reg .b32 a; }}")
    first = parse(f"{HEADER}.visible .entry k() {{ .reg .b32 a; ret; }}")
    assert not differences(moved, first)


@pytest.mark.parametrize(
    "other",
    [
        ".visible .entry k(.param .u32 p) { ret; }",
        ".entry k(.param .u64 p) { ret; }",
        ".visible .entry k(.param .u64 p) .maxntid 1 { ret; }",
        ".visible .entry m(.param .u64 p) { ret; }",
        ".visible .func k(.param .u64 p) { ret; }",
        ".global .b32 x; .visible .entry k(.param .u64 p) { ret; }",
    ],
)
def test_heads_and_variables_count(other: str):
    a, b = parse(f"{HEADER}.visible .entry k(.param .u64 p) {{ ret; }}"), parse(HEADER + other)
    assert differences(a, b, names=False)
