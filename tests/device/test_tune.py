"""A sweep on a GPU: measured times, and faults that fail only their configuration."""

from __future__ import annotations

import numpy as np
import pytest
from tune.kernels import double, twice

from pyptx import use
from pyptx.errors import LaunchError
from pyptx.runtime.cuda import BACKEND
from pyptx.tune import Space, tune

pytestmark = pytest.mark.gpu

X = np.random.default_rng(0).standard_normal(1 << 22, dtype=np.float32)


@pytest.fixture(scope="module", autouse=True)
def gpu():
    try:
        device = BACKEND.driver.device(0)
    except LaunchError as missing:
        pytest.skip(f"no GPU answers: {missing.message}")
    if device.is_simulated:
        pytest.skip("a simulated GPU has no times to measure")


@pytest.fixture(autouse=True)
def on_the_gpu(own_store):
    with use("cuda"):
        yield


def test_all_good_configurations_are_measured_and_a_long_kernel_takes_longer():
    study = tune(double(), Space(PER=[1, 2, 4, 8]), X, reference=twice)
    assert study.counts() == {"measured": 4}
    assert study.place["kind"] == "measured" and study.place["gpu"]
    best = study.best
    assert best.interval[0] <= best.seconds <= best.interval[1]
    least = 2 * X.nbytes / 8e12  # no GPU moves more than 8 TB/s
    assert all(least < trial.seconds < 1e-2 for trial in study.trials)


def test_faults_on_the_gpu_are_told_and_the_rest_is_measured():
    study = tune(double(), Space(FAULT=["none", "loop", "wrong", "address"]), X, reference=twice, limit_s=10)
    found = {trial.config["FAULT"]: trial for trial in study.trials}
    assert found["none"].state == "measured"
    assert found["wrong"].state == "wrong"
    assert (found["loop"].state, found["loop"].fault) == ("failed", "hang")
    assert found["address"].state in ("failed", "wrong"), "far behind the output: it may be mapped"


def test_short_kernels_are_timed_in_graphs():
    small = X[:4096]
    study = tune(double(), Space(PER=[1, 2]), small, reference=twice)
    assert {trial.measurement["mode"] for trial in study.trials} == {"graph"}
    assert all(1e-7 < trial.seconds < 2e-5 for trial in study.trials)
