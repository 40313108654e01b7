"""The GPU benchmark without a GPU: every case on the simulator, the race, results, report."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.scripts import gpu_benchmark

torch = pytest.importorskip("torch")
cases, timing, run, sending, report, modeled = map(
    gpu_benchmark, ("cases", "timing", "run", "sending", "report", "modeled")
)
HERE = Path(run.__file__).parent
MODELED = json.loads(modeled.DATA.read_text(encoding="utf-8"))
ALL = {(case.name, str(case.dry)): case for case in cases.all_cases()}


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=f"{case.name} {case.dry}", marks=() if "grouped" in case.name else pytest.mark.slow)
        for case in ALL.values()
    ],
)
def test_every_candidate_is_right_on_the_simulator(case):
    rows = run.measure(case, cases.Arrays(torch, torch.device("cpu"), dry=True), None, {}, 9, None)
    assert len(rows) >= 2
    assert all(row["right"] and row["error"] < 0.04 for row in rows), rows
    assert any(row["candidate"].startswith("pyptx") for row in rows)
    assert not all(row["candidate"].startswith("pyptx") for row in rows), "something to compare with"


class Scripted:
    """A clock that says how long each piece of work takes."""

    def __init__(self, jitter=lambda number: 1.0):
        self.runs, self.jitter = 0, jitter

    def seconds(self, work) -> float:
        self.runs += 1
        return work() * self.jitter(self.runs)


def test_a_race_gives_medians_ratios_and_stops_when_it_knows_enough():
    result = timing.race({"ours": lambda: 2.0, "theirs": lambda: 3.0}, "theirs", Scripted())
    assert result["ours"].seconds == (2.0, 2.0, 2.0) and result["ours"].ratio.value == 1.5
    assert result["theirs"].ratio.value == 1.0
    assert result["ours"].rounds == timing.LEAST


def test_noise_is_answered_by_more_rounds():
    noisy = Scripted(lambda number: 1 + 0.019 * (number * 7919 % 100) / 100)
    result = timing.race({"ours": lambda: 2.0, "theirs": lambda: 3.0}, "theirs", noisy, most=30)
    assert timing.LEAST < result["ours"].rounds <= 30
    assert result["ours"].seconds.low <= result["ours"].seconds.value <= result["ours"].seconds.high


def test_a_round_in_which_the_gpu_drifts_is_run_again():
    drifting = Scripted(lambda number: 2.0 if 10 <= number < 13 else 1.0)
    result = timing.race({"ours": lambda: 2.0, "theirs": lambda: 3.0}, "theirs", drifting)
    assert result["ours"].seconds == (2.0, 2.0, 2.0)


LOAD = {"clock_hz": 1_755_000_000, "watts": 690.3, "throttled": True}


def test_a_wrong_candidate_is_reported_and_not_timed():
    problem = cases.Problem(
        {"pyptx": lambda: torch.zeros(3), "other": lambda: torch.ones(3)},
        {},
        lambda: torch.ones(3),
        1e-3,
        3e12,
        ("wgmma", "bf16"),
    )
    case = cases.Case("made up", lambda arrays, **sizes: problem, {"N": 3}, {"N": 3})
    clock = SimpleNamespace(seconds=lambda work: 1.5 if work() is not None else 0.0, load=lambda *_: LOAD)
    rows = run.measure(case, SimpleNamespace(dry=False, lost=lambda: False), clock, {"bf16": 4e12}, 9, (9, 0))
    wrong, right = rows
    assert not wrong["right"] and "seconds" not in wrong and "WRONG, off by 1.0e+00" in run.line(wrong)
    assert right["rate"] == 2.0 and right["roof"] == 0.5 and right["unit"] == "TFLOP/s"
    assert "other: 2.00 TFLOP/s, 50.0% of the roof, 1.000 x other, 1500000.0 us" in run.line(right)
    assert run.line(right).endswith(", 1755 MHz, 690 W, throttled")


def test_matrices_of_8_bits_are_those_of_the_example():
    arrays = cases.Arrays(torch, torch.device("cpu"), dry=True)
    given = arrays.scaled(100, 130, 200)
    arrays = cases.Arrays(torch, torch.device("cpu"), dry=True)
    random = [arrays.normal(*shape, dtype="float32").numpy() for shape in ((100, 200), (130, 200))]
    for ours, theirs in zip(given, cases.example("hopper/fp8_gemm").inputs(*random), strict=True):
        assert ours.shape == theirs.shape and (ours.float().numpy() == theirs.astype("float32")).all()


def test_a_candidate_that_fails_is_told_and_the_others_are_timed():
    def fails():
        raise RuntimeError("out of memory")

    problem = cases.Problem({"pyptx": fails, "other": lambda: torch.ones(3)}, {}, lambda: torch.ones(3), 1e-3, 3e12)
    case = cases.Case("made up", lambda arrays, **sizes: problem, {"N": 3}, {"N": 3})
    clock = SimpleNamespace(seconds=lambda work: 1.5 if work() is not None else 0.0, load=lambda *_: LOAD)
    failed, right = run.measure(case, SimpleNamespace(dry=False, lost=lambda: False), clock, {}, 9, (9, 0))
    assert failed["failed"] == "RuntimeError: out of memory" and "FAILED" in run.line(failed) and right["rate"] == 2.0
    assert report.cells(failed)[1] == "failed: RuntimeError: out of memory"


# Answers what it is, then each case by its number, as if its candidates were a, b and c.
SCRIPT = """
import json, os, sys, time
from workers import answered
answered({"gpu": "made up", "date": "2026-01-02T03", "roofs": {"dram": 4e12}})
for piece in map(json.loads, sys.stdin):
    number, rows = piece["case"], []
    for name in ("wanted", "a", "b", "c", "times"):
        if name in piece["without"]:
            continue
        print("at", number, name)
        answered({"at": name})
        if (number, name) == (1, "b"):
            time.sleep(60)
        if (number, name) in ((2, "wanted"), (3, "a"), (3, "c")) or ((number, name) == (4, "times") and piece["timed"]):
            os._exit(7)
        rows.append({"case": f"case {number}", "sizes": {}, "candidate": name, "skipped": "made up"})
    answered({"rows": rows[1:-1]})
"""


def test_a_candidate_that_hangs_or_dies_costs_no_other(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    made = [(k, cases.Case(f"case {k}", lambda: None, {"N": k}, {})) for k in range(5)]
    told = []
    assert sending.send(
        made, [sys.executable, "-c", SCRIPT], lambda found, rows: told.append((found, rows)), limit=2.0, until=1e18
    )
    assert all(found["gpu"] == "made up" for found, _ in told)
    assert [[row["candidate"] for row in rows] for _, rows in told] == [
        ["a", "b", "c"],
        ["b", "a", "c"],
        ["wanted"],
        ["a", "c", "b"],
        ["times", "a", "b", "c"],
    ]
    lost = [row for _, rows in told for row in rows if "failed" in row]
    assert [row["candidate"] for row in lost] == ["b", "wanted", "a", "c", "times"]
    assert lost[0]["failed"].startswith("no answer in 2 s") and lost[1]["failed"].startswith("the process ended with 7")
    assert lost[0] == lost[0] | {"case": "case 1", "sizes": {"N": 1}}
    assert not sending.send(made, [sys.executable, "-c", SCRIPT], lambda *_: None, limit=2.0, until=0.0)


def test_a_fault_that_ends_the_context_ends_the_process():
    """Then the next process does without the candidate."""

    def faults():
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    problem = cases.Problem({"pyptx": faults, "other": lambda: torch.ones(3)}, {}, lambda: torch.ones(3), 1e-3, 3e12)
    case, at = cases.Case("made up", lambda arrays, **sizes: problem, {"N": 3}, {"N": 3}), []
    with pytest.raises(RuntimeError, match="illegal memory access"):
        run.measure(case, SimpleNamespace(dry=False, lost=lambda: True), None, {}, 9, (9, 0), at=at.append)
    assert at == ["wanted", "pyptx"]
    (row,) = run.measure(case, SimpleNamespace(dry=False), None, {}, 9, (9, 0), without=["pyptx"], at=at.append)
    assert row["right"] and at == ["wanted", "pyptx", "wanted", "other"]


def test_the_most_wanted_cases_come_first_and_none_is_left_out():
    every = list(cases.all_cases())
    order = run.in_order(every)
    assert sorted(number for number, _ in order) == list(range(len(every)))
    assert order[0][1].name == "matrix product bf16" and all(every[number] is case for number, case in order)


def test_a_run_goes_on_where_another_one_ended(tmp_path: Path, monkeypatch):
    """Without a GPU: a worker of the simulator, which says that it is one."""
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    cases_ = [case for _, case in run.in_order(list(cases.all_cases())) if "vector add" in case.name]
    rows = [{"case": case.name, "sizes": dict(case.sizes), "candidate": "pyptx", "right": True} for case in cases_]
    done = {
        "about": {"gpu": "made up", "date": "2026-01-02"},
        "results": [
            rows[0],
            rows[0] | {"candidate": "Triton", "failed": "x", "right": False},
            rows[1],
            rows[1] | {"candidate": "pyptx, clusters", "failed": "x", "right": False},
        ],
    }
    (tmp_path / "before.json").write_text(json.dumps(done))
    sent = []

    def fake(cases, command, told, **limits):
        sent.extend(case for _, case in cases)
        told({"gpu": "made up", "date": "2026-01-03"}, [rows[1] | {"right": False, "error": 0.5}])
        return True

    monkeypatch.setattr(run, "send", fake)
    assert run.main(["--only", "vector add", "--resume", str(tmp_path / "before.json"), "--out", str(tmp_path)]) == 1
    assert [case.name for case in sent] == [cases_[1].name], "what failed is tried again"
    (path,) = tmp_path.glob("made-up-*.json")
    assert json.loads(path.read_text())["results"] == [*done["results"][:2], rows[1] | {"right": False, "error": 0.5}]


def test_small_sizes_are_done_once_each(monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    sent = []
    monkeypatch.setattr(run, "send", lambda cases, *_, **limits: sent.extend(case for _, case in cases) or True)
    assert run.main(["--small"]) == 0
    assert sorted((case.name, str(case.dry)) for case in sent) == sorted(ALL)


@pytest.mark.parametrize(
    "arch, capability, runs",
    [
        ("sm_80", (8, 0), True),
        ("sm_80", (9, 0), True),
        ("sm_80", (7, 5), False),
        ("sm_90a", (9, 0), True),
        ("sm_90a", (10, 0), False),
        ("sm_100a", (10, 0), True),
        ("sm_100a", (12, 0), False),
    ],
)
def test_an_example_runs_where_its_target_does(arch: str, capability: tuple[int, int], runs: bool):
    problem = cases.Problem({}, {"pyptx": SimpleNamespace(arch=arch)}, lambda: None, 0, 0)
    assert run.runs_here(problem, "pyptx", capability) == runs
    assert run.runs_here(problem, "torch", capability)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_it_says_so(capsys):
    assert run.main([]) == 0
    assert "no GPU: nothing is measured" in capsys.readouterr().out


def test_the_report_says_what_was_not_measured(tmp_path: Path):
    text = report.page(report.newest(tmp_path), None, list(cases.all_cases()))
    assert (
        f"Nothing has been measured yet: this project has not run on a GPU. {len(list(cases.all_cases()))} cases"
        in text
    )
    assert "| pyptx |" not in text


def test_the_report_shows_the_newest_results(tmp_path: Path):
    case = next(cases.all_cases())
    row = {
        "case": case.name,
        "sizes": dict(case.sizes),
        "candidate": "pyptx",
        "right": True,
        "error": 0.0,
        "seconds": [1e-3, 9e-4, 1.1e-3],
        "unit": "TB/s",
        "rate": 3.2,
        "ratio": [1.02, 1.0, 1.03],
        "to": "torch",
        "roof": 0.93,
        "rounds": 12,
    }
    for day, rate in (("2026-01-02", 3.2), ("2026-01-01", 1.0)):
        about = {"gpu": "Some GPU", "driver": "13.0", "torch": "2", "date": day, "roofs": {"dram": 4e12}}
        (tmp_path / f"{day}.json").write_text(json.dumps({"about": about, "results": [row | {"rate": rate}]}))
    text = report.page(report.newest(tmp_path), None, [case])
    assert "Some GPU, driver 13.0, torch 2, 2026-01-02; a copy reached 4.00 TB/s." in text
    assert f"| {case.label} | pyptx | 3.20 TB/s | 93.0% | 1.020 x torch | 1000.0 |" in text


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["vector add bfloat16", "sum float32", "grouped matrix product bf16"])
def test_the_model_takes_the_calls_of_a_case(name: str):
    case = next(case for case in cases.all_cases() if case.name == name)
    (row,) = modeled.measure(case, modeled.Empty(torch), dry=True)
    assert row["gpu"] == "H200 SXM" and row["seconds"] > 0 and 0 < row["roof"] < 1 and row["bound"]
    assert row["launches"] == 1 + (name == "sum float32")


def test_every_example_of_every_case_is_modeled():
    rows = report.by_case(MODELED)
    assert rows.keys() == {report.key(case) for case in cases.all_cases()}
    for (name, *_), found in rows.items():
        several = {"matrix product bf16": 6, "matrix product bf16, uneven": 6, "attention bf16": 3}.get(name, 1)
        if any(word in name for word in ("softmax", "norm", "entropy")) and dict(found[0]["sizes"])["N"] > 8192:
            several = 2
        assert len(found) == several and all(row["candidate"].startswith("pyptx") for row in found)
    assert MODELED["about"]["kind"] == "modeled"


def test_what_is_modeled_says_so(tmp_path: Path):
    text = report.page(None, MODELED, list(cases.all_cases()))
    measured, _, model = text.partition("## Modeled times")
    model, _, _ = model.partition("## Published measurements of other kernels")
    assert "modeled" not in measured and "*Modeled, not measured*" in model
    assert len([line for line in model.splitlines() if line.startswith("| ")]) == 2 + len(MODELED["results"])


def test_the_page_in_the_docs_is_what_the_results_say():
    assert report.PAGE.read_text(encoding="utf-8") == report.page(
        report.newest(HERE / "results"), MODELED, list(cases.all_cases())
    )
