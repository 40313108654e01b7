"""The text, static HTML and standalone page of a linked view."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from views.handmade import PTX, Lines, large, saxpy

from pyptx.parser import parse
from pyptx.views import LinkedView, linked
from pyptx.views._packed import unpack
from pyptx.views.code.panes import Note


@pytest.fixture(scope="module")
def view() -> LinkedView:
    return linked(saxpy(), block=128)


class Elements(HTMLParser):
    """Tags, attributes and text of a piece of HTML; fails on tags that are not closed in order."""

    VOID = frozenset({"br", "meta", "link"})

    def __init__(self, text: str, void: Iterable[str] = ()):
        super().__init__()
        self.void = self.VOID | set(void)
        self.tags, self.attributes, self.words, self.open = [], [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attributes]
        if tag not in self.void:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def test_text_reads_from_top_to_bottom(view, golden):
    golden("views/saxpy.txt", view.text() + "\n")


def test_text_says_how_much_it_leaves_out(view):
    lines = view.text(limit=20).splitlines()
    assert len(lines) == 21
    whole = len(view.text().splitlines())
    assert lines[-1] == f"... {whole - 20} more lines; .text() shows all, .page() is the live view"


def test_static_html_has_no_script_style_sheet_id_or_handler(view):
    found = Elements(view.html())
    assert not {"script", "style", "link"} & set(found.tags)
    assert {name for _, name, _ in found.attributes} == {"style"}


def test_code_is_preformatted_and_leaves_its_colors_to_the_page(view):
    found = Elements(view.html())
    assert {"pre", "samp"} <= set(found.tags), "monospaced where styles are taken away"
    styles = [value for tag, _, value in found.attributes if tag in ("pre", "samp")]
    assert not [style for style in styles if "color" in style or "background" in style]


def test_every_color_comes_with_a_background(view):
    for style in set(re.findall(r'style="([^"]*)"', view.html())):
        names = {part.partition(":")[0] for part in style.split(";")}
        assert ("color" in names) == ("background" in names), style


def test_html_escapes_what_the_author_wrote(view):
    assert "<b>bold</b>" not in view.html()
    assert "&lt;b&gt;bold&lt;/b&gt;" in view.html()


def test_html_is_complete_without_styles(view):
    text = "".join(Elements(view.html()).words).replace("\u00a0", " ")
    for part in (
        "Cell In[3], kernel saxpy",
        "index = emit(4)",
        "4 PTX, 4 SASS, 3 live",
        "PTX   23    mad.lo.s32",
        "0040    0----- R- W- Y S05  live   3  IMAD R7, R7, UR4, R0",
        "Added by ptxas (3 SASS)",
    ):
        assert part in text


def test_html_is_capped_and_counts_the_omitted_lines():
    view = large(sass=3000, ptx=2000, python=40)
    html = view.html(limit=100)
    assert len(html) < 120_000
    assert "1900 more PTX lines and 2900 more SASS lines not shown here." in html
    assert "100 more" not in view.html(limit=100_000)


def test_the_page_holds_everything_and_loads_nothing(view):
    page = view.page()
    assert not re.search(r"(src|href)=|@import|https?://(?!www\.w3\.org)", page)
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1]
    assert unpack(json.loads(data)) == view.to_json()


def test_source_text_cannot_end_the_script_element():
    evil = saxpy()
    evil.ptx = evil.ptx.replace("$done:", "$done: // </script><script>alert(1)</script><!-- \u2028")
    evil.module = parse(evil.ptx)
    page = linked(evil).page()
    assert page.count("<script") == 3
    assert page.count("</script") == 3
    assert "<!--" not in page


def test_colors_of_a_terminal_are_added_and_change_nothing_else(view):
    plain, color = view.text(), view.text(color=True)
    assert re.sub(r"\x1b\[[0-9;]*m", "", color) == plain
    assert len(re.findall(r"\x1b\[[0-9;]*m", color)) > 100
    for line in color.splitlines():
        codes = re.findall(r"\x1b\[([0-9;]*)m", line)
        assert not codes or codes[-1] in ("39;49;00", "0", "00"), f"colors end with the line: {line!r}"
    [line] = [line for line in color.splitlines() if "fma.rn.f32" in re.sub(r"\x1b\[[0-9;]*m", "", line)]
    assert "\x1b[" in line


def test_an_empty_pane_has_no_colors():
    compiled = saxpy()
    compiled.lines = Lines([None] * len(PTX.splitlines()), compiled.lines.ptx_of)
    view = linked(compiled)
    assert re.sub(r"\x1b\[[0-9;]*m", "", view.text(color=True)) == view.text()


def test_hostile_names_stay_text_in_all_static_forms(view):
    evil = '<img src=x onerror="alert(1)">'
    hostile = replace(
        view,
        title=evil,
        target=evil,
        notes=(Note("warning", evil, 3, -1),),
        help={"fma": evil},
        entries=(replace(view.entries[0], name=evil, mix={evil: 3}),) * 2,
        python=replace(
            view.python,
            text=(evil,) * len(view.python.text),
            sections=tuple(replace(s, file=evil, function=evil) for s in view.python.sections),
        ),
        ptx=replace(view.ptx, text=(evil,) * len(view.ptx.text)),
        sass=replace(view.sass, text=(evil,) * len(view.sass.text)),
    )
    for form in (hostile.html(), hostile.page()):
        assert "<img" not in form
        assert "&lt;img" in form


@pytest.mark.parametrize(
    "panes",
    [
        ("python",),
        ("ptx",),
        ("sass",),
        ("python", "ptx"),
        ("python", "sass"),
        ("ptx", "sass"),
        ("python", "ptx", "sass"),
    ],
    ids="+".join,
)
def test_text_and_static_html_show_the_requested_panes(panes):
    chosen = linked(saxpy(), block=128, panes=panes)
    shown = "".join(Elements(chosen.html(limit=10_000)).words).replace("\u00a0", " ")
    for text in (chosen.text(), shown):
        assert ("vx, vy = emit(1), emit(1)" in text) == ("python" in panes)
        assert ("fma.rn.f32 %f3, %f0, %f1, %f2;" in text) == ("ptx" in panes)
        assert ("FFMA R7, R2, UR6, R7" in text) == ("sass" in panes)
        assert text.count("EXIT") == (2 if "sass" in panes else 0)


def test_text_and_static_html_list_the_registers_live_at_the_peak(view):
    held = "peak live registers at SASS 00b0: 4 from line 4, 1 from line 9, 1 from ptxas"
    assert view.entries[0].holders == ((26, 2), (28, 2), (22, 1), (-1, 1))
    assert held in view.text()
    assert held in "".join(Elements(view.html()).words)
    assert LinkedView.from_json(json.loads(json.dumps(view.to_json()))) == view
