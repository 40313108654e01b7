"""The function around the cursor, read by itself after an edit, knows the same names as the whole text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyptx.language.completion import complete
from pyptx.language.focus import focused
from pyptx.language.hover import hover
from pyptx.language.moved_lines import moved_lines
from pyptx.language.source import Source

TEXT = (Path(__file__).parents[1] / "corpus" / "nvcc_sm90a.ptx").read_text()
BEFORE = Source(TEXT)
INSIDE = [function for function in BEFORE.regions[0].index.module.symbols if function.end - function.start > 400]


@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_completion_and_hover_are_those_of_the_whole_text(data):
    function = INSIDE[data.draw(st.integers(0, len(INSIDE) - 1))]
    at = TEXT.index(";\n", data.draw(st.integers(function.start, function.end - 200))) + 2
    typed = data.draw(st.sampled_from(["add.", "mov.u32 %r", "\tbra $", "ld.param.u64 %rd1, [", "\n"]))
    text = TEXT[:at] + typed + TEXT[at + data.draw(st.sampled_from([0, 0, 3])) :]
    after = Source(text)
    region = focused(BEFORE, after, at + len(typed))
    if region is None:  # the edit is at a border of the function
        assert at <= function.start or at + 3 >= function.end or not function.start <= at <= function.end
        return
    [whole] = after.regions
    offset = at + len(typed)
    inner = region.inner(offset)
    assert inner is not None
    near, far = complete(region.document, region.index, inner), complete(whole.document, whole.index, offset)
    assert (near is None) == (far is None)
    if near is not None and far is not None:
        assert {one.text for one in near.offers} ^ {one.text for one in far.offers} == set()
        assert region.outer(near.start, inner)[0] == far.start
    about, expected = hover(region.document, region.index, inner), hover(whole.document, whole.index, offset)
    assert (about and about.text) == (expected and expected.text)


def test_an_edit_outside_of_functions_has_no_focus():
    assert focused(BEFORE, Source("// note\n" + TEXT), 3) is None
    assert focused(BEFORE, Source(TEXT.replace("%tid.x", "%tid.y")), 100) is None


@pytest.mark.parametrize("after", ["a\nb\nx\nc\nd", "a\nc\nd", "", "a\nb\nc\nd\n", "b\nc\nd", "a\na\nb\nc\nd"])
def test_lines_move_with_an_edit(after):
    before = "a\nb\nc\nd"
    moved = [moved_lines(before, after)(line) for line in range(1, 5)]
    old, new = before.split("\n"), after.split("\n")
    assert all(to is None or new[to - 1] == old[at] for at, to in enumerate(moved))
    assert sum(to is not None for to in moved) >= min(len(old), len(new)) - 1 or after == ""
