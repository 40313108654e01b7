"""Whole programs under `pyptx exec --check`."""

from __future__ import annotations

import json

import pytest
from support.cuda_programs import PROGRAMS
from support.nvcc import build


@pytest.mark.slow
def test_a_race_is_reported_at_its_lines_of_cuda_cpp(execute, tmp_path):
    program = build(tmp_path / "race", [PROGRAMS / "race.cu"])
    done = execute([str(program)], "--check", "--sarif", str(tmp_path / "found.sarif"))
    assert (done.returncode, done.stdout) == (1, "496\n")
    assert "error[data-race]" in done.stderr
    assert "race.cu:5" in done.stderr and "values[threadIdx.x] = threadIdx.x;" in done.stderr
    assert "1 launch of 1 kernel checked: 1 error; 1 allocation of 4 bytes not freed" in done.stderr
    (result,) = json.loads((tmp_path / "found.sarif").read_text())["runs"][0]["results"]
    assert result["ruleId"] == "data-race"
    lines = {at["physicalLocation"]["region"]["startLine"] for at in result["locations"] + result["relatedLocations"]}
    assert lines == {5, 8}


@pytest.mark.slow
def test_a_correct_program_has_no_findings_and_a_fault_is_one(execute, tmp_path):
    clean = execute([str(build(tmp_path / "vector_add", [PROGRAMS / "vector_add.cu"]))], "--check")
    assert (clean.returncode, clean.stderr) == (0, "pyptx: 1 launch of 1 kernel checked: no findings\n")
    faulty = execute([str(build(tmp_path / "errors", [PROGRAMS / "errors.cu"]))], "--check")
    assert faulty.returncode == 1
    assert "errors.cu:4" in faulty.stderr
    assert "1 launch of 1 kernel checked: 1 error" in faulty.stderr
