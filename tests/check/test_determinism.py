"""Kernels whose first watched run stands for all schedules: which they are, that the simulator tells apart runs that
synchronized differently, and that a check finds the same without this rule."""

from __future__ import annotations

import numpy as np
import pytest
from check.kernels import CLEAN
from check.mutants import mutants
from check.pairs import CASES

from pyptx import load, sim
from pyptx.check.determinism import is_decided_by_synchronization
from pyptx.check.runner import Runner

HEAD = """.version 9.0
.target sm_90a
.address_size 64
.visible .entry test(.param .u64 x) {
.reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p; .shared .align 16 .b8 bytes[64];
ld.param.u64 %rd1, [x]; mov.u32 %r1, bytes;
"""


def is_deterministic(body):
    return is_decided_by_synchronization(sim.load(load(f"{HEAD}{body}\nret; }}").module))


@pytest.mark.parametrize(
    "body",
    [
        "st.shared.u32 [%r1], %r2; bar.sync 0; ld.shared.u32 %r2, [%r1]; st.global.u32 [%rd1], %r2;",
        "shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1; barrier.sync 1;",
        "cp.async.ca.shared.global [%r1], [%rd1], 16; cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;",
        "bar.red.popc.u32 %r2, 0, %p; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1];",
        "bar.arrive 1, 64;",
        "bar.sync 1, 64;",
        "mbarrier.init.shared::cta.b64 [%r1], 1; mbarrier.arrive.shared::cta.b64 _, [%r1];",
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 16, [%r1];",
    ],
)
def test_runs_that_synchronize_alike_at_barriers_and_mbarriers_are_equal(body):
    assert is_deterministic(body)


@pytest.mark.parametrize(
    "body",
    [
        "atom.global.add.u32 %r2, [%rd1], 1;",
        "red.shared.add.u32 [%r1], 1;",
        "ld.volatile.global.u32 %r2, [%rd1];",
        "st.release.gpu.global.u32 [%rd1], %r2;",
        "mbarrier.pending_count.b64 %r2, %rd1;",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r1], 16;",
        "activemask.b32 %r2;",
        "mov.u32 %r2, %clock;",
        "mov.u64 %rd2, %globaltimer;",
    ],
)
def test_the_order_of_threads_can_show_in_atomics_polling_and_clocks(body):
    assert not is_deterministic(body)


def hashes(body, warps=4):
    """Return the hashes of a kernel's synchronization in several schedules."""
    program = sim.load(load(f"{HEAD}{body}\nret; }}").module)
    found = set()
    for kind, seed in [("eager", 0), ("late", 0), *(("random", seed) for seed in range(12))]:
        synchronizations = np.zeros(1, np.uint64)
        data = np.zeros(64, np.uint8)
        sim.launch(program, 2, 32 * warps, [data], schedule=kind, seed=seed, synchronizations=synchronizations)
        found.add(int(synchronizations[0]))
    return found


TWO_WARPS = "mov.u32 %r2, %tid.x; setp.lt.u32 %p, %r2, 64;"
MBARRIER = """mov.u32 %r2, %tid.x; setp.eq.u32 %p, %r2, 0;
@%p mbarrier.init.shared::cta.b64 [%r1], 1; bar.sync 0; """
COPY = "@%p cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1+16], [%rd1], 16, [%r1];"
WAIT = "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p, [%r1], 0; @!%p bra WAIT;"


@pytest.mark.parametrize(
    "body",
    [
        "bar.sync 0; bar.sync 1;",
        f"{TWO_WARPS} @%p bar.sync 1, 64; @!%p bar.sync 2, 64;",
        f"{TWO_WARPS} @%p bar.arrive 1, 128; @!%p bar.sync 1, 128;",
        f"{MBARRIER} @%p mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 16; {COPY} {WAIT}",
    ],
)
def test_threads_that_always_meet_alike_have_one_hash(body):
    assert len(hashes(body)) == 1


@pytest.mark.parametrize(
    "body",
    [
        "bar.sync 1, 64;",  # any two of four warps meet
        f"{MBARRIER} and.b32 %r3, %r2, 31; setp.eq.u32 %p, %r3, 0; @%p mbarrier.arrive.shared::cta.b64 _, [%r1];",
        f"{MBARRIER} @%p mbarrier.arrive.shared::cta.b64 _, [%r1]; setp.eq.u32 %p, %r2, 32; "
        "@%p mbarrier.test_wait.parity.shared::cta.b64 %p, [%r1], 0;",
        # of two copies, either may be the one that completes the first phase
        f"{MBARRIER} @!%p exit; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 16; mov.u32 %r3, 0; "
        f"LOOP: {COPY.removeprefix('@%p ')} add.u32 %r3, %r3, 1; setp.lt.u32 %p, %r3, 2; @%p bra LOOP; {WAIT} "
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 16;",
    ],
    ids=["pairs", "arrivals", "test", "copies"],
)
def test_the_hash_tells_apart_runs_in_which_others_meet(body):
    assert len(hashes(body)) > 1


def test_the_hash_does_not_depend_on_the_threads_of_the_simulator():
    program = sim.load(load(f"{HEAD}{MBARRIER} @%p mbarrier.arrive.shared::cta.b64 _, [%r1]; ret; }}").module)
    found = set()
    for threads in (1, 2):
        synchronizations = np.zeros(1, np.uint64)
        sim.launch(program, 64, 64, [np.zeros(8, np.uint8)], threads=threads, synchronizations=synchronizations)
        found.add(int(synchronizations[0]))
    assert len(found) == 1 and found != {0}


@pytest.mark.parametrize("name", ["hopper_gemm", "transpose by TMA"])
def test_later_runs_of_a_kernel_with_mbarriers_are_not_watched(name, monkeypatch):
    watched, run = [], Runner.run

    def recorded(self, *args, sanitize=False, **settings):
        watched.append(sanitize)
        return run(self, *args, sanitize=sanitize, **settings)

    monkeypatch.setattr(Runner, "run", recorded)
    assert CLEAN[name].check().ok
    assert watched[:6] == [True, False, False, False, False, False] and not any(watched[6:])


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
        known.append(is_decided_by_synchronization(program))
        return known[-1]

    with monkeypatch.context() as patch:
        patch.setattr("pyptx.check.schedules.is_decided_by_synchronization", recorded)
        one = check()
        if any(known):
            patch.setattr("pyptx.check.schedules.is_decided_by_synchronization", lambda program: False)
            assert one.findings == check().findings
