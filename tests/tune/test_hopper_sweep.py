"""The Hopper GEMM swept without a GPU, stopped in the middle and resumed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


def test_a_sweep_of_the_example_loses_nothing_and_finds_what_cannot_be_launched(checkout: Path, monkeypatch, tmp_path):
    monkeypatch.setenv("PYPTX_CACHE_DIR", str(tmp_path))
    spec = importlib.util.spec_from_file_location("sweep_speed", checkout / "tests" / "benchmarks" / "sweep_speed.py")
    benchmark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    study, _, half, _ = benchmark.sweep(benchmark.QUICK)
    assert len(study.trials) == 8 and 4 <= half < 8
    assert study.counts() == {"modeled": 4, "refused": 4}
    assert "take 294912 bytes of shared memory" in study.trial({"BM": 128, "BN": 256, "BK": 64, "STAGES": 6}).reason
    assert (
        "more sums than the consumers have registers for"
        in study.trial({"BM": 256, "BN": 256, "BK": 64, "STAGES": 2}).reason
    )
    assert study.best.checked and study.best.kind == "modeled"
