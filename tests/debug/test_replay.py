"""Replay of the findings of a check: the schedule, the stop, and the accesses on the timeline."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from check import racy

from pyptx import Tile, kernel, ptx, reg
from pyptx.errors import ArgumentValueError
from pyptx.types import f32, u32
from pyptx.views.debugger import DebugView

X = np.arange(racy.N, dtype=np.float32)


def test_a_race_is_replayed_up_to_its_second_access():
    report = racy.barrier_missing.check(X)
    with report.replay("data-race") as session:
        first, second = session.state.accesses
        assert session.stop.reason == "finding" and "data-race" in session.stop.text
        assert session.stop.step == second.step and first.step < second.step
        assert (session.focus.warp, session.focus.lane) == (second.warp, second.lane) != (first.warp, first.lane)
        lines = {place.ptx_line for place in report.findings[0].places}
        assert {session.stop.ptx} <= lines == {mark["ptx"] for mark in session.document()["timeline"]["marks"]}
        assert "access 2 at step" in DebugView(session.sources(), session.document()).text()
        assert session.step().reason == "finding", "the access happens now"


def test_an_access_of_a_copy_is_where_it_was_issued():
    with racy.wait_too_weak.check(X).replay() as session:
        first, second = session.state.accesses
        rows = session.launch.program.instructions
        assert "cp.async" in rows[first.instruction].mnemonic and session.stop.instruction.startswith("ld.shared")
        assert first.role == "writes" and second.second


@kernel(in_specs=(Tile(64, f32),), out_specs=(Tile(64, f32),), grid=(2, 1, 1), block=(32, 1, 1))
def between_ctas(x, y):
    lane = reg.from_(ptx.special.tid.x(), u32)
    x_at, y_at = ptx.global_ptrs(x, y)
    value = reg.scalar(f32)
    ptx.inst.ld.global_.f32(value, ptx.addr(x_at + lane * 4))
    ptx.inst.st.global_.f32(ptx.addr(y_at + lane * 4), value)
    ptx.inst.ld.global_.f32(value, ptx.addr(y_at + lane * 4))
    ptx.inst.st.global_.f32(ptx.addr(y_at + 128 + lane * 4), value)


def test_the_first_access_may_be_of_another_cta():
    with between_ctas.check(X[:64]).replay("data-race") as session:
        assert [access.cta for access in session.state.accesses] == [0, 1]


def test_a_fault_is_replayed_to_where_it_occurs():
    with racy.too_far.check(X).replay() as session:
        assert session.stop.reason == "fault" and session.stop.instruction.startswith("ld.global")


def test_a_report_says_which_findings_it_has():
    report = racy.barrier_missing.check(X)
    with pytest.raises(ArgumentValueError, match="has no finding of the rule 'race'; it has: data-race"):
        report.replay("race")
    with pytest.raises(ArgumentValueError, match="finding 7: the report of barrier_missing has 1"):
        report.replay(7)
    assert racy.barrier_missing.last_check is report
    with pytest.raises(ArgumentValueError, match="is not recorded"):
        replace(report, replayer=None).replay()


def test_the_view_marks_the_lines_of_a_finding():
    racy.barrier_missing.check(X)
    view, other = racy.barrier_missing.view(), racy.barrier_missing.view(lineinfo=True)
    [found] = view.check["findings"]
    [same] = other.check["findings"]
    assert found["rule"] == "data-race" and len(found["rows"]) == 2
    for rows, shown in ((found["rows"], view), (same["rows"], other)):
        assert [shown.ptx.text[row].split()[0] for row in rows] == ["st.shared.f32", "ld.shared.f32"]
    assert found["rows"] != same["rows"], ".loc moves the lines"
    assert "error[data-race] at PTX" in view.text() and "data-race" in view.html()
    assert type(view).from_json(view.to_json()) == view
