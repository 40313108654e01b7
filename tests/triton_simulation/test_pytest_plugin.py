"""The pytest option and marker that run Triton tests on the simulator."""

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from support.processes import PACKAGE_PARENT, variables

TESTS = Path(__file__).parents[1]
PROJECT = """
import pytest
import torch
import triton
from support.triton_kernels.arguments import add, racy

DEVICE = triton.runtime.driver.active.get_active_torch_device()

def test_right():
    x, out = torch.ones(64, device=DEVICE), torch.zeros(64, device=DEVICE)
    add[(1,)](x, x, out, 64, BLOCK=64)
    assert (out == 4).all()

def test_racy():
    racy[(1,)](torch.zeros(64), 64, num_warps=2)

@pytest.mark.pyptx_triton("sm_80", check=False)
def test_marked(pyptx_triton):
    racy[(1,)](torch.zeros(64), 64, num_warps=2)
    assert ".target sm_80" in pyptx_triton.last_entry.ptx()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "configuration, outcome",
    [("", "1 failed, 2 passed"), ("pyptx_triton_ignore = data-race: accepted here", "3 passed")],
    ids=["default", "ignored"],
)
def test_triton_tests_of_a_project_run_under_check(configuration, outcome, tmp_path):
    (tmp_path / "test_project.py").write_text(PROJECT)
    (tmp_path / "pytest.ini").write_text(f"[pytest]\n{configuration}\n")
    installed = any(found.value == "pyptx.pytest_plugin" for found in entry_points(group="pytest11"))
    plugin = [] if installed else ["-p", "pyptx.pytest_plugin"]
    path = os.pathsep.join([str(PACKAGE_PARENT), str(TESTS)])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *plugin, "-p", "no:cacheprovider", "--pyptx-triton=sm_90a", "-q", tmp_path],
        env=variables({"PYTHONPATH": path}),
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert outcome in done.stdout, done.stdout + done.stderr
    assert ("data-race" in done.stdout) == (not configuration)
