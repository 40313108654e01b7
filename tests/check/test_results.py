"""Result arrays that a kernel leaves unwritten, reads before writing, or writes twice."""

from __future__ import annotations

import numpy as np
import pytest
from check import racy

from pyptx import Tile, kernel, ptx, reg
from pyptx.check.performance import UNCOALESCED
from pyptx.types import f32, u32

N = racy.N
X = np.arange(N, dtype=np.float32)


def copies(step: int, first: int = 0, twice: bool = False, adds: bool = False, reads: bool = False, out: int = N):
    """A kernel that writes y[step * i + first] = x[i], with optional additional accesses."""

    @kernel(arch="sm_90a", in_specs=[Tile(N, f32)], out_specs=[Tile(out, f32)], grid=1, block=(N, 1, 1))
    def made(x, y):
        tid = reg.from_(ptx.special.tid.x(), u32)
        source, to = ptx.global_ptrs(x, y)
        value = reg.scalar(f32)
        ptx.inst.mad.wide.u32(source, tid, 4, source)
        ptx.inst.mad.wide.u32(to, tid, 4 * step, to)
        ptx.inst.ld.global_.f32(value, ptx.addr(source))
        if adds:
            ptx.inst.red.global_.add.f32(ptx.addr(to), value)
        if twice:
            ptx.inst.st.global_.f32(ptx.addr(to, 4 * first), value)
        if reads:
            ptx.inst.ld.global_.f32(value, ptx.addr(to, 4 * first))
        if step and not adds:
            ptx.inst.st.global_.f32(ptx.addr(to, 4 * first), value)

    return made


def only(report):
    found = [finding for finding in report.findings if finding.rule != UNCOALESCED]
    assert len(found) == 1, report.text()
    return found[0]


def test_a_completely_written_result_has_no_findings():
    assert not copies(1).check(X).findings
    assert not copies(1, twice=True, reads=True).check(X).findings


@pytest.mark.parametrize(
    ("step", "out", "index", "message"),
    [
        (0, N, 0, "declares y as a result and writes no byte"),
        (2, 2 * N, 1, "y[1] and following elements of its result: 128 "),
        (1, N + 3, N, "y[128] and following elements of its result: 3 of 131 elements"),
    ],
)
def test_an_incompletely_written_result_is_an_error(step, out, index, message):
    finding = only((kernel := copies(step, out=out)).check(X))
    assert (finding.rule, finding.severity) == ("unwritten-result", "error")
    assert (finding.tensor, finding.index) == ("y", (index,))
    assert message in finding.message
    assert kernel.check(X, out=np.zeros(out, np.float32)).ok  # the array may keep its contents


def test_adding_to_an_uninitialized_result_is_an_error():
    finding = only(copies(1, adds=True).check(X))
    assert (finding.rule, finding.tensor) == ("uninitialized-memory", "y")
    assert not copies(1, adds=True).check(X, out=np.zeros(N, np.float32)).findings
    assert only(copies(1, reads=True).check(X)).rule == "uninitialized-memory"


def test_a_result_that_is_written_twice_is_a_note():
    finding = only(report := copies(1, twice=True).check(X))
    assert (finding.rule, finding.severity, report.ok) == ("dead-store", "note", True)
    assert [place.role for place in finding.places] == ["is overwritten", "overwrites it"]
