"""The report widget: the report as data, and the debugger that *Show me* opens."""

from __future__ import annotations

import time

import numpy as np
import pytest
from check import racy

from pyptx.jupyter.report_widget import ReportWidget
from pyptx.jupyter.view_widget import LIVE_MIME
from pyptx.views._packed import unpack


@pytest.fixture
def widget(monkeypatch):
    made = ReportWidget(racy.barrier_missing.check(np.arange(racy.N, dtype=np.float32)))
    made.sent = []
    monkeypatch.setattr(made, "send", made.sent.append)
    yield made
    made.close()


def answered(widget, finding: int) -> dict:
    widget._on_message(widget, {"number": finding, "request": "replay", "finding": finding}, [])
    limit = time.monotonic() + 30
    while widget.sent[-1].get("working"):
        assert time.monotonic() < limit
        time.sleep(0.01)
    return widget.sent[-1]


def test_show_me_makes_one_debugger_for_a_finding(widget):
    model = answered(widget, 0)["data"]["model_id"]
    [debugger] = widget._debuggers.values()
    assert debugger.model_id == model and len(debugger.document["timeline"]["marks"]) == 2
    assert answered(widget, 0)["data"]["model_id"] == model
    assert answered(widget, 5)["error"].startswith("finding 5: the report of barrier_missing has 1")


def test_a_saved_notebook_holds_the_report(widget):
    bundle = widget._repr_mimebundle_()
    view = unpack(bundle[LIVE_MIME]["view"])
    assert (view["kind"], view["findings"][0]["rule"]) == ("report", "data-race")
    assert "data-race" in bundle["text/html"] and bundle["text/plain"].startswith("barrier_missing: 1 error")
