"""A sweep as data, as text, as a table, as HTML."""

from __future__ import annotations

import csv
import io
import json
from html.parser import HTMLParser

import pytest
from views.sweeps import PARAMETERS, sweep

from pyptx.views.sweeps.sweep import MIME, Parameter, Point, SweepView
from pyptx.views.sweeps.text import duration, time_text


@pytest.mark.parametrize(
    "view",
    [sweep(done=0, state="new"), sweep(done=0.6, state="running"), sweep(kind="measured")],
    ids=["new", "running", "finished"],
)
def test_the_json_form_holds_everything(view: SweepView):
    data = json.loads(json.dumps(view.to_json()))
    assert SweepView.from_json(data) == view
    with pytest.raises(ValueError, match="expected kind 'sweep', version 1; got 'sweep', 2"):
        SweepView.from_json(data | {"version": 2})


def test_a_point_must_be_in_the_grid_and_in_a_known_state():
    with pytest.raises(ValueError, match=r"configuration \(3,\) is outside the grid of 3 values"):
        SweepView("k", "sm_90a", "", (Parameter("BM", (1, 2, 3)),), (Point((3,)),))
    with pytest.raises(ValueError, match="unknown state 'done'"):
        Point((0,), "done")


def test_counts_and_order():
    view = sweep()
    assert sum(view.counts.values()) == len(view.points) == 60
    assert len(view.holes) == 12
    assert view.counts["wrong"] == 1 and view.counts["duplicate"] == 1 and view.counts["refused"] == 12
    times = [view.points[number].seconds for number in view.order if view.points[number].seconds is not None]
    assert times == sorted(times) and view.order[0] == view.best


@pytest.mark.parametrize(
    "seconds, words",
    [
        (1.2345e-9, "1.23 ns"),
        (9.996e-7, "1.00 µs"),
        (12.34e-6, "12.3 µs"),
        (123.4e-6, "123 µs"),
        (0.9996, "1.00 s"),
        (1234.0, "1234 s"),
    ],
)
def test_times_have_three_digits_and_a_unit(seconds: float, words: str):
    assert time_text(seconds) == words


def test_the_text_names_the_causes_of_waits():
    assert (duration(0.2), duration(40.4), duration(200)) == ("1 s", "40 s", "3 min")


def test_a_failed_run_is_reported_as_failed():
    view = sweep(done=0.6, state="failed")
    assert "failed with an error, 36 of 60 points" in view.text() and "failed with an error" in view.html()


def test_the_text_shows_progress_best_point_and_refusals():
    text = sweep(done=0.6, state="running").text(limit=5)
    assert "running, 36 of 60 points; about 19 s left; 20 queued" in text
    assert "best: BM=128, BN=128, BK=64, STAGES=4: 1.92 ms modeled" in text
    assert "12 × BM * BN <= 128 * 256" in text
    table = [line for line in text.splitlines() if line.startswith("  ○")]
    assert len(table) == 4, "five points, one of them a duplicate"
    assert "... 27 more" in text, "30 with a time, one wrong, one failed"


def test_the_csv_has_a_line_for_each_point():
    rows = list(csv.DictReader(io.StringIO(sweep().csv())))
    assert len(rows) == 60
    assert rows[11]["state"] == "wrong" and "128 of 4096 numbers differ" in rows[11]["reason"]
    assert {name: rows[0][name] for name in ("BM", "BN", "BK", "STAGES")} == {
        "BM": "64",
        "BN": "64",
        "BK": "64",
        "STAGES": "2",
    }
    assert float(rows[0]["seconds"]) == sweep().points[0].seconds


class Tags(HTMLParser):
    def __init__(self, text: str):
        super().__init__()
        self.tags, self.names = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.names |= {name for name, _ in attributes}


def test_the_html_needs_neither_script_nor_style_sheet_nor_ids():
    html = sweep().html()
    found = Tags(html)
    assert not {"script", "style", "link", "img"} & set(found.tags)
    assert found.names <= {"style", "title", "colspan"}
    assert found.tags.count("table") == 6 + 2, "a map for each of 2 x 3 values, the points, the refusals"
    for said in ("≠ wrong", "★ ○", "BK=64, STAGES=4", "modeled", "not done after 2 s"):
        assert said in html


@pytest.mark.parametrize("parameters", [1, 2, 3])
def test_fewer_parameters_give_fewer_maps(parameters: int):
    view = sweep(parameters=parameters)
    maps = (
        Tags(view.html()).tags.count("table")
        - 1
        - bool(view.counts.get("refused") or view.counts.get("wrong") or view.holes)
    )
    assert maps == {1: 1, 2: 1, 3: 2}[parameters]


def test_a_sweep_with_nothing_in_it_is_shown_too():
    view = SweepView("k", "sm_90a", "model of H200", PARAMETERS, ())
    assert "0 of 0 points" in view.text()
    assert "k" in view.html()


def test_the_bundle_of_a_notebook():
    bundle = sweep()._repr_mimebundle_()
    assert bundle[MIME]["kind"] == "sweep"
    assert set(bundle) == {MIME, "text/html", "text/plain"}
    assert "<script" in sweep().page() and "https://" not in sweep().page()
