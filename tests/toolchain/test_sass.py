"""Disassembly: fields, control bits, live registers, branch targets, and the PTX line of each instruction."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.sass import compiled

from pyptx.errors import ToolError
from pyptx.toolchain import Control, LiveRegisters, SassLine, assemble, disassemble, find, nvdisasm
from pyptx.toolchain.sass import from_columns, to_columns

GENERATIONS = ["sm_75", "sm_80", "sm_89", "sm_90a", "sm_100f", "sm_103a", "sm_110", "sm_120a"]
RELATIVES = ["sm_86", "sm_87", "sm_88", "sm_90", "sm_100", "sm_100a", "sm_103", "sm_103f", "sm_107", "sm_107a"]
RELATIVES += ["sm_110a", "sm_110f", "sm_120", "sm_120f", "sm_121", "sm_121a", "sm_121f"]


def lines_of(text: str, target: str, **options) -> tuple[SassLine, ...]:
    return compiled(text, target, **options)


def check_owners(text: str, lines: tuple[SassLine, ...]) -> None:
    """Every line has a PTX line: one with an instruction, or the one that opens a body for what ptxas added."""
    rows = [row.partition("//")[0].strip() for row in text.splitlines()]
    for line in lines:
        assert line.ptx_line is not None, line
        row = rows[line.ptx_line - 1]
        if line.added_by_ptxas:
            assert row.endswith("{"), (line.text, row)
        else:
            assert row.endswith(";") and not row.startswith("."), (line.text, row)


@pytest.mark.sampled(3)
def test_every_instruction_of_the_samples_is_owned(sample):
    lines = lines_of(sample.text, sample.target, options=sample.options)
    check_owners(sample.text, lines)
    assert not all(line.added_by_ptxas for line in lines)
    assert all(line.live is not None and line.live.gpr >= 1 for line in lines)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("target", [*GENERATIONS, *(pytest.param(t, marks=pytest.mark.slow) for t in RELATIVES)])
def test_every_target_can_be_read(ptx, target):
    text = ptx["saxpy"].replace(".version 9.0", ".version 9.4")
    lines = lines_of(text, target)
    check_owners(text, lines)
    assert [line.address for line in lines] == list(range(0, 16 * len(lines), 16))
    assert all(line.live for line in lines)
    by_opcode = {line.opcode.split(".")[0]: line for line in lines}
    rows = text.splitlines()
    assert "fma.rn.f32" in rows[by_opcode["FFMA"].ptx_line - 1]
    assert "st.global" in rows[by_opcode["STG"].ptx_line - 1]
    assert "setp.ge" in rows[by_opcode["ISETP"].ptx_line - 1]
    load = by_opcode["LDG"]
    assert load.control.write_barrier is not None  # a load is waited for by scoreboard,
    assert by_opcode["FFMA"].control.wait_mask >> load.control.write_barrier & 1  # here


def test_fields_of_an_instruction(ptx):
    lines = lines_of(ptx["saxpy"], "sm_90")
    store = next(line for line in lines if line.opcode.startswith("STG"))
    assert (store.entry, store.predicate, store.opcode) == ("saxpy", "", "STG.E")
    assert store.operands == ("desc[UR4][R4.64]", "R7")
    assert store.text == "STG.E desc[UR4][R4.64], R7"
    leave = next(line for line in lines if line.predicate)
    assert (leave.text, leave.operands) == ("@P0 EXIT", ())
    assert lines[-1].text == f"BRA {lines[-1].address:#x}"
    assert lines[-1].added_by_ptxas and lines[-1].target_address == lines[-1].address


def test_branches_point_at_instructions_of_the_same_function(ptx):
    lines = lines_of(ptx["block_sum"], "sm_80")
    at = {line.address: line for line in lines}
    branches = [line for line in lines if line.target_address is not None and not line.added_by_ptxas]
    assert branches
    for branch in branches:
        assert branch.target_address in at
        assert branch.operands[-1] == f"{branch.target_address:#x}"
    back = next(line for line in branches if line.target_address < line.address)
    assert "bra HALVE" in ptx["block_sum"].splitlines()[back.ptx_line - 1]


def test_functions_are_told_apart_and_calls_point_into_them(ptx):
    text = ptx["two_entries"]
    whole = lines_of(text, "sm_90")
    assert list(dict.fromkeys(line.entry for line in whole)) == ["two", "one"]
    call = next(line for line in whole if line.opcode.startswith("CALL"))
    start = next(line for line in whole if line.entry == "one" and line.address == call.target_address)
    assert "mul.f32" in text.splitlines()[start.ptx_line - 1]
    linked = lines_of(text, "sm_90", tool="nvjitlink")
    assert {line.entry for line in linked} == {"one", "two", "helper"}
    call = next(line for line in linked if line.opcode.startswith("CALL"))
    assert call.target_address is None and "helper" in call.text
    check_owners(text, linked)


def test_no_padding_is_listed(ptx):
    assert not [line for line in lines_of(ptx["saxpy"], "sm_90") if line.opcode == "NOP"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "text",
    [
        "// first\n\n// second\n/* over\n two lines { */\n",
        "\n\n\n",
        "\t\r\n",
    ],
    ids=["comments", "blank", "carriage return"],
)
def test_lines_are_those_of_the_text_as_given(ptx, text):
    before = lines_of(ptx["saxpy"], "sm_90")
    after = lines_of(text + ptx["saxpy"], "sm_90")
    shift = text.count("\n")
    assert [line.ptx_line + shift for line in before] == [line.ptx_line for line in after]
    assert [line.added_by_ptxas for line in before] == [line.added_by_ptxas for line in after]


def test_loc_directives_do_not_change_the_ptx_lines():
    text = """.version 8.0
.target sm_90
.address_size 64
.file 1 "cell.py"
.visible .entry k(.param .u64 p) // opened below
{
    .reg .b64 %rd<2>; .reg .f32 %f<2>;
    .loc 1 77 3
    ld.param.u64 %rd0, [p];
    ld.global.f32 %f0, [%rd0];
    .loc 1 78 3
    sin.approx.f32 %f0, %f0;
    st.global.f32 [%rd0], %f0;
    ret;
}
"""
    lines = lines_of(text, "sm_90")
    check_owners(text, lines)
    assert next(line.ptx_line for line in lines if line.opcode.startswith("MUFU.SIN")) == 12


def test_code_on_the_opening_line_belongs_to_its_instruction():
    text = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p) { .reg .b64 %rd<2>; ld.param.u64 %rd0, [p]; st.global.u64 [%rd0], %rd0; ret; }
"""
    lines = lines_of(text, "sm_90")
    assert {line.ptx_line for line in lines[:-1]} == {4}
    assert not lines[0].added_by_ptxas


def test_without_line_information_no_line_is_made_up(ptx, tmp_path):
    (tmp_path / "k.ptx").write_text(ptx["saxpy"])
    subprocess.run([find("ptxas"), "-arch=sm_90", "k.ptx", "-o", "k.cubin"], cwd=tmp_path, check=True)
    lines = disassemble((tmp_path / "k.cubin").read_bytes())
    assert len(lines) == 20
    assert {line.ptx_line for line in lines} == {None}
    assert all(line.added_by_ptxas for line in lines)


def test_bytes_that_are_no_cubin_are_refused():
    with pytest.raises(ToolError, match="not a cubin"):
        disassemble(b"hello, this is not machine code")


def test_what_nvdisasm_refuses_is_said_in_its_words(ptx):
    data = bytearray(assemble(ptx["saxpy"], target="sm_90").data)
    data[48:52] = b"\xff\xff\xff\x7f"  # a processor that does not exist
    with pytest.raises(ToolError, match="nvdisasm refused the cubin"):
        disassemble(bytes(data))


def test_live_registers_never_exceed_what_the_kernel_uses(ptx):
    cubin = assemble(ptx["many_values"], target="sm_80", options=["--maxrregcount=32"])
    counts = [line.live.gpr for line in disassemble(cubin.data)]
    assert 28 <= max(counts) <= 32


# control bits ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "high, expected",
    [
        (0x000E2E0000002100, Control(7, False, 0, None, 0, 0)),  # S2R R0, SR_TID.X
        (0x001FCA00078E0200, Control(5, True, None, None, 1, 0)),  # IMAD that waits for scoreboard 0
        (0x000FEA0003800000, Control(5, False, None, None, 0, 0)),  # EXIT
        (0x000FC00000000000, Control(0, True, None, None, 0, 0)),  # NOP
    ],
)
def test_control_bits(high, expected):
    assert Control.decode(high) == expected


@given(
    stall=st.integers(0, 15),
    flag=st.booleans(),
    write=st.integers(0, 7),
    read=st.integers(0, 7),
    wait=st.integers(0, 63),
    reuse=st.integers(0, 15),
)
def test_control_bits_are_where_they_are(stall, flag, write, read, wait, reuse):
    bits = stall | (not flag) << 4 | write << 5 | read << 8 | wait << 11 | reuse << 17
    found = Control.decode(bits << 41 | 0x1FFFFFFFFFF)
    assert found == (stall, flag, None if write == 7 else write, None if read == 7 else read, wait, reuse)


def test_control_bits_as_text():
    assert str(Control(4, True, 2, None, 0b11, 0)) == "wait 01---- R- W2 yield stall 4"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_100a", "sm_120a"])
def test_a_result_of_unknown_delay_is_waited_for(ptx, target):
    """In straight code: who sets a scoreboard is waited for before the register it writes is read."""
    lines = lines_of(ptx["saxpy"], target)
    for place, line in enumerate(lines):
        if not line.opcode.startswith("LDG"):
            continue
        register = line.operands[0]
        reader = next(
            other
            for other in lines[place + 1 :]
            if any(re.search(rf"\b{register}\b", operand) for operand in other.operands[1:])
        )
        between = lines[place + 1 : lines.index(reader) + 1]
        assert any(other.control.wait_mask >> line.control.write_barrier & 1 for other in between)


# as plain values ------------------------------------------------------------------------------------------------------


def test_lines_survive_json(sample):
    lines = lines_of(sample.text, sample.target, options=sample.options)
    assert from_columns(json.loads(json.dumps(to_columns(lines)))) == lines
    assert isinstance(lines[0].live, LiveRegisters)


# generated kernels ----------------------------------------------------------------------------------------------------

STATEMENTS = [
    "add.f32 %f{a}, %f{b}, %f{c};",
    "mul.f32 %f{a}, %f{b}, %f{c};",
    "fma.rn.f32 %f{a}, %f{b}, %f{c}, %f{a};",
    "div.rn.f32 %f{a}, %f{b}, %f{c};",
    "sqrt.rn.f32 %f{a}, %f{b};",
    "ex2.approx.f32 %f{a}, %f{b};",
    "add.u32 %r{a}, %r{b}, %r{c};",
    "mad.lo.u32 %r{a}, %r{b}, %r{c}, %r{a};",
    "rem.u32 %r{a}, %r{b}, %r{c};",
    "setp.lt.u32 %p{a}, %r{b}, %r{c};",
    "@%p{a} add.u32 %r{b}, %r{b}, 1;",
    "selp.b32 %r{a}, %r{b}, %r{c}, %p{a};",
    "cvt.rn.f32.u32 %f{a}, %r{b};",
    "shfl.sync.bfly.b32 %r{a}, %r{b}, {c}, 31, -1;",
    "bar.sync {a};",
    "ld.global.f32 %f{a}, [%rd0+{b}000];",
    "st.global.f32 [%rd0+{b}000], %f{a};",
    "st.shared.u32 [room+{b}0], %r{a};",
    "ld.shared.u32 %r{a}, [room+{b}0];",
    "atom.global.add.u32 %r{a}, [%rd0], %r{b};",
    "@%p{a} bra L{n}; \nL{n}:",
    "@%p{a} bra LAST;",
    "{{ .reg .b32 %t; add.u32 %t, %r{a}, %r{b}; mul.lo.u32 %r{a}, %t, %t; }}",
]


@st.composite
def kernels(draw) -> str:
    body = []
    for number, statement in enumerate(draw(st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=60))):
        a, b, c = (draw(st.integers(0, 7)) for _ in "abc")
        body.append("    " + statement.format(a=a, b=b, c=c, n=number) + draw(st.sampled_from(["", "  // {;", "\n"])))
    head = [
        ".version 8.0",
        ".target sm_75",
        ".address_size 64",
        ".visible .entry k(",
        "    .param .u64 p",
        ")",
        "{",
        "    .reg .b64 %rd<2>; .reg .f32 %f<8>; .reg .b32 %r<8>; .reg .pred %p<8>;",
        "    .shared .align 4 .b8 room[128];",
        "    ld.param.u64 %rd0, [p];",
        *(f"    mov.u32 %r{i}, %clock;" for i in range(8)),
        *(f"    ld.global.f32 %f{i}, [%rd0+{4 * i}];" for i in range(8)),
        *(f"    setp.eq.u32 %p{i}, %r{i}, {i};" for i in range(8)),
    ]
    tail = [
        "LAST:",
        *(f"    st.global.f32 [%rd0+{4 * i}], %f{i};" for i in range(8)),
        *(f"    st.global.u32 [%rd0+{32 + 4 * i}], %r{i};" for i in range(8)),
        "    ret;",
        "}",
        "",
    ]
    return "\n".join(head + body + tail)


@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    text=kernels(),
    target=st.sampled_from(["sm_75", "sm_86", "sm_90a", "sm_100a", "sm_120a"]),
    level=st.sampled_from(["-O0", "-O1", "-O3"]),
)
def test_every_instruction_of_any_kernel_is_owned(text, target, level):
    lines = lines_of(text, target, options=(level,))
    rows = [row.partition("//")[0].strip() for row in text.splitlines()]
    assert lines[-1].added_by_ptxas
    for line in lines:
        assert line.ptx_line is not None, line
        row = rows[line.ptx_line - 1]
        assert row == "{" if line.added_by_ptxas else (";" in row and not row.startswith(".")), (line.text, row)


@pytest.mark.parametrize(
    "name",
    [
        "corpus/nvcc_lineinfo.ptx",  # indirect branches
        pytest.param("corpus/ptx/nvcc/attention.sm_75.ptx", marks=pytest.mark.slow),  # spills
        pytest.param("corpus/ptx/nvcc/hopper_gemm.sm_90a.ptx", marks=pytest.mark.slow),  # neither
    ],
)
def test_leaving_the_data_flow_analysis_out_changes_nothing(name: str, monkeypatch: pytest.MonkeyPatch):
    text = (Path(__file__).parents[1] / name).read_text()
    target = re.search(r"^\s*\.target\s+(sm_\w+)", text, re.MULTILINE)
    assert target
    cubin = assemble(text, target=target[1]).data
    found = disassemble(cubin)
    monkeypatch.setattr(nvdisasm, "_uses_stack", lambda cubin: True)
    assert found == disassemble(cubin)
