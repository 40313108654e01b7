"""Findings of a check in JupyterLab: signs beside the lines, the panel's verdict, and the replay of a race."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser

KERNEL = """%%ptxkernel --quiet
import numpy as np
from pyptx import Tile, kernel, ptx, reg, smem
from pyptx.types import f32, u32

@kernel(in_specs=(Tile(64, f32),), out_specs=(Tile(64, f32),), grid=(1, 1, 1), block=(64, 1, 1))
def reverse(x, y):
    tid = reg.from_(ptx.special.tid.x(), u32)
    x_at, y_at = ptx.global_ptrs(x, y)
    start = reg.from_(smem.alloc(f32, 64).name, u32)
    value = reg.scalar(f32)
    ptx.inst.ld.global_.f32(value, ptx.addr(x_at + tid * 4))
    ptx.inst.st.shared.f32(ptx.addr(start + tid * 4), value)
    ptx.inst.ld.shared.f32(value, ptx.addr(start + (tid ^ 63) * 4))
    ptx.inst.st.global_.f32(ptx.addr(y_at + tid * 4), value)
"""
LINES = [number for number, line in enumerate(KERNEL.splitlines(), 1) if ".shared." in line]
CHECK = "reverse.check(np.arange(64, dtype=np.float32))"
SIGNS = "[...document.querySelectorAll('.jp-Cell')[1].querySelectorAll('.pyptx-sign')]"


@pytest.fixture(scope="module")
def checked(lab):
    lab.write("findings.ipynb", "%load_ext pyptx", KERNEL, CHECK, "reverse.view()")
    lab.open("findings.ipynb")
    lab.run_all()
    lab.wait("return document.querySelector('.pyptx-showme')", limit_s=120)
    lab.wait("return document.querySelector('.jp-OutputArea .pyptx-checked')", limit_s=120)
    return lab


def test_lines_of_a_race_are_marked_in_the_cell_and_the_view(checked):
    lab = checked
    lab.wait(f"return {SIGNS}.length === 2")
    height = "getBoundingClientRect().top"
    lines = f"""const tops = {SIGNS}.map(sign => sign.{height});
        const rows = [...document.querySelectorAll('.jp-Cell')[1].querySelectorAll('.cm-line')];
        return tops.map(top => 1 + rows.findIndex(row => Math.abs(row.{height} - top) < 8))"""
    assert lab.js(lines) == LINES
    assert "data-race" in lab.js(f"return {SIGNS}[0].title")
    marked = lab.js("return [...document.querySelectorAll('.pyptx-python .pyptx-marked')].map(row => row.textContent)")
    assert len(marked) == 2 and all(".shared." in row for row in marked)
    lab.shot("60-findings")


def test_the_panel_has_the_last_verdict(checked):
    lab = checked
    lab.command("pyptx:show-panel")
    lab.wait("return document.querySelector('.pyptx-panel-check')?.innerText.includes('1 error')")


def test_a_line_of_the_report_is_revealed(checked):
    lab = checked
    lab.js("document.querySelectorAll('.pyptx-report .pyptx-place')[1].click()")
    lab.wait("return jupyterapp.shell.currentWidget.content.activeCellIndex === 1")
    line = lab.js("return jupyterapp.shell.currentWidget.content.activeCell.editor.getCursorPosition().line + 1")
    assert line in LINES
    assert lab.js("return document.querySelectorAll('.pyptx-ptx .pyptx-active').length") == 1


def test_show_me_opens_the_debugger_at_the_second_access(checked):
    lab = checked
    lab.js("document.querySelector('.pyptx-showme').click()")
    lab.wait("return document.querySelectorAll('.pyptx-report .pyptx-access').length === 2")
    assert "data-race" in lab.text(".pyptx-report .pyptx-stop")
    step = lab.text(".pyptx-report .pyptx-count").split()[1]
    assert f"step {step}" in lab.js("return document.querySelector('.pyptx-report .pyptx-second').title")
    lab.js("document.querySelector('.pyptx-report .pyptx-debug').scrollIntoView()")
    lab.shot("61-replay")
    lab.js("document.querySelector('.pyptx-report .pyptx-access').click()")  # to the first access
    lab.wait(f"return document.querySelector('.pyptx-report .pyptx-count').innerText !== 'step {step}'")
    lab.theme("JupyterLab Dark")
    lab.shot("62-replay-dark")
    lab.theme("JupyterLab Light")
    assert lab.complaints == []
