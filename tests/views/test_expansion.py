"""Cheaper forms of the table, held to ptxas, and the explanation of a line's machine instructions."""

from __future__ import annotations

import pytest

from pyptx import Tile, kernel, load, ptx, reg
from pyptx.errors import OptionError
from pyptx.isa import OPS, cheaper, match
from pyptx.types import f32

MNEMONICS = [
    (name, choice)
    for name, op in sorted(OPS.items())
    for choice in (".rn", ".approx", ".full")
    if any(found.form.cheaper for found in match(name, (choice, ".f32")))
]


def test_the_table_lists_cheaper_forms():
    assert [found.mnemonic for found in cheaper("div", (".rn", ".f32"))] == ["div.full.f32", "div.approx.f32"]
    assert [found.mnemonic for found in cheaper("div", (".rn", ".ftz", ".f32"))] == [
        "div.full.ftz.f32",
        "div.approx.ftz.f32",
    ]
    assert [found.mnemonic for found in cheaper("ex2", (".approx", ".f32"))] == ["ex2.approx.ftz.f32"]
    assert cheaper("ex2", (".approx", ".ftz", ".f32")) == cheaper("div", (".rn", ".f64")) == cheaper("nop", ()) == ()


@pytest.mark.slow
@pytest.mark.parametrize(("opcode", "choice"), MNEMONICS)
def test_a_cheaper_form_has_fewer_instructions(opcode, choice):
    """ptxas is the judge."""
    modifiers = (choice, ".f32")
    found = cheaper(opcode, modifiers)
    assert match(opcode, modifiers) and found
    count = machine_instructions(opcode + "".join(modifiers))
    for other in found:
        assert machine_instructions(other.mnemonic) < count, other.mnemonic


def machine_instructions(mnemonic: str) -> int:
    sources = "%f1, %f2" if mnemonic.startswith("div") else "%f1"
    text = f""".version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p) {{
    .reg .b64 %rd;
    .reg .b32 %f<4>;
    ld.param.u64 %rd, [p];
    ld.global.f32 %f1, [%rd];
    ld.global.f32 %f2, [%rd+4];
    {mnemonic} %f3, {sources};
    st.global.f32 [%rd], %f3;
    ret;
}}
"""
    return len(load(text).compile().sass)


@kernel(in_specs=(Tile(32, f32),), out_specs=(Tile(32, f32),), grid=1, block=32)
def roots(x, y):
    i = ptx.global_id()
    value, root = x[i], reg.scalar(f32)
    ptx.inst.sqrt.rn.f32(root, value)
    y[i] = root


def test_a_line_is_explained():
    view = roots.view()
    line = next(number for number, text in zip(view.python.line, view.python.text, strict=True) if "sqrt" in text)
    text = view.explain(line)
    head, *rows = text.split("\n")
    row = next(row for row, text in enumerate(view.ptx.text) if "sqrt.rn" in text)
    count = view.sass.ptx.count(row)
    assert head == f"PTX {row + 1}: {view.ptx.text[row].strip()}  {count} SASS instructions"
    assert sum(one.startswith("  0") for one in rows) == count
    assert any("MUFU.RSQ" in one and len(one.split("  ")) > 3 for one in rows)
    assert rows[-1] == "  cheaper: sqrt.approx.f32 (relative error at most 2^-23)"
    assert view.explain(row + 1, pane="ptx") == text
    assert view.explain(1, pane="ptx") == "no machine instructions"
    with pytest.raises(OptionError, match="no Python line 1"):
        view.explain(1)
    with pytest.raises(OptionError, match="PTX line 999 does not exist"):
        view.explain(999, pane="ptx")


@kernel(in_specs=(Tile(32, f32),) * 2, out_specs=(Tile(32, f32),), grid=1, block=32)
def ratios(x, y, z):
    i = ptx.global_id()
    ratio = reg.scalar(f32)
    ptx.inst.div.rn.f32(ratio, x[i], y[i])
    z[i] = ratio


def test_the_slow_path_of_a_division_belongs_to_the_division():
    view = ratios.view()
    of = {text.split()[0]: count for text, count in zip(view.ptx.text, view.ptx.sass, strict=True) if text.strip()}
    assert of["div.rn.f32"] > 80 and of["st.global.f32"] <= 2  # it may own EXIT
