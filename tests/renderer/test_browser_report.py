"""Reports of checks and marked lines in Chromium: lines, replays, contrast in both themes, narrow pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from check import racy
from renderer.test_browser_view import CONTRAST

from pyptx.check._view import ReportView
from pyptx.views import LinkedView
from pyptx.views._document import page as html_page
from pyptx.views.debugger import DebugView

pytestmark = pytest.mark.browser

X = np.arange(racy.N, dtype=np.float32)


@dataclass
class ReportPage:
    """A report as a page of its own."""

    data: dict[str, Any]

    def page(self) -> str:
        return html_page(self.data, title="report", without_script="")


@pytest.fixture(scope="module")
def report() -> ReportPage:
    return ReportPage(ReportView(racy.barrier_missing.check(X)).to_json())


@pytest.fixture(scope="module")
def marked() -> LinkedView:
    racy.barrier_missing.check(X)
    return racy.barrier_missing.view()


def contrast(page, root: str) -> list:
    return [one for one in page.js(CONTRAST.replace(".pyptx-linked *", f"{root} *")) if one[0] < 4.5]


@pytest.mark.parametrize(("dark", "width"), [(False, 1600), (True, 420)])
def test_a_report_is_readable_and_its_lines_are_buttons(page, report, dark, width):
    page.open(report, dark=dark, width=width)
    assert contrast(page, ".pyptx-report") == []
    page.js("addEventListener('pyptx-reveal', event => { window.revealed = event.detail; })")
    page.all(".pyptx-place")[0].click()
    place = report.data["findings"][0]["places"][0]
    assert page.js("return window.revealed") == {
        "kernel": "barrier_missing",
        "file": place["file"],
        "line": place["line"],
        "ptx": place["ptx_line"],
    }
    assert page.all(".pyptx-showme") == [], "without a kernel nothing is replayed"
    assert page.js("return document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("dark", [False, True])
def test_a_finding_leads_to_its_lines(page, marked, dark):
    page.open(marked, dark=dark)
    assert contrast(page, ".pyptx-linked") == []
    rows = marked.check["findings"][0]["rows"]
    assert page.marked("ptx", "marked") == sorted(rows)
    button = page.all(".pyptx-checked .pyptx-button")[1]
    button.click()
    [active] = page.marked("python", "active")
    assert f"line {marked.python.line[active]}" in button.text
    assert rows[1] in page.marked("ptx")


def test_both_accesses_are_on_the_timeline(page):
    with racy.barrier_missing.check(X).replay() as session:
        view = DebugView(session.sources(), session.document())
    page.open(view)
    first, second = page.all(".pyptx-access")
    assert (first.text, second.text) == ("1", "2") and "pyptx-second" in second.get_attribute("class")
    assert first.location["x"] < second.location["x"] and first.location["y"] < second.location["y"]
    assert [one.text.split(":")[0] for one in page.all(".pyptx-told li")] == [
        mark["text"].split(":")[0] for mark in view.document["timeline"]["marks"]
    ]
    assert page.marked("ptx", "here") == [view.document["place"]["ptx"] - 1]
