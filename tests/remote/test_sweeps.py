"""Sweeps, rooflines and ceilings on another machine, which is this one behind a real sshd."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from support.sshd import Sshd
from tune.kernels import double, twice

import pyptx
from pyptx.errors import BackendError
from pyptx.remote import backend_at
from pyptx.tune import Space, Study
from pyptx.tune.ceilings import measure_ceilings
from pyptx.tune.dask_cluster import WorkerLost

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_store")]

X = np.arange(256, dtype=np.float32)


def test_a_sweep_runs_there_and_gives_the_results_of_this_machine(server: Sshd):
    space = Space(PER=[2], FAULT=["none", "wrong", "address"])
    with pyptx.use(server.address(device="sim")):
        there = Study(double(), space, X, reference=twice, workers=2, resume=False).run()
    here = Study(double(), space, X, reference=twice, workers=2, resume=False).run()
    assert there.machine is not None and here.machine is None
    assert there.counts() == here.counts() == {"modeled": 1, "wrong": 1, "failed": 1}
    assert [(t.seconds, t.fault, t.interval) for t in there.trials] == [
        (t.seconds, t.fault, t.interval) for t in here.trials
    ]
    assert there.best.prediction == here.best.prediction


def test_a_sweep_whose_connection_is_lost_keeps_its_trials_and_resumes(server: Sshd):
    space = Space(PER=[1, 2], FAULT=["none", "loop"])
    study = Study(double(), space, X, reference=twice, workers=1, limit_s=300, cluster=server.address(device="sim"))

    def cut() -> None:
        while not any(trial.done for trial in study.trials):
            time.sleep(0.05)
        time.sleep(1)  # a trial that never ends is running by now
        server.cut()

    thread = threading.Thread(target=cut)
    thread.start()
    with pytest.raises(WorkerLost, match="the connection to ssh://far(.|\n)*was lost"):
        study.run()
    thread.join()
    done = [trial.key for trial in study.trials if trial.done]
    assert done and len(done) < 4 and study.state == "failed"
    study.limit_s = 1
    study.run()
    assert study.counts() == {"modeled": 2, "failed": 2}
    again = Study(double(), space, X, reference=twice, limit_s=1, cluster=server.address(device="sim"))
    assert all(trial.done for trial in again.trials if trial.config["FAULT"] == "none")


def test_times_of_a_gpu_there_are_taken_there_and_said_to_be_simulated(server: Sshd):
    with pyptx.use(server.address(device="h200")):
        study = Study(double(), Space(PER=[2]), X, reference=twice, resume=False).run()
        assert study.on_gpu and study.counts() == {"measured": 1}
        assert "simulated" in study.notes[0] and "simulated" in study.environment["gpu"]
        chart = double().roofline(np.zeros(1 << 16, np.float32))
    assert len(chart.points) == 2 and "a simulated GPU" in chart.points[0].how and chart.points[0].kind == "modeled"


def test_ceilings_are_not_measured_on_a_simulator(server: Sshd):
    with pyptx.use(server.address(device="sim")), pytest.raises(BackendError, match="has no GPU, only the simulator"):
        measure_ceilings()


def test_a_benchmark_runs_on_the_gpu_there_with_functions_that_are_defined_there_again(
    server: Sshd, monkeypatch: pytest.MonkeyPatch
):
    """The GPU there is simulated, and said to be real: its times are modeled, but come by the way of measured ones."""
    torch = pytest.importorskip("torch")
    address, factor, x = server.address(device="h200"), 2, torch.from_numpy(X.copy())
    against = {"torch": lambda x: torch.add(x, x), "scaled": lambda x: factor * x, "wrong": "torch.abs"}
    with pyptx.use(address):
        modeled = pyptx.benchmark(double(), x, against=against, record=False)
        assert modeled.kind == "modeled" and "simulated" in modeled.gpu
        assert modeled["double"].correct and modeled["scaled"].correct and modeled["wrong"].correct is False
        with pytest.raises(
            BackendError,
            match=r"ssh://far.*the package nosuch is not installed for the Python there(.|\n)*hint: .*pip install nosuch",
        ):
            pyptx.benchmark(double(), x, against="nosuch.double", record=False)
        real = {**backend_at(address).device(), "simulated": False}
        monkeypatch.setattr("pyptx.remote.backend.RemoteBackend.device", lambda self: real)
        found = pyptx.benchmark(double(), x, against=against, rounds=(3, 4), record=False)
    row = found["double"]
    assert found.kind == "measured" and row.correct and row.rounds >= 3 and row.seconds.low > 0
    assert "on ssh://far" in found.method and "torch submits no work to the GPU" in found["torch"].problem
