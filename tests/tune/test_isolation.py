"""The child process of trials: its responses, and isolation of its faults."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from support.processes import variables
from tune.kernels import double

from pyptx.tune.correctness import Tolerance, compare
from pyptx.tune.isolation import Child, ChildDied, ChildTimeout, SweepStopped, TrialFault
from pyptx.tune.job import Job
from pyptx.tune.problem import Problem

X = np.arange(256, dtype=np.float32)


def job(**config) -> Job:
    return Job.of("a", Problem(double(), X).launch(config))


@pytest.fixture(scope="module")
def child():
    with Child() as child:
        child.prepare(("arrays", [X], [2 * X], Tolerance()))
        yield child


def test_a_job_needs_no_python_of_the_kernel(child):
    assert child.ask("simulate", job(), {}, limit_s=60)["reason"] is None
    assert child.ask("model", job(), "H200", limit_s=60).kind == "modeled"


def test_a_fault_leaves_the_process_alive(child):
    before = child.pid
    with pytest.raises(TrialFault, match="outside every buffer") as caught:
        child.ask("simulate", job(FAULT="address"), {}, limit_s=60)
    assert caught.value.fault == "bounds" and caught.value.more["instructions"]
    with pytest.raises(TrialFault, match="AttributeError"):
        child.ask("nonsense", limit_s=60)
    assert child.pid == before


def test_a_hang_costs_the_process_and_the_next_one_is_told_everything_again(child):
    before = child.pid
    with pytest.raises(ChildTimeout, match="no result within 0.3 s"):
        child.ask("simulate", job(FAULT="loop"), {}, limit_s=0.3)
    assert not Path(f"/proc/{before}/stat").exists() or child.pid != before
    assert child.ask("simulate", job(FAULT="wrong"), {}, limit_s=60)["reason"].startswith("255 of 256 values are wrong")


def test_stop_ends_a_question_that_waits(child):
    child.ask("hello", limit_s=60)
    threading.Timer(0.2, child.stop).start()
    with pytest.raises(SweepStopped):
        child.ask("simulate", job(FAULT="loop"), {}, limit_s=60)
    child.allow()
    assert child.ask("hello", limit_s=60) == child.pid


def test_a_process_that_dies_says_how(child):
    pid = child.ask("hello", limit_s=60)
    threading.Timer(0.2, os.kill, (pid, signal.SIGSEGV)).start()
    with pytest.raises(ChildDied, match="SIGSEGV"):
        child.ask("simulate", job(FAULT="loop"), {}, limit_s=60)


def test_what_a_child_writes_is_shown_once_and_said_of_one_that_dies(child, capfd):
    for _ in range(2):
        child.ask("arrays", [X], None, Tolerance(), limit_s=60)
        os.write(child._stderr.fileno(), b"a warning of a child\n")
        child.ask("hello", limit_s=60)
    assert capfd.readouterr().err.count("a warning of a child") == 1
    os.write(child._stderr.fileno(), b"Fatal: out of memory\n")
    threading.Timer(0.2, os.kill, (child.pid, signal.SIGKILL)).start()
    with pytest.raises(ChildDied, match="SIGKILL.*: Fatal: out of memory"):
        child.ask("simulate", job(FAULT="loop"), {}, limit_s=60)


def test_a_child_does_not_outlive_its_parent(tmp_path: Path):
    script = tmp_path / "parent.py"
    script.write_text("""
import threading
from tune.test_isolation import Child, job, Tolerance, X
child = Child()
child.prepare(("arrays", [X], None, Tolerance()))
print(child.ask("hello", limit_s=60), flush=True)
child.ask("simulate", job(FAULT="loop"), {}, limit_s=60)
""")
    env = variables()
    env["PYTHONPATH"] += f":{Path(__file__).parents[1]}"
    parent = subprocess.Popen([sys.executable, str(script)], env=env, stdout=subprocess.PIPE, text=True)
    pid = int(parent.stdout.readline())
    time.sleep(0.5)
    parent.kill()
    parent.communicate()
    deadline = time.monotonic() + 30
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        if "Z" in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]:
            break  # ended; its status has not been collected yet
        time.sleep(0.1)
    else:
        assert not Path(f"/proc/{pid}").exists(), "the child goes on"


@pytest.mark.parametrize(
    "got, wanted, message",
    [
        ([1.0, np.nan], [1.0, 2.0], "1 of 2 values are wrong; 1 are NaN; the first is [1]: nan, expected 2"),
        ([1.0, np.inf], [1.0, np.inf], None),
        ([np.nan], [np.nan], None),
        ([1.0], [np.inf], "1 of 1 values are wrong"),
        ([100.0, 1e-3], [100.0, 0.0], None),
        ([100.0, 1.0], [100.0, 0.0], "1 of 2 values are wrong"),
    ],
    ids=str,
)
def test_results_are_compared_relative_to_the_largest(got, wanted, message):
    reason = compare([np.float32(got)], [np.float32(wanted)], Tolerance()).reason
    assert reason is None if message is None else reason.startswith(message)


def test_whole_numbers_must_be_equal_and_shapes_too():
    assert compare([np.int32([1, 2])], [np.int32([1, 3])], Tolerance()).reason.startswith("1 of 2")
    assert "has shape (2,)" in compare([np.zeros(3)], [np.zeros(2)], Tolerance()).reason
    assert compare([np.int32([1, 2])], [np.int32([1, 3])], Tolerance(atol=1)).reason is None
