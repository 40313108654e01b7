"""The roofline of a kernel cell, and the recorded code of its points."""

from __future__ import annotations

import pytest

from .test_extension import KERNEL

pytestmark = pytest.mark.browser

ROOFLINE = """import numpy as np
from dataclasses import replace
a = np.ones(1000, np.float32)
view = add.roofline(a, a)
kept = replace(view.points[0], name="add, kept", view="add@1", seconds=5e-6)
replace(view, points=(*view.points, kept), title="add, twice")
"""


@pytest.fixture(scope="module")
def page(lab):
    lab.write("roofline.ipynb", "%load_ext pyptx", KERNEL, ROOFLINE)
    lab.open("roofline.ipynb")
    lab.run_all()
    lab.wait("return document.querySelectorAll('.pyptx-roofline .rf-point').length === 2")
    lab.js("document.querySelector('.pyptx-roofline').scrollIntoView()")
    return lab


def test_the_output_is_the_live_chart(page):
    page.js("document.querySelector('.pyptx-roof-plot').focus({preventScroll: true})")
    page.hover(page.one(".rf-point[data-point='0'] circle"))
    page.wait("return document.querySelector('.pyptx-roof-tip').innerText.includes('1 kFLOP / 8 kB of DRAM')")
    assert "modeled" in page.text(".pyptx-roof-table")
    page.shot("20-roofline")


def test_a_point_opens_the_version_that_the_server_keeps(page):
    page.js("document.querySelectorAll('.pyptx-roof-open')[1].click()")
    page.wait("return document.querySelector('.pyptx-roof-drawer .pyptx-sass .pyptx-row')")
    assert page.text(".pyptx-roof-drawer .pyptx-title").startswith("add")
    assert page.complaints == []


def test_it_is_dark_where_the_notebook_is(page):
    page.theme("JupyterLab Dark")
    ink, ground = (
        page.js(
            "return getComputedStyle(document.querySelector(arguments[0])).fill.match(/[0-9]+/g)"
            ".slice(0, 3).reduce((sum, part) => sum + Number(part), 0)",
            selector,
        )
        for selector in (".rf-chart text.rf-name", ".rf-page")
    )
    page.js("document.querySelector('.pyptx-roofline').scrollIntoView()")
    page.shot("21-roofline-dark")
    page.theme("JupyterLab Light")
    assert ink > ground + 300
