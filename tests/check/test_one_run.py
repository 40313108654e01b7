"""A kernel that one watched run proves to be the same in every schedule runs once; where the proof fails, all schedules run."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from check import racy
from check.barrier_programs import barrier_program
from check.example_kernels import EXAMPLES
from check.kernels import CLEAN

from pyptx import load, sim
from pyptx.check import checker, runner
from pyptx.check.determinism import synchronizes_in_one_way
from pyptx.check.runner import Runner, Schedule
from pyptx.launch_config import dim3
from pyptx.parser import parse
from pyptx.runtime import LaunchPlan

HEAD = """.version 9.0
.target sm_90a
.address_size 64
.visible .entry test(.param .u64 y) {
.reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p, %q; ld.param.u64 %rd1, [y]; mov.u32 %r1, %tid.x;"""
# Warp 0 stores 5; warp 1 stores 5, then 7. The stores of 5 race, but two writes of the same value are not reported.
EQUAL_WRITES = f"""{HEAD} .shared .b32 s;
setp.eq.u32 %p, %r1, 0; setp.eq.u32 %q, %r1, 32; mov.u32 %r2, 5; mov.u32 %r3, 7;
@%p st.shared.u32 [s], %r2; @%q st.shared.u32 [s], %r2; @%q st.shared.u32 [s], %r3; bar.sync 0;
@%p ld.shared.u32 %r4, [s]; @%p st.global.u32 [%rd1], %r4; ret; }}"""
# Four lanes of warp 0 read, then warp 1, which the sanitizer does not list any more, then warp 0 writes in its second turn.
MANY_READERS = f"""{HEAD}
mov.u32 %r4, 0; setp.ge.u32 %p, %r1, 32; @%p bra B;
{" ".join(f"setp.eq.u32 %q, %r1, {k}; @%q ld.global.u32 %r2, [%rd1];" for k in range(4))}
A: add.u32 %r4, %r4, 1; setp.lt.u32 %q, %r4, 345; @%q bra A;
bar.warp.sync -1; setp.eq.u32 %q, %r1, 0; @%q st.global.u32 [%rd1], %r4; ret;
B: add.u32 %r4, %r4, 1; setp.lt.u32 %q, %r4, 337; @%q bra B;
ld.global.u32 %r3, [%rd1]; setp.eq.u32 %q, %r1, 32; @%q st.global.u32 [%rd1+128], %r3; ret; }}"""


def schedules_run(monkeypatch: pytest.MonkeyPatch, check) -> tuple[list[str], checker.Report]:
    seen: list[str] = []
    run = Runner.run

    def counted(self, schedule, *args, **options):
        seen.append(str(schedule))
        return run(self, schedule, *args, **options)

    monkeypatch.setattr(runner.Runner, "run", counted)
    return seen, check()


@pytest.mark.parametrize("name", ["sgemm", "rms_norm", "transpose"])
def test_a_kernel_with_barriers_only_runs_once(monkeypatch, name):
    seen, report = schedules_run(monkeypatch, EXAMPLES[name].check)
    assert seen == ["eager"] and report.ok
    assert report.schedules == ("eager", "late", *(f"random (seed {k})" for k in range(4)))


@pytest.mark.parametrize("name", ["row_sums", "ampere_gemm"])
def test_asynchronous_kernels_run_in_every_schedule(monkeypatch, name):
    seen, report = schedules_run(monkeypatch, CLEAN[name].check)
    assert set(seen) == set(report.schedules) and report.ok


@pytest.mark.parametrize("name", ["barrier_missing", "wait_too_weak"])
def test_a_kernel_with_a_race_runs_in_every_schedule(monkeypatch, name):
    x = np.arange(racy.N, dtype=np.float32)
    seen, report = schedules_run(monkeypatch, lambda: getattr(racy, name).check(x))
    assert set(seen) == set(report.schedules) and not report.ok


@pytest.mark.parametrize("text", [EQUAL_WRITES, MANY_READERS], ids=["equal writes", "many readers"])
def test_a_race_that_the_first_run_does_not_show_is_found_by_the_others(text):
    kernel, y = load(text)["test"], np.full(64, 3, np.uint32)
    assert kernel.check(y, grid=1, block=64, random=0, schedules=("eager",)).ok
    report = kernel.check(y, grid=1, block=64, random=8)
    assert report.findings[0].rule == "data-race"


@pytest.mark.slow
def test_runs_of_random_kernels_are_equal_where_one_is_proven_to_have_no_race():
    verdicts = Counter()
    for seed in range(250):
        text, ctas, threads = barrier_program(seed)
        program = sim.load(parse(text))
        plan = LaunchPlan(program.entry, dim3(ctas, "grid"), dim3(threads, "block"))
        arrays = [np.zeros(64, np.uint32), np.zeros(ctas * threads, np.uint32)]
        launch = Runner(program, plan, arrays, ["memory", "out"], {"max_steps": 1 << 20})
        first = launch.run(Schedule("eager"), sanitize=True)
        others = [launch.run(Schedule("random", k)) for k in range(6)]
        equal = all(np.array_equal(other.arrays[k], array) for other in others for k, array in first.arrays.items())
        assert synchronizes_in_one_way(program, threads // 32)
        assert equal or not first.race_free, f"seed {seed}"
        verdicts[first.race_free, equal] += 1
    assert verdicts[True, True] > 40 and verdicts[False, False] > 40, verdicts
