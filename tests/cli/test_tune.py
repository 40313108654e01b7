"""`pyptx tune`: its output, exit status, interruption, and resumption."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.processes import variables

from pyptx import cli

FILE = """
from tune.kernels import double, twice
kernel = double()
"""


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("PYPTX_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "one.py").write_text(FILE)
    return f"{tmp_path / 'one.py'}:kernel"


def tune(capsys: pytest.CaptureFixture, *arguments: str) -> tuple[int, str, str]:
    status = cli.main(["tune", *arguments])
    return (status, *capsys.readouterr())


def test_it_prints_the_best_writes_all_and_goes_on_where_it_was(kernel: str, tmp_path: Path, capsys):
    out = tmp_path / "out.csv"
    arguments = [
        kernel,
        "-p",
        "N=512",
        "--space",
        "PER=1,2,16",
        "FAULT=none,wrong",
        "--restrict",
        "PER * 64 <= N",
        "--reference",
        "twice",
        "--out",
        str(out),
    ]
    status, text, told = tune(capsys, *arguments)
    assert status == 0
    assert "6 of 6 configurations done: 2 modeled, 2 wrong, 2 refused" in text
    assert "not PER * 64 <= N" in text and "modeled for H200" in text
    assert "tuning double: 6 of 6 best PER=" in told
    rows = list(csv.DictReader(out.open()))
    assert [row["state"] for row in rows] == ["modeled", "wrong"] * 2 + ["refused"] * 2
    status, text, told = tune(capsys, *arguments, "--json")
    assert status == 0 and told.count("tuning double") == 1, "nothing was left to do"
    assert len(json.loads(text)["results"]) == 6


def test_the_exit_status_is_1_if_no_configuration_is_usable(kernel: str, capsys):
    status, text, _ = tune(capsys, kernel, "-p", "N=512", "--space", "FAULT=wrong,python", "--reference", "twice")
    assert status == 1 and "1 x PER=1 does not suit this kernel" in text


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--space", "BM=1"], "no template parameter BM; it has PER, FAULT, UNUSED"),
        (["--space", "PER"], "expected NAME=VALUES"),
        (["--space", "PER=1", "--restrict", "PER <"], "expected Python such as"),
        (["--space", "PER=1", "--restrict", "PER < M"], "names M; known are N, PER"),
        (["--space", "PER=1", "--reference", "once"], "the file of double has no such function"),
        (["--space", "PER=1", "--strategy", "luck"], "expected one of auto, grid"),
        (["--space", "PER=1", "--device", "H300"], "no GPU called 'H300'"),
        (["--space", "PER=1", "--arch", "sm_80"], "--device names the GPU"),
    ],
    ids=str,
)
def test_wrong_usage_is_explained(kernel: str, arguments: list[str], message: str, capsys):
    status, _, told = tune(capsys, kernel, "-p", "N=512", *arguments)
    assert status == 2 and message in told


def test_a_size_that_is_missing_is_named(kernel: str, capsys):
    status, _, told = tune(capsys, kernel, "--space", "PER=1")
    assert status == 2 and "the size N" in told


def test_a_file_that_is_no_table_is_refused_before_anything_runs(kernel: str, capsys):
    status, _, told = tune(capsys, kernel, "-p", "N=512", "--space", "PER=1", "--out", "x.txt")
    assert status == 1 and "expected a name that ends in .csv or .json" in told


@pytest.mark.slow
def test_an_interrupted_study_is_resumed_by_the_next_run(kernel: str):
    command = [
        sys.executable,
        "-m",
        "pyptx",
        "tune",
        kernel,
        "-p",
        "N=512",
        "--space",
        "PER=1,2",
        "FAULT=none,loop",
        "--limit",
        "4",
        "--workers",
        "1",
    ]
    tests = str(Path(__file__).parents[1])
    env = variables()
    env["PYTHONPATH"] = f"{env['PYTHONPATH']}:{tests}"
    first = subprocess.Popen(command, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for line in first.stderr:
        if "1 of 4" in line:
            break
    first.send_signal(signal.SIGINT)
    text, told = first.communicate(timeout=60)
    assert first.returncode == 130, told
    assert "run the same command to resume" in told and "stopped" in text
    second = subprocess.run([*command, "--json"], env=env, text=True, capture_output=True, timeout=90)
    assert second.returncode == 0, second.stderr
    found = json.loads(second.stdout)["results"]
    assert [row["pyptx"]["state"] for row in found] == ["modeled", "failed"] * 2
    assert "tuning double: 1 of 4" in second.stderr or "tuning double: 2 of 4" in second.stderr
