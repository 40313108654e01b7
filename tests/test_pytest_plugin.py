"""The pytest plugin on CUDA C++: the marker that checks launches, and the findings of a run as SARIF."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from support.processes import variables

KERNELS = """
__global__ void reverse(float *x) {
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];
#ifdef SYNC
    __syncthreads();
#endif
    x[threadIdx.x] = s[63 - threadIdx.x];
}
"""
PROJECT = """
import numpy as np
import pyptx
import pytest

@pytest.mark.pyptx_sanitize
@pytest.mark.parametrize("defines", [{"SYNC": 1}, {}], ids=["right", "racy"])
def test_reverse(defines):
    x = np.arange(64, dtype=np.float32)
    pyptx.cuda("kernels.cu", defines=defines)["reverse"].launch(1, 64, x)
    assert x[0] == 63

def test_unchecked():
    pyptx.cuda("kernels.cu")["reverse"].launch(1, 64, np.zeros(64, np.float32))

def test_fixture(pyptx_check):
    pyptx_check(pyptx.cuda("kernels.cu")["reverse"], 1, 64, np.zeros(64, np.float32))
"""


@pytest.mark.slow
@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one process", "xdist"])
def test_launches_are_checked_and_findings_are_written(workers: tuple[str, ...], tmp_path: Path):
    (tmp_path / "kernels.cu").write_text(KERNELS)
    (tmp_path / "test_project.py").write_text(PROJECT)
    installed = any(found.value == "pyptx.pytest_plugin" for found in entry_points(group="pytest11"))
    plugin = [] if installed else ["-p", "pyptx.pytest_plugin"]
    options = [*plugin, *workers, "-p", "no:cacheprovider", "--strict-markers", "--pyptx-sarif=found.sarif", "-q"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options],
        env=variables(),
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert "2 failed, 2 passed" in done.stdout, done.stdout + done.stderr
    assert "kernels.cu:4" in done.stdout and "pytest_plugin.py" not in done.stdout
    (run,) = json.loads((tmp_path / "found.sarif").read_text())["runs"]
    races = [result for result in run["results"] if result["ruleId"] == "data-race"]
    places = {result["locations"][0]["physicalLocation"]["region"]["startLine"] for result in races}
    assert places == {4}
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == {r["ruleId"] for r in run["results"]}
