"""Spellings of machine code: what ptxas writes in several ways is one thing; constants have the names held here
against what each generation compiles."""

from __future__ import annotations

import re
from functools import cache

import pytest
from support.sass import sass

from pyptx.analysis.diff.canonical import canonicalize, constant_layout, name_constants
from pyptx.analysis.diff.sass import compare_sass
from pyptx.toolchain import SassLine, assemble, disassemble

TARGETS = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_103a", "sm_120a")
PTX = (
    """
.version 8.8
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n) {
    .reg .b32 %r<8>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r7, [n];
"""
    + "".join(
        f"    mov.u32 %r{n}, %{name};\n    st.global.u32 [%rd1+{4 * n}], %r{n};\n"
        for n, name in enumerate(("ntid.x", "ntid.y", "ntid.z", "nctaid.x", "nctaid.y", "nctaid.z"))
    )
    + """
    st.global.u32 [%rd1+64], %r7;
    ret;
}
"""
)


@cache
def compiled(target: str) -> tuple[SassLine, ...]:
    return disassemble(assemble(PTX, target=target).data)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("target", TARGETS)
def test_constants_have_names_on_every_generation(target):
    lines = compiled(target)
    operands = [operand for line in lines for operand in name_constants(line.operands, constant_layout(target))]
    named = {name for operand in operands for name in re.findall(r"c\[([^0][^]]*)\]", operand)}
    assert named >= {"ntid.x", "ntid.y", "ntid.z", "nctaid.x", "nctaid.y", "nctaid.z", "stack", "param+0x8"}
    assert not any("c[0x0]" in operand for operand in operands)


@pytest.mark.parametrize("target", TARGETS[1:])
def test_the_same_text_on_another_generation_differs_only_in_loads_of_constants(target):
    """Real differences are those of loads into registers: the stores and what they store are the same."""
    left, right = compiled("sm_80"), compiled(target)
    found = compare_sass(left, right, ("sm_80", target))
    for row in found.rows:
        if row.kind == 3:
            opcodes = {
                line.opcode.partition(".")[0]
                for line in (*left[row.a : row.a + 1][: row.a >= 0], *right[row.b : row.b + 1][: row.b >= 0])
            }
            assert opcodes <= {"MOV", "IMAD", "LDC", "ULDC", "LDCU"}, row


@pytest.mark.parametrize(
    "text, plain",
    [
        ("IMAD.MOV.U32 R4, RZ, RZ, R3", "MOV R4, R3"),
        ("IMAD.U32 R4, RZ, RZ, UR3", "MOV R4, UR3"),
        ("HFMA2.MMA R43, -RZ, RZ, 0.8125, 0", "MOV R43, 0x3a800000"),
        ("HFMA2 R5, -RZ, RZ, 0, 5.9604644775390625e-08", "MOV R5, 0x1"),
        ("HFMA2.MMA R3, -RZ, RZ, 0, 0", "MOV R3, RZ"),
        ("MOV R3, 0x0", "MOV R3, RZ"),
        ("HFMA2 R5, -RZ, RZ, -INF, 1", "MOV R5, 0xfc003c00"),
        ("HFMA2 R5, -RZ, RZ, +QNAN, 0", "HFMA2 R5, -RZ, RZ, +QNAN, 0"),
        ("HFMA2 R5, -RZ, R2, 0.5, 0", "HFMA2 R5, -RZ, R2, 0.5, 0"),
        ("IMAD.SHL.U32 R2, R3, 0x10, RZ", "SHF.L.U32 R2, R3, 0x4, RZ"),
        ("IMAD.SHL.U32 R2, R3, 0x80000000, RZ", "SHF.L.U32 R2, R3, 0x1f, RZ"),
        ("IMAD.SHL.U32 R2, R3, 0x6, RZ", "IMAD.SHL.U32 R2, R3, 0x6, RZ"),
        ("IMAD.IADD R2, R3, 0x1, R4", "IADD3 R2, R3, R4, RZ"),
        ("VIADD R2, R3, 0xfffffff0", "IADD3 R2, R3, 0xfffffff0, RZ"),
        ("IADD3 R2, PT, PT, R3, R4, RZ", "IADD3 R2, R3, R4, RZ"),
        ("IADD3 R2, P0, PT, R3, R4, RZ", "IADD3 R2, P0, R3, R4, RZ"),
        ("IADD3.X R2, PT, PT, R3, R4, RZ, P0, !PT", "IADD3.X R2, R3, R4, RZ, P0, !PT"),
        ("BAR.SYNC.DEFER_BLOCKING 0x0", "BAR.SYNC 0x0"),
        ("ULDC.64 UR4, c[memory]", "LDC.64 UR4, c[memory]"),
        ("LDCU UR4, c[param+0x8]", "LDC UR4, c[param+0x8]"),
        ("MOV R1, c[stack]", "LDC R1, c[stack]"),
        ("S2UR UR4, SR_CTAID.X", "S2R UR4, SR_CTAID.X"),
        ("FADD R1, R2, R3", "FADD R1, R2, R3"),
    ],
)
def test_plain_spellings(text, plain):
    opcode, _, operands = text.partition(" ")
    found, rest = canonicalize(opcode, tuple(operands.split(", ")))
    assert f"{found} {', '.join(rest)}" == plain


def kinds(left: str, right: str, targets=("sm_80", "sm_90")) -> dict[str, int]:
    counts = compare_sass(sass(left), sass(right), targets).counts()
    return {name: max(pair) for name, pair in counts.items() if any(pair)}


def test_a_parameter_in_a_register_is_the_parameter():
    left = "IMAD R2, R0, R0, c[0x0][0x160]\nSTG.E [R2.64], R4\nEXIT"
    right = (
        "ULDC UR4, c[0x0][0x210]\nIMAD R2, R0, R0, UR4\nULDC.64 UR6, c[0x0][0x208]\nSTG.E desc[UR6][R2.64], R4\nEXIT"
    )
    assert kinds(left, right) == {"identical": 1, "renamed": 2, "different": 2}
    assert kinds(left, right.replace("0x210", "0x218"))["different"] == 3, "another parameter"


@pytest.mark.parametrize(
    "broken",
    [
        "ULDC UR4, c[0x0][0x210]\nUIADD3 UR4, UR4, 0x1, URZ\nIMAD R2, R0, R0, UR4\nEXIT",
        "@P0 LDC R8, c[0x0][0x210]\nIMAD R2, R0, R0, R8\nEXIT",
        "IMAD R2, R0, R0, UR4\nULDC UR4, c[0x0][0x210]\nEXIT",
    ],
)
def test_a_register_that_holds_something_else_too_is_not_the_parameter(broken):
    counts = compare_sass(sass("IMAD R2, R0, R0, c[0x0][0x160]\nEXIT"), sass(broken), ("sm_80", "sm_90"))
    assert counts.counts()["different"][0] == 1


def test_two_pointers_in_constant_banks_may_overlap():
    """Stores through different parameters keep their order, whichever registers hold the pointers."""
    first, second = "STG.E [R2.64], R4", "STG.E [R6.64+0x4], R5"
    head = "LDC.64 R2, c[0x0][0x210]\nLDC.64 R6, c[0x0][0x218]\n"
    found = kinds(f"{head}{first}\n{second}\nEXIT", f"{head}{second}\n{first}\nEXIT", ("sm_90", "sm_90"))
    assert "rescheduled" not in found
    assert found["different"] == 1


def test_without_targets_constants_are_addresses():
    left, right = "IMAD R2, R0, R0, c[0x0][0x160]\nEXIT", "IMAD R2, R0, R0, c[0x0][0x210]\nEXIT"
    assert kinds(left, right) == {"identical": 2}
    assert kinds(left, right, ("", ""))["different"] == 1
