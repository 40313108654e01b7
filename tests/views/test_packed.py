"""The compact form of views: what it keeps, and how large views are in a page and in a notebook."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace

import pytest
from views.handmade import large

from pyptx import _notebook
from pyptx.views import MIME, LinkedView
from pyptx.views._packed import pack, unpack


@pytest.fixture(scope="module")
def view() -> LinkedView:
    """25,000 instructions whose registers and columns do not repeat."""
    chance, own = random.Random(5), large(25_000, 15_000, 400)

    def scattered(text: str) -> str:
        return re.sub(r"(R|%rd?|%f|0x)\d+", lambda found: f"{found[1]}{chance.randrange(200)}", text)

    sass = replace(
        own.sass,
        text=tuple(map(scattered, own.sass.text)),
        stall=tuple(chance.choices(range(12), k=25_000)),
        modeled=tuple(chance.choices(range(400), k=25_000)),
    )
    return replace(own, sass=sass, ptx=replace(own.ptx, text=tuple(map(scattered, own.ptx.text))))


@pytest.mark.slow
def test_a_packed_view_is_the_same_view(view):
    packed = json.loads(json.dumps(pack(view.to_json())))
    assert packed.keys() == {"kind", "version", "title", "packed"}
    assert LinkedView.from_json(packed) == view


def test_values_of_any_kind_are_kept():
    data = {
        "kind": "x",
        "a": list(range(50)),
        "b": [[1, "é"], {"c": None}],
        "d": [True, False] * 9,
        "e": [3] * 20,
        "f": [-1, 2**40] * 9,
        "g": [1, [5] * 20, {"x": [6] * 20}],
    }
    assert unpack(pack(data)) == data
    assert unpack(data) is data


@pytest.mark.slow
def test_a_view_of_25_000_instructions_fits_a_page_and_a_notebook(view):
    assert len(view.page()) < 1_500_000
    bundle = view._repr_mimebundle_()
    assert bundle[MIME]["packed"] in bundle["text/html"]
    assert len(json.dumps(bundle, indent=1)) < 3_000_000


def test_a_notebook_has_the_renderer_once_and_again_where_that_cell_is_executed_again(monkeypatch):
    class Shell:
        kernel, execution_count, cell = object(), 1, "a"

        def get_parent(self):
            return {"metadata": {"cellId": self.cell}}

    shell = Shell()
    monkeypatch.setattr(_notebook, "_carriers", {})
    monkeypatch.setitem(_notebook.sys.modules, "IPython", type("IPython", (), {"get_ipython": lambda: shell}))
    asked = []
    for shell.cell, shell.execution_count in [("a", 1), ("a", 1), ("b", 2), ("a", 3), ("b", 4)]:
        asked.append(_notebook.first_in_notebook("renderer"))
    assert asked == [True, False, False, True, False]
    monkeypatch.setitem(_notebook.sys.modules, "google.colab", object())
    assert _notebook.first_in_notebook("renderer"), "each output of Colab is a page of its own"
