"""The report of the model against measured times."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

pytest.importorskip("ml_dtypes")


@pytest.fixture(scope="module")
def script():
    path = Path(__file__).parents[1] / "benchmarks" / "model_report.py"
    spec = importlib.util.spec_from_file_location("model_report", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_ranks_and_not_values_count(script):
    assert script.spearman([1, 2, 3, 4], [10, 20, 300, 4000]) == pytest.approx(1)
    assert script.spearman([1, 2, 3, 4], [4, 3, 2, 1]) == pytest.approx(-1)
    assert script.spearman([1, 2, 2, 3], [1, 2, 3, 4]) == pytest.approx(0.9487, abs=1e-4)


def test_the_best_of_those_the_model_puts_first(script):
    assert script.best_of_first([3, 1, 2], [5.0, 8.0, 6.0], 1) == 8 / 5
    assert script.best_of_first([3, 1, 2], [5.0, 8.0, 6.0], 2) == 6 / 5
    assert script.best_of_first([3, 1, 2], [5.0, 8.0, 6.0], 3) == 1


def test_without_data_it_says_so(script, tmp_path, capsys):
    assert script.main(tmp_path / "measured") == 0
    assert "not yet measured" in capsys.readouterr().out


def test_a_data_set_is_reported(script, tmp_path, capsys):
    (tmp_path / "gemm.csv").write_text("BM,BN,STAGES,state,seconds,kind\n128,64,4,done,3e-5,measured\n"
                                       "128,256,4,done,2e-5,measured\n128,128,4,done,9e-5,modelled\n"
                                       "100,64,4,done,4e-5,measured\n")
    (tmp_path / "gemm.json").write_text(json.dumps({
        "kernel": "hopper/gemm.py:gemm", "gpu": "H200",
        "inputs": [[[1024, 512], "bfloat16"], [[512, 1024], "bfloat16"]]}))
    script.main(tmp_path)
    out = capsys.readouterr().out
    assert "set gemm" in out and "rows 2" in out and "refused 1" in out and "spearman" in out
