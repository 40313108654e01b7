"""Measured counters in linked views, and `pyptx profile` with a stand-in for ncu."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from profiles.pages import raw_page, source_page
from profiles.test_matching import CODE, double, program

from pyptx.cli import main
from pyptx.errors import OptionError, UnknownNameError
from pyptx.views import LinkedView

X = np.ones(1024, np.float32)
SOURCE = """
from pyptx import Tile, kernel, ptx
from pyptx.types import f32

@kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: N // 128, block=128)
def double(x, y):
    i = ptx.global_id()
    y[i] = x[i] + x[i]
"""


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "run.csv"
    path.write_text(source_page("double(float *)", CODE) + raw_page("double", {"gpu__time_duration.sum": ("4", "us")}))
    return path


def test_measured_counters_stand_beside_modeled_ones_in_all_panes(report):
    view = double.view(X, profile=report, device="h100")
    total = sum(10 * k for k in range(len(CODE)))
    assert view.profiled["samples"] == total and view.profiled["counters"]["executed"][0] == "exec"
    assert view.sass.profile["samples"] == tuple(10 * k for k in range(len(CODE)))
    linked = sum(10 * k for k, row in enumerate(view.sass.ptx) if row >= 0)
    assert sum(view.ptx.profile["samples"]) == linked == sum(view.python.profile["samples"])
    assert view.sass.modeled and view.sass.profile_stalls[1] == "long_sb 70%, selected 30%"
    assert f"measured counters: run.csv (compute capability 9.0, {total} samples)" in view.text()
    assert "% sampled" in view.text() and "% sampled" in view.html()
    again = LinkedView.from_json(json.loads(json.dumps(view.to_json())))
    assert again.sass.profile == view.sass.profile and again.profiled == view.profiled
    assert double.view(X).profiled == {} and "sampled" not in double.view(X).text()


def test_a_view_refuses_other_reports(tmp_path, report):
    with pytest.raises(OptionError, match="expected a profiler report"):
        double.view(X, profile=tmp_path / "run.txt")
    report.write_text(source_page("other", CODE))
    with pytest.raises(UnknownNameError, match="run.csv has no 'double'; it has other"):
        double.view(X, profile=report)


def test_differences_are_notes_of_the_view(report):
    report.write_text(source_page("double", [*CODE[:4], "FFMA R9, R9, R9, R9", *CODE[4:]]))
    (note,) = double.view(X, profile=str(report)).notes
    assert note.severity == "profile" and "instruction 4 of the profile is FFMA" in note.message


def test_the_command_compares_a_report_with_the_model(tmp_path, report, capsys):
    (tmp_path / "k.py").write_text(SOURCE)
    out = tmp_path / "view.html"
    assert (
        main(["profile", f"{tmp_path}/k.py:double", "-p", "N=1024", "--report", str(report), "-o", str(out), "--code"])
        == 0
    )
    printed = capsys.readouterr().out
    assert "duration" in printed and "4 us" in printed and "measured counters" in printed
    assert out.read_text().startswith("<!doctype html>")
    assert main(["profile", f"{tmp_path}/k.py:double", "-p", "N=1024", "--report", str(report), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["measured"] == pytest.approx(4e-6)


def test_the_command_runs_ncu_and_says_what_is_missing(tmp_path, monkeypatch, capsys):
    (tmp_path / "k.py").write_text(SOURCE)
    (tmp_path / "source").write_text(source_page("double", CODE))
    (tmp_path / "raw").write_text(raw_page("double", {"gpu__time_duration.sum": ("4", "us")}))
    body = f"""
from pathlib import Path
if "--import" in sys.argv:
    print((Path({str(tmp_path)!r}) / sys.argv[sys.argv.index("--page") + 1]).read_text())
else:
    Path({str(tmp_path)!r}, "command").write_text(repr(sys.argv))
    Path(sys.argv[sys.argv.index("--export") + 1] + ".ncu-rep").write_bytes(b"NVR")
"""
    monkeypatch.setenv("PYPTX_NCU", program(tmp_path, body))
    kept = tmp_path / "kept.ncu-rep"
    assert main(["profile", f"{tmp_path}/k.py:double", "-p", "N=1024", "--keep", str(kept)]) == 0
    assert "measured on compute capability 9.0" in capsys.readouterr().out and kept.exists()
    command = eval((tmp_path / "command").read_text())
    assert command[command.index("--kernel-name") + 1] == "double"
    assert command[command.index(sys.executable) :][1:5] == ["-m", "pyptx", "run", "--backend"]
    monkeypatch.setenv("PYPTX_NCU", program(tmp_path, ""))
    assert main(["profile", f"{tmp_path}/k.py:double", "-p", "N=1024"]) == 1
    assert "ncu profiled no launch of the kernel" in capsys.readouterr().err
    monkeypatch.setenv("PYPTX_NCU", program(tmp_path, "sys.exit(9)"))
    assert main(["profile", f"{tmp_path}/k.py:double", "-p", "N=1024"]) == 1
    assert "ncu ended with exit status 9" in capsys.readouterr().err
    monkeypatch.delenv("PYPTX_NCU")
    monkeypatch.setattr("pyptx.profiles.ncu_program._PLACES", ())
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    assert main(["profile", f"{tmp_path}/k.py:double", "-p", "N=1024"]) == 1
    assert "install Nsight Compute, or set PYPTX_NCU" in capsys.readouterr().err


def test_the_report_of_the_model_reads_comparisons(tmp_path, report, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "benchmarks"))
    from model_report import profile_ratios

    (tmp_path / "k.py").write_text(SOURCE)
    command = ["profile", f"{tmp_path}/k.py:double", "-p", "N=1024", "--report", str(report)]
    assert main([*command, "-o", str(tmp_path / "a.profile.json")]) == 0
    (ratio,) = profile_ratios(tmp_path)["duration"]
    assert ratio == pytest.approx(double.estimate(X).seconds / 4e-6)
