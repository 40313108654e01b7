"""Runs of a check share the arrays that the kernel does not write; what it writes is found out, and never reaches the caller."""

from __future__ import annotations

import numpy as np
import pytest
from check.kernels import CLEAN
from check.test_one_run import HEAD as ONE

from pyptx import load, sim
from pyptx.check.runner import Runner, Schedule
from pyptx.parser import parse
from pyptx.runtime import LaunchPlan

HEAD = ONE.replace(".param .u64 y", ".param .u64 x, .param .u64 y").replace(
    "ld.param.u64 %rd1, [y];",
    "ld.param.u64 %rd0, [x]; ld.param.u64 %rd1, [y]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd2, %r0, 4;\n"
    "add.u64 %rd0, %rd0, %rd2; add.u64 %rd1, %rd1, %rd2; ld.global.u32 %r2, [%rd0]; add.u32 %r3, %r2, 1;",
)
COPY = f"{HEAD} st.global.u32 [%rd1], %r3; ret; }}"
# Threads also write to x where it holds 7.
SOMETIMES = f"{HEAD} st.global.u32 [%rd1], %r3; setp.eq.u32 %p, %r2, 7; @%p st.global.u32 [%rd0], %r3; ret; }}"
# A thread reads the element of x that another writes in y.
SHIFTED = f"{HEAD} st.global.u32 [%rd1+4], %r3; ret; }}"


def runner_of(text: str, *arrays: np.ndarray, results: tuple[str, ...] = ()) -> Runner:
    program = sim.load(parse(text))
    return Runner(program, LaunchPlan(program.entry, (1, 1, 1), (32, 1, 1)), arrays, ["x", "y"], {}, results)


def shared(runner: Runner, **options) -> dict[str, bool]:
    outcome = runner.run(Schedule("eager"), **options)
    assert outcome.error is None
    given = dict(zip(runner.names, runner.args, strict=True))
    return {name: np.shares_memory(array, given[name]) for name, array in outcome.arrays.items()}


@pytest.mark.parametrize("sanitize", [False, True])
def test_only_written_arrays_are_copied(sanitize):
    x, y = np.arange(32, dtype=np.uint32), np.zeros(32, np.uint32)
    runner = runner_of(COPY, x, y)
    assert shared(runner, sanitize=sanitize) == {"x": False, "y": False}
    assert shared(runner, sanitize=sanitize) == {"x": True, "y": False}
    assert shared(runner_of(COPY, x, y, results=("y",)), sanitize=sanitize) == {"x": True, "y": False}
    assert (x == np.arange(32)).all() and not y.any()


def test_a_write_that_earlier_runs_did_not_have_is_made_on_copies():
    x, y = np.zeros(32, np.uint32), np.zeros(32, np.uint32)
    runner = runner_of(SOMETIMES, x, y)
    assert [shared(runner)["x"] for _ in range(2)] == [False, True]
    x[3] = 7
    outcome = runner.run(Schedule("eager"), sanitize=True)
    assert outcome.error is None and outcome.arrays["x"][3] == 8 and x[3] == 7
    assert shared(runner) == {"x": False, "y": False}


def test_an_array_that_is_written_under_another_name_is_copied():
    memory = np.zeros(33, np.uint32)
    kernel = load(SHIFTED)["test"]
    for _ in range(3):
        report = kernel.check(memory, memory, grid=1, block=32)
        assert [finding.rule for finding in report.findings if finding.severity == "error"] == ["data-race"]
        report = kernel.check(memory.copy(), memory, grid=1, block=32)
        assert report.ok and not memory.any()
    runner = runner_of(SHIFTED, memory[:32], memory)
    assert [shared(runner) for _ in range(2)] == [{"x": False, "y": False}] * 2


def test_a_write_to_a_read_only_array_of_the_caller_is_made_on_copies():
    x, y = np.zeros(32, np.uint32), np.zeros(32, np.uint32)
    y.flags.writeable = False
    kernel = load(COPY)["test"]
    assert all(kernel.check(x, y, grid=1, block=32).ok for _ in range(2))


def test_a_copy_of_a_tensor_map_that_earlier_runs_did_not_see_is_made_on_copies():
    x = np.zeros((64, 64), np.float32)  # the transpose of zeros changes nothing in an array of zeros
    clean = CLEAN["transpose by TMA"]
    kernel = load(clean.text())[clean.kernel.name]
    _, plan, _ = clean.bound
    for value in (0, 1):
        x[:] = value
        _, _, args = clean.kernel.launcher.bind(x, out=np.zeros((64, 64), np.float32))
        for _ in range(2):
            assert kernel.check(plan.grid, plan.block, *args, smem_bytes=plan.smem_bytes).ok
