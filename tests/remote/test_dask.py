"""Launches and sweeps on a local Dask cluster, selected by address."""

from __future__ import annotations

import os
import signal
import threading

import numpy as np
import pytest
from remote.test_transfers import hears_a_kernel_talk
from support.processes import PACKAGE_PARENT
from tune.kernels import double, twice

import pyptx
from pyptx.errors import RemoteError, SimulationError
from pyptx.tune import Space, Study

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_store")]

X = np.arange(256, dtype=np.float32)


def test_a_dask_cluster_runs_launches_and_sweeps():
    distributed = pytest.importorskip("distributed")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(PACKAGE_PARENT)
        with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
            address = cluster.scheduler_address.replace("tcp://", "dask://")
            with pyptx.use(address, device="sim") as chosen:
                kernel = double()
                assert (
                    np.array_equal(kernel(X), 2 * X) and address in kernel.last_run.host and "simulator" in repr(chosen)
                )
                with pytest.raises(SimulationError):
                    kernel(X, FAULT="address")
                threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
                with pytest.raises(KeyboardInterrupt):
                    kernel(X, FAULT="loop")
                assert np.array_equal(kernel(X), 2 * X)
                hears_a_kernel_talk()
                study = Study(kernel, Space(PER=[1, 2]), X, reference=twice, resume=False).run()
            assert study.counts() == {"modeled": 2} and study.best.checked


def test_a_missing_scheduler_is_named():
    dask = pytest.importorskip("dask")
    pytest.importorskip("distributed")
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        with pytest.raises(RemoteError, match="cannot connect to dask://127.0.0.1:9"):
            pyptx.use("dask://127.0.0.1:9")
