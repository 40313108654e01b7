"""CUDA C++ files on the command line: compiled, viewed, run, checked, debugged, compared and transpiled."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pyptx import cli

SOURCE = """
#ifndef TILE
#define TILE 2
#endif
__global__ void add(const float *a, float *b, int n, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[i] = a[i] * by + TILE;
}
template <typename T> __global__ void scale(T *x, T by) { x[threadIdx.x] *= by; }
__global__ void racy(float *x) {
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];
    x[threadIdx.x] = s[63 - threadIdx.x];
}
int main() { return 0; }
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("k.cu").write_text(SOURCE)
    np.save("x.npy", np.arange(64, dtype=np.float32))
    return tmp_path


def test_a_kernel_is_viewed_with_its_source(folder, capsys):
    assert cli.main(["view", "k.cu:scale<float>", "--arch", "sm_80"]) == 0
    said = capsys.readouterr().out
    assert "scale<float> for sm_80" in said and "x[threadIdx.x] *= by;" in said
    assert cli.main(["sass", "k.cu:add"]) == 0
    assert "FFMA" in capsys.readouterr().out


def test_a_kernel_runs_with_macros_and_its_outputs_have_the_names_of_the_source(folder, capsys):
    run = ["run", "k.cu:add", "--grid", "2", "--block", "32", "--args", "x.npy", "f32[64]", "64", "-1", "-D", "TILE=5"]
    assert cli.main([*run, "--save", "out.npz"]) == 0
    assert "b  float32[64]" in capsys.readouterr().out
    with np.load("out.npz") as kept:
        assert (kept["b"] == 5 - np.arange(64)).all()


def test_findings_have_lines_in_the_report_and_in_sarif(folder, capsys):
    check = ["check", "k.cu:racy", "--grid", "1", "--block", "64", "--args", "x.npy"]
    assert cli.main([*check, "--sarif", "found.sarif"]) == 1
    assert f"{folder}/k.cu:13" in capsys.readouterr().out
    (result,) = json.loads(Path("found.sarif").read_text())["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("k.cu", 12)


def test_the_debugger_steps_by_lines_of_the_source(folder, capsys):
    debug = [
        "debug",
        "k.cu:racy",
        "--grid",
        "1",
        "--block",
        "64",
        "--args",
        "x.npy",
        "-c",
        "b k.cu:13",
        "-c",
        "c",
        "--batch",
    ]
    assert cli.main(debug) == 0
    said = capsys.readouterr().out
    assert "racy on sm_90a" in said and "->   13      x[threadIdx.x] = s[63 - threadIdx.x];" in said


def test_two_values_of_a_macro_are_compared(folder, capsys):
    assert cli.main(["diff", "k.cu:add", "-a", "TILE=5", "-b", "TILE=6"]) == 1
    assert "Different: 1 instruction differs." in capsys.readouterr().out


def test_a_kernel_becomes_python(folder, capsys):
    assert cli.main(["transpile", "k.cu", "--kernel", "add"]) == 0
    assert "@kernel(" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["view", "k.cu"], "k.cu defines 2 kernels (add, racy); name one as k.cu:NAME"),
        (["view", "k.cu:ad"], "did you mean add?"),
        (["view", "k.cu:add", "-p", "X=1"], "add takes no -p, use -D; got X"),
        (["view", "kk.cu"], "no file kk.cu; did you mean k.cu?"),
        (["run", "k.py", "-D", "A"], "-D: k.py is not CUDA C++"),
        (["view", "k.cu:add", "-D", "TILE=no"], 'k.cu:7:35: identifier "no" is undefined'),
        (["check", "k.cu:add"], "k.cu:add is CUDA C++: pass --grid, --block and --args"),
    ],
)
def test_mistakes_are_one_message(folder, capsys, arguments, message):
    assert cli.main(arguments) != 0
    assert message in capsys.readouterr().err
