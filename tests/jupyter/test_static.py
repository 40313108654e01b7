"""Views without scripts: nbconvert, and pages that strip all styles, as GitHub does."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from selenium.webdriver.support.ui import WebDriverWait
from support.cells import GOOD
from views.handmade import saxpy

from pyptx.analysis.diff.comparison import Comparison, Row, group_hunks
from pyptx.views import MIME, Diff, linked


def a_diff() -> Diff:
    own = linked(saxpy(), block=128)
    rows = [Row(n, n, 3 if n == 4 else 0, "operands" if n == 4 else "") for n in range(20)]
    return Diff(
        level="sass",
        left=replace(own, title="saxpy@1"),
        right=replace(own, title="saxpy@2"),
        compared=Comparison(tuple(rows), group_hunks(rows)),
        facts=(),
        verdict="One instruction differs.",
    )


def converted(*views) -> str:
    """The page that nbconvert makes of a notebook with these outputs."""
    from nbconvert import HTMLExporter
    from nbformat.v4 import new_code_cell, new_notebook, new_output

    outputs = [new_output("display_data", data=view._repr_mimebundle_()) for view in views]
    page = HTMLExporter().from_notebook_node(new_notebook(cells=[new_code_cell("", outputs=outputs)]))[0]
    return re.sub(r"<script[^>]* src=.*?</script>", "", page)  # nbconvert's own, from other hosts


def test_a_notebook_run_without_a_front_end_shows_its_views(execute):
    notebook = execute("%load_ext pyptx", GOOD, GOOD.replace("2.0", "3.0") + "\n")
    from nbconvert import HTMLExporter

    text, _ = HTMLExporter().from_notebook_node(notebook)
    assert text.count("kernel <b>double</b>") >= 2
    for cell in notebook.cells[1:]:
        assert MIME in cell.outputs[0].data
        assert "mul.f32" in cell.outputs[0].data["text/html"]
    assert "<details style=" in text
    assert "FMUL" in text, "the machine code"


def test_nbconvert_shows_a_view_with_its_diff():
    own = linked(saxpy(), block=128)
    page = converted(own, a_diff(), linked(saxpy(), block=128, diff=a_diff()))
    assert page.count("kernel <b>saxpy</b>") == 2
    assert page.count("One instruction differs.") == 2


def test_the_notebooks_are_small_enough_to_be_read_on_the_web():
    files = list((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
    assert len(files) == 12
    assert sum(file.stat().st_size for file in files) < 1_350_000


@pytest.mark.browser
@pytest.mark.parametrize("styles", [True, False], ids=["styled", "bare"])
def test_code_is_monospaced_and_aligned_without_styles(page, styles):
    html = linked(saxpy(), block=128).html().replace("<details", "<details open")
    if not styles:
        html = re.sub(r' style="[^"]*"', "", html)
    page.path.write_text(f"<!doctype html><meta charset=utf-8><body>{html}", encoding="utf-8")
    page.chrome.get(page.path.as_uri())
    fonts = page.js("return [...document.querySelectorAll('pre, samp')].map(e => getComputedStyle(e).fontFamily)")
    assert len(fonts) > 10
    assert all("mono" in font for font in fonts)
    lines = page.js("return [...document.querySelectorAll('pre')].flatMap(e => e.textContent.split('\\n'))")
    [line] = [line for line in lines if "0040 " in line]
    assert re.match(r"PTX +23 .*mad\.lo\.s32.* 0040 .*IMAD", line), "PTX and SASS of a line stand side by side"


@pytest.mark.browser
def test_views_of_a_converted_notebook_are_interactive_with_one_script(page, monkeypatch):
    from pyptx.views import _embedded

    carried = iter([False, True])  # a view may stand before the script
    monkeypatch.setattr(_embedded, "first_in_notebook", lambda name: next(carried))
    own = linked(saxpy(), block=128)
    page.path.write_text(converted(own, own), encoding="utf-8")
    page.chrome.get(page.path.as_uri())
    WebDriverWait(page.chrome, 20).until(lambda _: len(page.all(".pyptx-linked")) == 2)
    assert not page.one("details").is_displayed(), "the static form is replaced"
    page.all(".pyptx-sass .pyptx-row[data-row='12'] .pyptx-code")[1].click()
    assert page.marked("ptx") == [26]


@pytest.mark.browser
def test_views_are_interactive_where_copies_of_scripts_run_and_are_removed_as_in_vs_code(page, monkeypatch):
    from pyptx.views import _embedded

    monkeypatch.setattr(_embedded, "first_in_notebook", lambda name: True)
    output = linked(saxpy(), block=128)._repr_mimebundle_()["text/html"]
    page.path.write_text(f"<!doctype html><template>{output}</template><div></div>", encoding="utf-8")
    page.chrome.get(page.path.as_uri())
    page.js(
        """
        const cell = document.querySelector("div");
        cell.innerHTML = document.querySelector("template").innerHTML;
        for (const script of [...cell.getElementsByTagName("script")]) {
            const copy = document.createElement("script");
            copy.text = script.innerText;
            cell.appendChild(copy).parentNode.removeChild(copy);
        }"""
    )
    WebDriverWait(page.chrome, 20).until(lambda _: page.all(".pyptx-linked"))
    assert not page.one("details").is_displayed(), "the static form is replaced"


@pytest.mark.browser
def test_a_view_without_the_script_or_with_too_much_data_stays_static(page, monkeypatch):
    from pyptx.views import _embedded

    own = linked(saxpy(), block=128)
    monkeypatch.setattr(_embedded, "first_in_notebook", lambda name: False)
    page.path.write_text(converted(own), encoding="utf-8")
    page.chrome.get(page.path.as_uri())
    assert page.one("details").is_displayed()
    monkeypatch.setattr(_embedded, "MAX_CHARACTERS", 1000)
    assert "<script" not in own._repr_mimebundle_()["text/html"]
