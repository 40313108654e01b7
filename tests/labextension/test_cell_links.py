"""A kernel cell and its view: pointed lines highlight each other, the cell is the Python pane, help for ptx.inst."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser

KERNEL = """%%ptxkernel -p N=1024 --run "y = scale(np.arange(1024, dtype=np.float32))"
import numpy as np
from pyptx import Tile, kernel, ptx, reg
from pyptx.types import f32

@kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: N // 128, block=128)
def scale(x, y):
    i = ptx.global_id()
    value = x[i]
    ptx.inst.mul.rn.f32(value, value, 2.0)
    y[i] = value
"""
LINE = next(number for number, line in enumerate(KERNEL.splitlines(), 1) if "ptx.inst.mul" in line)
CELL = "document.querySelectorAll('.jp-Cell')[1]"


@pytest.fixture(scope="module")
def linked(lab):
    lab.put("/lab/api/settings/pyptx-lab:plugin", {"raw": '{"cellPane": true}'})
    lab.write("links.ipynb", "%load_ext pyptx", KERNEL)
    lab.open("links.ipynb")
    lab.run_all()
    lab.wait("return document.querySelector('.jp-OutputArea .pyptx-linked')", limit_s=120)
    lab.js(f"{CELL}.scrollIntoView()")
    yield lab
    lab.put("/lab/api/settings/pyptx-lab:plugin", {"raw": "{}"})


def line(lab, number: int):
    """The element of a line of the cell."""
    return lab.js(f"return {CELL}.querySelectorAll('.cm-line')[{number - 1}]")


def test_ptx_and_sass_take_the_width_and_python_can_be_shown(linked):
    lab = linked
    shown = "return [...document.querySelectorAll('.jp-OutputArea .pyptx-pane')].filter(p => !p.hidden).map(p => p.className)"
    lab.wait("return document.querySelector('.jp-OutputArea .pyptx-python').hidden")
    assert len(lab.js(shown)) == 2
    lab.js("document.querySelector('.jp-OutputArea .pyptx-toggle[data-pane=python]').click()")
    assert len(lab.js(shown)) == 3
    lab.js("document.querySelector('.jp-OutputArea .pyptx-toggle[data-pane=python]').click()")


def test_a_line_of_the_cell_highlights_its_code(linked):
    lab = linked
    lab.hover(line(lab, LINE))
    lab.wait("return document.querySelector('.jp-OutputArea .pyptx-sass .pyptx-exact')?.textContent.includes('FMUL')")
    rows = lab.js(
        "return [...document.querySelectorAll('.jp-OutputArea .pyptx-ptx .pyptx-exact')].map(r => r.textContent)"
    )
    assert any("mul.rn.f32" in row for row in rows)
    lab.shot("80-cell-links")
    lab.theme("JupyterLab Dark")
    lab.hover(line(lab, LINE))
    lab.shot("81-cell-links-dark")
    lab.theme("JupyterLab Light")


def test_a_line_of_the_view_highlights_the_line_of_the_cell(linked):
    lab = linked
    row = lab.js(
        "return [...document.querySelectorAll('.jp-OutputArea .pyptx-ptx .pyptx-row')].find(r => r.textContent.includes('mul.rn'))"
    )
    lab.js("arguments[0].dispatchEvent(new PointerEvent('pointerover', {bubbles: true}))", row)
    lab.wait(f"return {CELL}.querySelector('.pyptx-lit')")
    assert lab.js(f"return [...{CELL}.querySelectorAll('.pyptx-lit')].map(l => l.innerText.trim())") == [
        "ptx.inst.mul.rn.f32(value, value, 2.0)"
    ]
    lab.js(
        "document.querySelector('.jp-OutputArea .pyptx-ptx .pyptx-list').dispatchEvent(new PointerEvent('pointerleave'))"
    )
    lab.wait(f"return !{CELL}.querySelector('.pyptx-lit')")


def test_the_margin_has_counts(linked):
    lab = linked
    costs = lab.js(f"return [...{CELL}.querySelectorAll('.pyptx-mark-cost')].map(m => m.innerText)")
    assert costs and all(text.rstrip("k").isdigit() for text in costs)
    assert "SASS instructions issued" in lab.js(f"return {CELL}.querySelector('.pyptx-mark').title")


def test_share_saves_the_view_as_it_is(linked, tmp_path):
    lab = linked
    lab.js(
        "window.saved = null; const make = URL.createObjectURL;"
        "URL.createObjectURL = blob => { blob.text().then(text => { window.saved = text; }); return make(blob); };"
        "[...document.querySelectorAll('.jp-OutputArea .pyptx-sass .pyptx-row')].find(r => r.textContent.includes('FMUL')).click();"
        "[...document.querySelectorAll('.jp-OutputArea .pyptx-toolbar button')].find(b => b.innerText === 'Share').click()"
    )
    saved = lab.wait("return window.saved")
    assert saved.startswith("<!doctype html>") and '"pinned":["sass",' in saved and len(saved) < 1_000_000
    (tmp_path / "shared.html").write_text(saved, encoding="utf-8")
    lab.chrome.switch_to.new_window("tab")
    try:
        lab.chrome.get((tmp_path / "shared.html").as_uri())
        assert "FMUL" in lab.wait("return document.querySelector('.pyptx-sass .pyptx-active')?.textContent")
    finally:
        lab.chrome.close()
        lab.chrome.switch_to.window(lab.chrome.window_handles[0])


def test_instructions_in_python_are_explained(linked):
    lab = linked
    word = "[...arguments[0].querySelectorAll('span')].find(s => s.textContent === 'mul') ?? arguments[0]"
    lab.hover(lab.js(f"return {word}", line(lab, LINE)))
    lab.wait("return document.querySelector('.pyptx-help')?.innerText.startsWith('mul.rn.f32')")
    assert "Multiply" in lab.text(".pyptx-help")
    lab.shot("82-help")
    assert lab.complaints == []
