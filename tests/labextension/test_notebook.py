"""Notebook 7: the extension marks findings, compiles while typing, and links views, as in JupyterLab."""

from __future__ import annotations

import pytest
from selenium.webdriver.common.keys import Keys
from support.browser import leave_page

pytestmark = pytest.mark.browser

KERNEL = """%%ptxkernel -p N=1024
from pyptx import Tile, kernel, ptx, smem
from pyptx.types import f32

@kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: N // 64, block=64)
def swap(x, y):
    tile = smem.alloc(f32, 64)
    tile[ptx.tid.x] = x[ptx.global_id()]
    y[ptx.global_id()] = tile.load(ptx.tid.x ^ 63)
"""
RACE = "import numpy as np\nswap.check(np.arange(1024, dtype=np.float32))"
CELL = "document.querySelectorAll('.jp-Cell')[1]"


@pytest.fixture(scope="module")
def notebook(start, chromium):
    page = start(chromium, "notebook", "--JupyterNotebookApp.expose_app_in_browser=True")
    page.write("swap.ipynb", "%load_ext pyptx", KERNEL, RACE)
    page.open("swap.ipynb", page="notebooks")
    page.wait_for_kernel()
    page.command("notebook:run-all-cells")
    page.wait("return document.querySelector('.jp-OutputArea .pyptx-linked')", limit_s=120)
    page.wait("return document.querySelector('.pyptx-showme')", limit_s=120)
    yield page
    leave_page(chromium)


def test_lines_of_the_view_are_linked(notebook):
    rows = "[...document.querySelectorAll('.pyptx-python .pyptx-row')]"
    notebook.hover(
        notebook.wait(f"return {rows}.find(row => row.textContent.includes('tile[ptx.tid.x] =')).firstElementChild")
    )
    notebook.wait("return document.querySelectorAll('.pyptx-sass .pyptx-row.pyptx-exact').length > 5")


def test_findings_mark_the_lines_of_the_cell(notebook):
    notebook.wait(f"return {CELL}.querySelectorAll('.pyptx-sign').length === 2")
    notebook.shot("80-notebook")


def test_a_race_is_replayed(notebook):
    notebook.js("document.querySelector('.pyptx-showme').click()")
    notebook.wait("return document.querySelectorAll('.pyptx-report .pyptx-access').length === 2")
    notebook.shot("81-notebook-replay")


def test_a_cell_is_compiled_while_it_is_typed(notebook):
    notebook.js(f"{CELL}.querySelector('.cm-content').scrollIntoView()")
    line = f"[...{CELL}.querySelectorAll('.cm-line')].find(line => line.textContent.includes('tile.load'))"
    notebook.js(f"return {line}").click()
    notebook.keys(Keys.END, " * 2.0")
    notebook.wait(f"return ({CELL}.querySelector('.pyptx-typed')?.innerText ?? '').includes('FMUL')")
    notebook.shot("82-notebook-typing")
    assert notebook.complaints == []
