"""Kernels whose first run stands for all schedules: which they are, and that a check finds the same without this rule."""

from __future__ import annotations

import pytest
from check.kernels import CLEAN
from check.mutants import mutants
from check.pairs import CASES

from pyptx import load, sim
from pyptx.check.determinism import is_deterministic_without_races

HEAD = """.version 9.0
.target sm_90a
.address_size 64
.visible .entry test(.param .u64 x) {
.reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p; .shared .align 16 .b8 bytes[64];
ld.param.u64 %rd1, [x]; mov.u32 %r1, bytes;
"""


def is_deterministic(body):
    return is_deterministic_without_races(sim.load(load(f"{HEAD}{body}\nret; }}").module))


@pytest.mark.parametrize(
    "body",
    [
        "st.shared.u32 [%r1], %r2; bar.sync 0; ld.shared.u32 %r2, [%r1]; st.global.u32 [%rd1], %r2;",
        "shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1; barrier.sync 1;",
        "cp.async.ca.shared.global [%r1], [%rd1], 16; cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;",
        "bar.red.popc.u32 %r2, 0, %p; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1];",
    ],
)
def test_barriers_of_the_whole_cta_and_warp_instructions_leave_no_choice(body):
    assert is_deterministic(body)


@pytest.mark.parametrize(
    "body",
    [
        "atom.global.add.u32 %r2, [%rd1], 1;",
        "red.shared.add.u32 [%r1], 1;",
        "ld.volatile.global.u32 %r2, [%rd1];",
        "st.release.gpu.global.u32 [%rd1], %r2;",
        "bar.arrive 1, 64;",
        "bar.sync 1, 64;",
        "mbarrier.init.shared::cta.b64 [%r1], 1; mbarrier.arrive.shared::cta.b64 _, [%r1];",
        "activemask.b32 %r2;",
        "mov.u32 %r2, %clock;",
        "mov.u64 %rd2, %globaltimer;",
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 16, [%r1];",
    ],
)
def test_the_order_of_threads_can_show_in_atomics_polling_and_clocks(body):
    assert not is_deterministic(body)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_check_finds_the_same_mistakes_when_every_run_is_watched(case, monkeypatch):
    same_findings(lambda: case.kernel.check(case.lines, random=2), monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("name", CLEAN)
def test_a_check_finds_the_same_in_mutants_when_every_run_is_watched(name, monkeypatch):
    clean = CLEAN[name]
    for mutant in mutants(clean.text()):
        same_findings(lambda text=mutant.text: clean.check(text), monkeypatch)


def same_findings(check, monkeypatch):
    """Compare the findings of a check with those of one whose runs are all watched, where they are not anyway."""
    known = []

    def recorded(program):
        known.append(is_deterministic_without_races(program))
        return known[-1]

    with monkeypatch.context() as patch:
        patch.setattr("pyptx.check.schedules.is_deterministic_without_races", recorded)
        one = check()
        if any(known):
            patch.setattr("pyptx.check.schedules.is_deterministic_without_races", lambda program: False)
            assert one.findings == check().findings
