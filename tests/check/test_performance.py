"""Performance notes: their counts and lines, and that the suggested fixes help."""

from __future__ import annotations

import inspect
import json

import numpy as np
import pytest
from check.detection_rate import ALL

import pyptx
from pyptx import Tile, cli, kernel, ptx, reg, smem
from pyptx.check.bank_conflicts import conflict_advice, passes
from pyptx.check.memory_requests import Request
from pyptx.check.performance import CONFLICTS, UNCOALESCED
from pyptx.types import b8, f32, u32

X = np.arange(1024, dtype=np.float32)
PEERS = {"unproven-order"}  # they arrive at mbarriers of peers at the default scope
# Correct kernels with notes, and their causes; all others have none.
NOTED = {
    "hopper/persistent_gemm": PEERS,
    "hopper/fp8_gemm": PEERS,
    "hopper/grouped_gemm": PEERS,
    "hopper/convolution": PEERS,
    "blackwell/pair_gemm": PEERS,
    "transpose by TMA": {CONFLICTS},  # four lanes write one column of a swizzled tile
    "row_sums": {CONFLICTS},  # a lane reads a row of 128 bytes
    "hopper_gemm": {UNCOALESCED},  # sums leave from registers, four bytes a lane, eight rows a request
    "sgemm": {CONFLICTS},  # A is transposed on its way to shared memory
    "layer_norm": {UNCOALESCED},  # odd rows: one request for the numbers at both ends
    "softmax": {UNCOALESCED},  # the same
    "blackwell/nvfp4_gemm": {
        UNCOALESCED,  # sums leave from registers, four bytes a lane, eight rows a request
        CONFLICTS,
    },  # rows g and g + 8 of the scales, 128 bytes apart, share their banks
    "transpose": {UNCOALESCED},  # odd sizes: rows do not start at 16 bytes, see `read`
}


def columns(pad: int, swizzle: bool = False):
    """y[32 * r + c] = x[32 * c + r] through a tile with rows of 128 bytes and `pad` more."""

    @kernel(arch="sm_90a", in_specs=[Tile(1024, f32)], out_specs=[Tile(1024, f32)], grid=1, block=(32, 1, 1))
    def transposes(x, y):
        tile = smem.alloc(b8, (32 * (128 + pad),), align=1024)
        lane, start = reg.from_(ptx.special.tid.x(), u32), reg.from_(tile.name, u32)
        source, to = ptx.global_ptrs(x, y)
        for pointer in (source, to):
            ptx.inst.mad.wide.u32(pointer, lane, 4, pointer)
        value = reg.scalar(f32)

        def place(row, column):
            offset = row * (128 + pad) + column * 4
            return start + (smem.apply_swizzle(offset, "128B") if swizzle else offset)

        for row in range(32):
            ptx.inst.ld.global_.f32(value, ptx.addr(source, 128 * row))
            ptx.inst.st.shared.f32(ptx.addr(place(reg.scalar(u32, row), lane)), value)
        ptx.bar.sync()
        for column in range(32):
            ptx.inst.ld.shared.f32(value, ptx.addr(place(lane, reg.scalar(u32, column))))  # HERE
            ptx.inst.st.global_.f32(ptx.addr(to, 128 * column), value)

    return transposes


def strided(step: int):
    """y[i] = x[step * i]"""

    @kernel(arch="sm_90a", in_specs=[Tile(1024, f32)], out_specs=[Tile(32, f32)], grid=1, block=(32, 1, 1))
    def gathers(x, y):
        lane = reg.from_(ptx.special.tid.x(), u32)
        source, to = ptx.global_ptrs(x, y)
        ptx.inst.mad.wide.u32(source, lane, 4 * step, source)
        ptx.inst.mad.wide.u32(to, lane, 4, to)
        value = reg.scalar(f32)
        ptx.inst.ld.global_.f32(value, ptx.addr(source))  # HERE
        ptx.inst.st.global_.f32(ptx.addr(to), value)

    return gathers


def line_of(made) -> int:
    lines, first = inspect.getsourcelines(made.__wrapped__)
    return first + next(i for i, line in enumerate(lines) if line.endswith("# HERE\n"))


def only(report):
    assert len(report.findings) == 1, report.text()
    return report.findings[0]


def test_bank_conflicts_are_one_note_at_their_line():
    report = columns(0).check(X)
    note = only(report)
    assert (note.rule, note.severity, report.ok) == (CONFLICTS, "note", True)
    assert "32 passes over shared memory instead of 1: 32-way" in note.message
    assert "992 extra passes in 32 requests, in 32 instructions of this line" in note.message
    assert note.fix.startswith("pad rows of 128 bytes by 4: no conflict remains")
    assert [place.place.line for place in note.places] == [line_of(columns(0))]


def test_the_suggested_fix_helps():
    assert not columns(4).check(X).findings
    swizzled = only(columns(0, swizzle=True).check(X))
    assert "4-way" in swizzled.message  # 32 rows, and eight positions that a swizzle distinguishes


@pytest.mark.parametrize(("step", "sectors"), [(2, 8), (8, 32), (32, 32)])
def test_strided_accesses_are_a_note(step, sectors):
    note = only(strided(step).check(X))
    assert note.rule == UNCOALESCED and note.places[0].place.line == line_of(strided(step))
    assert f"transfers {sectors} sectors of x per request" in note.message
    assert f"{4 * step} bytes apart and use 4" in note.fix


def test_coalesced_and_uniform_accesses_are_no_note():
    assert not strided(1).check(X).findings and not strided(0).check(X).findings


def test_loaded_ptx_has_one_note_for_each_mnemonic():
    entry = pyptx.load(columns(0).ptx())["transposes"]
    note = only(entry.check(1, 32, X, np.zeros_like(X)))
    assert "in 32 instructions of this mnemonic" in note.message and len(note.places) == 3
    assert all(place.ptx.startswith("ld.shared.f32") for place in note.places)


def test_notes_are_in_every_form_of_the_report_and_do_not_fail_it(capsys, tmp_path):
    report = columns(0).check(X)
    assert report.text().startswith("transposes: 1 note in eager") and "note[bank-conflicts]" in report.text()
    assert report.to_json()["ok"] and report.to_json()["findings"][0]["severity"] == "note"
    run = report.to_sarif()["runs"][0]
    assert [result["level"] for result in run["results"]] == ["note"]
    assert run["tool"]["driver"]["rules"][0]["id"] == CONFLICTS
    assert "<code>bank-conflicts</code>" in report.to_html()
    path = tmp_path / "k.ptx"
    path.write_text(columns(0).ptx())
    assert (
        cli.main(["check", str(path), "--grid", "1", "--block", "32", "--args", "f32[1024]", "f32[1024]", "--json"])
        == 0
    )
    assert json.loads(capsys.readouterr().out)["findings"][0]["rule"] == CONFLICTS


def test_wide_accesses_are_processed_by_half_and_quarter_warps():
    rows = tuple(range(0, 32 * 16, 16))
    assert passes(Request(tuple(range(32)), rows, 16)) == (4, 4)
    assert passes(Request(tuple(range(32)), tuple(128 * lane for lane in range(32)), 16)) == (32, 4)
    matrix = Request(tuple(range(8)), tuple(128 * lane for lane in range(8)), 16)
    assert passes(matrix) == (8, 1)
    assert conflict_advice(matrix, 0).startswith("pad rows of 128 bytes by 16 or swizzle the tile by 128B")


@pytest.mark.parametrize("name", ALL)
def test_correct_kernels_have_only_the_explained_notes(name):
    assert {finding.rule for finding in ALL[name].check(schedules="eager", random=0).findings} == NOTED.get(name, set())
