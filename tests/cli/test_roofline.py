"""`pyptx roofline`: kernels and PTX text, devices and levels, output files, and errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.test_diff import run
from support.cells import FILE

from pyptx import cli
from pyptx.cli.kernels import load_kernel

COPIED = 2 * 4 * 4096


@pytest.fixture(scope="module")
def double(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("kernels") / "double.py"
    thread = "reg.from_(ptx.special.tid.x(), u32)"
    path.write_text(FILE.replace(thread, f"reg.from_(ptx.special.ctaid.x(), u32) * 32 + {thread}"))
    return path


def test_a_roofline_is_printed_as_text(capsys, double):
    status, printed, _ = run(capsys, "roofline", double, "-p", "N=4096", "--device", "h100")
    assert status == 0
    assert printed.startswith("double on H100 SXM (sm_90a), 132 SMs\n")
    assert "4.1 kFLOP / 32.8 kB of DRAM = 0.125 FLOP/B" in printed
    assert "modeled" in printed and "limit: DRAM 3.35 TB/s" in printed


def test_json_and_files_of_every_kind(capsys, double, tmp_path):
    files = [tmp_path / f"double{suffix}" for suffix in (".svg", ".csv", ".html", ".json")]
    outs = [word for path in files for word in ("--out", path)]
    status, printed, _ = run(capsys, "roofline", double, "-p", "N=4096", "--level", "l2", *outs)
    assert status == 0
    assert printed.splitlines() == [f"wrote {path}" for path in files]
    assert all(path.stat().st_size > 200 for path in files)
    _, printed, _ = run(capsys, "roofline", double, "-p", "N=4096", "--json")
    data = json.loads(printed)
    assert data["gpu"]["name"] == "H200 SXM"
    assert data["points"][0]["bytes"]["dram"] == COPIED
    assert "views" not in data


def test_ptx_text_is_placed_by_its_launch(capsys, double, tmp_path):
    text = tmp_path / "double.ptx"
    text.write_text(load_kernel(str(double)).ptx(N=4096))
    status, printed, _ = run(
        capsys, "roofline", text, "--grid", 128, "--block", 32, "--args", "f32[4096]", "f32[4096]", "--json"
    )
    assert status == 0
    assert json.loads(printed)["points"][0]["bytes"]["dram"] == COPIED


@pytest.mark.parametrize(
    "words, said",
    [
        (["-p", "N=4096", "--device", "h201"], "no GPU called 'h201' is in the table; did you mean H200 SXM"),
        (["-p", "N=4096", "--device", "t4"], "double is for sm_90a, which does not run on T4 (sm_75)"),
        (["-p", "N=4096", "--out", "x.gif"], "--out x.gif: expected a name that ends in .svg, .png"),
        (["-p", "N=4096", "--arch", "sm_80"], "--arch is not supported: the kernel is assembled for the GPU"),
        (["-p", "N=4096", "--device", "h200", "--measured-roofs"], "omit --device"),
        (["-p", "N=4096", "--grid", "1"], "are for .cu and .ptx files; a kernel has its own"),
        ([], "the size N of"),
    ],
)
def test_invalid_options_are_explained_in_one_line(capsys, double, words, said):
    status, _, error = run(capsys, "roofline", double, *words)
    assert status == 1
    assert said in error


def test_the_help_has_examples_and_the_gpus(capsys):
    with pytest.raises(SystemExit):
        cli.main(["roofline", "--help"])
    printed = capsys.readouterr().out
    assert "pyptx roofline examples/softmax.py -p M=4096 N=8192 --device h200" in printed
    assert "RTX PRO 6000" in printed
