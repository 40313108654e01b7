"""Sweeps without a GPU: correct and faulty configurations, stopping, resuming, stored results."""

from __future__ import annotations

import json
import os
import signal
import threading
from pathlib import Path

import numpy as np
import pytest
from tune.kernels import double, tiled, twice

from pyptx.tune import Space, SpaceError, Study, restrict, tune
from pyptx.tune.isolation import Child

pytestmark = pytest.mark.usefixtures("own_store")

X = np.arange(256, dtype=np.float32)


def test_every_fault_is_told_with_its_reason_and_the_rest_finishes():
    space = Space(FAULT=["none", "loop", "address", "wrong", "ptxas", "shared", "python"], PER=[1])
    study = tune(double(), space, X, reference=twice, limit_s=4)
    found = {trial.config["FAULT"]: trial for trial in study.trials}
    assert {name: (trial.state, trial.fault) for name, trial in found.items()} == {
        "none": ("modeled", None),
        "loop": ("failed", "hang"),
        "address": ("failed", "bounds"),
        "wrong": ("wrong", "wrong"),
        "ptxas": ("refused", "ptxas"),
        "shared": ("refused", "shared memory"),
        "python": ("refused", "python"),
    }
    assert found["loop"].reason == "on the simulator: no result within 4 s"
    assert "outside every buffer" in found["address"].reason
    assert found["address"].reason.startswith("kernels.py:")
    assert found["wrong"].reason == "255 of 256 values are wrong; the first is [1]: 3, expected 2"
    assert "uses too much shared data" in found["ptxas"].reason
    assert "400,000 bytes of shared memory" in found["shared"].reason
    assert found["python"].reason == "PER=1 does not suit this kernel"
    assert study.best is found["none"]
    assert study.best.checked and study.best.kind == "modeled" and study.best.seconds > 0
    assert study.progress == (7, 7, 0.0)


def test_equal_machine_code_is_tried_once():
    study = tune(double(), Space(UNUSED=[0, 1, 2]), X, reference=twice, workers=1)
    assert [trial.state for trial in study.trials] == ["modeled", "duplicate", "duplicate"]
    assert study.trials[2].duplicate_of == 0
    assert study.trials[2].reason == "same machine code and launch as UNUSED=0"
    assert study.trials[2].seconds == study.trials[0].seconds
    assert study.best is study.trials[0]


def test_a_restriction_refuses_before_anything_is_traced():
    space = Space(restrict(lambda PER, N: N % (PER * 64) == 0, "{PER} elements do not divide {N}"), PER=[1, 3])
    study = tune(double(), space, X)
    assert (study.trials[1].state, study.trials[1].fault) == ("refused", "restriction")
    assert study.trials[1].reason == "3 elements do not divide 256"
    assert study.trials[0].compiled().resources["double"].registers > 0


def test_what_is_stored_is_not_done_again_and_a_larger_space_adds_to_it():
    first = tune(double(), Space(PER=[1, 2]), X, reference=twice)
    again = Study(double(), Space(PER=[1, 2, 4]), X, reference=twice)
    assert [trial.restored for trial in again.trials] == [True, True, False]
    assert [trial.seconds for trial in again.trials[:2]] == [trial.seconds for trial in first.trials]
    done = []
    again.subscribe(lambda event: done.append(event.trial.config) if event.trial and event.trial.done else None)
    again.run()
    assert done == [{"PER": 4}]
    assert not any(t.restored for t in Study(double(), Space(PER=[1]), X, reference=twice, resume=False).trials)


@pytest.mark.parametrize(
    "change",
    [
        {"args": np.arange(512, dtype=np.float32)},
        {"gpu": "H100 PCIe"},
        {"reference": lambda x: x + x},
    ],
    ids=["shape", "gpu", "reference"],
)
def test_another_problem_has_results_of_its_own(change: dict):
    arguments = {"args": X, "reference": twice}
    tune(double(), Space(PER=[1]), **arguments)
    assert Study(double(), Space(PER=[1]), **arguments).trials[0].restored
    assert not Study(double(), Space(PER=[1]), **{**arguments, **change}).trials[0].restored


def test_stopped_in_the_middle_nothing_is_lost():
    space = Space(PER=[1, 2, 4], UNUSED=[0, 1, 2])
    study = Study(double(), space, X, reference=twice, workers=1)
    enough = threading.Event()
    study.subscribe(lambda event: enough.set() if study.progress.done >= 3 else None)
    study.start()
    assert enough.wait(60)
    study.stop()
    assert study.state == "stopped"
    kept = {trial.key: trial.state for trial in study.trials if trial.done}
    assert 3 <= len(kept) < 9
    assert {trial.state for trial in study.trials if not trial.done} == {"queued"}
    fresh = Study(double(), space, X, reference=twice)  # another process would see the same
    assert {trial.key: trial.state for trial in fresh.trials if trial.done} == kept
    study.resume().wait()
    assert study.state == "finished" and all(trial.done for trial in study.trials)
    assert study.counts() == {"modeled": 3, "duplicate": 6}


def test_paused_it_begins_nothing_until_it_goes_on():
    study = Study(double(), Space(PER=[1, 2, 4]), X, reference=twice, workers=1)
    paused = threading.Event()

    def pause(event):
        if event.trial and event.trial.done:
            study.pause()
            paused.set()

    end = study.subscribe(pause)
    study.start()
    assert paused.wait(60)
    assert not study.wait(0.3)
    assert study.state == "paused" and study.progress.done == 1
    end()
    study.resume().wait()
    assert study.progress.done == 3


def test_a_trial_whose_process_is_killed_is_a_result_and_the_next_one_gets_a_new_process(monkeypatch):
    ask, pids = Child.ask, []

    def asked(child: Child, *question, limit_s: float):
        if question[0] == "simulate":
            if not pids:  # the first is a loop that only this test ends
                child.ask("hello", limit_s=30)
                threading.Timer(0.3, os.kill, (child.pid, signal.SIGKILL)).start()
            pids.append(child.pid)
        return ask(child, *question, limit_s=limit_s)

    monkeypatch.setattr(Child, "ask", asked)
    study = tune(double(), Space(FAULT=["loop", "none"]), X, reference=twice, limit_s=30, workers=1)
    assert study.trials[0].fault == "killed"
    assert study.trials[0].reason == "on the simulator: the process was ended by signal 9 (SIGKILL)"
    assert study.trials[1].state == "modeled"
    again = Study(double(), Space(FAULT=["loop", "none"]), X, reference=twice)
    assert [trial.state for trial in again.trials] == ["queued", "modeled"], "the configuration may not be to blame"


def test_without_a_reference_faults_are_found_and_the_rest_is_said_to_be_unchecked():
    study = tune(double(), Space(FAULT=["wrong", "address"]), X)
    assert [trial.state for trial in study.trials] == ["modeled", "failed"]
    assert not study.trials[0].checked
    assert "results are not compared" in repr(study)


def test_a_problem_that_is_only_sizes_is_checked_at_sizes_of_its_own():
    study = tune(double(), Space(PER=[1, 2]), {"N": 1 << 22}, reference=twice, check_args={"N": 512})
    assert all(trial.checked for trial in study.trials)
    unchecked = tune(double(), Space(PER=[1]), {"N": 1 << 22}, reference=twice)
    assert "check_args=" in unchecked.notes[0] and not unchecked.trials[0].checked


def test_exports_hold_every_trial(tmp_path: Path):
    study = tune(double(), Space(FAULT=["none", "wrong"]), X, reference=twice)
    lines = study.to_csv(tmp_path / "out.csv").splitlines()
    assert (tmp_path / "out.csv").read_text().splitlines() == lines
    assert lines[0].startswith("FAULT,state,reason,seconds,") and lines[1].startswith("none,modeled,")
    t4 = json.loads(study.to_json())
    assert [row["invalidity"] for row in t4["results"]] == ["correct", "correctness"]
    assert t4["results"][0]["configuration"] == {"FAULT": "none"}
    assert t4["metadata"]["pyptx"]["kind"] == "modeled" and t4["schema_version"] == "1.0.0"
    for row in t4["results"]:  # as the schema has it
        assert all(isinstance(v, float | list) for v in row["times"].values()) and isinstance(row["correctness"], int)


def test_its_text_says_modeled_and_why_others_were_left_out():
    study = tune(double(), Space(FAULT=["none", "wrong", "python"]), X, reference=twice)
    for text in (repr(study), study._repr_html_()):
        assert "modeled for H200 SXM" in text and "(modeled)" in text
        assert "PER=1 does not suit this kernel" in text and "255 of 256 values are wrong" in text


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ({"space": {"BN": [1]}}, SpaceError, "double has no template parameter BN; it has PER, FAULT, UNUSED"),
        ({"strategy": "best"}, ValueError, "expected one of auto, grid"),
        ({"budget": "soon"}, ValueError, "a time such as '90s'"),
        ({"objective": "energy"}, ValueError, "expected 'time' or a function"),
        ({"args": {"M": 4}}, TypeError, "double has no size M; it has N"),
        ({"args": (X, X)}, TypeError, "takes 1 input arrays, got 2"),
        ({"gpu": "H300"}, ValueError, "no GPU called 'H300'"),
    ],
    ids=str,
)
def test_what_does_not_fit_together_is_refused_at_once(arguments: dict, error: type, message: str):
    with pytest.raises(error, match=message):
        Study(**{"kernel": double(), "space": {"PER": [1]}, "args": X, **arguments})


def test_what_a_reference_raises_ends_the_sweep():
    def broken(x):
        raise ZeroDivisionError("the reference is wrong")

    with pytest.raises(ZeroDivisionError, match="the reference is wrong"):
        tune(double(), Space(PER=[1]), X, reference=broken)


def test_a_budget_of_trials_and_an_objective_of_ones_own():
    study = tune(double(), Space(PER=[1, 2, 4]), X, reference=twice, budget=2)
    assert study.counts() == {"modeled": 2}
    study = tune(double(), Space(PER=[1, 2, 4]), X, reference=twice, objective=lambda t: -t.resources.registers)
    assert study.best.config == {"PER": 4}


@pytest.mark.slow
def test_a_larger_limit_and_leave_to_spill_ask_again():
    space = Space(FAULT=["loop"])
    tune(double(), space, X, limit_s=0.5, workers=1)
    assert Study(double(), space, X, limit_s=0.5).trials[0].restored
    assert not Study(double(), space, X, limit_s=5).trials[0].restored


def test_duplicates_are_known_again():
    tune(double(), Space(UNUSED=[0, 1]), X, reference=twice, workers=1)
    again = Study(double(), Space(UNUSED=[1, 0]), X, reference=twice)
    assert [(trial.config["UNUSED"], trial.state, trial.duplicate_of) for trial in again.trials] == [
        (1, "duplicate", 1),
        (0, "modeled", None),
    ]


def test_a_budget_of_time_ends_it_between_two_trials():
    study = tune(double(), Space(PER=[1, 2, 4]), X, reference=twice, budget="0.001s", workers=1)
    assert study.state == "finished" and study.progress.done < 3
    assert study.run().progress.done < 3, "each run has its budget"


def test_as_a_data_frame_and_on_the_roofline():
    pytest.importorskip("pandas")
    study = tune(double(), Space(PER=[1, 2], FAULT=["none", "wrong"]), X, reference=twice)
    frame = study.to_pandas()
    assert list(frame[frame.state == "modeled"].PER) == [1, 2]
    assert [point.note for point in study.roofline().points] == ["PER=1 FAULT=none", "PER=2 FAULT=none"]
    again = Study(double(), Space(PER=[1, 2], FAULT=["none", "wrong"]), X, reference=twice)
    assert len(again.roofline().points) == 2, "what is restored knows its work too"


def test_a_subscriber_that_breaks_is_told_of_and_the_sweep_goes_on():
    def broken(event):
        raise KeyError("display")

    study = Study(double(), Space(PER=[1]), X, reference=twice)
    study.subscribe(broken)
    with pytest.warns(RuntimeWarning, match="a subscriber of the study failed: KeyError"):
        study.run()
    assert study.best is not None


def test_what_spills_is_refused_unless_it_may():
    few = {"options": ("--maxrregcount=24",)}
    refused = tune(double(), Space(FAULT=["many"]), X, **few).trials[0]
    assert (refused.state, refused.fault) == ("refused", "spills") and "bytes of registers spilled" in refused.reason
    assert tune(double(), Space(FAULT=["many"]), X, spills=True, **few).trials[0].state == "modeled"
    assert tune(double(), Space(FAULT=["many"]), X).trials[0].state == "modeled", "options are part of the problem"


def test_a_sweep_leaves_nothing_with_the_kernel():
    kernel = double()
    tune(kernel, Space(PER=[1, 2]), X, reference=twice)
    assert not kernel._cache


def test_a_tensor_map_that_cannot_be_is_a_reason():
    study = tune(tiled(), Space(BM=[64, 512]), {"M": 1024, "K": 32})
    assert study.trials[0].state == "modeled"
    assert (study.trials[1].state, study.trials[1].fault) == ("refused", "launch")
    assert "box" in study.trials[1].reason and "512" in study.trials[1].reason


def test_a_subscriber_may_stop_the_sweep():
    study = Study(double(), Space(PER=[1, 2, 4]), X, reference=twice, workers=1)
    study.subscribe(lambda event: study.stop() if event.trial and event.trial.done else None)
    study.run()
    assert study.state == "stopped" and study.progress.done == 1
