"""Programs under `pyptx exec --schedule late`: work runs when the host waits for it, so that missing waits show."""

from __future__ import annotations

import pytest
from support.cuda_programs import PROGRAMS
from support.nvcc import build


@pytest.fixture(scope="session")
def late(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(build(tmp_path_factory.mktemp("late") / "late", [PROGRAMS / "late.cu"]))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, eager, late_",
    [
        ("destination read too early", "0", "5"),
        ("source written too early", "5", "6"),
        ("no event", "3", "0"),
        ("host function", "1", "0"),
        ("freed in another stream", "cudaSuccess", "cudaErrorIllegalAddress"),
        ("ordered", "11", "11"),
        ("fault", "cudaErrorIllegalAddress", "cudaErrorIllegalAddress"),
        ("polls memory", "0", "0"),
    ],
)
def test_results_of_missing_waits_are_visible_in_the_late_schedule(execute, late, name: str, eager: str, late_: str):
    for schedule, expected in (("eager", eager), ("late", late_)):
        done = execute([late, name], "--schedule", schedule)
        assert (done.returncode, done.stdout) == (0, expected + "\n"), done.stderr


@pytest.mark.slow
def test_work_that_is_never_waited_for_does_not_run(execute, late):
    done = execute([late, "never waited for"], "--schedule", "late")
    assert done.returncode == 0
    assert "the program ended without waiting for 2 pieces of work, which did not run" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("program", ["graphs.py", "threads.py"])
def test_python_programs_that_wait_are_right_in_the_late_schedule(execute, program: str):
    done = execute(program, "--schedule", "late")
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", ["streams", "callbacks", "graph_capture", "pools", "host_threads", "managed"])
def test_programs_that_wait_are_right_in_the_late_schedule(execute, tmp_path, name: str):
    done = execute([str(build(tmp_path / name, [PROGRAMS / f"{name}.cu"]))], "--schedule", "late")
    assert done.returncode == 0, done.stderr
