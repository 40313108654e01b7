"""The live comparison in Chromium: columns, best values, another baseline, narrow pages, themes."""

from __future__ import annotations

import pytest

from pyptx.views import ComparisonTable
from pyptx.views.comparisons.comparison import Column, Measure

pytestmark = pytest.mark.browser

TABLE = ComparisonTable(
    "gemm",
    (Column("sm_80", "sm_80", "no wgmma"), Column("sm_90a", "sm_90a"), Column("sm_100a", "sm_100a")),
    (
        Measure("registers", "", -1, (None, 64, 32)),
        Measure("modeled time", "s", -1, (None, 4.5e-4, 4.89e-4)),
        Measure("tensor", "", 0, (None, 16, 8), "group"),
    ),
    1,
)


def cells(page, row: int) -> list[str]:
    return [" ".join(cell.text.split()) for cell in page.all(f".pyptx-comparison tbody tr:nth-child({row}) td")]


@pytest.mark.parametrize(("width", "dark"), [(1600, False), (1000, True), (420, False)])
def test_numbers_are_side_by_side(page, width, dark):
    page.open(TABLE, width=width, dark=dark)
    assert cells(page, 1) == ["–", "64", "32 ★ −50 %"] and cells(page, 2) == ["–", "450 µs ★", "489 µs +8.67 %"]
    widths = page.js(
        "return [...document.querySelectorAll('tbody tr:first-child .pyptx-measure')].map(e => e.style.width)"
    )
    assert widths == ["0%", "100%", "50%"]
    assert "no wgmma" in page.one(".pyptx-problems").text
    assert page.js("return document.documentElement.scrollWidth") <= width


def test_a_click_on_a_column_makes_it_the_baseline(page):
    page.open(TABLE)
    page.all(".pyptx-baseline")[2].click()
    assert cells(page, 1) == ["–", "64 +100 %", "32 ★"] and "changes from sm_100a" in page.one("header").text
    assert page.js("return document.activeElement.innerText") == "sm_100a"
