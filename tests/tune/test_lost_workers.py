"""Workers of a Dask cluster that die, at whatever moment: the trial runs elsewhere and the sweep completes."""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tune.kernels import double, twice

from pyptx.tune import Space, Study
from pyptx.tune.dask_cluster import DaskChild, WorkerLost
from pyptx.tune.isolation import Child, SweepStopped
from pyptx.tune.runner import Runner

X = np.arange(256, dtype=np.float32)
ADDRESS = "tcp://127.0.0.1:1"


class Client:
    """A Dask client whose task ends as given: its status, and an exception or a value as its result."""

    def __init__(self, status: str, result: Any, present: bool = True):
        self.task = SimpleNamespace(done=lambda: True, status=status, cancel=lambda: None, result=self.result)
        self.answer, self.present = result, present

    def submit(self, *arguments: Any, **options: Any) -> Any:
        return self.task

    def scatter(self, values: list, **options: Any) -> list:
        if isinstance(self.answer, OSError):
            raise self.answer
        return values

    def result(self, timeout: float) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def nthreads(self) -> dict[str, int]:
        return {ADDRESS: 1} if self.present else {}


@pytest.mark.parametrize(
    "client",
    [
        Client("lost", None),
        Client("finished", CancelledError("the result was on a dead worker")),
        Client("finished", TimeoutError(), present=False),
        Client("finished", OSError("the connection was closed")),
    ],
    ids=["task", "result", "recomputed", "setup"],
)
def test_a_worker_that_dies_at_any_moment_is_reported_as_lost(client: Client, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("pyptx.tune.dask_cluster._PRESENCE_S", 0.01)
    child = DaskChild(client, ADDRESS, 0)
    child.prepare(("arrays",))
    with pytest.raises(WorkerLost, match=f"the Dask worker {ADDRESS} is gone"):
        child.ask("simulate", limit_s=1.0)


def test_a_stopped_sweep_does_not_blame_the_worker():
    child = DaskChild(Client("finished", CancelledError()), ADDRESS, 0)
    child._stopping.set()
    with pytest.raises(SweepStopped):
        child.ask("simulate", limit_s=1.0)


class Dying(Child):
    """A child whose worker dies during its first simulation, after the other child has no trials left."""

    def __init__(self, other: Other):
        super().__init__()
        self.other = other

    def ask(self, *request: Any, limit_s: float) -> Any:
        if request[0] == "simulate":
            assert self.other.idle.wait(60)
            raise WorkerLost("the Dask worker is gone")
        return super().ask(*request, limit_s=limit_s)


class Other(Child):
    def __init__(self):
        super().__init__()
        self.idle = threading.Event()

    def ask(self, *request: Any, limit_s: float) -> Any:
        answer = super().ask(*request, limit_s=limit_s)
        if request[0] == "model":
            self.idle.set()
        return answer


@pytest.mark.usefixtures("own_store")
def test_the_trial_of_a_lost_worker_runs_on_one_that_had_finished(monkeypatch: pytest.MonkeyPatch):
    other = Other()
    children = [Dying(other), other]
    monkeypatch.setattr(Runner, "workers", lambda self: nullcontext(children))
    try:
        study = Study(double(), Space(PER=[1, 2]), X, reference=twice, resume=False).run()
        assert study.counts() == {"modeled": 2}
    finally:
        for child in children:
            child.end()


@pytest.mark.usefixtures("own_store")
def test_a_sweep_without_workers_ends_with_the_reason(monkeypatch: pytest.MonkeyPatch):
    other = Other()
    other.idle.set()
    monkeypatch.setattr(Runner, "workers", lambda self: nullcontext([Dying(other)]))
    with pytest.raises(WorkerLost, match="no process is left"):
        Study(double(), Space(PER=[1]), X, reference=twice, resume=False).run()
