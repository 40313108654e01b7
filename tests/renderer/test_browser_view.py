"""The live view in Chromium: folds, loops, calls, opcodes, what-if, the diff's tab, copying, narrow pages."""

from __future__ import annotations

from dataclasses import replace

import pytest
from selenium.webdriver import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait
from views.handmade import large, saxpy

from pyptx.analysis.diff.comparison import Comparison, Row, group_hunks
from pyptx.cli.kernels import load_kernel
from pyptx.views import Diff, LinkedView, linked
from pyptx.views.code.panes import Note

pytestmark = pytest.mark.browser

CONTRAST = """
const pen = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
const over = layers => {
  for (const layer of layers) { pen.fillStyle = layer; pen.fillRect(0, 0, 1, 1); }
  return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
};
const light = rgb => rgb.map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, n) => sum + v * [0.2126, 0.7152, 0.0722][n], 0);
const behind = element => {
  const layers = [];
  for (let at = element; at; at = at.parentElement) layers.unshift(getComputedStyle(at).backgroundColor);
  return layers;
};
return [...document.querySelectorAll(".pyptx-linked *")].filter(element => element.checkVisibility()
    && [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim())).map(element => {
  const paper = light(over(behind(element))), ink = light(over([...behind(element), getComputedStyle(element).color]));
  return [(Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05), element.className + " " + element.textContent];
});
"""


@pytest.fixture(scope="module")
def view() -> LinkedView:
    return linked(saxpy(), block=128)


def python_row(view: LinkedView, line: int) -> int:
    return view.python.line.index(line)


def with_diff() -> LinkedView:
    own = linked(saxpy(), block=128)
    rows = [Row(n, n, 0) for n in range(20)]
    diff = Diff(
        level="sass",
        left=replace(own, title="saxpy@1"),
        right=replace(own, title="saxpy@2"),
        compared=Comparison(tuple(rows), group_hunks(rows)),
        facts=(),
        verdict="Identical.",
    )
    return linked(saxpy(), block=128, diff=diff)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_all_text_has_sufficient_contrast(page, dark):
    page.open(with_diff(), dark=dark)
    page.row("sass", 12).click()
    page.one(".pyptx-ask").click()
    page.one(".pyptx-python .pyptx-fold, .pyptx-sass .pyptx-fold").click()
    page.keys("/", "mov")
    found = page.js(CONTRAST)
    assert len(found) > 300
    assert [item for item in found if item[0] < 4.5] == []


def test_a_basic_block_is_folded_to_its_first_line_and_opened_again(page):
    view = large(sass=800, ptx=480, python=20)
    page.open(view)
    page.row("sass", 45).click()
    page.keys("f")
    assert page.marked("sass", "active") == [40]
    assert page.marked("sass", "folded") == [40]
    assert "+ 39 lines" in page.one(".pyptx-sass .pyptx-more").text
    page.keys(Keys.ARROW_DOWN)
    assert page.marked("sass", "active") == [80], "the next line that is shown"
    page.keys(Keys.ARROW_UP, Keys.ENTER)
    assert page.marked("sass", "folded") == []
    page.keys("F")
    shown = page.all(".pyptx-sass .pyptx-row")
    assert [int(row.get_attribute("data-row")) for row in shown] == list(range(0, 800, 40))
    page.keys("]")
    assert page.marked("sass", "active") == [80]
    page.one(".pyptx-sass .pyptx-row[data-row='120'] .pyptx-fold").click()
    assert 120 not in page.marked("sass", "folded")


def test_a_search_hit_in_a_fold_opens_it(page):
    view = large(sass=800, ptx=480, python=20)
    page.open(view)
    page.one(".pyptx-button[title^='Fold or unfold all']").click()
    assert len(page.marked("sass", "folded")) == 20
    hit = next(row for row, text in enumerate(view.sass.text) if "STG" in text)
    assert hit % 40
    page.keys("/", "STG", Keys.ENTER)
    assert page.marked("sass", "active") == [hit]
    assert hit // 40 * 40 not in page.marked("sass", "folded")


def test_loops_are_marked_beside_their_lines(page):
    page.open(large(sass=800, ptx=480, python=20))
    marks = page.js(
        "return [0, 1, 399, 400].map(row => document.querySelector("
        "`.pyptx-sass .pyptx-row[data-row='${row}'] .pyptx-code`).dataset.loops)"
    )
    assert marks == ["┌", "│", "└", "┌"]


def test_the_call_stack_of_a_helper_is_shown_and_leads_to_its_lines(page, view):
    page.open(view)
    page.row("sass", view.sass.address.index(0xC0)).click()
    assert page.one(".pyptx-stacks").text == "address:4 ← saxpy:12"
    page.all(".pyptx-stack button")[1].click()
    assert page.marked("python", "active") == [python_row(view, 12)]
    page.row("python", python_row(view, 4)).click()
    assert [stack.text for stack in page.all(".pyptx-stack")] == ["address:4 ← saxpy:12", "address:4 ← saxpy:13"]


def test_opcodes_of_ptx_and_sass_are_described(page, view):
    page.open(view)
    assert page.one(".pyptx-sass .pyptx-to[title^='Reads a special register']").text == "S2R"
    page.row("sass", view.sass.address.index(0x100)).click()
    explained = page.one(".pyptx-explain").text
    assert "FFMA Multiplies and adds f32 with one rounding." in explained
    assert "fma pipe: 0.25 cycles of the SM per warp; result after 4 cycles (modeled, H200 SXM)" in explained
    assert "waits for barrier 2; next instruction after 5 cycles at the earliest" in explained
    page.row("ptx", 31).click()
    assert page.one(".pyptx-explain").text.startswith(f"fma {view.help['fma']}")
    assert page.one(".pyptx-explain code").text == "fma.rnd{.ftz}{.sat}.f32  d, a, b, c".replace("  ", " ")
    assert page.one(".pyptx-explain a").get_attribute("href").endswith("#floating-point-instructions-fma")


def test_what_if_shows_the_occupancy_of_other_registers_and_blocks(page, view):
    page.open(linked(saxpy(), block=1024))
    page.one(".pyptx-ask").click()
    answer = page.one(".pyptx-answer")
    assert answer.text.startswith("100 % 64 of 64 warps, 2 blocks of 1024 threads on an SM of sm_90a")
    threads = page.one(".pyptx-try:nth-child(2) input")
    threads.send_keys(Keys.CONTROL + "a")
    threads.send_keys("800", Keys.TAB)
    assert answer.text.startswith("100 % → 78 % 50 of 64 warps, 2 blocks of 800 threads")
    [hint] = [button for button in page.all(".pyptx-hints button") if "threads per block" in button.text]
    hint.click()
    assert answer.text.startswith("100 % → "), answer.text
    page.all(".pyptx-hints button")[-1].click()
    assert answer.text.startswith("100 % 64 of 64 warps")
    label = page.one(".pyptx-chart svg").get_attribute("aria-label")
    assert label.startswith("Warps for 8 to 255 registers: 64 from 8, 32 from 40, ")


def test_a_diff_is_a_tab_of_the_view_it_belongs_to(page):
    own = with_diff()
    page.open(own)
    tabs = page.all("[role=tab]")
    assert [(tab.text, tab.get_attribute("aria-selected")) for tab in tabs] == [
        ("Code", "true"),
        ("Diff with saxpy@1", "false"),
    ]
    page.row("python", python_row(own, 9)).click()
    assert page.links["ptx"] == [19, 20, 21, 22]
    tabs[0].send_keys(Keys.ARROW_RIGHT)
    assert page.one(".pyptx-diff .pyptx-verdict").text == "Identical."
    assert page.one(".pyptx-right .pyptx-heading").text == "▸ 20 identical rows"
    assert not page.one(".pyptx-python").is_displayed()
    page.js("window.pyptx.view.select('sass', 5)")
    assert page.one(".pyptx-python").is_displayed(), "to show a line is to show the code"
    page.js("window.pyptx.view.destroy()")
    assert page.js("return document.getElementById('view').childElementCount") == 0


def test_producers_and_consumers_of_an_instruction_are_linked(page, view):
    page.open(view)
    row = view.sass.address.index
    page.row("sass", row(0x100)).click()
    signs = page.js("""return Object.fromEntries([...document.querySelectorAll('.pyptx-sass [data-sign].pyptx-row')]
        .map(row => [row.dataset.row, row.dataset.sign]))""")
    assert signs == {
        str(row(0xA0)): "takes",
        str(row(0xD0)): "awaits",
        str(row(0xF0)): "awaits",
        str(row(0x110)): "uses",
    }
    assert [part.text for part in page.all(".pyptx-needs")] == [
        "▸ operands from 00a000d000f0",
        "» waits for 00d000f0",
        "◂ result used at 0110",
    ]
    page.keys("d")
    assert page.marked("sass", "active") == [row(0xF0)], "the load it waits for, the nearest"
    page.keys("d")
    assert page.marked("sass", "active") == [row(0xE0)], "the address of the load"
    page.keys("u")
    assert page.marked("sass", "active") == [row(0xF0)]
    page.keys("b", "b", "b")
    assert page.marked("sass", "active") == [row(0x100)], "back over three jumps"
    page.keys("b")
    assert page.status == "No previous line to go back to"
    page.all(".pyptx-needs button")[0].click()
    assert page.marked("sass", "active") == [row(0xA0)]
    page.row("ptx", 30).click()
    assert page.all("[data-sign]") == []


def test_the_address_of_a_page_leads_to_the_pinned_line(page, view):
    page.open(view)
    page.row("sass", view.sass.address.index(0xC0)).click()
    address = page.chrome.current_url
    assert address.endswith("#sass-00c0")
    page.keys(Keys.ESCAPE)
    assert page.chrome.current_url.endswith("#")
    page.chrome.get("about:blank")
    page.chrome.get(address)
    assert page.marked("sass", "active") == [view.sass.address.index(0xC0)]
    page.js("location.hash = 'python-12'")
    WebDriverWait(page.chrome, 10).until(lambda _: page.marked("python", "active") == [python_row(view, 12)])


def test_the_lines_that_cost_most_are_a_list_and_walked_by_keys(page, view):
    page.open(view)
    page.one(".pyptx-menu:has(.pyptx-costs) summary").click()
    WebDriverWait(page.chrome, 10).until(lambda _: page.all(".pyptx-costs .pyptx-cost"))  # drawn when it has opened
    lines = [item.text.split("\n")[:2] for item in page.all(".pyptx-costs .pyptx-cost")]
    most = sorted(
        ((count, row) for row, count in enumerate(view.python.sass) if count), key=lambda one: (-one[0], one[1])
    )
    assert lines == [[str(count), str(view.python.line[row])] for count, row in most]
    page.all(".pyptx-costs .pyptx-cost")[1].click()
    assert page.marked("python", "active") == [most[1][1]]
    page.keys("h")
    assert page.marked("python", "active") == [most[2][1]]
    assert page.status.endswith(f"3 of {len(most)} by SASS instructions: {most[2][0]}")
    page.keys("H", "H")
    assert page.marked("python", "active") == [most[0][1]]
    page.one(".pyptx-menu:has(.pyptx-costs) summary").click()
    WebDriverWait(page.chrome, 10).until(lambda _: page.one(".pyptx-menu select").is_displayed())
    Select(page.one(".pyptx-menu select")).select_by_visible_text("live registers")
    WebDriverWait(page.chrome, 10).until(lambda _: page.one(".pyptx-costs .pyptx-cost").text.startswith("6\n"))


def test_the_lines_that_fill_the_registers(page, view):
    page.open(view)
    button = page.one(".pyptx-by")
    button.click()
    assert page.one(".pyptx-held p").text == "Registers live at SASS 00b0, by defining line"
    assert [item.text.split("\n")[:2] for item in page.all(".pyptx-held .pyptx-cost")] == [
        ["4", "4"],
        ["1", "9"],
        ["1", "ptxas"],
    ]
    page.one(".pyptx-held .pyptx-cost").click()
    assert page.marked("python", "active") == [python_row(view, 4)]
    assert button.get_attribute("aria-expanded") == "true"


def test_a_view_saved_by_an_older_pyptx_is_drawn_without_newer_fields(page, view):
    page.open(view)
    page.js("""const {takes, awaits, ...sass} = window.pyptx.data.sass;
        const entries = window.pyptx.data.entries.map(({holders, ...entry}) => entry);
        const host = document.getElementById("view");
        window.pyptx.view.destroy();
        window.pyptx.view = window.pyptx.mount(host, {...window.pyptx.data, sass, entries});""")
    page.row("sass", 12).click()
    page.keys("d")
    assert page.status == "Its operands come from no other instruction"
    assert page.all("[data-sign]") == []
    assert page.all(".pyptx-by") == []


def test_nothing_moves_by_itself(page, view):
    page.open(view)
    assert page.js("return document.getAnimations().length") == 0
    moving = page.js("""return [...document.querySelectorAll('*')].map(e => getComputedStyle(e)).filter(style =>
        style.transitionDuration !== '0s' || style.animationName !== 'none' || style.scrollBehavior !== 'auto'
    ).length""")
    assert moving == 0


def test_hostile_names_stay_text(page):
    evil = '<img src=x onerror="document.title=1">'
    small = linked(saxpy(), block=128)
    view = replace(
        small,
        title=evil,
        help={**small.help, "fma": evil},
        notes=(Note("warning", evil, 3, -1),),
        entries=(replace(small.entries[0], name=evil),) * 2,
        python=replace(
            small.python,
            text=(evil,) * len(small.python.text),
            sections=tuple(replace(s, file=evil, function=evil) for s in small.python.sections),
        ),
        sass=replace(small.sass, text=(evil,) * len(small.sass.text)),
    )
    page.open(view)
    for button in page.all(".pyptx-ask"):
        button.click()
    page.row("ptx", 31).click()
    assert page.all("img") == []
    assert page.js("return document.title") == f"{evil} · sm_90a"
    assert evil in page.one(".pyptx-explain").text


def test_the_copy_button_copies_the_selected_lines_or_the_whole_pane(page, view):
    page.open(view)
    page.row("ptx", 19).click()
    page.one(".pyptx-button[title^='Copy']").click()
    assert page.status == "Copied 36 lines of PTX"
    page.row("ptx", 19).click()
    page.keys(Keys.ARROW_DOWN, holding=Keys.SHIFT)
    page.one(".pyptx-button[title^='Copy']").click()
    assert page.status == "Copied 2 lines of PTX"
    page.one(".pyptx-search").click()
    page.keys("v", holding=Keys.CONTROL)
    assert "mov.u32 %r1, %ctaid.x;" in page.one(".pyptx-search").get_attribute("value")


@pytest.mark.parametrize("width", [420, 700, 1020, 1240, 1600])
def test_nothing_is_cut_off_in_narrow_outputs(page, view, width):
    page.open(view, width=width)
    page.row("sass" if width > 1000 else "python", 12).click()
    outside = page.js("""const right = document.documentElement.clientWidth;
        return [...document.querySelectorAll('button, input, summary, .pyptx-fact, .pyptx-mix li')]
          .filter(e => e.offsetParent && !e.closest('.pyptx-list, .pyptx-explain')).map(e => e.getBoundingClientRect())
          .filter(box => box.right > right + 1 || box.left < -1).length""")
    assert outside == 0
    room = page.js("""return [...document.querySelectorAll('.pyptx-list')].filter(list => list.offsetParent).map(list =>
        list.getBoundingClientRect().right
        - list.querySelector('.pyptx-row .pyptx-code').getBoundingClientRect().left)""")
    assert min(room) > 200, "pixels left for the code"


def test_panes_are_tabs_where_there_is_room_for_one(page, view):
    page.open(view, width=700)
    shown = lambda: [pane for pane in ("python", "ptx", "sass") if page.one(f".pyptx-{pane}").is_displayed()]  # noqa: E731
    assert shown() == ["python"]
    page.row("python", python_row(view, view.python.line[12])).click()
    page.one(".pyptx-toggle[data-pane='sass']").click()
    assert shown() == ["sass"]
    assert [
        page.one(f".pyptx-toggle[data-pane='{pane}']").get_attribute("aria-pressed") for pane in ("python", "sass")
    ] == [
        "false",
        "true",
    ]
    page.chrome.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 1500, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    )
    WebDriverWait(page.chrome, 5).until(lambda _: shown() == ["python", "ptx", "sass"])


def test_no_pane_is_cut_while_another_has_room(page):
    page.open(large(sass=800, ptx=480, python=20), width=1600)
    spare, cut = page.js("""const of = share => [...document.querySelectorAll('.pyptx-list')].map(share);
        return [of(list => list.clientWidth - Math.max(...[...list.querySelectorAll('.pyptx-row')].map(row => {
            const range = document.createRange(); range.selectNodeContents(row.querySelector('.pyptx-code') ?? row);
            return range.getBoundingClientRect().right - list.getBoundingClientRect().left; }))),
          of(list => list.scrollWidth > list.clientWidth + 1)]""")
    assert not any(cut) or max(spare) < 120, (spare, cut)


def test_register_declarations_are_hidden_until_they_are_shown_or_found(page):
    view = linked(saxpy(), block=128)
    many = tuple(f"\t.reg .b32 \t%r{n}<2>;" for n in range(len(view.ptx.text)))
    rows = [row for row, line in enumerate(view.ptx.text) if ".reg" in line]
    assert 0 < len(rows) <= 12
    page.open(view)
    assert page.row("ptx", rows[0]).is_displayed()
    first, last = 13, 30
    text = (*view.ptx.text[:first], *many[first:last], *view.ptx.text[last:])
    page.open(replace(view, ptx=replace(view.ptx, text=text)))
    assert page.all(f".pyptx-ptx [data-row='{first}']") == []
    page.one(".pyptx-search").send_keys("%r20<2>", Keys.ENTER)
    assert page.row("ptx", 20).is_displayed()
    box = "[data-kind='registers']"
    assert page.js(f'return document.querySelector("{box}").checked')
    page.js(f'document.querySelector("{box}").click()')
    assert page.all(".pyptx-ptx [data-row='20']") == []


def test_the_modeled_time_ranks_lines_and_explains_stalls(page, checkout):
    kernel = load_kernel(str(checkout / "examples" / "vector_add.py"))
    view = kernel.view(N=4096, device="h100")
    page.open(view)
    assert "modeled: " in page.one(".pyptx-title").text and "H100" in page.one(".pyptx-title").text
    assert "time" in page.one(".pyptx-sass .pyptx-columns").text
    page.keys("h")
    assert "by modeled time" in page.status
    row = max(range(len(view.sass.modeled)), key=view.sass.modeled.__getitem__)
    page.row("sass", row).click()
    assert f"modeled: {view.sass.modeled[row] / 1e4:.1f} % of the time" in page.one(".pyptx-explain").text
    assert "stalls: scoreboard" in page.one(".pyptx-explain").text


def test_the_heads_of_columns_cover_lines_that_are_scrolled_sideways(page):
    page.open(large(sass=800, ptx=480, python=20), width=1100)
    covered = page.js("""return [...document.querySelectorAll('.pyptx-list')].map(list => {
        list.scrollLeft = 10000;
        list.scrollTop = 9;
        const box = list.getBoundingClientRect();
        const there = document.elementFromPoint(box.left + list.clientWidth - 4, box.top + 8);
        return there.closest('.pyptx-columns') !== null;
    })""")
    assert covered == [True, True, True]


def test_a_standalone_page_takes_the_focus_and_a_frame_does_not(page, view):
    page.open(view)
    assert page.js("return document.activeElement.dataset.pane") == "python"
    page.keys(Keys.ARROW_DOWN)
    assert len(page.marked("python", "active")) == 1
    page.keys("/", "mov")
    assert page.js("return document.activeElement.tagName") == "INPUT"
    frame = page.path.with_name("frame.html")
    frame.write_text(
        f"<!doctype html><input id=cell autofocus><iframe src={page.path.name}></iframe>", encoding="utf-8"
    )
    page.chrome.get(frame.as_uri())
    page.chrome.switch_to.frame(0)
    WebDriverWait(page.chrome, 20).until(lambda _: page.all(".pyptx-row"))
    assert page.js("return document.activeElement.tagName") == "BODY"
    page.chrome.switch_to.default_content()
    assert page.js("return document.activeElement.id") == "cell"


def test_arrows_and_keys_lead_from_a_stalled_line_to_its_producer(page, checkout):
    view = load_kernel(str(checkout / "examples" / "vector_add.py")).view(N=4096, device="h100")
    waiting = next(
        row for row, text in enumerate(view.sass.text) if text.startswith("FADD") and view.sass.stalled_on[row]
    )
    producer = waiting - view.sass.stalled_on[waiting][0]
    page.open(view)
    path = "return document.querySelector('.pyptx-arrows path').getAttribute('d') ?? ''"
    assert page.js(path) == ""
    page.row("sass", waiting).click()
    before = page.js(path)
    assert before.count("M2 ") == len(view.sass.stalled_on[waiting][:4])
    page.js("document.querySelector('.pyptx-sass .pyptx-list').scrollTop += 18")
    WebDriverWait(page.chrome, 10).until(lambda _: page.js(path) != before)
    page.keys("d")
    assert page.marked("sass", "active") == [producer]
    page.keys("b")
    assert page.marked("sass", "active") == [waiting]


def test_lines_are_shaded_by_the_chosen_metric(page, checkout):
    page.open(load_kernel(str(checkout / "examples" / "vector_add.py")).view(N=4096, device="h100"))
    warm = "return [...document.querySelectorAll('.pyptx-sass .pyptx-warm')].map(row => Number(row.dataset.row))"
    modeled = page.js(warm)
    assert modeled, "the modeled time is shown first"
    page.one(".pyptx-menu:has(.pyptx-costs) summary").click()
    Select(page.one(".pyptx-menu select")).select_by_visible_text("live registers")
    assert page.js(warm) != modeled
    page.one(".pyptx-menu:has(.pyptx-costs) input").click()
    assert page.js(warm) == []


def test_a_shared_page_opens_as_it_was_left(page, view):
    page.open(large(sass=800, ptx=480, python=20), width=1600)
    page.row("sass", 45).click()
    page.js("document.querySelector(\"label[title^='Operand slots held'] input\").click()")
    page.one(".pyptx-toggle[data-pane='ptx']").click()
    page.keys("/", "STG")
    page.js("document.querySelector('.pyptx-sass .pyptx-list').scrollTop = 900")
    text = page.chrome.execute_async_script("""
        const done = arguments[0];
        URL.createObjectURL = blob => { blob.text().then(done); return "about:blank#"; };
        HTMLAnchorElement.prototype.click = () => {};
        [...document.querySelectorAll(".pyptx-button")].find(button => button.textContent === "Share").click();""")
    page.path.with_name("shared.html").write_text(text, encoding="utf-8")
    page.chrome.get(page.path.with_name("shared.html").as_uri())
    WebDriverWait(page.chrome, 20).until(lambda _: not page.all("[aria-busy=true]"))
    assert page.marked("sass", "active") == [45]
    assert "reuse" in page.one(".pyptx-sass .pyptx-columns").text
    assert not page.one(".pyptx-ptx").is_displayed()
    assert page.one(".pyptx-search").get_attribute("value") == "STG" and "SASS 47" in page.one(".pyptx-hits").text
    assert page.scrolled("sass") == 900
    assert page.js("return document.querySelectorAll('.pyptx-linked').length") == 1


def test_the_machine_instructions_of_a_line_are_explained(page, view):
    page.open(view)
    row = next(row for row, count in enumerate(view.ptx.sass) if count > 1)
    page.row("ptx", row).click()
    page.keys("w")
    shown = page.all(".pyptx-expansion .pyptx-cost")
    assert len(shown) == view.ptx.sass[row] and page.one(".pyptx-why").text == f"Why {len(shown)}?"
    assert all(item.text.strip().endswith(".") for item in shown), "a sentence for each"
    shown[1].click()
    sass = [at for at, ptx in enumerate(view.sass.ptx) if ptx == row]
    assert page.marked("sass", "active") == [sass[1]]
    page.keys("w")
    assert not page.one(".pyptx-expansion").is_displayed()
