"""The roofline in Chromium: chart, pointer, keyboard, levels, the code of a point, files, themes."""

from __future__ import annotations

import csv
import io
import json
import xml.etree.ElementTree as xml
from dataclasses import replace

import pytest
from selenium.webdriver import Keys
from selenium.webdriver.support.ui import WebDriverWait
from views.handmade import saxpy
from views.rooflines import four, sweep
from views.sweeps import sweep as swept

from pyptx.views import linked

pytestmark = pytest.mark.browser


def tip(page) -> str:
    return page.one(".pyptx-roof-tip").text


def chosen(page) -> int | None:
    return page.js("return document.querySelector('.rf-point.rf-on')?.dataset.point ?? null")


def test_points_roofs_and_table_are_drawn(page):
    page.open(four())
    fills = page.js("""return Object.fromEntries([...document.querySelectorAll('.rf-point')].map(point =>
        [point.dataset.point, getComputedStyle(point.querySelector('circle')).fill]))""")
    ground = page.js("return getComputedStyle(document.querySelector('.rf-page')).fill")
    assert {number for number, fill in fills.items() if fill == ground} == {"1", "3"}, "modeled points are hollow"
    words = page.js("return [...document.querySelectorAll('.rf-chart text')].map(text => text.textContent)")
    assert {"wgmma bf16 989 TFLOP/s", "mma bf16 660 TFLOP/s", "DRAM 4.8 TB/s", "softmax 90%"} <= set(words)
    rows = [row.text for row in page.all(".pyptx-roof-table tbody tr")]
    assert len(rows) == 4
    assert "measured" in rows[0] and "1.48 ms (1.47 ms to 1.5 ms)" in rows[0]
    assert "tensor pipe 81 %" in rows[1]
    assert page.js("return document.documentElement.scrollWidth <= window.innerWidth"), "nothing sticks out"


def test_the_pointer_shows_the_formula(page):
    page.open(four())
    page.hover(page.one(".rf-point[data-point='2'] circle"))
    assert chosen(page) == "2"
    for words in ("softmax", "201 MFLOP / 268 MB of DRAM = 0.75 FLOP/B", "limit: DRAM 4.8 TB/s", "DRAM 90 %"):
        assert words in tip(page)
    page.hover(page.one(".pyptx-header"))
    assert chosen(page) is None
    page.hover(page.one(".pyptx-roof-table tbody tr:nth-child(4)"))
    assert chosen(page) == "3", "a row stands for its point"


def test_the_keyboard_visits_and_announces_the_points(page):
    page.open(four())
    page.js("document.querySelector('.pyptx-roof-plot').focus()")
    page.keys(Keys.HOME)
    assert chosen(page) == "2"
    assert page.status == ("softmax, measured; 3.23 TFLOP/s at 0.75 FLOP/B, 90% of the limit DRAM 4.8 TB/s; DRAM 90 %")
    page.keys(Keys.ARROW_UP)
    assert chosen(page) == "3"
    page.keys(Keys.ARROW_RIGHT)
    assert chosen(page) == "0"
    page.keys(Keys.END)
    assert chosen(page) == "1"
    page.keys("m")
    assert [point.get_attribute("data-point") for point in page.all(".rf-point")] == ["0", "2"]
    page.keys(Keys.ESCAPE)
    assert chosen(page) is None


def test_levels_are_turned_by_button_and_key(page):
    page.open(four())
    page.one("[data-tool=l2]").click()
    assert page.one("[data-tool=l2]").get_attribute("aria-pressed") == "true"
    words = page.js("return [...document.querySelectorAll('.rf-chart text')].map(text => text.textContent)")
    assert "Arithmetic intensity (FLOP per byte of L2)" in words
    assert "bytes, L2" in page.one(".pyptx-roof-table thead").text
    page.keys("l")
    assert len(page.all(".rf-point")) == 3, "shared memory of layer norm was not counted"
    assert "layer_norm" in page.one(".pyptx-roof-table").text


def test_a_click_opens_the_code_and_escape_closes_it(page):
    points = list(four().points)
    points[2] = replace(points[2], view="own")
    page.open(replace(four(), points=tuple(points), views={"own": linked(saxpy(), block=128)}))
    page.one(".rf-point[data-point='2'] circle").click()
    drawer = page.one(".pyptx-roof-drawer")
    assert drawer.get_attribute("aria-busy") == "false"
    assert "saxpy" in drawer.text
    assert page.all(".pyptx-roof-drawer .pyptx-sass .pyptx-row")
    page.one(".pyptx-roof-plot").click()
    page.keys(Keys.ESCAPE)
    assert page.all(".pyptx-roof-drawer .pyptx-row") == []
    page.one(".pyptx-roof-table .pyptx-roof-open").click()
    assert 'pyptx.history.version("gemm@4").view()' in page.one(".pyptx-roof-drawer").text, "kept elsewhere"


def test_a_missing_view_is_requested(page):
    page.open(four())
    page.js(
        """window.pyptx.view.destroy();
        const view = async (name, point) => {
          if (name !== "gemm@4" || point !== 0) throw new Error("what?");
          return arguments[0];
        };
        pyptx.mount(document.getElementById("view"), pyptx.data, {actions: {view}});""",
        linked(saxpy(), block=128).to_json(),
    )
    page.one(".pyptx-roof-table .pyptx-roof-open").click()
    WebDriverWait(page.chrome, 20).until(lambda _: page.all(".pyptx-roof-drawer .pyptx-sass"))


def test_files_are_the_chart_and_the_points(page):
    view = four()
    page.open(view)
    page.js("""window.saved = {};
        URL.createObjectURL = blob => { window.blob = blob; return "#"; };
        HTMLAnchorElement.prototype.click = function () {
          const name = this.download;
          blob.text().then(text => { saved[name] = text; });
        };""")
    for tool in ("svg", "csv", "png"):
        page.one(f"[data-tool={tool}]").click()
        WebDriverWait(page.chrome, 20).until(
            lambda _, name=f"{view.title}.{tool}": page.js("return saved[arguments[0]]", name)
        )
    saved = page.js("return saved")
    chart = saved[f"{view.title}.svg"]
    assert {"circle", "line", "text"} <= {element.tag.rpartition("}")[2] for element in xml.fromstring(chart).iter()}
    assert "var(" not in chart and 'stroke="rgb(' in chart
    assert saved[f"{view.title}.png"][1:4] == "PNG"
    own, theirs = (list(csv.reader(io.StringIO(text))) for text in (view.csv(), saved[f"{view.title}.csv"]))
    assert own[0] == theirs[0]
    for row, other in zip(own[1:], theirs[1:], strict=True):
        assert [_value(text) for text in row] == [_value(text) for text in other]


def _value(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text


def test_new_data_keeps_level_and_choice(page):
    page.open(sweep())
    page.one("[data-tool=l2]").click()
    page.js(
        "pyptx.view.select(3); pyptx.view.update(JSON.parse(arguments[0]))",
        json.dumps(sweep().with_points(four().points).to_json()),
    )
    assert page.one("[data-tool=l2]").get_attribute("aria-pressed") == "true"
    assert chosen(page) == "3"
    assert len(page.all(".rf-point")) == 40


@pytest.mark.parametrize("width", [420, 1500])
def test_the_chart_fills_the_width_in_both_themes(page, width):
    for dark in (False, True):
        page.open(four(), dark=dark, width=width)
        assert abs(page.js("return document.querySelector('.rf-chart').getBoundingClientRect().width") - width) < 40
        ink, ground = (
            page.js("return getComputedStyle(document.querySelector(arguments[0])).fill", selector)
            for selector in (".rf-chart text.rf-name", ".rf-page")
        )
        assert (sum(map(int, ink[4:-1].split(","))) > sum(map(int, ground[4:-1].split(",")))) is dark


def test_points_of_a_sweep_open_from_its_roofline(page):
    page.open(swept())
    points = [replace(point, view=f"point {number}") for number, point in enumerate(sweep().points)]
    page.js(
        """window.asked = [];
        window.pyptx.view.destroy();
        const roofline = async () => arguments[0], view = async point => { asked.push(point); return arguments[1]; };
        pyptx.mount(document.getElementById("view"), pyptx.data, {actions: {roofline, view}});""",
        replace(sweep(), points=tuple(points)).to_json(),
        linked(saxpy(), block=128).to_json(),
    )
    next(button for button in page.all(".pyptx-toolbar button") if button.text == "Roofline").click()
    WebDriverWait(page.chrome, 20).until(lambda _: len(page.all(".pyptx-drawer .rf-point")) == 36)
    page.all(".pyptx-drawer .pyptx-roof-open")[5].click()
    WebDriverWait(page.chrome, 20).until(lambda _: page.all(".pyptx-roof-drawer .pyptx-sass .pyptx-row"))
    assert page.js("return asked") == [5]
