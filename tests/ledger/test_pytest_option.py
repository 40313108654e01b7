"""`pytest --pyptx-ledger`: tests fail when a kernel got slower than earlier runs."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from importlib.metadata import entry_points
from pathlib import Path
from types import SimpleNamespace

import pytest
from ledger.test_ledger import time_of
from support.processes import variables

from pyptx.ledger import Ledger
from pyptx.pytest_plugin import _slower

PROJECT = """
import numpy as np
from pyptx import Tile, kernel, ptx
from pyptx.types import f32

@kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=1, block=32)
def total(x, y):
    i = ptx.global_id()
    value = x[i] + x[i]
    for _ in range({work}):
        value = ptx.rsqrt(value)
    y[i] = value

def test_speed(pyptx_benchmark):
    result = pyptx_benchmark(total, np.ones(32, np.float32))
    assert result.kind == "modeled"
"""


def test_a_time_above_the_interval_of_the_fastest_one_fails(tmp_path: Path):
    options = {"--pyptx-ledger-file": tmp_path / "own.sqlite", "--pyptx-ledger-accept": False}
    config = SimpleNamespace(getoption=options.get, getini={"pyptx_ledger_tolerance": "2"}.get)

    def run(us: float) -> list[str]:
        return _slower(config, SimpleNamespace(measurements=[replace(time_of(us, 0, cubin=str(us)), at=0.0)]))

    assert [run(us) for us in (10, 9, 9.1)] == [[], [], []]
    (text,) = run(12)
    assert "gemm(f32[8]) on H100, measured: 9 µs -> 12 µs (+33.3%)" in text and "machine code changed" in text
    assert run(9.05) == []
    options["--pyptx-ledger-accept"] = True
    assert run(15) == []
    options["--pyptx-ledger-accept"] = False
    assert run(15.1) == [] and len(run(17)) == 1
    kept = Ledger(tmp_path / "own.sqlite").measurements()
    assert {one.source for one in kept} == {"pytest"} and len(kept) == 8


@pytest.mark.slow
def test_a_kernel_with_more_work_fails_its_test(tmp_path: Path):
    installed = any(found.value == "pyptx.pytest_plugin" for found in entry_points(group="pytest11"))
    plugin = [] if installed else ["-p", "pyptx.pytest_plugin"]

    def run(work: int, *options: str) -> str:
        (tmp_path / "test_project.py").write_text(PROJECT.replace("{work}", str(work)))
        command = [sys.executable, "-m", "pytest", *plugin, "-p", "no:cacheprovider", "-q", *options]
        done = subprocess.run(command, env=variables(), capture_output=True, text=True, check=False, cwd=tmp_path)
        return done.stdout + done.stderr

    ledger = ("--pyptx-ledger", "--pyptx-ledger-file=times.sqlite")
    assert "1 passed" in run(0, *ledger)
    text = run(600, *ledger)
    assert "1 failed" in text and "modeled" in text and "The machine code changed" in text, text
