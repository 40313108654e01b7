"""Sweeps on GPUs, with children whose GPU is a table of times: order, screening, race, faults, stored results."""

from __future__ import annotations

import random
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from tune.kernels import double, twice

from pyptx.tune import Space, Study, result_store
from pyptx.tune.environment import measured_environment
from pyptx.tune.gpu_runner import GpuRunner
from pyptx.tune.isolation import ChildDied, ChildTimeout, TrialFault

pytestmark = pytest.mark.usefixtures("own_store")

X = np.arange(1024, dtype=np.float32)
SPACE = Space(PER=[1, 2, 4, 8, 16])
TRUTH = {1: 1.00, 2: 1.01, 4: 1.05, 8: 3.0, 16: 1.2}


class Child:
    """Answers as a child on a GPU would; `fate` holds the result of each configuration."""

    def __init__(self, fate: dict[int, Any], noise: float = 0.003, seed: int = 0):
        self.fate, self.noise, self.rng = fate, noise, random.Random(seed)
        self.asked: list[tuple] = []
        self.known: set[str] = set()
        self.generation = 1

    def prepare(self, *requests: tuple) -> None:
        self.setup = requests

    def ask(self, request: str, name: str, *arguments: Any, limit_s: float) -> Any:
        if name == "conditions":
            return {"clock_hz": 1.7e9}
        if name == "mode":
            return "events"
        job = arguments[0]
        key = job if isinstance(job, str) else job.key
        per = int(key.partition('"PER":')[2].partition(",")[0].rstrip("}"))
        self.asked.append((name, per))
        fate = self.fate[per]
        if isinstance(fate, Exception) and name == "check":
            raise fate
        if name == "check":
            return {"reason": fate if isinstance(fate, str) else None, "error": 0.0}
        assert not isinstance(job, str) or key in self.known, "a new process receives the job again"
        self.known.add(key)
        return [fate * 1e-3 * self.rng.lognormvariate(0, self.noise) for _ in range(arguments[1])]

    def end(self) -> None:
        self.known.clear()
        self.generation += 1

    stop = end


def study(
    monkeypatch: pytest.MonkeyPatch, fate: dict[int, Any], children: int = 1, **options: Any
) -> tuple[Study, list[Child]]:
    gpus = [Child(fate, seed=i) for i in range(children)]

    class Fake(GpuRunner):
        def gpu_children(self):
            return nullcontext(gpus)

    monkeypatch.setattr(Study, "_make_runner", lambda self: Fake(self))
    monkeypatch.setattr(Study, "on_gpu", True)
    monkeypatch.setattr(
        "pyptx.tune.study.study_key",
        lambda problem, *_: result_store.Key(problem.key(), measured_environment("NVIDIA H200", "13010")),
    )
    return Study(double(), options.pop("space", SPACE), X, reference=twice, **options), gpus


def test_all_are_measured_the_near_ones_race_and_the_best_is_found(monkeypatch):
    run, (gpu,) = study(monkeypatch, TRUTH)
    run.run()
    assert {trial.state for trial in run.trials} == {"measured"}
    assert run.best.config == {"PER": 1} and run.best.kind == "measured"
    assert run.best.seconds == pytest.approx(1e-3, rel=0.01)
    low, high = run.best.interval
    assert low <= run.best.seconds <= high
    stages = {trial.config["PER"]: trial.measurement["stage"] for trial in run.trials}
    assert stages == {1: "race", 2: "race", 4: "race", 8: "screening", 16: "screening"}
    assert sum(asked == ("sample", 8) for asked in gpu.asked) == 2, "warm and first runs, no more"
    checks = [per for name, per in gpu.asked if name == "check"]
    assert checks == [t.config["PER"] for t in sorted(run.trials, key=lambda t: t.prediction.seconds)]
    assert run.environment["kind"] == "measured" and run.best.prediction.kind == "modeled"
    assert run.progress == (5, 5, 0.0)


@pytest.mark.parametrize(
    "what, state, fault, reason",
    [
        ("3 of 1024 values are wrong", "wrong", "wrong", "3 of 1024 values are wrong"),
        (ChildTimeout("no result within 60 s"), "failed", "hang", "on the GPU: no result within 60 s"),
        (
            TrialFault("address", "CUDA_ERROR_ILLEGAL_ADDRESS"),
            "failed",
            "address",
            "on the GPU: CUDA_ERROR_ILLEGAL_ADDRESS",
        ),
        (
            ChildDied("the process was ended by signal 9"),
            "failed",
            "killed",
            "on the GPU: the process was ended by signal 9",
        ),
    ],
    ids=["wrong", "hang", "address", "killed"],
)
def test_a_faulty_configuration_costs_itself_and_its_process(monkeypatch, what, state, fault, reason):
    run, (gpu,) = study(monkeypatch, {**TRUTH, 1: what})
    run.run()
    bad = run.trial(
        {
            "PER": 1,
        }
    )
    assert (bad.state, bad.fault, bad.reason, bad.seconds) == (state, fault, reason, None)
    assert gpu.generation == (1 if state == "wrong" else 2) + 1, "and once at the end"
    assert run.best.config == {"PER": 2}
    assert run.counts()["measured"] == 4


def test_measured_and_modeled_results_are_never_each_others(monkeypatch):
    run, _ = study(monkeypatch, TRUTH)
    run.run()
    again, (gpu,) = study(monkeypatch, TRUTH)
    assert all(trial.restored and trial.kind == "measured" for trial in again.trials)
    again.run()
    assert not gpu.asked
    monkeypatch.undo()
    assert not any(trial.restored for trial in Study(double(), SPACE, X, reference=twice).trials)


def test_stopped_in_the_middle_it_goes_on_where_it_was(monkeypatch):
    run, (gpu,) = study(monkeypatch, TRUTH)
    run.subscribe(lambda event: run.control.stop() if len(gpu.asked) > 4 else None)
    run.start().wait()
    kept = {t.key for t in run.trials if t.state == "measured"}
    assert run.state == "stopped" and 0 < len(kept) < 5
    again, (other,) = study(monkeypatch, TRUTH)
    again.run()
    assert {t.key for t in again.trials if t.state == "measured"} == {t.key for t in run.trials}
    assert not {per for name, per in other.asked if name == "check"} & {
        t.config["PER"] for t in run.trials if t.key in kept
    }


def test_the_models_strategy_measures_its_best_and_leaves_the_rest_modeled(monkeypatch):
    run, _ = study(monkeypatch, TRUTH, strategy="model", budget=2)
    run.run()
    assert run.counts() == {"measured": 2, "modeled": 3}
    assert max(t.prediction.seconds for t in run.trials if t.state == "measured") <= min(
        t.prediction.seconds for t in run.trials if t.state == "modeled"
    )
    assert run.best.kind == "measured" and run.progress.seconds_left == 0.0


def test_several_gpus_share_the_configurations(monkeypatch):
    run, gpus = study(monkeypatch, TRUTH, children=2)
    run.run()
    checked = [sorted(per for name, per in gpu.asked if name == "check") for gpu in gpus]
    assert sorted(checked[0] + checked[1]) == [1, 2, 4, 8, 16]
    assert run.best.config == {"PER": 1}


def test_a_search_asks_in_batches_and_is_told_what_was_measured(monkeypatch):
    pytest.importorskip("optuna")
    space = Space(PER=[1, 2, 4, 8, 16], UNUSED=[0])
    run, _ = study(monkeypatch, TRUTH, strategy="tpe", budget=5, space=space)
    run.run()
    assert run.counts() == {"measured": 5} and run.best.config["PER"] == 1
    tpe = run.table.search.strategy
    assert len(tpe._study.get_trials(states=[tpe._optuna.trial.TrialState.COMPLETE])) == 5


def test_of_equally_fast_ones_the_one_that_takes_less_of_the_chip_is_best(monkeypatch):
    run, _ = study(monkeypatch, {1: 1.0, 2: 1.0, 4: 1.0, 8: 1.0, 16: 1.0})
    run.run()
    tied = [t for t in run.trials if t.measurement["stage"] == "race" and t.measurement["slower"] is None]
    assert run.best.resources.registers <= min(t.resources.registers for t in tied)
