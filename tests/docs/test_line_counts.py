"""The lines of code that `docs/more/comparison.md` states are those of the kernels it names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.line_counts import count

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/more/comparison.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("lines", "place"), re.findall(r"\| (\d+) \|[^|\n]*\| `([\w./-]+:\w+)` \|", PAGE), ids=lambda value: value
)
def test_a_kernel_has_the_lines_that_are_stated(lines: str, place: str):
    assert count(place, ROOT) == int(lines)


BLOCKS = (ROOT / "docs/howto/building-blocks.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("place", "lines"), re.findall(r"\| `([\w./-]+:\w+)` \| \d+ \| (\d+) \|", BLOCKS), ids=lambda value: value
)
def test_a_kernel_on_building_blocks_has_the_lines_that_are_stated(place: str, lines: str):
    assert count(place, ROOT) == int(lines)


def test_every_row_is_counted():
    table = PAGE[PAGE.index("## Lines of code") :]
    table = re.sub(r"^.*\(https://github.com/.*$", "", table, flags=re.M)  # rows of other repositories have links
    assert len(re.findall(r"\| \d+ \|", table)) == len(re.findall(r"`[\w./-]+:\w+` \|", table)) >= 8
