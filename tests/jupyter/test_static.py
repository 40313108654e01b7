"""Views without scripts: nbconvert, and pages that strip all styles, as GitHub does."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
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
    return HTMLExporter().from_notebook_node(new_notebook(cells=[new_code_cell("", outputs=outputs)]))[0]


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
    heights = page.js("""return [...document.querySelectorAll('tr')].map(row =>
        [...row.querySelectorAll('pre')].map(e => Math.round(e.getBoundingClientRect().height)))""")
    assert any(len(row) == 2 for row in heights)
    assert all(len(set(row)) == 1 for row in heights), "PTX and SASS of a line stand beside each other"
    tops = page.js("""return [...document.querySelectorAll('tr')].map(row =>
        [...row.querySelectorAll('pre')].map(e => Math.round(e.getBoundingClientRect().top)))""")
    assert all(len(set(row)) == 1 for row in tops)
