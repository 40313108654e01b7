"""Operands of a comparison: files of both kinds, PTX text, entries; and what their launches add."""

from __future__ import annotations

from pathlib import Path

import pytest

import pyptx
from pyptx.compiled import NO_PTX, load_cubin
from pyptx.errors import ToolError
from pyptx.toolchain import assemble
from pyptx.toolchain.process import run_tool
from pyptx.workbench.comparing import diff, operand_of

PTX = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p) .reqntid 64
{
    .reg .b64 %a;
    .reg .b32 %r<3>;
    ld.param.u64 %a, [p];
    mov.u32 %r1, %tid.x;
    mad.wide.u32 %a, %r1, 4, %a;
    st.global.u32 [%a], %r1;
    ret;
}
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("operands")
    (folder / "k.ptx").write_text(PTX)
    (folder / "k.cubin").write_bytes(assemble(PTX, target="sm_90a").data)
    run_tool("ptxas", "-arch=sm_90a", "k.ptx", "-o", "bare.cubin", folder=folder, limit_s=30)
    return folder


@pytest.mark.slow
def test_everything_that_is_the_same_kernel_is_identical(files):
    program = pyptx.load(files / "k.ptx")
    sides = [PTX, files / "k.ptx", str(files / "k.cubin"), files / "k.cubin", program, program["k"], program.compile()]
    for side in sides:
        found = diff(sides[0], side)
        assert found.identical, (side, found.verdict)
    assert diff(PTX, files / "k.cubin", level="ptx").identical


def test_a_cubin_knows_its_target_its_use_and_its_ptx(files):
    compiled = load_cubin(files / "k.cubin")
    whole = pyptx.load(PTX).compile()
    assert (compiled.target, compiled.name) == ("sm_90a", "k")
    assert [line.strip() for line in PTX.splitlines()] == compiled.ptx.splitlines(), "ptxas keeps no blanks in front"
    assert compiled.resources == whole.resources
    view = compiled.view()
    assert view.entries[0].occupancy["threads"] == 64, "the PTX says so"
    assert "st.global.u32" in view.text()


def test_a_cubin_without_ptx_is_machine_code_alone(files):
    compiled = load_cubin(files / "bare.cubin")
    assert compiled.ptx == NO_PTX + "\n"
    assert [line.text for line in compiled.sass] == [line.text for line in pyptx.load(PTX).compile().sass]
    assert compiled.resources["k"].registers > 0
    assert NO_PTX in compiled.view().html()
    assert diff(files / "bare.cubin", PTX).identical


def test_what_is_no_cubin_is_refused(files):
    (files / "not.cubin").write_text("hello")
    with pytest.raises(ToolError, match="not a cubin"):
        operand_of(files / "not.cubin")


def test_counters_of_both_sides_weigh_the_issue_cycles():
    program = pyptx.load(PTX)
    compiled = program.compile()
    rows = compiled.ptx.removesuffix("\n").split("\n")
    counts = [
        {"issues": [times if row.strip().endswith(";") and not row.lstrip().startswith(".") else -1 for row in rows]}
        for times in (2, 2)
    ]
    straight = {fact.label: fact for fact in diff(compiled, compiled).facts}
    weighed = {fact.label: fact for fact in diff(compiled, compiled, counters=tuple(counts)).facts}
    once, launched = straight["issue cycles, each line once, modeled"], weighed["issue cycles of a warp, modeled"]
    assert once.left == launched.left > len(compiled.sass), "every line ran once in each warp"
