"""A sweep in JupyterLab: the widget runs, opens points, uses one, and its saved view without a kernel."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser

KERNEL = """%load_ext pyptx
import numpy as np
import pyptx
from pyptx import Tile, kernel, ptx, reg, smem
from pyptx.types import f32, u32

@kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N, PER: -(-N // (128 * PER)), block=128)
def double(a, b, *, PER=2, WORDS=64):
    smem.alloc(f32, (WORDS,))
    first = reg.from_(ptx.special.ctaid.x(), u32) * (128 * PER) + reg.from_(ptx.special.tid.x(), u32)
    for i in range(PER):
        at = first + i * 128
        with ptx.if_(at < a.shape[0]):
            a_at, b_at = ptx.global_ptrs(a, b)
            for pointer in (a_at, b_at):
                ptx.inst.mad.wide.u32(pointer, at, 4, pointer)
            x = reg.scalar(f32)
            ptx.inst.ld.global_.f32(x, ptx.addr(a_at))
            ptx.inst.st.global_.f32(ptx.addr(b_at), x * 2)
"""
SWEEP = """tiles = pyptx.sweep(double, dict(PER=[1, 2, 4], WORDS=[64, 100000]), dict(N=3000),
                    reference=lambda a: 2 * a, resume=False)
tiles"""
WIDGET = "[...document.querySelectorAll('.pyptx-sweep')].filter(e => !e.closest('.pyptx-output'))"


@pytest.fixture(scope="module")
def swept(lab):
    """A notebook whose sweep has finished."""
    lab.write("sweep.ipynb", KERNEL, SWEEP, "print('choice', tiles.choice)")
    lab.open("sweep.ipynb")
    lab.run_all()
    lab.wait(f"return {WIDGET}[0]?.querySelector('.pyptx-run').innerText.includes('finished: 6 of 6')", limit_s=240)
    lab.js("document.querySelector('.pyptx-sweep').scrollIntoView()")
    return lab


def test_the_map_fills_and_says_what_is_refused(swept):
    lab = swept
    cells = lab.js("return [...document.querySelectorAll('.pyptx-cell')].map(cell => cell.getAttribute('aria-label'))")
    assert len(cells) == 6 and sum("refused" in label for label in cells) == 3
    assert sum("modeled" in label for label in cells) == 3
    assert "model of" in lab.text(".pyptx-sweep .pyptx-title")
    lab.shot("20-sweep-finished")
    lab.theme("JupyterLab Dark")
    lab.shot("21-sweep-dark")
    lab.theme("JupyterLab Light")
    assert lab.complaints == []


def test_a_point_opens_and_two_are_compared(swept):
    lab = swept
    lab.js("document.querySelectorAll('.pyptx-cell.pyptx-s-modeled')[0].click()")
    lab.wait("return document.querySelectorAll('.pyptx-drawer .pyptx-sass .pyptx-row').length > 5")
    lab.js(
        "document.querySelectorAll('.pyptx-cell.pyptx-s-modeled')[1]"
        ".dispatchEvent(new MouseEvent('click', {bubbles: true, shiftKey: true}))"
    )
    lab.wait("return document.querySelector('.pyptx-drawer .pyptx-diff .pyptx-verdict')")
    lab.shot("22-sweep-diff")


def test_letters_belong_to_the_sweep_that_has_the_focus(swept):
    lab = swept
    cells = "return jupyterapp.shell.currentWidget.content.widgets.length"
    before = lab.js(cells)
    lab.js("document.querySelector('.pyptx-cell').focus()")
    lab.keys("b", "t")
    lab.wait("return !document.querySelector('.pyptx-table').hidden")
    assert lab.js(cells) == before, "b adds no cell"
    lab.js("document.querySelector('[data-shown=map]').click()")


def test_the_choice_comes_back_to_python(swept):
    lab = swept
    lab.js("document.querySelector('.pyptx-acts .pyptx-strong').click()")
    lab.wait("return document.querySelector('.pyptx-sweep .pyptx-header').innerText.includes('in use')")
    lab.js("jupyterapp.shell.currentWidget.content.activeCellIndex = 2")
    lab.command("notebook:run-cell")
    lab.wait("return document.querySelectorAll('.jp-CodeCell')[2].innerText.includes(\"choice {'PER': \")")


def test_a_choice_is_written_into_the_cell_and_undone_in_one_step(swept):
    lab = swept
    source = "return jupyterapp.shell.currentWidget.content.widgets[0].model.sharedModel.getSource()"
    before = lab.js(source)
    lab.js(
        "const cell = [...document.querySelectorAll('.pyptx-cell.pyptx-s-modeled')].at(-1); cell.focus(); cell.click()"
    )
    lab.js(
        "[...document.querySelectorAll('.pyptx-acts button')].find(b => b.innerText === 'Write into the cell').click()"
    )
    lab.wait("return document.querySelector('.pyptx-edit')?.innerText.includes('Written into the cell')")
    after = lab.js(source)
    assert after != before and after.replace("PER=4, ", "PER=2, ") == before
    assert "+def double(a, b, *, PER=4, WORDS=64):" in lab.text(".pyptx-edit pre")
    lab.shot("22-sweep-written")
    lab.js("jupyterapp.shell.currentWidget.content.widgets[0].editor.undo()")
    assert lab.js(source) == before


def test_it_is_live_again_after_the_page_was_loaded_anew(swept):
    lab = swept
    lab.command("docmanager:save")
    lab.open("sweep.ipynb")
    lab.wait(f"return {WIDGET}[0]?.querySelector('.pyptx-run').innerText.includes('finished')")


def test_without_its_kernel_it_is_the_view_as_it_stood(swept):
    lab = swept
    notebook = lab.open_without_kernel("sweep.ipynb")
    saved = notebook.cells[1].outputs[0].data
    assert "finished, 6 of 6 points" in saved["text/plain"] and "<table" in saved["text/html"]
    lab.wait("return document.querySelectorAll('.pyptx-output .pyptx-sweep .pyptx-cell').length === 6")
    assert lab.all(".pyptx-run button") == []
    lab.shot("23-sweep-without-kernel")


def test_the_panel_starts_a_sweep_and_runs_a_check(lab):
    lab.write("panel.ipynb", KERNEL)
    lab.open("panel.ipynb")
    lab.run_all()
    lab.command("pyptx:show-panel")
    lab.wait("return document.querySelectorAll('.pyptx-panel-starts button').length === 2")
    lab.shot("24-panel-starts")
    lab.js("document.querySelector('[data-key^=check]').click()")
    lab.wait(
        "return [...document.querySelectorAll('.jp-CodeCell')].some(cell => "
        "cell.innerText.includes('double.check') && cell.querySelector('.jp-OutputArea-output'))",
        limit_s=180,
    )
    lab.js("document.querySelector('[data-key^=sweep]').click()")
    lab.wait(
        "return [...document.querySelectorAll('.jp-CodeCell')].some(cell => "
        "cell.innerText.includes('pyptx.sweep') && cell.innerText.includes('PER=[1, 2, 4]'))"
    )
    lab.shot("25-panel-sweep-cell")
    assert lab.complaints == []
