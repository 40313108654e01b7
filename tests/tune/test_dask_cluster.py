"""Sweeps on a local Dask cluster: work is shared; faults and lost workers affect only their trial."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest
from support.processes import PACKAGE_PARENT
from tune.kernels import double, twice

from pyptx.tune import Space, Study

X = np.arange(256, dtype=np.float32)

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_store")]


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(PACKAGE_PARENT)  # workers import the same pyptx, whatever other tests added to the path
        with (
            distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client


def test_the_workers_of_a_cluster_share_a_sweep_and_faults_stay_with_their_trial(client):
    space = Space(PER=[1, 2], FAULT=["none", "wrong", "address", "loop"])
    study = Study(double(), space, X, reference=twice, limit_s=4, cluster=client)
    asked: dict[str, int] = {}
    run = study._runner

    def attempt(trial, child, inner=run.attempt):
        asked[child.address] = asked.get(child.address, 0) + 1
        inner(trial, child)

    run.attempt = attempt
    study.run()
    assert len(asked) == 2 and sum(asked.values()) == 8
    assert study.counts() == {"modeled": 2, "wrong": 2, "failed": 4}
    assert {t.fault for t in study.trials if t.config["FAULT"] == "loop"} == {"hang"}
    assert study.best.checked
    here = Study(double(), Space(PER=[1, 2]), X, reference=twice, resume=False).run()
    assert [t.seconds for t in here.trials] == [study.trial({**t.config, "FAULT": "none"}).seconds for t in here.trials]


def test_an_address_will_do_and_stop_ends_what_runs_there(client):
    study = Study(double(), Space(FAULT=["loop"], PER=[1, 2]), X, limit_s=300, cluster=client.scheduler.address)
    study.start()
    assert not study.wait(3)
    study.stop()
    assert study.state == "stopped" and [t.state for t in study.trials] == ["queued", "queued"]


def test_a_worker_that_is_lost_gives_its_trial_to_another(client):
    study = Study(double(), Space(PER=[1, 2, 4]), X, reference=twice, cluster=client, resume=False)
    pids = client.run(os.getpid)
    victim = sorted(pids)[0]
    killed = []

    def kill(event):
        if event.trial is not None and event.trial.state == "compiled" and not killed:
            killed.append(victim)
            os.kill(pids[victim], signal.SIGKILL)

    study.subscribe(kill)
    study.run()
    assert killed and study.counts() == {"modeled": 3}
