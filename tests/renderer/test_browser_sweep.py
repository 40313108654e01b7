"""The sweep as a page in Chromium: maps, keyboard, table, new data, requests of points."""

from __future__ import annotations

import json

import pytest
from selenium.webdriver import Keys
from selenium.webdriver.support.ui import WebDriverWait
from views.handmade import saxpy
from views.sweeps import sweep

from pyptx.views import linked

pytestmark = pytest.mark.browser

ASK = """
    window.asked = [];
    const ask = name => async (...points) => {
      asked.push([name, ...points]);
      if (name === "diff") throw new Error("ptxas refuses one of them");
      return arguments[0];
    };
    window.pyptx.view.destroy();
    const names = ["pause", "resume", "stop", "use", "restore", "view", "diff"];
    const actions = Object.fromEntries(names.map(name => [name, ask(name)]));
    window.view = pyptx.mount(document.getElementById("view"), pyptx.data, {actions});
"""


def cells(page) -> list[str]:
    return [
        "".join(cell.split())
        for cell in page.js("return [...document.querySelectorAll('.pyptx-cell')].map(cell => cell.innerText)")
    ]


def test_maps_repeat_colors_as_signs_and_numbers(page):
    page.open(sweep(done=0.6, state="running"))
    assert len(page.all(".pyptx-map")) == 3, "a map for each number of stages"
    shown = cells(page)
    assert len(shown) == 36
    assert shown.count("–") == 6 and any(text.startswith("★○1.92") for text in shown)
    assert {text[0] for text in shown} >= {"○", "·", "◇", "–"}
    assert "running: 36 of 60 points, about 19 s left" in page.one(".pyptx-run").text
    assert page.one("[role=progressbar]").get_attribute("aria-valuenow") == "36"
    assert page.all(".pyptx-run button") == [], "nothing to pause where nothing runs"
    assert "best modeled" in page.one(".pyptx-header").text
    assert "not timed on a GPU" in page.one(".pyptx-legend").text


def test_a_run_that_an_error_ended_is_shown_as_far_as_it_came(page):
    page.open(sweep(done=0.6, state="failed"))
    assert "failed with an error: 36 of 60 points" in page.one(".pyptx-run").text and len(cells(page)) == 36


def test_a_value_of_the_last_parameter_shows_its_feasible_points(page):
    page.open(sweep())
    picker = page.all(".pyptx-picker button")
    assert [button.text for button in picker] == ["best", "64 29/36", "128 17/36"]
    picker[2].click()
    shown = cells(page)
    assert sum(text.startswith("✕") for text in shown) == 12 and "≠wrong" in shown
    refused = next(cell for cell in page.all(".pyptx-s-refused.pyptx-cell"))
    page.hover(refused)
    assert "bytes of shared memory" in page.one(".pyptx-details").text
    assert "refused" in refused.get_attribute("aria-label")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_on_every_color_can_be_read(page, dark: bool):
    page.open(sweep(), dark=dark)
    pairs = page.js("""
        const canvas = document.createElement("canvas").getContext("2d");
        const rgb = color => {
          canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data];
        };
        return [...document.querySelectorAll(".pyptx-shaded")].map(cell => {
          const style = getComputedStyle(cell); return [rgb(style.color), rgb(style.backgroundColor)];
        })""")
    assert len(pairs) > 20
    assert min(contrast(*pair) for pair in pairs) > 4.3


def contrast(one: list[int], other: list[int]) -> float:
    """Source: WCAG 2, contrast ratio."""

    def light(color: list[int]) -> float:
        linear = [c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in color[:3]]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_the_keyboard_moves_through_the_maps(page):
    page.open(sweep())
    page.js("document.querySelector('.pyptx-cell').focus()")
    page.keys("b")
    label = "return document.activeElement.getAttribute('aria-label')"
    assert "the best" in page.js(label)
    page.keys(Keys.HOME, Keys.ARROW_UP, Keys.ARROW_UP)
    assert page.js(label).startswith("BM 64, BN 64")
    page.keys(Keys.ARROW_LEFT)
    assert page.js(label).startswith("BM 64, BN 256") and "STAGES 3" in page.js(label), "over to the map before it"
    page.keys(Keys.ENTER)
    assert page.status.startswith("BM 64, BN 256")
    page.keys("t")
    assert page.one(".pyptx-table").is_displayed() and not page.one(".pyptx-maps").is_displayed()
    assert len(page.all(".pyptx-cell[tabindex='0']")) == 1


def test_the_table_is_sorted_and_filtered(page):
    page.open(sweep())
    page.one("[data-shown=table]").click()
    rows = "return [...document.querySelectorAll('.pyptx-table tbody tr')].map(row => row.children[{}].innerText)"
    times = [float(text) for text in page.js(rows.format(5)) if text]
    assert times == sorted(times) and len(page.all(".pyptx-table tbody tr")) == 60
    page.one("[data-key=registers]").click()
    assert page.one("th[aria-sort=ascending]").text.startswith("registers")
    page.one("[data-key=registers]").click()
    numbers = [int(text) for text in page.js(rows.format(9)) if text]
    assert numbers == sorted(numbers, reverse=True)
    page.one(".pyptx-chip.pyptx-s-refused").click()
    assert len(page.all(".pyptx-table tbody tr")) == 48


def test_points_are_opened_compared_and_used(page):
    page.open(sweep())
    page.js(ASK, linked(saxpy(), block=128).to_json())
    page.js("document.querySelectorAll('.pyptx-cell')[2].click()")
    WebDriverWait(page.chrome, 10).until(lambda _: page.all(".pyptx-drawer .pyptx-sass .pyptx-row"))
    page.js(
        "document.querySelectorAll('.pyptx-cell')[5].dispatchEvent("
        "new MouseEvent('click', {bubbles: true, shiftKey: true}))"
    )
    WebDriverWait(page.chrome, 10).until(lambda _: "ptxas refuses one of them" in page.one(".pyptx-drawer").text)
    assert len(page.all(".pyptx-is-first")) == 1 and len(page.all(".pyptx-is-second")) == 1
    page.one(".pyptx-acts .pyptx-strong").click()
    first, second = (int(page.one(f".pyptx-is-{name}").get_attribute("data-point")) for name in ("first", "second"))
    assert page.js("return asked") == [["view", first], ["diff", first, second], ["use", first]]
    page.js("view.update({...pyptx.data, choice: arguments[0]})", first)
    page.js(
        "[...document.querySelectorAll('.pyptx-acts button')].find(b => b.textContent === 'Restore defaults').click()"
    )
    assert page.js("return asked.at(-1)") == ["restore"]
    page.js("document.querySelector('.pyptx-is-first').focus()")
    page.keys(Keys.ESCAPE)
    assert not page.one(".pyptx-drawer").is_displayed()


def test_new_data_keep_the_selection(page):
    page.open(sweep(done=0.3, state="running"))
    page.js(ASK, {})
    page.js("document.querySelectorAll('.pyptx-picker button')[1].click()")
    page.js("document.querySelector('.pyptx-cell').focus()")
    page.one("[data-act=pause]").click()
    page.js("view.update(arguments[0])", json.loads(json.dumps(sweep(done=0.6, state="paused").to_json())))
    assert [button.get_attribute("data-act") for button in page.all(".pyptx-run button")] == ["resume", "stop"]
    assert page.one(".pyptx-picker [aria-pressed=true]").text.startswith("64")
    assert page.status == "paused" and page.js("return asked") == [["pause"]]
    page.js("view.update(arguments[0])", json.loads(json.dumps(sweep().to_json())))
    assert page.status.startswith("finished; best: BM 256, BN 128")
