"""Names of PTX text: what they refer to, in which scope, and what renaming them changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyptx.errors import InputError
from pyptx.ir.nodes import Block, Label, RegDecl, VarDecl
from pyptx.isa.directives import DIRECTIVES, SUMMARIES
from pyptx.language.hover import describe, hover
from pyptx.language.indexing import build_index
from pyptx.language.outline import outline
from pyptx.language.rename import rename, renamed_span
from pyptx.language.symbols import Symbol
from pyptx.language.text import Document, apply
from pyptx.parser import parse
from pyptx.validate import check_ptx

CORPUS = Path(__file__).parents[1] / "corpus"
TEXT = """.version 8.5
.target sm_90a
.address_size 64
.global .align 4 .u32 table[4] = {1, 2, 3, 4};
.func (.param .b32 out) helper(.param .b32 value)
{
	.reg .b32 %r<4>;
	ld.param.b32 %r1, [value];
	st.param.b32 [out], %r1;
	ret;
}
.visible .entry kernel(
	.param .u64 data
)
.maxntid 128
{
	.reg .pred %p<2>;
	.reg .b32 %r<10>, count;
	.reg .b64 address;
	ld.param.u64 address, [data];
	mov.u32 %r1, %tid.x;
	ld.global.u32 %r2, [table+4];
again:
	add.s32 %r1, %r1, %r2;
	setp.lt.s32 %p1, %r1, 100;
	{
		.reg .b32 %r1;
		mov.b32 %r1, 7;
		bra inner;
	inner:
		st.global.b32 [address], %r1;
	}
	@%p1 bra again;
	ret;
}
"""


def index_of(text: str):
    document = Document(text)
    return document, build_index(document)


def symbol_at(text: str, before: str) -> Symbol:
    """The symbol of the name that follows the first occurrence of `before`."""
    _, index = index_of(text)
    found = index.at(text.index(before) + len(before))
    assert found is not None and found.symbol is not None
    return found.symbol


def renamed(text: str, before: str, name: str) -> str:
    document, index = index_of(text)
    return apply(text, rename(document, index, text.index(before) + len(before), name))


def test_a_name_refers_to_the_declaration_of_the_innermost_scope():
    inner, outer = symbol_at(TEXT, "mov.b32 "), symbol_at(TEXT, "mov.u32 ")
    assert (inner.name, inner.count) == ("%r1", None)
    assert (outer.name, outer.count) == ("%r", 10)
    assert symbol_at(TEXT, "ld.param.b32 ").count == 4  # of the other function
    assert symbol_at(TEXT, "ld.param.b32 %r1, [").kind == "parameter"


def test_a_label_is_found_before_it_is_defined_and_in_its_block():
    assert symbol_at(TEXT, "bra ").kind == "label"
    assert symbol_at(TEXT, "bra ").name == "inner"


def test_the_name_of_a_declaration_is_described_with_its_type():
    assert describe(symbol_at(TEXT, "ld.global.u32 %r2, [")) == ".global .align 4 .u32 table[4]"
    assert describe(symbol_at(TEXT, "mov.u32 ")) == ".reg .b32 %r<10>"


def test_a_declared_function_and_its_definition_are_one_symbol():
    text = ".func f(.param .b32 a);\n.entry g() { call f, (1); }\n.func f(.param .b32 a) { ret; }"
    found = symbol_at(text, "call ")
    assert found.declared == [text.index("f("), text.rindex("f(")]


def test_renaming_a_family_renames_its_registers_and_nothing_else():
    after = renamed(TEXT, "mov.u32 ", "%x")
    assert ".reg .b32 %x<10>, count;" in after and "add.s32 %x1, %x1, %x2;" in after
    assert "mov.b32 %r1, 7;" in after and "ld.param.b32 %r1, [value];" in after
    assert [d.message for d in check_ptx(after)] == [d.message for d in check_ptx(TEXT)]
    assert renamed(TEXT, "mov.u32 ", "%x1") == after
    document, index = index_of(TEXT)
    assert document.text[slice(*renamed_span(index, TEXT.index("%r1, %tid")))] == "%r"


@pytest.mark.parametrize(
    "before, name, message",
    [
        ("mov.b32 ", "address", "address is already a name"),
        ("@%p1 bra ", "count", "count is already a name"),
        ("bra ", "two words", "not a valid name"),
        ("bra ", "%tid", "not a valid name"),
        ("mov.u32 %r1, ", "%x", "is not a declared name"),
        (".reg .b32 %r<10>, ", "%r3", "%r3 is already a name"),
    ],
)
def test_a_new_name_that_changes_the_meaning_is_refused(before, name, message):
    with pytest.raises(InputError, match=message):
        renamed(TEXT, before, name)


def test_the_outline_has_the_names_of_a_function_below_it():
    document, index = index_of(TEXT)
    entries = outline(index)
    assert [entry.symbol.name for entry in entries] == ["table", "helper", "kernel"]
    assert [child.symbol.name for child in entries[2].children] == [
        "data", "%p", "%r", "count", "address", "again", "%r1", "inner",
    ]  # fmt: skip
    assert document.text[entries[2].symbol.end - 1] == "}"


def hover_text(text: str, at: str) -> str:
    document, index = index_of(text)
    found = hover(document, index, text.index(at))
    assert found is not None
    return found.text


def test_hover_explains_instructions_registers_directives_and_names():
    assert "d = a + b" in hover_text(TEXT, "add.s32") and "add.s32" in hover_text(TEXT, "s32 %r1, %r1")
    assert "thread index in the CTA" in hover_text(TEXT, "%tid.x")
    assert "maximum number of threads" in hover_text(TEXT, ".maxntid")
    assert ".reg .b64 address" in hover_text(TEXT, "address, [data]")
    document, index = index_of("// add.s32\n")
    assert hover(document, index, 4) is None


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "file", ["statements.ptx", "directives.ptx", "nvcc_debug.ptx", "windows.ptx", "clang_sm90_O0.ptx"]
)
def test_the_index_declares_what_the_parser_declares(file):
    """The judge is the syntax tree, which is built by other code."""
    text = (CORPUS / file).read_bytes().decode()
    _, index = index_of(text)

    def declared(body):
        for node in body:
            if isinstance(node, Block):
                yield from declared(node.body)
            elif isinstance(node, RegDecl):
                yield ("register", node.name, node.count)
            elif isinstance(node, VarDecl):
                yield ("variable", node.symbol, None)
            elif isinstance(node, Label):
                yield ("label", node.name, None)

    wanted, kinds = {}, ("register", "variable", "label")
    for function in parse(text).functions:
        registers = [p for p in (*function.params, *(function.return_params or ())) if p.state_space.value == "reg"]
        own = [*declared(function.body), *(("register", p.name, None) for p in registers if p.name != "_")]
        wanted[function.name] = wanted.get(function.name, []) + own
    for name, own in wanted.items():
        symbol = next(s for s in index.module.symbols if s.name == name)
        symbols = [s for scope in index.scopes if scope.function is symbol for s in scope.symbols]
        assert sorted(str((s.kind, s.name, s.count)) for s in symbols if s.kind in kinds) == sorted(map(str, own))


@pytest.mark.parametrize("file", ["nvcc_debug.ptx", "nvcc_sm90a.ptx", "clang_sm90_O0.ptx"])
def test_every_name_in_the_output_of_a_compiler_is_resolved(file):
    from pyptx.isa.registers import lookup

    document, index = index_of((CORPUS / file).read_text())
    unknown = {document.text[o.start : o.end] for o in index.occurrences if o.symbol is None}
    assert {name for name in unknown if lookup(name) is None and lookup(name + ".x") is None} <= {"WARP_SZ"}


def test_every_directive_of_functions_has_a_summary():
    assert {f".{name}" for name in DIRECTIVES} <= SUMMARIES.keys()
