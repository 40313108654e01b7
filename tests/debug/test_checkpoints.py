"""Runs from a checkpoint are identical to runs from the start, in all bits and counters."""

from __future__ import annotations

import numpy as np
import pytest

import pyptx
from pyptx.sim.core import debug
from tests.debug.both import Both, kernel_of, rows
from tests.debug.test_loaded_ptx import HELPER


@pytest.mark.parametrize("schedule, seed", [("late", 0), pytest.param("random", 5, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "case",
    [
        "hopper gemm",
        "pair gemm",
        *(
            pytest.param(case, marks=pytest.mark.slow)
            for case in ("sgemm", "persistent gemm", "hopper attention", "blackwell gemm", "ampere gemm")
        ),
    ],
)
def test_a_run_from_a_checkpoint_is_identical(case: str, schedule: str, seed: int):
    both = Both(case, schedule, seed)
    run = both.run
    total = int(both.counters.issues.sum())
    for step in range(0, total, total // 12 + 1):
        run.run(until=step)
        run.machine.checkpoint()
    turns = {c.step: None for c in run.machine.checkpoints}
    assert len(turns) >= 10
    random = np.random.default_rng(0)
    for checkpoint in random.permutation(np.array(run.machine.checkpoints, object))[:6]:
        run.machine.restore(checkpoint)
        assert run.machine.step == checkpoint.step and run.machine.stopped
        run.run(until=min(checkpoint.step + 500, total - 1))
        where = run.machine.position, run.machine.step
        run.run()
        assert run.machine.ended and run.machine.step == total
        both.require_same()
        run.restart(where[1])
        assert (run.machine.position, run.machine.step) == where


def test_calls_that_run_are_kept_too():
    out = np.zeros(64, np.uint32)
    with pyptx.load(HELPER)["doubles"].debug(1, 64, out, 40) as session:
        session.run_to("twice")
        session.launch.machine.checkpoint()
        kept = session.launch.machine.checkpoints[0]
        for _ in range(3):
            session.resume()
            assert list(session.outputs()["out"]) == [2 * i if i < 40 else 0 for i in range(64)]
            session.goto(kept.step)
            assert session.launch.run.began == kept.step and session.stop.instruction.startswith("add.u32")


def test_a_long_run_makes_them_by_itself(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(debug, "CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(debug, "CHECKPOINT_BYTES", 16 << 20)
    with kernel_of("sgemm", "sgemm").debug(rows(256, 128), rows(128, 192)) as session:
        session.resume()
        kept = session.launch.machine.checkpoints
        assert kept and sum(c.memory[0].nbytes for c in kept) < 16 << 20
        now = session.back()
        assert session.launch.run.began > 0 and session.launch.step_number == session.state.last_step - 1
        assert session.step().step == session.state.last_step and now.instruction
