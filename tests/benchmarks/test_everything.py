"""The command for a machine with a GPU, run without one: its processes, stored results, resumption and report."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.scripts import gpu_benchmark

everything, summary, processes, testfiles, timing = map(
    gpu_benchmark, ("everything", "summary", "processes", "testfiles", "timing")
)
MODELED = {"results": [{"case": "sum", "sizes": {"N": 8}, "candidate": "pyptx", "seconds": 2e-6}]}


def made(folder: Path, budget: float = 300.0) -> everything.Everything:
    folder.mkdir(parents=True, exist_ok=True)
    return everything.Everything(folder, budget, dry=True)


def test_a_process_that_hangs_is_ended_with_those_it_started(tmp_path: Path):
    steps = made(tmp_path)
    script = (
        "import subprocess, sys, time; p = subprocess.Popen(['sleep', '60']); "
        "print('started', p.pid, flush=True); time.sleep(60)"
    )
    begun = time.monotonic()
    status, text = steps.python("-c", script, limit=3.0)
    assert status is None and "started" in text and time.monotonic() - begun < 20
    number = int(text.split()[1])
    for _ in range(50):
        if not Path(f"/proc/{number}").exists() or "State:\tZ" in Path(f"/proc/{number}/status").read_text():
            break
        time.sleep(0.1)
    else:
        pytest.fail("what it had started still runs")
    assert "ended after 3 s" in (tmp_path / "log.txt").read_text()


def test_what_is_ended_from_outside_takes_its_processes_along_and_can_be_gone_on_with(tmp_path: Path):
    """By SIGTERM, while a step is at its work; what was finished before is there."""
    script = (
        f"import sys; sys.path.insert(0, {str(everything.HERE)!r}); import everything as e; "
        "e.Everything.about = lambda self: (True, True); "
        "e.Everything.smoke = lambda self: self.python('-c', 'import os, time; print(os.getpid(), flush=True); "
        "time.sleep(60)', limit=50) and (True, True); "
        f"raise SystemExit(e.main(['--out', {str(tmp_path)!r}]))"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    log = tmp_path / "log.txt"
    for _ in range(300):
        if log.is_file() and (found := [line for line in log.read_text().splitlines() if line.isdigit()]):
            break
        time.sleep(0.1)
    process.terminate()
    assert process.wait(timeout=30) == 143
    assert not Path(f"/proc/{found[0]}").exists()
    assert json.loads((tmp_path / "state.json").read_text())["done"] == {"about": True}
    assert "- about: right" in (tmp_path / "summary.md").read_text()


def test_a_process_that_says_nothing_any_more_is_ended_early(tmp_path: Path):
    script = "import time; [(print(k, flush=True), time.sleep(0.4)) for k in range(4)]; time.sleep(60)"
    begun = time.monotonic()
    status, text = made(tmp_path).python("-c", script, limit=50.0, quiet=2.5)
    assert status is None and text.split() == list("0123") and time.monotonic() - begun < 30


def test_a_process_that_dies_is_told_from_one_that_ends(tmp_path: Path):
    steps = made(tmp_path)
    assert steps.python("-c", "print('x'); raise SystemExit(3)", limit=20) == (3, "x\n")
    assert steps.python("-c", "import os; os.kill(os.getpid(), 11)", limit=20)[0] is None
    assert made(tmp_path, budget=1.0).python("-c", "print(1)", limit=20) == (None, "no time")


def test_steps_that_are_done_are_not_done_again(tmp_path: Path, monkeypatch, capsys):
    calls = []

    def step(name, *answers):
        results = iter(answers)

        def run(self):
            calls.append(name)
            answer = next(results)
            if answer is None:
                raise RuntimeError("made up")
            return answer

        monkeypatch.setattr(everything.Everything, name, run)

    step("about", (True, True))
    step("smoke", (True, False), (True, True))
    step("examples", (True, True))
    step("benchmark", (False, False), (True, True))
    step("overhead", (True, True))
    step("tests", None, (True, False))
    step("forms", (True, True))
    first, second = tmp_path / "a", tmp_path / "b"
    assert everything.main(["--out", str(first)]) == 1
    state = json.loads((first / "state.json").read_text())
    assert state["done"] == {
        "about": True,
        "smoke": False,
        "examples": True,
        "benchmark": False,
        "overhead": True,
        "tests": False,
        "forms": True,
        "summary": True,
    }
    assert "tests: RuntimeError: made up" in capsys.readouterr().out
    assert everything.main(["--out", str(second), "--before", str(first)]) == 1, "a test was wrong"
    assert calls == [
        "about",
        "smoke",
        "examples",
        "benchmark",
        "overhead",
        "tests",
        "forms",
        "smoke",
        "benchmark",
        "tests",
    ], "what was wrong is done again, too"
    assert "- smoke: right" in (second / "summary.md").read_text()
    assert everything.main(["--out", str(tmp_path / "c"), "--budget", "10", "--only", "about"]) == 1, "no time is left"


TESTS = """
import os, time
import pytest
pytestmark = pytest.mark.gpu
def test_right(): pass
def test_wrong(): assert 1 == 2
def test_left_out(): pytest.skip("no reason")
"""


def test_what_failed_after_a_fault_is_run_again_without_it(tmp_path: Path, monkeypatch):
    asked = []

    def fake(self, file, ids):
        """b and d fault, and what follows a fault fails with its words."""
        asked.append(ids)
        lost = "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal"
        names = [f"f::{c}" for c in "abcde"] if len(asked) == 1 else ids
        ends = next((k for k, name in enumerate(names) if name in ("f::b", "f::d")), len(names))
        return [
            {
                "file": file,
                "seconds": 1.0,
                "test": name,
                "outcome": "passed" if k < ends else "failed",
                "why": lost * (k >= ends),
            }
            for k, name in enumerate(names)
        ], ""

    (tmp_path / "root" / "tests").mkdir(parents=True)
    (tmp_path / "root" / "tests" / "test_one.py").write_text("pytest.mark.gpu")
    steps = made(tmp_path / "out")
    monkeypatch.setattr(everything, "ROOT", tmp_path / "root")
    monkeypatch.setattr(testfiles.TestFiles, "_tests_of", fake)
    assert steps.tests() == (True, False) and asked == [["tests/test_one.py"], ["f::c", "f::d", "f::e"], ["f::e"]]
    assert [row["outcome"] for row in steps.read("tests.json")] == ["passed", "failed", "passed", "failed", "passed"]
    monkeypatch.setattr(
        testfiles.TestFiles,
        "_tests_of",
        lambda self, file, ids: (
            asked.append(ids)
            or [{"file": file, "test": test, "outcome": "passed", "why": "", "seconds": 1.0} for test in ids],
            "",
        ),
    )
    assert steps.tests() == (True, True) and asked[-1] == ["f::b", "f::d"], "only what was wrong is run again"


@pytest.mark.slow
def test_tests_that_hang_or_die_are_told_and_the_others_run(tmp_path: Path, monkeypatch):
    root = tmp_path / "root"
    (root / "tests").mkdir(parents=True)
    (root / "pyproject.toml").write_text("[tool.pytest.ini_options]\nmarkers = ['gpu: x']\n")
    (root / "tests" / "test_good.py").write_text(TESTS)
    (root / "tests" / "test_hangs.py").write_text(
        TESTS + "def test_hangs(): time.sleep(600)\ndef test_dies(): os._exit(5)\n"
    )
    steps = made(tmp_path / "out")
    steps.dry = False
    monkeypatch.setattr(everything, "ROOT", root)
    monkeypatch.setattr(testfiles, "TEST_S", 10)
    assert steps.tests() == (True, False)
    rows = {
        row["test"].partition("::")[2]: row["outcome"] for row in steps.read("tests.json") if "hangs" in row["file"]
    }
    assert rows == {
        "test_right": "passed",
        "test_wrong": "failed",
        "test_left_out": "skipped",
        "test_hangs": "ended",
        "test_dies": "ended",
    }
    good = [row for row in steps.read("tests.json") if "good" in row["file"]]
    assert [row["outcome"] for row in good] == ["passed", "failed", "skipped"] and "assert 1 == 2" in good[1]["why"]


@pytest.mark.slow
def test_without_a_gpu_the_simulator_stands_for_it(tmp_path: Path):
    assert everything.main(["--out", str(tmp_path), "--dry", "--skip", "tests", "overhead", "benchmark"]) == 0
    assert json.loads((tmp_path / "about.json").read_text())["doctor"]["findings"]
    assert json.loads((tmp_path / "forms.json").read_text())["rows"][0]["differ"] == 0
    assert "- smoke: right" in (tmp_path / "summary.md").read_text()
    assert len(list(tmp_path.iterdir())) <= 8


def test_tools_of_a_toolkit_are_used_where_there_are_no_wheels(tmp_path: Path, monkeypatch):
    from pyptx.toolchain import locate

    for name in ("ptxas", "nvdisasm"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("PYPTX_PTXAS", raising=False)
    assert "PYPTX_PTXAS" not in processes.environment("x")
    monkeypatch.setattr(locate, "_installed", lambda name: None)
    found = processes.environment("x")
    assert (found["PYPTX_PTXAS"], found["PYPTX_NVDISASM"]) == (str(tmp_path / "ptxas"), str(tmp_path / "nvdisasm"))
    assert found["PYTHONPATH"].split(os.pathsep)[:2] == [str(everything.ROOT), str(everything.ROOT / "tests")]


def test_another_ptxas_is_tried_where_the_driver_does_not_load_what_this_one_made(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(everything, "others", lambda name, env: ["/none", "/a/ptxas"])
    asked = []

    def fake(self, *arguments, limit):
        asked.append(self.env.get("PYPTX_PTXAS"))
        return (0, "right") if asked[-1] == "/a/ptxas" else (1, "LaunchError: ... the machine code for sm_90a was made")

    monkeypatch.setattr(everything.Everything, "python", fake)
    steps = made(tmp_path)
    steps.env.pop("PYPTX_PTXAS", None)
    assert steps.smoke() == (True, True) and asked == [None, "/none", "/a/ptxas"]
    assert steps.state["tools"] == {"PYPTX_PTXAS": "/a/ptxas"}


def test_forms_that_hang_are_looked_for_by_more_processes(tmp_path: Path, monkeypatch):
    answers = iter([(None, ""), (3, ""), (1, "")])
    monkeypatch.setattr(everything.Everything, "python", lambda self, *_, **limits: next(answers))
    assert made(tmp_path).forms() == (True, False) and not list(answers)


def test_the_page_tells_what_differs_fails_and_is_slower_than_modeled():
    state = {
        "about": {"whole": True, "right": True, "seconds": 1.0},
        "forms": {"whole": False, "right": False, "seconds": 2.0},
    }
    forms = {
        "rows": [
            {
                "form": "popc.type  d, a",
                "differ": 3,
                "compared": 64,
                "approximate": False,
                "furthest_last_places": 1,
                "differences": [{"statement": "popc.b32 %r_0, %r_1;"}],
            },
            {"form": "clmad", "refused_by": "gpu", "why": "too new\nfor it"},
            {"form": "add", "differ": 0},
        ]
    }
    tests = [
        {"test": "a::b", "outcome": "failed", "why": "assert\n1"},
        {"test": "a::c", "outcome": "passed", "why": ""},
    ]
    row = {"case": "sum", "sizes": {"N": 8}, "candidate": "pyptx"}
    timed = {
        "seconds": [3e-6, 1, 2],
        "load": {"clock_hz": 1755e6, "watts": 690.2, "seconds": 4e-6},
        "rate": 4.0,
        "unit": "TB/s",
        "roof": 0.9,
        "ratio": [1.1, 1, 2],
    }
    benchmark = {
        "results": [
            row | timed,
            row | {"candidate": "x", "failed": "no\nanswer"},
            row | {"right": False, "error": 0.5},
            row | {"skipped": "needs sm_100a"},
            row | {"right": True, "error": 0.0},
        ]
    }
    examples = {"results": [row | {"right": True}, row | {"failed": "no\nanswer"}, row | {"skipped": "needs sm_100a"}]}
    text = summary.page(("about", "smoke", "forms"), state, forms, tests, examples, benchmark, MODELED, ["pyptx 3 us"])
    assert "Examples at small sizes: 1 right, 1 not.\n- sum (N 8): pyptx: no answer" in text
    assert "- about: right, 1.0 s\n- forms: not finished, 2.0 s" in text
    assert "3 forms compared, 1 differ, 1 were refused." in text and "- EXACT: `popc.type  d, a`: 3 of 64" in text
    assert "- refused by the gpu: `clmad`: too new" in text
    assert "Tests: 1 failed, 1 passed.\n- failed: a::b: assert 1" in text
    assert "| sum, N 8 | pyptx | 4.00 TB/s | 90.0% | 1.100 | 3.0 | 1.50 | 4.0 us in a row, 1755 MHz, 690 W |" in text
    assert "| WRONG, off by 5.0e-01 |" in text and "| no |" in text and "| right, not timed |" in text
    assert "    pyptx 3 us" in text
    assert summary.page((), {}, None, None, None, None, MODELED, None).startswith("# What the GPU said")


class Stream:
    """What stands for torch's CUDA: it writes down what was put on the stream, each 1 ms long."""

    float = uint8 = None

    def __init__(self):
        self.put: list[str] = []
        self.cuda = self

    def get_device_properties(self, device):
        return SimpleNamespace(L2_cache_size=60 << 20)

    def empty(self, size: int, **_):
        return SimpleNamespace(zero_=lambda: self.put.append(f"write {size >> 20} MiB"))

    def Event(self, enable_timing: bool):
        stream, event = self, SimpleNamespace(at=0, synchronize=lambda: None)
        event.record = lambda: (setattr(event, "at", len(stream.put)), stream.put.append("event"))
        event.elapsed_time = lambda later: float(later.at - event.at - 1)
        return event


def test_a_run_stands_behind_writes_over_twice_the_l2_between_two_events():
    stream = Stream()
    clock = timing.Events(stream, None, lambda: {"watts": 690.0} if stream.put[-1] == "event" else {})
    assert clock.seconds(lambda: stream.put.append("work")) == 1e-3
    assert stream.put == ["write 120 MiB"] * timing.AHEAD + ["event", "work", "event"]
    del stream.put[:]
    assert clock.load(lambda: stream.put.append("work"), 1e-2) == {"watts": 690.0, "seconds": 1e-3}
    assert stream.put == ["event", *["work"] * 11, "event"], "in a row, without writes between"
