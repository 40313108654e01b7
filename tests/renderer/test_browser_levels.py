"""The live diff in Chromium: levels SASS, PTX and Python, respelled lines, counts."""

from __future__ import annotations

import pytest
from support.cells import PTX

import pyptx
from pyptx import diff
from pyptx.views import Diff

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def generations() -> Diff:
    """Another generation, and one instruction of the text changed."""
    left, right = pyptx.load(PTX), pyptx.load(PTX.replace("mul.f32 %v, %v", "add.f32 %v, %v"))
    return diff(left.compile(), right.compile(arch="sm_90"), titles=("before", "after"), block=64)


def rows(page, side: str) -> list[str]:
    return page.js(f"return [...document.querySelectorAll('.pyptx-{side} .pyptx-row')].map(row => row.textContent)")


def pressed(page) -> list[str]:
    return [button.text for button in page.all(".pyptx-level[aria-pressed=true]")]


def test_the_levels_can_be_turned(page, generations):
    page.open(generations)
    assert [button.text for button in page.all(".pyptx-level")] == ["SASS", "PTX"], "there is no Python"
    assert pressed(page) == ["SASS"]
    page.all(".pyptx-level")[1].click()
    assert pressed(page) == ["PTX"]
    assert page.one(".pyptx-verdict").text == generations.at("ptx").verdict
    assert page.js("return document.activeElement.dataset.level") == "ptx", "the focus stays on the button"
    assert any("mul.f32" in row for row in rows(page, "left"))
    assert [row for row in rows(page, "right") if "different" in row] == [
        row for row in rows(page, "right") if "add.f32" in row
    ]


def test_keys_turn_them_too_and_go_to_the_difference(page, generations):
    page.open(generations)
    page.one(".pyptx-left .pyptx-list").click()
    page.keys("2")
    assert pressed(page) == ["PTX"]
    page.keys("n")
    assert "mul.f32" in page.one(".pyptx-left .pyptx-row.pyptx-active").text
    page.keys("3")
    assert pressed(page) == ["PTX"], "no such level"
    page.keys("1")
    assert pressed(page) == ["SASS"]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_lines_in_another_spelling_say_so(page, generations, dark):
    page.open(generations, dark=dark)
    assert any("respelled" in row for row in rows(page, "right"))
    spelled = next(row for row in page.all(".pyptx-right .pyptx-row") if "respelled" in row.text)
    page.hover(spelled)
    assert "spelling" in page.status


def test_modeled_cycles_are_called_so(page):
    longer = PTX.replace("    mul.f32 %v, %v, %f;\n", "    mul.f32 %v, %v, %f;\n    sqrt.rn.f32 %v, %v;\n")
    page.open(diff(PTX, longer))
    facts = {fact.find_element("css selector", "dt").text: fact.text for fact in page.all(".pyptx-fact")}
    assert "issue cycles, each line once, modeled" in facts
    assert "better" not in facts["issue cycles, each line once, modeled"], "once each says nothing about loops"
