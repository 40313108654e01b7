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


@pytest.fixture(scope="session")
def misuse(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(build(tmp_path_factory.mktemp("misuse") / "misuse", [PROGRAMS / "misuse.cu"], "-g"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, rule, text",
    [
        ("no event", "stream-order", "The kernel twice in stream"),
        ("event too early", "stream-order", "fill(int *x, int value)"),
        (
            "memset",
            "stream-order",
            "writes device memory #1, of 4,096 bytes, which the fill in the default stream writes",
        ),
        ("copies", "stream-order", "copy of 4,096 bytes over the link"),
        ("buffer reused", "host-access", "The host writes byte 28 of host memory #3"),
        ("released", "stream-order", "The release of device memory"),
        ("graph", "stream-order", "nothing orders the two operations"),
        ("freed twice", "invalid-free", "it was device memory #1, which has been freed"),
        ("copied after the release", "use-after-free", "which has been freed"),
    ],
)
def test_misuse_of_the_driver_is_reported_with_the_lines_that_issue_it(execute, misuse, tmp_path, name, rule, text):
    done = execute([misuse, name], "--check", "--sarif", str(tmp_path / "found.sarif"))
    results = json.loads((tmp_path / "found.sarif").read_text())["runs"][0]["results"]
    assert [result["ruleId"] for result in results] == [rule], done.stderr
    assert done.returncode == 1 and text in done.stderr
    source = (PROGRAMS / "misuse.cu").read_text().splitlines()
    at = [*results[0]["locations"], *results[0].get("relatedLocations", ())]
    lines = [source[one["physicalLocation"]["region"]["startLine"] - 1] for one in at]
    branch = "\n".join(source).partition(f'is("{name}")) {{')[2].partition("} else if")[0]
    issued = [line for line in lines if line in branch]
    assert len(issued) == (2 if rule in ("stream-order", "host-access") else 1), lines


@pytest.mark.slow
def test_right_orders_have_no_findings(execute, misuse):
    right = ["event", "host waits", "blocking streams", "halves", "atomics", "buffer reused later"]
    done = execute([misuse, *right], "--check")
    assert (done.returncode, done.stderr) == (0, "pyptx: 10 launches of 3 kernels checked: no findings\n")


@pytest.mark.slow
def test_what_is_left_is_counted_by_kind_with_the_calls_that_made_it(execute, misuse):
    done = execute([misuse, "left"], "--check")
    assert "3 allocations of 12,288 bytes not freed; 1 array, 1 event, 2 streams not destroyed" in done.stderr
    source = (PROGRAMS / "misuse.cu").read_text().splitlines()
    line = next(k for k, text in enumerate(source, 1) if "cudaMallocArray" in text)
    assert f"\n  1 array, made by run (misuse.cu:{line})\n" in done.stderr
    assert done.stderr.count("1 allocation of 4,096 bytes, made by run (misuse.cu:") == 3


@pytest.mark.slow
def test_a_wait_for_an_event_that_was_never_recorded_is_reported(execute, misuse):
    done = execute([misuse, "not recorded"], "--check")
    assert done.returncode == 1
    assert "warning[unrecorded-event]: cuStreamWaitEvent is given an event that was never recorded" in done.stderr
    assert "CHECK(cudaStreamWaitEvent(b, event, 0));" in done.stderr


@pytest.mark.slow
def test_an_error_of_a_launch_that_is_not_read_is_reported(execute, misuse):
    done = execute([misuse, "unread"], "--check")
    assert done.returncode == 1
    assert "error[unread-error]: A launch failed, and the program ended without reading the error" in done.stderr
    assert "fill<<<4, 2048, 0, a>>>(x, 3);  // more threads than a block has" in done.stderr
    assert "unread-error" not in execute([misuse, "read"], "--check").stderr


@pytest.mark.slow
def test_a_correct_program_has_no_findings_and_a_fault_is_one(execute, tmp_path):
    clean = execute([str(build(tmp_path / "vector_add", [PROGRAMS / "vector_add.cu"]))], "--check")
    assert (clean.returncode, clean.stderr) == (0, "pyptx: 1 launch of 1 kernel checked: no findings\n")
    faulty = execute([str(build(tmp_path / "errors", [PROGRAMS / "errors.cu"]))], "--check")
    assert faulty.returncode == 1
    assert "errors.cu:4" in faulty.stderr
    assert "1 launch of 1 kernel checked: 2 errors, 3 warnings" in faulty.stderr  # a fault, a wrong free, failed calls
