"""The sweep widget: messages, responses, saved outputs; and the progress line of a script."""

from __future__ import annotations

import importlib.util
import io
import time

import numpy as np
import pytest
from tune.kernels import double, twice

from pyptx.jupyter.sweep_widget import SweepWidget
from pyptx.jupyter.view_widget import LIVE_MIME, WIDGET_MIME
from pyptx.store import Store
from pyptx.tune import Space, Study, restrict, result_store, sweep, sweeps
from pyptx.tune.sweeps import Sweep
from pyptx.views.sweeps.sweep import SweepView
from pyptx.workbench.autotune import autotune

pytestmark = pytest.mark.usefixtures("own_store")

X = np.arange(256, dtype=np.float32)
LIMIT_S = 60


def study(**options) -> Study:
    space = Space(
        restrict(lambda PER, FAULT: (PER, FAULT) != (4, "wrong"), "no"), PER=[1, 2, 4], FAULT=["none", "wrong"]
    )
    return Study(double(), space, X, reference=twice, **options)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory):
    """A finished sweep, with the store it is in."""
    store, own = Store(tmp_path_factory.mktemp("store") / "results.sqlite"), pytest.MonkeyPatch()
    own.setattr(result_store, "default_store", lambda: store)
    finished = Sweep(study())
    out = io.StringIO()
    finished.run(out)
    own.undo()
    return finished, store, out.getvalue()


@pytest.fixture
def widget(done, monkeypatch):
    finished, store, _ = done
    monkeypatch.setattr(result_store, "default_store", lambda: store)
    made = SweepWidget(finished.study)
    sent = []
    monkeypatch.setattr(made, "send", sent.append)
    yield made, sent
    made.close()


def answer(widget, sent: list, **message):
    """What the front end is told."""
    widget._on_message(widget, {"number": "7", **message}, [])
    until = time.monotonic() + LIMIT_S
    while not sent:
        assert time.monotonic() < until
        time.sleep(0.01)
    return sent.pop()


def test_in_a_script_it_runs_with_a_line_of_progress(done):
    finished, _, out = done
    assert out.splitlines()[-1].startswith("finished, 6 of 6 points; 1 refused; 3 modeled; 2 wrong; best: PER=")
    assert finished.view().points[1].state == "wrong"
    assert finished.choice is None and finished.best.state == "modeled"
    assert "finished, 6 of 6" in repr(finished)


def test_sweep_outside_of_a_notebook_waits_for_the_end(capsys):
    shown = sweep(double(), Space(PER=[1], FAULT=["none"]), X, reference=twice)
    assert isinstance(shown, Sweep) and shown.study.state == "finished"
    assert "finished, 1 of 1 points" in capsys.readouterr().err


def test_a_widget_holds_the_view_and_its_fallbacks(widget):
    made, _ = widget
    assert SweepView.from_json(made.data) == made.view()
    bundle = made._repr_mimebundle_()
    assert set(bundle) == {LIVE_MIME, WIDGET_MIME, "text/html", "text/plain"}
    assert bundle[LIVE_MIME]["model_id"] == bundle[WIDGET_MIME]["model_id"] == made.model_id
    assert bundle[LIVE_MIME]["view"]["kind"] == "sweep"
    assert "https://" not in made._esm + made._css


def test_points_are_opened_and_compared(widget):
    made, sent = widget
    opened = answer(made, sent, request="view", points=[0])
    assert opened["number"] == "7" and opened["data"]["kind"] == "linked"
    assert opened["data"]["title"] == "double PER=1 FAULT=none"
    compared = answer(made, sent, request="diff", points=[0, 2])
    table = made.compare(0, 2)
    assert [column.title for column in table.columns] == [made.trial(number).label for number in (0, 2)]
    times = next(one.values for one in table.measures if one.label.endswith(" time"))
    assert times == tuple(made.trial(number).seconds for number in (0, 2))
    assert compared["data"]["kind"] == "diff"
    assert compared["data"]["right"]["title"] == "PER=2 FAULT=none"
    placed = answer(made, sent, request="roofline")["data"]
    assert placed["kind"] == "roofline"
    assert [point["view"] for point in placed["points"]] == ["point 0", "point 2", "point 4"]


def test_impossible_requests_are_explained(widget):
    made, sent = widget
    assert answer(made, sent, request="view", points=[99])["error"] == "there is no point 99; there are 6"
    assert "only a configuration with a time" in answer(made, sent, request="use", points=[1])["error"]
    made._on_message(made, {"request": "trial", "points": [0]}, [])
    made._on_message(made, "nonsense", [])
    assert sent == [] and made.choice is None


def test_the_chosen_point_is_used_by_later_calls_until_it_is_undone(widget):
    made, sent = widget
    slow = max((trial for trial in made.study.trials if trial.usable), key=lambda trial: trial.seconds)
    assert answer(made, sent, request="use", points=[slow.number]) == {"number": "7", "data": None}
    assert made.choice == slow.config
    assert result_store.best_of(made.study.key, made.study.space).config == slow.config
    until = time.monotonic() + LIMIT_S
    while made.data["choice"] != slow.number:
        assert time.monotonic() < until
        time.sleep(0.01)
    kernel = made.study.kernel
    assert f"defaults PER={slow.config['PER']}" in repr(kernel) and kernel.defaults()["PER"] == slow.config["PER"]
    assert made.use() == made.best.config
    assert answer(made, sent, request="restore", points=[]) == {"number": "7", "data": None}
    assert made.choice is None and "defaults" not in repr(kernel)
    assert result_store.best_of(made.study.key, made.study.space).config == made.best.config
    with pytest.raises(ValueError, match="is not a point of this sweep"):
        made.use({"PER": 3, "FAULT": "none"})


def test_a_stopped_sweep_resumes(own_store):
    first = SweepWidget(study(workers=1))
    seen = []
    first.observe(lambda change: seen.append(change.new["progress"]), "data")
    first.study.subscribe(lambda event: first.study.control.stop() if event.trial and event.trial.usable else None)
    first.study.start()
    first.wait(LIMIT_S)
    assert first.study.state == "stopped"
    kept = [trial.state for trial in first.study.trials]
    assert "queued" in kept and "modeled" in kept
    second = SweepWidget(study(workers=1))
    assert [trial.restored for trial in second.study.trials] == [
        state not in ("queued",) and trial.fault != "restriction"
        for state, trial in zip(kept, first.study.trials, strict=True)
    ]
    second.resume()
    assert second.wait(LIMIT_S) and second.study.state == "finished"
    until = time.monotonic() + LIMIT_S
    while second.data["progress"]["state"] != "finished":
        assert time.monotonic() < until
        time.sleep(0.01)
    assert second.data["progress"]["done"] == 6 and seen[-1]["state"] == "stopped"
    first.close()
    second.close()


def test_a_kernel_with_autotune_uses_the_chosen_point_at_its_next_call():
    kernel = autotune(PER=[1, 2, 4], reference=twice)(double())
    kernel(X)
    assert kernel.best(X) is None, "its defaults: nothing is stored"
    shown = sweep(kernel, {"PER": [1, 2, 4]}, X, reference=twice)
    assert kernel.best(X) == shown.best.config
    slow = max((trial for trial in shown.study.trials if trial.usable), key=lambda trial: trial.seconds)
    shown.use(slow.config)
    assert kernel.best(X) == slow.config


def test_a_notebook_without_anywidget_gets_a_progress_line_and_a_warning(monkeypatch, capsys):
    monkeypatch.setattr(sweeps, "in_notebook", lambda: True)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.warns(UserWarning, match="needs anywidget: pip install"):
        shown = sweep(double(), Space(PER=[1]), X)
    assert type(shown) is Sweep and "finished, 1 of 1" in capsys.readouterr().err
