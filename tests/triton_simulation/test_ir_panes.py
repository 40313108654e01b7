"""Triton's IRs in linked views."""

from __future__ import annotations

import numpy as np
import pytest
from support.triton_kernels import arguments as kernels

import pyptx.triton
from pyptx.errors import OptionError
from pyptx.triton.mlir_text import read_mlir
from pyptx.views import LinkedView

MLIR = """#blocked = #ttg.blocked<{order = [0]}>
#loc = loc("/a/k.py":7:1)
#loc1 = loc(unknown)
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @k(%x: i32 loc("x"(#loc))) {
    %c = arith.constant 1 : i32 loc(#loc1)
    %s = "tt.reduce"(%x) ({
    ^bb0(%a: f32 loc(callsite(#loc1 at #loc4))):
      tt.reduce.return %a : f32 loc(#loc5)
    }) : (i32) -> f32 loc(#loc5)
    %i = scf.if %c -> (i32) {
      scf.yield %c : i32 loc(#loc6)
    } else {
      scf.yield %x : i32 loc(#loc7)
    } loc(#loc3)
    tt.return loc(fused<"m">[#loc1, "/a/b (1).py":9:2])
  } loc(#loc)
} loc(#loc)
#loc2 = loc("/lib/s.py":3:4)
#loc3 = loc("/a/k.py":8:5)
#loc4 = loc("s"(#loc3))
#loc5 = loc(callsite(#loc2 at #loc4))
#loc6 = loc(#loc7)
#loc7 = loc(#loc6)
"""


@pytest.fixture(scope="module")
def view() -> LinkedView:
    x = np.arange(1000, dtype=np.float32)
    entry = pyptx.triton.load(kernels.add, x, x, np.zeros_like(x), 1000, grid=8, BLOCK=128)
    return entry.view(ir="ttgir")


def test_locations_of_mlir_are_resolved_and_leave_the_text():
    code = read_mlir(MLIR)
    chains = dict(zip(map(str.strip, code.text), code.chains, strict=True))
    kernel, inlined = (("/a/k.py", 7, 1),), (("/lib/s.py", 3, 4), ("/a/k.py", 8, 5))
    assert "loc(" not in "".join(code.text) and len(code.text) == 16
    assert chains["tt.func public @k(%x: i32) {"] == kernel
    assert chains["%c = arith.constant 1 : i32"] == ()
    assert chains['%s = "tt.reduce"(%x) ({'] == chains["tt.reduce.return %a : f32"] == inlined
    assert chains["} else {"] == chains["%i = scf.if %c -> (i32) {"] == inlined[1:]
    assert chains["scf.yield %c : i32"] == ()  # its location refers to itself
    assert chains["tt.return"] == (("/a/b (1).py", 9, 2),)


def test_ttgir_is_linked_with_triton_lines_and_with_ptx(view):
    ir = view.ir
    assert ir is not None and view.panes == ("python", "ir", "ptx", "sass")
    row = next(row for row, line in enumerate(ir.text) if "tt.load" in line)
    source = view.python.text[view.stacks[ir.stack[row]][0]]
    ptx = "".join(line for line, place in zip(view.ptx.text, ir.ptx_place, strict=True) if place == ir.place[row])
    assert "tl.load" in source and "ld.global" in ptx and "st.global" not in ptx


def test_text_html_and_json_have_the_ir(view):
    below = view.text().partition("x = tl.load(x_ptr + at, mask=inside)")[2].partition(" | ")[0]
    assert "TTGIR" in below and "tt.load" in below and "ld.global" in below
    assert "tt.load" in view.html()
    assert LinkedView.from_json(view.to_json()) == view


def test_an_unknown_ir_is_refused():
    x = np.zeros(32, np.float32)
    entry = pyptx.triton.load(kernels.add, x, x, x, 32, grid=1, BLOCK=32)
    assert entry.view().ir is None and "tt.func" in "".join(entry.view(ir="ttir").ir.text)
    with pytest.raises(OptionError, match="'ttir' or 'ttgir'"):
        entry.view(ir="llvm")
