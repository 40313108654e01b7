"""The debugger as a page in Chromium: marks, commands of keys and clicks, state."""

from __future__ import annotations

import json
from typing import Any

import pytest
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.support.ui import WebDriverWait
from views.debugging import document, large, sources, view

from pyptx.views.debugger import DebugView

pytestmark = pytest.mark.browser

LIVE = """
    window.asked = [];
    const command = async (name, values) => {
      asked.push([name, values]);
      if (name === "watch" && values.text === "wrong") throw new Error("wrong: no register is called so");
      if (name === "resume") await new Promise(resolve => { window.paused = resolve; });
      if (name === "pause") window.paused();
      if (name === "step") window.view.update({...pyptx.data.document, step: pyptx.data.document.step + values.n});
    };
    window.pyptx.view.destroy();
    window.view = pyptx.mount(document.getElementById("view"), pyptx.data, {command});
"""


def live(page, own: DebugView | None = None, **options: Any):
    page.open(own or view(), **options)
    page.js(LIVE)
    settle(page)
    return page


def settle(page) -> None:
    WebDriverWait(page.chrome, 20).until(lambda _: not page.all("[aria-busy=true]"))


def asked(page) -> list[list[Any]]:
    """What the session was asked since the last time."""
    settle(page)
    return page.js("return asked.splice(0)")


def test_the_place_the_other_warps_and_breakpoints_are_marked(page):
    page.open(view())
    assert {pane: page.marked(pane, "here") for pane in ("python", "ptx")} == {"python": [16], "ptx": [27]}
    stops = page.marked("ptx", "stops")
    assert stops == [27, 29]
    signs = [row.text for row in page.all(".pyptx-ptx .pyptx-stops .pyptx-point")]
    assert signs == ["◆", "○"], "on a condition, and switched off"
    assert page.one(".pyptx-ptx .pyptx-row[data-row='26'] .pyptx-warps").text == "3"
    row = page.one(".pyptx-ptx .pyptx-here")
    assert row.get_attribute("aria-current") == "true"
    assert "Breakpoint 1 if lane == 3: 2 hits" in row.get_attribute("aria-description")
    assert "breakpoint 1 at pipeline.py:16 if lane == 3" in page.one(".pyptx-stop").text
    assert page.all(".pyptx-toolbar [data-act]") == [], "nothing to move without a session"
    assert len(page.all(".pyptx-keys dt")) == 3


def test_keys_and_buttons_step_and_quick_steps_are_merged(page):
    live(page)
    page.one(".pyptx-ptx .pyptx-list").click()
    asked(page)
    page.js("""const list = document.querySelector(".pyptx-ptx .pyptx-list");
        for (const key of ["s", "s", "s", "n", "F10", "w", "f", "S", "N", "R", "[", ">"])
          list.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}))""")
    assert asked(page) == [
        ["step", {"n": 1}],
        ["step", {"n": 2}],
        ["next", {}],
        ["next", {}],
        ["next_warp", {}],
        ["finish", {}],
        ["back", {"n": 1}],
        ["back_line", {}],
        ["rewind", {}],
        ["focus", {"cta": [0, 0, 0], "warp": 8}],
        ["focus", {"lane": 4}],
    ]
    assert page.one(".pyptx-count").text == "step 214"
    page.one("[data-act=back_line]").click()
    page.one(".pyptx-warp:nth-child(5)").click()
    page.js("const s = document.querySelector('.pyptx-slider'); s.value = 40; s.dispatchEvent(new Event('input'))")
    assert asked(page) == [["back_line", {}], ["focus", {"cta": [0, 0, 0], "warp": 4}], ["goto", {"step": 40}]]


def test_breakpoints_are_set_in_the_margin_and_by_keys(page):
    live(page)
    margin = ".pyptx-{} .pyptx-row[data-row='{}'] .pyptx-no"
    page.one(margin.format("ptx", 24)).click()
    page.one(margin.format("ptx", 27)).click()
    page.one(margin.format("python", 15)).click()
    assert asked(page) == [
        ["break", {"place": "ptx:25"}],
        ["unbreak", {"id": 1}],
        ["break", {"place": "pipeline.py:15"}],
    ]
    ActionChains(page.chrome).context_click(page.one(margin.format("ptx", 24))).perform()
    page.keys("lane == 7", Keys.ENTER)
    assert asked(page) == [["break", {"place": "ptx:25", "condition": "lane == 7"}]]
    WebDriverWait(page.chrome, 10).until(lambda _: not page.all(".pyptx-condition"))
    page.row("ptx", 25).click()
    page.keys("b", "g")
    assert asked(page) == [["break", {"place": "ptx:26"}], ["run_to", {"place": "ptx:26"}]]


def test_a_run_is_paused_and_an_error_is_shown_with_what_was_typed(page):
    live(page)
    page.one("[data-act=resume]").click()
    WebDriverWait(page.chrome, 10).until(lambda _: page.one(".pyptx-pause").is_enabled())
    assert "running" in page.one(".pyptx-stop").text
    page.one(".pyptx-pause").click()
    settle(page)
    WebDriverWait(page.chrome, 10).until(lambda _: not page.one(".pyptx-pause").is_enabled())
    page.all("[aria-label=Values] [role=tab]")[1].click()
    field = page.one("[aria-label='Watch an expression']")
    field.send_keys("wrong", Keys.ENTER)
    WebDriverWait(page.chrome, 10).until(lambda _: page.one("[role=alert]").text.startswith("Not done: wrong: no reg"))
    assert field.get_attribute("value") == "wrong"
    field.send_keys(Keys.CONTROL + "a")
    field.send_keys("acc[1]", Keys.ENTER)
    WebDriverWait(page.chrome, 10).until(lambda _: field.get_attribute("value") == "")
    assert not page.one("[role=alert]").is_displayed()
    assert [name for name, _ in asked(page)] == ["resume", "pause", "watch", "watch"]


def test_registers_show_a_lane_all_lanes_and_what_changed(page):
    page.open(view())
    rows = page.all(".pyptx-registers tbody tr")
    assert [row.text.split()[:4] for row in rows[:2]] == [["tid", "%r0", ".u32", "3"], ["warp_id", "%r1", ".u32", "0"]]
    page.js("document.querySelectorAll('.pyptx-lanes span')[5].click()")
    assert page.one(".pyptx-registers tbody tr").text.split()[:4] == ["tid", "%r0", ".u32", "5"]
    page.all(".pyptx-switch")[0].click()
    assert [row.text.replace("Δ", "Δ ").split()[1] for row in page.all(".pyptx-registers tbody tr")] == [
        "acc[0]",
        "acc[1]",
        "%p1",
    ]
    page.all(".pyptx-switch")[1].click()
    assert len(page.all(".pyptx-wide tbody tr:first-child td")) == 32
    page.one("[aria-label='Filter registers']").send_keys(".pred")
    assert page.one(".pyptx-wide tbody tr").text.split()[-1] == "false"


def test_fragments_tiles_and_barriers_lead_to_warps_and_lanes(page):
    live(page)
    assert [row.text.split("\n")[0].split()[0] for row in page.all(".pyptx-table-plain tbody th")] == [
        "full[0]",
        "full[1]",
        "empty[0]",
        "bar",
    ]
    page.one(".pyptx-table-plain .pyptx-small").click()
    page.all("[aria-label=Memory] [role=tab]")[1].click()
    own = page.all(".pyptx-cell-own")
    assert len(own) == 8, "what lane 3 of warp 0 holds"
    page.one(".pyptx-matrix [data-at='1,4']").click()
    page.one(".pyptx-pager button:last-child").click()
    page.one("[aria-label='Remove acc']").click()
    place, _, shape = page.all("[aria-label=Memory] .pyptx-add input")
    place.send_keys("tiles[1]")
    shape.send_keys("many", Keys.ENTER)
    assert "many: expected rows and columns" in page.one("[role=alert]").text
    shape.send_keys(Keys.CONTROL + "a")
    shape.send_keys("8 x 16", Keys.ENTER)
    assert asked(page) == [
        ["focus", {"cta": [0, 0, 0], "warp": 4}],
        ["focus", {"warp": 0, "lane": 6}],
        ["show", {"kind": "fragment", "name": "acc", "rows": [16, 32], "columns": [0, 32]}],
        ["hide", {"kind": "fragment", "name": "acc"}],
        ["show", {"kind": "memory", "name": "tiles[1]", "shape": [8, 16]}],
    ]
    assert "bank 5" in page.one("[aria-label^='tiles[0]'] [data-at='1,2']").get_attribute("title")


def test_the_timeline_leads_to_steps(page):
    live(page)
    plot = page.one(".pyptx-plot")
    assert "TMA tiles[1]: in flight 4096 bytes pending" in plot.get_attribute("aria-label")
    page.js("""const axis = document.querySelector(".pyptx-axis").getBoundingClientRect();
        document.querySelector(".pyptx-timebars").dispatchEvent(
          new MouseEvent("click", {bubbles: true, clientX: axis.left + axis.width / 2, clientY: axis.top - 30}))""")
    assert asked(page) == [["goto", {"step": 210}]]
    page.js("document.querySelector('.pyptx-plot').focus()")
    page.keys(Keys.ARROW_LEFT, "+")
    assert asked(page) == [["goto", {"step": 211}]]
    assert page.one(".pyptx-axis span").text != "0"


def test_a_new_document_keeps_the_selection(page):
    live(page)
    page.one("[aria-label='Filter registers']").send_keys("acc")
    page.all("[aria-label=Memory] [role=tab]")[1].click()
    fresh = document(step=220, place={"ptx": 22, "line": 13, "file": "tiles.py", "stack": []})
    page.js("view.update(arguments[0])", json.loads(json.dumps(fresh)))
    assert page.marked("ptx", "here") == [21]
    assert len(page.all(".pyptx-python .pyptx-caller")) == 1, "the line that called the helper"
    assert len(page.all(".pyptx-registers tbody tr")) == 8
    assert page.one(".pyptx-figures").is_displayed()
    assert page.one(".pyptx-count").text == "step 220"


def test_a_view_drawn_before_it_is_attached_scrolls_to_its_place(page):
    """As front ends draw widgets."""
    page.open(view())
    page.js("""window.pyptx.view.destroy();
        const apart = document.createElement("div");
        window.view = pyptx.mount(apart, pyptx.data, {command: async () => {}});
        document.getElementById("view").append(apart)""")
    seen = """const list = document.querySelector(".pyptx-ptx .pyptx-list"), row = list.querySelector(".pyptx-here");
        return Boolean(row) && row.offsetTop >= list.scrollTop && row.offsetTop < list.scrollTop + list.clientHeight
          && list.scrollTop > 0 && parseInt(document.querySelector(".pyptx-ptx .pyptx-sight").style.height) > 20"""
    WebDriverWait(page.chrome, 10).until(lambda _: page.js(seen))


def test_large_kernels_are_drawn_at_once_and_count_the_omitted_parts(page):
    page.open(large())
    assert len(page.all(".pyptx-ptx .pyptx-row")) < 300 and len(page.all(".pyptx-warp")) == 128
    assert "and 3968 more warps" in page.one(".pyptx-warplist").text
    assert "and 700 more; filter" in page.one("[aria-label=Registers]").text
    assert page.one(".pyptx-warp[aria-selected=true]").text.split("\n")[1] == "CTA 300 warp 5"
    assert page.js("return document.querySelectorAll('*').length") < 25_000
    assert page.marked("ptx", "here") == [9999]


@pytest.mark.parametrize("width", [760, 1100, 1500])
def test_nothing_is_cut_off_in_narrow_outputs(page, width):
    live(page, width=width)
    outside = page.js("""const right = document.documentElement.clientWidth;
        return [...document.querySelectorAll('button, input, select, summary, .pyptx-stop')]
          .filter(e => e.offsetParent && !e.closest('.pyptx-list, .pyptx-scroll, .pyptx-warplist'))
          .filter(e => { const box = e.getBoundingClientRect(); return box.right > right + 1 || box.left < -1; })
          .map(e => e.outerHTML)""")
    assert outside == []
    assert page.js("return document.getAnimations().length") == 0


def test_hostile_names_stay_text(page):
    evil = '<img src=x onerror="document.title=1">'
    state = document(kernel=evil, stop={"reason": "fault", "text": evil, "breakpoint": None})
    for warp in state["warps"]:
        warp |= {"role": evil, "waits": evil}
    for register in state["registers"]:
        register |= {"name": evil, "python": evil, "type": evil, "lanes": [evil] * 32}
    for part in (*state["barriers"], *state["memory"], *state["fragments"]):
        part["name"] = evil
    state |= {"watches": [{"text": evil, "value": evil, "error": None}]}
    state["breakpoints"][0] |= {"text": evil, "condition": evil}
    for row in state["timeline"]["rows"]:
        row["name"] = evil
    live(page, DebugView(sources(), state))
    for tab in page.all("[role=tab]"):
        tab.click()
    assert page.all("img") == []
    assert evil in page.one(".pyptx-stop").text
