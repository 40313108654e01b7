"""Sessions: what they change, what they report, and that they restore everything."""

import os
import subprocess
import sys
from importlib import metadata

import numpy as np
import pytest
import torch
import triton
from support.triton_kernels import arguments as kernels
from triton.runtime.driver import driver

import pyptx.triton
from pyptx.check import CheckError
from pyptx.errors import BackendError, OptionError, SimulationError


def numbers(count: int = 64) -> np.ndarray:
    return np.arange(count, dtype=np.float32)


def test_the_end_of_a_session_restores_triton():
    before = triton.KernelInterface.__getitem__, triton.testing.do_bench, driver._active
    with pyptx.triton.simulate("sm_90a"):
        assert driver.active.get_current_target().arch == 90
        with pyptx.triton.simulate("sm_80"):
            assert driver.active.get_current_target().arch == 80
        assert driver.active.get_current_target().arch == 90
    assert (triton.KernelInterface.__getitem__, triton.testing.do_bench, driver._active) == before
    assert triton.knobs.runtime.add_stages_inspection_hook is None


def test_activate_lasts_until_deactivate(monkeypatch):
    monkeypatch.setenv("PYPTX_TRITON", "sm_120a")
    session, out = pyptx.triton.activate(), np.zeros(64, np.float32)
    try:
        kernels.add[(1,)](numbers(), numbers(), out, 64, BLOCK=64)
    finally:
        pyptx.triton.deactivate()
    assert session.last_entry is not None and ".target sm_120a" in session.last_entry.ptx()
    np.testing.assert_array_equal(out, numbers() * 3 + 1)
    with pytest.raises((BackendError, RuntimeError, TypeError)):
        kernels.add[(1,)](numbers(), numbers(), out, 64, BLOCK=64)


def test_a_fault_names_the_triton_line_and_the_array():
    with pyptx.triton.simulate(), pytest.raises(SimulationError, match="past the end of x_ptr") as raised:
        kernels.add[(2,)](numbers(), numbers(128), numbers(128), 128, BLOCK=64)
    assert "x = tl.load(x_ptr + at, mask=inside)" in str(raised.value)


def test_checked_launches_raise_findings_at_the_triton_line():
    x = numbers()
    with pyptx.triton.simulate(check=True), pytest.raises(CheckError) as raised:
        kernels.racy[(1,)](x, 64, num_warps=2)
    finding = raised.value.report.errors[0]
    assert finding.rule == "data-race" and finding.tensor == "x_ptr"
    assert all(place.place.source_line.startswith("    tl.store(x_ptr") for place in finding.places)
    np.testing.assert_array_equal(x, numbers())  # it was not launched


def test_ignored_findings_are_notes_with_a_reason():
    with pyptx.triton.simulate(check=True, ignore={"data-race": "any order will do"}) as session:
        kernels.racy[(1,)](numbers(), 64, num_warps=2)
    (report,) = session.reports
    assert report.ok and "ignored: any order will do" in report.text()
    assert report.to_sarif()["runs"][0]["results"][0]["suppressions"][0]["justification"] == "any order will do"


@pytest.mark.parametrize(
    "ignore, words", [({"data-rice": "x"}, "did you mean 'data-race'"), ({"data-race": ""}, "no reason")]
)
def test_an_ignored_rule_must_exist_and_have_a_reason(ignore, words):
    with pytest.raises(OptionError, match=words):
        pyptx.triton.simulate(check=True, ignore=ignore)


@pytest.mark.parametrize("installed", [None, "3.2.0"])
def test_a_missing_or_unsupported_triton_names_the_extra(installed, monkeypatch):
    def version(name: str) -> str:
        if installed is None:
            raise metadata.PackageNotFoundError(name)
        return installed

    monkeypatch.setattr(metadata, "version", version)
    with pytest.raises(BackendError, match=r"pip install 'pyptx-workbench\[triton\]'"):
        pyptx.triton.simulate()


def test_an_unknown_target_is_refused():
    with pytest.raises(OptionError, match="sm_80, sm_89, sm_90a, sm_100a, sm_120a"):
        pyptx.triton.simulate("sm_70")


def test_importing_the_package_does_not_import_triton():
    code = "import sys, pyptx.triton, pyptx; pyptx.triton.TARGETS; assert 'triton' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


SCRIPT = """
import torch, triton
from support.triton_kernels.arguments import add
assert torch.cuda.is_available()
x, out = torch.ones(64, device="cuda"), torch.zeros(64).to("cuda")
assert x.is_cuda
add[(1,)](x, x, out, 64, BLOCK=64)
print(triton.runtime.driver.active.get_current_target().arch, out.sum().item())
"""


@pytest.mark.slow
@pytest.mark.parametrize("first", ["", "import pyptx\n"], ids=["triton", "pyptx"])
def test_the_environment_variable_runs_a_script_on_the_simulator(first, tmp_path):
    package = tmp_path / "pyptx_entry_point-1.dist-info"  # as pip installs it
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: pyptx-entry-point\nVersion: 1\n")
    (package / "entry_points.txt").write_text("[triton.backends]\npyptx = pyptx.triton.backend\n")
    (tmp_path / "script.py").write_text(first + SCRIPT)
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    environment = {**os.environ, "PYTHONPATH": path, "PYPTX_TRITON": "sm_120a"}
    done = subprocess.run(
        [sys.executable, tmp_path / "script.py"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout == "120 256.0\n", done.stderr


def test_torch_reports_a_gpu_of_the_target_during_a_session():
    before = torch.cuda.is_available()
    with pyptx.triton.simulate("sm_100a", torch_cuda=True):
        assert torch.cuda.get_device_capability() == (10, 0)
        assert torch.zeros(4, device="cuda:0").cuda().is_cuda
    assert torch.cuda.is_available() == before and not torch.zeros(4).is_cuda


def test_the_autotuner_can_take_the_first_configuration():
    x = np.ones(101, np.int64)
    with pyptx.triton.simulate(autotune="first"):
        kernels.doubled_with_autotuning[(4,)](x, 101)
    assert kernels.doubled_with_autotuning.best_config.kwargs == {"BLOCK": 32} and (x == 2).all()


def test_the_backward_of_a_function_asks_for_a_gpu_too():
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, gradient):
            assert gradient.is_cuda
            out = torch.empty_like(gradient, device="cuda:0")
            return out.copy_(2 * gradient)

    with pyptx.triton.simulate(torch_cuda=True):
        x = torch.ones(3, device="cuda", requires_grad=True)
        Doubled.apply(x).backward(torch.ones(3, device="cuda"), retain_graph=True)
        Doubled.apply(x).sum().backward()
    assert x.grad.tolist() == [4, 4, 4]
