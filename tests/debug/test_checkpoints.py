"""Going back to a checkpoint is as going back to the start: what follows is the same, to the bit and to the counter."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

import pyptx
from pyptx import sim
from pyptx.check.trial import copies_of
from pyptx.runtime import runtime_for
from pyptx.sim.core import debug
from pyptx.sim.debug import Debugged
from tests.debug.test_loaded_ptx import HELPER
from tests.debug.test_same_results import CASES, kernel_of, rows


@pytest.mark.parametrize("schedule, seed", [("late", 0), pytest.param("random", 5, marks=pytest.mark.slow)])
@pytest.mark.parametrize("case", ["hopper gemm", "pair gemm", *(pytest.param(case, marks=pytest.mark.slow) for case in (
    "sgemm", "persistent gemm", "hopper attention", "blackwell gemm", "ampere gemm"))])
def test_what_follows_a_checkpoint_is_the_same_again(case: str, schedule: str, seed: int):
    module, name, arrays, params = CASES[case]
    variant, plan, args = kernel_of(module, name).bind(*arrays, **params)
    program = variant.program(runtime_for((), "sim"))
    plain, debugged = copies_of(args), copies_of(args)
    options = {"cluster": plan.cluster, "smem_bytes": plan.smem_bytes, "schedule": schedule, "seed": seed}
    result = sim.launch(program, plan.grid, plan.block, plain, **options)
    run = Debugged(program, plan.grid, plan.block, debugged, **options)
    total = int(result.counters.issues.sum())
    for step in range(0, total, total // 12 + 1):
        run.run(until=step)
        run.machine.keep()
    turns = {c.step: None for c in run.machine.checkpoints}
    assert len(turns) >= 10
    random = np.random.default_rng(0)
    for checkpoint in random.permutation(np.array(run.machine.checkpoints, object))[:6]:
        run.machine.restore(checkpoint)
        assert run.machine.step == checkpoint.step and run.machine.stopped
        run.run(until=min(checkpoint.step + 500, total - 1))
        where = run.machine.turn, run.machine.step
        run.run()
        assert run.machine.ended and run.machine.step == total
        for a, b in zip(plain, debugged, strict=True):
            assert not isinstance(a, np.ndarray) or a.tobytes() == b.tobytes()
        for field in fields(result.counters):
            if field.name != "tensor_flops":
                assert np.array_equal(getattr(result.counters, field.name),
                                      getattr(run.machine.part.counters, field.name)), field.name
        run.restart(where[1])
        assert (run.machine.turn, run.machine.step) == where


def test_calls_that_run_are_kept_too():
    out = np.zeros(64, np.uint32)
    with pyptx.load(HELPER)["doubles"].debug(1, 64, out, 40) as session:
        session.run_to("twice")
        session.run.machine.keep()
        kept = session.run.machine.checkpoints[0]
        for _ in range(3):
            session.resume()
            assert list(session.outputs()["out"]) == [2 * i if i < 40 else 0 for i in range(64)]
            session.goto(kept.step)
            assert session.run.began == kept.step and session.stop.instruction.startswith("add.u32")


def test_a_long_run_makes_them_by_itself(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(debug, "EVERY_S", 0.0)
    monkeypatch.setattr(debug, "KEPT_BYTES", 16 << 20)
    with kernel_of("sgemm", "sgemm").debug(rows(256, 128), rows(128, 192)) as session:
        session.resume()
        kept = session.run.machine.checkpoints
        assert kept and sum(c.memory[0].nbytes for c in kept) < 16 << 20
        now = session.back()
        assert session.run.began > 0 and session.step_number == session.last - 1
        assert session.step().step == session.last and now.instruction
