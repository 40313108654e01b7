"""`pyptx run`: kernels and PTX from a shell, their results and their errors; completion scripts."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from pyptx import cli

KERNEL = """
from pyptx import Tile, kernel, ptx, reg
from pyptx.types import f32, u32

@kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: (N // 32, 1, 1), block=(32, 1, 1))
def double(x, y):
    i = reg.from_(ptx.special.ctaid.x(), u32) * 32 + reg.from_(ptx.special.tid.x(), u32)
    x_at, y_at = ptx.global_ptrs(x, y)
    for pointer in (x_at, y_at):
        ptx.inst.mad.wide.u32(pointer, i, 4, pointer)
    value = reg.scalar(f32)
    ptx.inst.ld.global_.f32(value, ptx.addr(x_at))
    ptx.inst.st.global_.f32(ptx.addr(y_at), value + value)
"""
TEXT = """.version 8.5
.target sm_80
.address_size 64
.visible .entry fill(.param .u64 to, .param .f32 value) {
    .reg .b64 %rd<3>;
    .reg .b32 %r<2>;
    .reg .f32 %f<2>;
    ld.param.u64 %rd1, [to];
    ld.param.f32 %f1, [value];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd1, %rd1, %rd2;
    st.global.f32 [%rd1], %f1;
    ret;
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("double.py").write_text(KERNEL)
    Path("fill.ptx").write_text(TEXT)
    np.save("x.npy", np.arange(64, dtype=np.float32))
    return tmp_path


def test_a_kernel_runs_on_given_arrays_and_its_outputs_are_saved(folder, capsys):
    assert cli.main(["run", "double.py:double", "--args", "x.npy", "--save", "out.npz"]) == 0
    assert "double ran on the simulator in" in (said := capsys.readouterr().out)
    assert "y  float32[64]  mean 63  min 0  max 126" in said
    with np.load("out.npz") as kept:
        np.testing.assert_array_equal(kept["y"], 2 * np.arange(64))


def test_random_inputs_come_from_the_seed(folder, capsys):
    facts = []
    for seed in ("1", "1", "2"):
        assert cli.main(["run", "double.py", "-p", "N=64", "--seed", seed, "--json"]) == 0
        facts.append(json.loads(capsys.readouterr().out)["outputs"])
    assert facts[0] == facts[1] != facts[2]


def test_the_output_is_compared_with_the_expected_array(folder, capsys):
    wanted = 2 * np.arange(64, dtype=np.float32)
    np.save("right.npy", wanted)
    wanted[7] = 0
    np.save("wrong.npy", wanted)
    np.save("short.npy", wanted[:5])
    assert cli.main(["run", "double.py", "--args", "x.npy", "--expect", "right.npy"]) == 0
    assert cli.main(["run", "double.py", "--args", "x.npy", "--expect", "wrong.npy"]) == 1
    assert "1 of 64 elements differ from wrong.npy; the first is [7]: 14.0 instead of 0.0" in capsys.readouterr().out
    assert cli.main(["run", "double.py", "--args", "x.npy", "--expect", "short.npy"]) == 1
    assert "short.npy is [5], the output [64]" in capsys.readouterr().out


def test_ptx_takes_all_arguments(folder, capsys):
    assert cli.main(["run", "fill.ptx:fill", "--grid", "1", "--block", "16", "--args", "f32[16]", "2.5", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["outputs"]["to"] == {"dtype": "float32", "shape": [16], "mean": 2.5, "min": 2.5, "max": 2.5}
    assert facts["counters"]["issues"] == 7


@pytest.mark.parametrize(
    "words, says",
    [
        (["double.py"], "the size N"),
        (["double.py", "-p", "N=64", "--grid", "1"], "a kernel has its own"),
        (["fill.ptx:fill", "--args", "f32[16]", "1"], "--grid, --block"),
        (["double.py", "-p", "N=64", "--expect", "none.npy"], "no such file"),
        (["double.py", "-p", "N=64", "--backend", "cuda", "--schedule", "late"], "applies to the simulator only"),
        (["nowhere.py"], "no file nowhere.py"),
    ],
)
def test_invalid_options_are_explained_without_a_traceback(folder, capsys, words, says):
    assert cli.main(["run", *words]) == 1
    error = capsys.readouterr().err
    assert says in error and error.startswith("pyptx: ") and "Traceback" not in error


def test_debug_shows_the_traceback(folder, capsys):
    assert cli.main(["--debug", "run", "nowhere.py"]) == 1
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_the_completion_script_is_one_that_bash_reads(capsys):
    assert cli.main(["completion", "bash"]) == 0
    script = capsys.readouterr().out
    assert "roofline" in script and "--expect" in script
    assert subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True).stderr == ""


@pytest.mark.parametrize(
    "command",
    [
        "demo",
        "lab",
        "doctor",
        "ptx",
        "sass",
        "view",
        "diff",
        "run",
        "check",
        "tune",
        "roofline",
        "transpile",
        "lsp",
        "history",
        "cache",
        "completion",
    ],
)
def test_help_has_command_lines_to_start_from(command, capsys):
    with pytest.raises(SystemExit):
        cli.main([command, "--help"])
    assert f"  pyptx {command}" in capsys.readouterr().out.replace('"$(pyptx', "  pyptx").replace("| pyptx", "  pyptx")


def test_machine_code_views_and_differences_as_json(folder, capsys):
    words = ["double.py:double", "-p", "N=64"]
    assert cli.main(["sass", *words, "--json"]) == 0
    columns = json.loads(capsys.readouterr().out)
    assert "EXIT" in columns["opcode"] and len(columns["control"]) == len(columns["opcode"])
    assert cli.main(["view", *words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "double"
    assert cli.main(["diff", *words, "-b", "N=128", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "diff"


def test_cache_and_history_as_json(capsys):
    assert cli.main(["cache", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["bytes"] <= facts["limit"]
    assert cli.main(["history", "--json"]) == 0
    assert isinstance(json.loads(capsys.readouterr().out), list)
