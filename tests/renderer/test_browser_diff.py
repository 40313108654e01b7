"""The live diff in Chromium: rows side by side, filters, folds, jumps, keys, themes, speed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from selenium.webdriver import Keys
from support.painting import painted
from views.handmade import large, saxpy

from pyptx.analysis.diff.comparison import Comparison, Row, group_hunks
from pyptx.views import Diff, linked

pytestmark = pytest.mark.browser


def made(view, rows: list[Row], other=None, **parts) -> Diff:
    return Diff(
        level="sass",
        left=view,
        right=other or view,
        compared=Comparison(tuple(rows), group_hunks(rows)),
        facts=(),
        verdict="As the test says.",
        **parts,
    )


@pytest.fixture(scope="module")
def view() -> Diff:
    """The small kernel with one line changed, one with another register, and two that have changed places."""
    left = linked(saxpy(), block=128)
    text = list(left.sass.text)
    text[16] = "FMUL R7, R2, UR6"
    text[4] = "IMAD R9, R7, UR4, R0"
    text[9], text[10] = text[10], text[9]
    right = replace(left, title="other", sass=replace(left.sass, text=tuple(text)))
    rows = [Row(n, n, 0) for n in range(4)] + [Row(4, 4, 1)] + [Row(n, n, 0) for n in range(5, 9)]
    rows += [Row(9, -1, 2, partner=10), Row(10, 9, 0), Row(-1, 10, 2, partner=9)]
    rows += [Row(n, n, 0, control=n == 13) for n in range(11, 16)] + [Row(16, 16, 3, "instruction")]
    rows += [Row(n, n, 0) for n in range(17, 20)]
    return made(left, rows, right)


def shown(page, side: str) -> list[str]:
    return page.js(f"return [...document.querySelectorAll('.pyptx-{side} .pyptx-row')].map(row => row.textContent)")


def lines(page, side: str) -> int:
    """How many lines a side has, drawn or not yet."""
    return int(page.one(f".pyptx-{side} [role=option]").get_attribute("aria-setsize"))


def active(page) -> list[tuple[str, int]]:
    return [(side, row) for side in ("left", "right") for row in page.marked(side, "active")]


def test_both_sides_are_aligned(page, view):
    page.open(view)
    left, right = shown(page, "left"), shown(page, "right")
    assert len(left) == len(right) == len(view.compared.rows)
    assert "IMAD R7, R7, UR4, R0" in left[4]
    assert "IMAD R9, R7, UR4, R0" in right[4]
    assert "≈ renamed" in right[4]
    assert "! different" in right[17]
    assert "moved down" in right[9]
    assert "scheduling" in right[14]
    assert page.one(".pyptx-verdict").text == "As the test says."


def test_words_that_differ_are_marked(page, view):
    page.open(view)
    marks = page.js("return [...document.querySelectorAll('.pyptx-left .pyptx-changed')].map(mark => mark.textContent)")
    assert marks[0] == "R7"
    assert "FFMA" in marks


def test_n_and_p_go_to_real_differences_only(page, view):
    page.open(view)
    page.one(".pyptx-left .pyptx-list").click()
    page.keys("n")
    assert active(page) == [("left", 17)]
    assert page.status.startswith("different, instruction  ·  Cell In[3]:15")
    page.keys("n")
    assert active(page) == [("left", 17)], "there is one"
    page.keys("P")
    assert active(page) == [("left", 11)]
    page.keys("P", "P")
    assert active(page) == [("left", 4)]
    page.keys("p")
    assert active(page) == [("left", 17)]


def test_enter_goes_to_the_other_place_of_a_moved_line(page, view):
    page.open(view)
    page.row("left", 9).click()
    assert page.marked("right", "exact") == [11]
    page.keys(Keys.ENTER)
    assert active(page) == [("right", 11)]
    page.keys(Keys.ARROW_LEFT, Keys.ARROW_UP)
    assert active(page) == [("left", 10)]
    page.keys(Keys.ESCAPE)
    assert active(page) == []


def test_classes_can_be_hidden(page, view):
    page.open(view)
    page.one(".pyptx-class.pyptx-k0").click()
    assert all(
        "identical rows" in row or "renamed" in row or "moved" in row or "different" in row
        for row in shown(page, "right")
    )
    assert any("▸ 4 identical rows" in row for row in shown(page, "left"))
    page.one(".pyptx-class.pyptx-k0").click()
    assert len(shown(page, "left")) == len(view.compared.rows)


def many(count: int = 20_000, every: int = 500) -> Diff:
    view = large(sass=count, ptx=2_000, python=200)
    return made(
        view, [Row(n, n, 3 if n % every == 250 else 0, "operands" if n % every == 250 else "") for n in range(count)]
    )


def test_identical_runs_are_folded_and_can_be_opened(page):
    page.open(many(2000))
    assert "▸ 247 identical rows" in shown(page, "left")[0]
    before = lines(page, "left")
    page.one(".pyptx-left .pyptx-head").click()
    assert lines(page, "left") == lines(page, "right") == before + 246
    page.keys("e")
    assert lines(page, "left") == before, "closed again"


def test_both_sides_scroll_together(page):
    page.open(many(4000))
    page.one(".pyptx-left .pyptx-list").click()
    page.keys("e")
    page.js("document.querySelector('.pyptx-right .pyptx-list').scrollTop = 30000")
    page.chrome.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    assert page.scrolled("left") == page.scrolled("right") == 30000


def test_search_finds_on_both_sides(page, view):
    page.open(view)
    page.one(".pyptx-left .pyptx-list").click()
    page.keys("/", "FMUL")
    assert page.one(".pyptx-hits").text == "left 0 · right 1"
    page.keys(Keys.ENTER)
    assert active(page) == [("right", 17)]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_has_sufficient_contrast_in_both_themes(page, view, dark):
    page.open(view, dark=dark)
    faint = page.js("""
        const pen = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
        const over = (...layers) => {
          for (const layer of layers) { pen.fillStyle = layer; pen.fillRect(0, 0, 1, 1); }
          return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
        };
        const light = rgb => rgb.map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
          .reduce((sum, v, n) => sum + v * [0.2126, 0.7152, 0.0722][n], 0);
        const base = getComputedStyle(document.querySelector(".pyptx-linked")).backgroundColor;
        return [...document.querySelectorAll(".pyptx-row .pyptx-code, .pyptx-row .pyptx-code *, .pyptx-row .pyptx-col")]
          .map(part => {
            const paper = light(over(base, getComputedStyle(part.closest(".pyptx-row")).backgroundColor));
            const ink = light(over(getComputedStyle(part).color));
            return [(Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05), part.textContent];
          }).filter(([ratio]) => ratio < 4.5);""")
    assert faint == []


def test_everything_has_a_name(page, view):
    page.open(view)
    controls = [control for control in page.all("button, input, summary") if control.is_displayed()]
    assert [control.get_attribute("outerHTML") for control in controls if not control.accessible_name] == []
    lists = page.all("[role=listbox]")
    assert [item.get_attribute("aria-label") for item in lists] == [
        "saxpy · sm_90a · SASS 20 · Cell In[3]: 21 lines",
        "other · sm_90a · SASS 20 · Cell In[3]: 21 lines",
    ]


def test_a_diff_of_a_newer_version_says_so_and_removal_leaves_nothing(page, view):
    page.open(view)
    text = page.js("""
        const box = document.createElement("div");
        window.pyptx.mount(box, {...window.pyptx.data, version: 2});
        return box.textContent;""")
    assert "version 2; this renderer supports diff, version 1" in text
    assert page.js("window.pyptx.view.destroy(); return document.getElementById('view').childElementCount") == 0


def test_twenty_thousand_rows_stay_quick(page, capsys):
    """Asserted is the work of the page's thread, as for the linked view; two panes scroll together."""
    page.open(many())
    open_all = "document.querySelector(\".pyptx-button[title^='Unfold or fold']\").click()"
    measured = painted(page, ".pyptx-left .pyptx-list", after=open_all)
    with capsys.disabled():
        print(f"\n20,000 rows: {measured}")
    assert measured.nodes < 4000
    assert measured.first_work < 500
    assert max(measured.frame_work) < 100
