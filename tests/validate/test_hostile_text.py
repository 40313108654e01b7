"""Hostile PTX: bounded time, and diagnostics instead of exceptions."""

import time

import pytest

import pyptx

MODULE = ".version 9.0\n.target sm_90\n.address_size 64\n"
ENTRY = MODULE + ".visible .entry k() {\n.reg .b32 %r<9>; .reg .f32 %f<9>; .reg .pred %p<3>;\n"
HUGE = "0x" + "F" * 10_000

TEXTS = {
    "12,000 modifiers": ENTRY + "add" + ".f32" * 12_000 + " %f1, %f2, %f3; ret; }",
    "repeated modifier": ENTRY + "add" + ".sat" * 12_000 + ".f32 %f1, %f2, %f3; ret; }",
    "many operands": ENTRY + "add.f32 " + "%f1, " * 50_000 + "%f1; ret; }",
    "deep blocks": ENTRY + "{" * 50_000,
    "deep parentheses": ENTRY + "mov.b32 %r1, " + "(" * 50_000 + "1; ret; }",
    "many signs": ENTRY + "mov.b32 %r1, " + "-" * 5_000 + "1; ret; }",
    "many conditionals": ENTRY + "mov.b32 %r1, " + "1?2:" * 5_000 + "1; ret; }",
    "many casts": ENTRY + "mov.b32 %r1, " + "(.s64)" * 5_000 + "1; ret; }",
    "long sum": ENTRY + "mov.b32 %r1, " + "1+" * 50_000 + "1; ret; }",
    "many pipes": ENTRY + "setp.eq.u32 " + "%p1|" * 20_000 + "%p1, 1, 2; ret; }",
    "huge decimal": ENTRY + "mov.b32 %r1, " + "9" * 1_000_000 + "; ret; }",
    "huge hexadecimal": ENTRY + f"mov.b32 %r1, {HUGE}; ret; }}",
    "huge dimension": ENTRY + f".shared .b8 x[{HUGE}]; ret; }}",
    "huge register count": ENTRY + f".reg .b32 %q<{HUGE}>; ret; }}",
    "huge location": ENTRY + f".loc {HUGE} 1 1\nret; }}",
    "huge alignment": MODULE + f".global .align {HUGE} .b8 x[4];",
    "huge directive value": MODULE + f".entry k() .maxntid {HUGE} {{ ret; }}",
    "huge register number": ENTRY + ".reg .b32 r<5>; mov.b32 r" + "1" * 100_000 + ", 1; ret; }",
    "many dimensions": MODULE + ".global .b32 x" + "[2]" * 20_000 + ";",
    "many directives": MODULE + ".func f() " + ".noreturn " * 20_000 + "{ ret; }",
    "long line": ENTRY + "// " + "x" * 10_000_000 + "\nret; }",
    "long name": ENTRY + "bra " + "x" * 10_000_000 + "; ret; }",
    "NUL bytes": ENTRY + "\0" * 100_000 + "ret; }",
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_hostile_text_is_checked_in_bounded_time(text):
    start = time.process_time()
    found = pyptx.check_ptx(text)
    assert time.process_time() - start < 20
    assert all(d.message for d in found)
