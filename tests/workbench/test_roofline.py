"""Points of rooflines from studies, also restored ones; calls timed on a substitute GPU."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from tune.fake_gpu import FakeGpu
from tune.kernels import double, twice

from pyptx import history
from pyptx.analysis.gpus import gpu
from pyptx.runtime.cuda import CudaBackend
from pyptx.store import Store
from pyptx.tune import tune
from pyptx.tune.rooflines import of_study
from pyptx.tune.timing import time_call
from pyptx.workbench import roofline

pytestmark = pytest.mark.usefixtures("own_store")

X = np.arange(1024, dtype=np.float32)


def test_trials_with_a_time_are_points_before_and_after_a_restart():
    space = {"PER": [1, 2], "FAULT": ["none", "python"], "UNUSED": [0, 1]}
    studies = [tune(double(), space, X, reference=twice, gpu="H100 SXM") for _ in range(2)]
    assert any(trial.restored for trial in studies[1].trials)
    for study in studies:
        view = of_study(study)
        assert [point.note for point in view.points] == [
            trial.label for trial in study.trials if trial.usable and trial.state != "duplicate"
        ]
        assert len(view.points) == 2
        assert view.gpu.name == "H100 SXM"
        for point in view.points:
            assert point.flops == X.size
            assert point.bytes["dram"] == 2 * X.nbytes
            assert point.kind == "modeled"
            assert study.trials[int(point.view.removeprefix("point "))].label == point.note
        assert json.loads(json.dumps(view.to_json()))["title"] == "double, 2 configurations"
    assert of_study(studies[0]).level == "l2", "where they may differ; of DRAM all move the same"
    chosen = of_study(studies[0], device="h200", level="dram")
    assert (chosen.gpu.name, chosen.level) == ("H200 SXM", "dram")


@pytest.fixture
def a_gpu(monkeypatch):
    """Every array is on the GPU of that name, on which a call takes a millisecond."""

    def begin(name: str) -> None:
        driver = FakeGpu(X.size, seconds=1e-3)
        driver._cuDeviceGetName = lambda length, device: (name.encode() + b"\0",)
        monkeypatch.setattr(roofline, "_gpu_of", lambda args: (name, 0))
        monkeypatch.setattr(roofline, "time_call", partial(time_call, backend=CudaBackend(driver)))

    return begin


def test_a_call_on_a_gpu_has_a_measured_point_too(a_gpu):
    a_gpu("NVIDIA H100 80GB HBM3")
    view = double().roofline(X)
    measured, modeled = view.points
    assert view.gpu.name == "H100 SXM", "the one it is on"
    assert (measured.kind, modeled.kind) == ("measured", "modeled")
    assert measured.seconds == pytest.approx(1e-3) and measured.low <= measured.seconds <= measured.high
    assert measured.work == modeled.work and measured.view == modeled.view
    assert measured.how.endswith("median of 15 runs with a cold L2, by events on NVIDIA H100 80GB HBM3")
    assert len(double().roofline(X, device="h200").points) == 1, "it was not timed on that one"
    assert len(double().roofline(X, device=replace(gpu("h100"), name="H100 SXM, measured")).points) == 2


def test_a_gpu_that_is_not_in_the_table_is_named_beside_the_roofs_of_another(a_gpu):
    a_gpu("NVIDIA H20")
    view = double().roofline(X)
    assert view.gpu.name == "H200 SXM"
    assert view.points[0].how.endswith("on NVIDIA H20")


def test_a_call_is_timed_in_this_process():
    timing = time_call(double(), [X], {"PER": 2}, backend=CudaBackend(FakeGpu(X.size, seconds=4e-6)), runs=5)
    assert timing.seconds.value == pytest.approx(4e-6)
    assert timing.how == "median of 5 runs with a cold L2, in graphs"


def test_a_kernel_that_is_kept_is_called_by_its_version(tmp_path, monkeypatch):
    store, kernel = Store(tmp_path / "history.sqlite"), double()
    monkeypatch.setattr(history, "default_store", lambda: store)
    assert kernel.roofline(X).points[0].title == "double"
    history.keep(kernel.compile(N=64))
    view = kernel.roofline(X, PER=2)
    assert view.points[0].title == "double@1", "whatever its sizes"
    assert (view + kernel.roofline(X)).points[1].version == "double@1"


@pytest.mark.gpu
def test_a_tensor_on_a_gpu_is_timed_there():
    torch = pytest.importorskip("torch")
    x = torch.arange(1 << 20, dtype=torch.float32, device="cuda")
    measured, modeled = double().roofline(x).points
    assert measured.kind == "measured" and modeled.kind == "modeled"
    assert measured.bytes["dram"] == 8 * x.numel()
    assert 0.1 < measured.seconds / modeled.seconds < 10
