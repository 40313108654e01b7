"""Kernel cells in JupyterLab while they are typed: errors underlined, one line of difference from the last run."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser

KERNEL = """%%ptxkernel -p N=1024
from pyptx import Tile, kernel, ptx
from pyptx.types import f32

@kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: N // 128, block=128)
def scale(x, y):
    i = ptx.global_id()
    value = x[i]
    y[i] = value * 2.0
"""
LINE = "(document.querySelectorAll('.jp-Cell')[1].querySelector('.pyptx-typed')?.innerText ?? '')"


def edit(lab, before: str, after: str) -> None:
    lab.js(
        "const cell = jupyterapp.shell.currentWidget.content.widgets[1].model.sharedModel;"
        "const at = cell.getSource().indexOf(arguments[0]);"
        "cell.updateSource(at, at + arguments[0].length, arguments[1])",
        before,
        after,
    )


@pytest.fixture(scope="module")
def cell(lab):
    """A kernel cell that ran."""
    lab.write("typing.ipynb", "%load_ext pyptx", KERNEL, "scale.name")
    lab.open("typing.ipynb")
    lab.run_all()
    lab.wait("return document.querySelector('.jp-OutputArea .pyptx-linked')", limit_s=120)
    lab.wait("return jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'idle'")
    return lab


def test_the_difference_from_the_last_run_is_one_line(cell):
    lab = cell
    assert lab.js(f"return {LINE}") == ""
    edit(lab, "value * 2.0", "value * 2.0 + value * value")
    lab.wait(f"return {LINE}.includes('FFMA')")
    assert lab.js(f"return {LINE}").startswith("while typing: ")
    lab.shot("70-typing")
    lab.theme("JupyterLab Dark")
    lab.shot("71-typing-dark")
    lab.theme("JupyterLab Light")


def test_the_namespace_is_not_touched(cell):
    lab = cell
    edit(lab, "def scale", "def scaled")
    lab.wait(f"return {LINE}.includes('registers')")
    lab.js("jupyterapp.shell.currentWidget.content.activeCellIndex = 2")
    edit_third = "jupyterapp.shell.currentWidget.content.widgets[2].model.sharedModel.setSource(arguments[0])"
    lab.js(edit_third, "'scaled' in globals(), scale.name")
    lab.command("notebook:run-cell")
    lab.wait("return document.querySelectorAll('.jp-Cell')[2].innerText.includes(\"(False, 'scale')\")")
    edit(lab, "def scaled", "def scale")


def test_errors_are_underlined_at_their_lines(cell):
    lab = cell
    edit(lab, "value = x[i]", "value = x[j]")
    lab.wait("return document.querySelectorAll('.jp-Cell')[1].querySelector('.cm-lintRange-error')")
    assert "x[j]" in lab.js("return document.querySelector('.cm-lintRange-error').closest('.cm-line').innerText")
    lab.wait("return document.querySelectorAll('.jp-Cell')[1].querySelectorAll('.pyptx-sign').length === 1")
    lab.js("document.querySelector('.pyptx-sign').scrollIntoView({block: 'center'})")
    lab.shot("72-typing-error")
    edit(lab, "value = x[j]", "value = x[i]")
    lab.wait("return !document.querySelector('.cm-lintRange-error, .pyptx-sign')")


def test_a_run_clears_the_line(cell):
    lab = cell
    lab.js("jupyterapp.shell.currentWidget.content.activeCellIndex = 1")
    lab.command("notebook:run-cell")
    lab.wait(f"return {LINE} === ''")
    assert lab.complaints == []


def test_the_switch_turns_it_off(cell):
    lab = cell
    path = "/lab/api/settings/pyptx-lab:plugin"
    lab.put(path, {"raw": '{"typing": false}'})
    try:
        lab.open("typing.ipynb")
        lab.wait_for_kernel()
        edit(lab, "value * 2.0", "value * 4.0")
        lab.js("window.asked = Date.now()")
        lab.wait("return Date.now() - window.asked > 2500")
        assert lab.js(f"return {LINE}") == ""
    finally:
        lab.put(path, {"raw": "{}"})
