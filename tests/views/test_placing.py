"""The trials of a study on a roofline, also those that were taken from the store."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tune.kernels import double, twice

from pyptx.store import Store
from pyptx.tune import results, tune
from pyptx.views.placing import of_study

X = np.arange(1024, dtype=np.float32)


@pytest.fixture(autouse=True)
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path / "results.sqlite")
    monkeypatch.setattr(results, "default_store", lambda: store)


def test_trials_with_a_time_are_points_before_and_after_a_restart():
    space = {"PER": [1, 2], "FAULT": ["none", "python"], "UNUSED": [0, 1]}
    studies = [tune(double(), space, X, reference=twice, gpu="H100 SXM") for _ in range(2)]
    assert any(trial.restored for trial in studies[1].trials)
    for study in studies:
        view = of_study(study)
        assert [point.note for point in view.points] == [trial.label for trial in study.trials if trial.usable
                                                         and trial.state != "duplicate"]
        assert len(view.points) == 2
        assert view.gpu.name == "H100 SXM"
        for point in view.points:
            assert point.flops == X.size
            assert point.bytes["dram"] == 2 * X.nbytes
            assert point.kind == "modelled"
            assert study.trials[int(point.view.removeprefix("point "))].label == point.note
        assert json.loads(json.dumps(view.to_json()))["title"] == "double, 2 configurations"
    assert of_study(studies[0], device="h200", level="l2").gpu.name == "H200 SXM"
