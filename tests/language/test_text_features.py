"""Positions, completion, folding, highlighting, formatting, on valid and on hostile text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyptx.language.completion import complete
from pyptx.language.diagnostics import MAX_CHARACTERS, find_diagnostics, span
from pyptx.language.folding import find_folds
from pyptx.language.formatting import format_document
from pyptx.language.hover import hover
from pyptx.language.indexing import build_index
from pyptx.language.outline import outline
from pyptx.language.semantic_tokens import classify
from pyptx.language.text import Document, apply
from pyptx.parser import parse
from pyptx.parser.lexer import tokenize

CORPUS = Path(__file__).parents[1] / "corpus"
FILES = ["statements.ptx", "directives.ptx", "dwarf.ptx", "nvcc_lineinfo.ptx", "windows.ptx"]
HEAD = ".version 8.5\n.target sm_90a\n.address_size 64\n"
BODY = HEAD + ".entry k(.param .u64 data) {\n.reg .b32 %r<3>, total;\nstart:\n"


def offered(text: str) -> list[str]:
    """The completions at the mark |."""
    at = text.index("|")
    document = Document(text[:at] + text[at + 1 :])
    found = complete(document, build_index(document), at)
    return [] if found is None else [offer.text for offer in found.offers]


@pytest.mark.parametrize(
    "line, expected, absent",
    [
        ("ad|", "add", "sub"),
        ("// note; add\n/* { */ ad|", "add", "sub"),
        ("@%p1 ad|", "add", "sub"),
        ("add.|", ".s32", ".global"),
        ("add.rn.f|", ".f32", ".s32"),
        ("mov.u32 %r|", "%r2", "total"),
        ("mov.u32 %r1, %ti|", "%tid.x", "%r1"),
        ("mov.u32 %r1, to|", "total", "start"),
        ("bra |", "start", "total"),
        (".re|", ".reg", ".entry"),
        (".reg .f|", ".f32", ".b32"),
        ("add.s32 %r1, %r2, 1; su|", "sub", "add"),
        ("ld.global.v2.b32 {%r1, %r|", "%r2", "add"),
        ("ld.param.u64 %r1, [da|", "data", "start"),
    ],
)
def test_completion_offers_what_may_stand_there(line, expected, absent):
    found = offered(BODY + line)
    assert expected in found and absent not in found


@pytest.mark.parametrize("line", ["// ad|", "/* ad| */", '.pragma "ad|"', "/* ad|"])
def test_nothing_is_offered_in_comments_and_strings(line):
    assert offered(BODY + line) == []


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
@given(text=st.text(st.sampled_from("a\n\r\t %é漢𝔸\v\x0c\u2028"), max_size=40))
@settings(max_examples=60, deadline=None)
def test_positions_convert_both_ways(encoding, text):
    document = Document(text)
    for offset in range(len(text) + 1):
        if text[offset - 1 : offset] in ("\r", "\n") and text[offset - 1 : offset + 1] == "\r\n":
            continue  # inside a line end
        assert document.offset(*document.position(offset, encoding), encoding) == offset


def test_columns_count_code_units():
    document = Document("/*𝔸é*/x")
    assert [document.position(6, e)[1] for e in ("utf-8", "utf-16", "utf-32")] == [10, 7, 6]
    assert document.offset(0, 7, "utf-16") == 6 and document.offset(9, 9) == len(document.text)


def test_bodies_blocks_and_comments_fold():
    text = "// a\n// b\n.entry k()\n{\n\t{\n\t\tret;\n\t}\n}\n/* c\n d */\n"
    assert [(f.first, f.last, f.kind) for f in find_folds(Document(text))] == [
        (0, 1, "comment"), (3, 6, "block"), (4, 5, "block"), (8, 9, "comment"),
    ]  # fmt: skip


def test_each_word_has_its_class():
    text = BODY + "add.s32 %r1, total, 0x10; // note\nmov.u32 %r2, %tid.x; }"
    document = Document(text)
    classes = {text[t.start : t.end]: t.type for t in classify(document, build_index(document))}
    expected = {"add": "keyword", ".s32": "type", "total": "variable", "0x10": "number", "// note": "comment"}
    assert expected.items() <= classes.items()
    assert classes["k"] == "function" and classes["start"] == "label" and classes["%tid.x"] == "variable"
    assert classes["data"] == "parameter" and classes[".entry"] == "macro"


def test_formatting_indents_bodies_and_separates_operands():
    text = (
        HEAD
        + ".entry k(\n.param .u64 a ,\n .param .u64 b\n)\n{\n  .reg .b32 %r<3>;  \nL:   add.s32 %r1 ,%r2,\n1 ;\n{ nop;\nM:\nret;\n}\n}\n"
    )
    assert apply(text, format_document(Document(text))) == HEAD + (
        ".entry k(\n\t.param .u64 a,\n\t.param .u64 b\n)\n{\n\t.reg .b32 %r<3>;\nL:   add.s32 %r1, %r2,\n\t\t1;\n"
        "\t{ nop;\n\tM:\n\t\tret;\n\t}\n}\n"
    )


def significant(text: str):
    return [(token.kind, token.text) for token in tokenize(text)]


@pytest.mark.parametrize("file", FILES)
def test_formatting_keeps_all_tokens_and_is_stable(file):
    text = (CORPUS / file).read_bytes().decode()
    once = apply(text, format_document(Document(text)))
    assert significant(once) == significant(text)
    assert parse(once) == parse(text.rstrip(" \t"))
    assert format_document(Document(once)) == []


WORDS = st.sampled_from(
    [".reg", ".b32", "%r", "<", "3", ">", ";", "{", "}", "(", ")", ",", "add", ".s32", "%r1", "x", ":", "@", "!", "[", "]", "\n",
     "\r\n", " ", "\t", ".entry", ".func", "k", ".version", "8.5", ".target", "sm_90", "// c\n", "/* d */", "/*", '"s"', '"', "é",
     "\0", "=", "+", "-", ".section", "# 1 \"f\"\n", ".callprototype", ".branchtargets", ".param", "_", "bra", "0x", "%", "."]
)  # fmt: skip


@given(parts=st.lists(WORDS, max_size=30))
@settings(max_examples=120, deadline=None)
def test_no_text_makes_a_feature_fail(parts):
    text = "".join(parts)
    document = Document(text)
    index = build_index(document)
    outline(index), find_folds(document), list(classify(document, index))
    for offset in range(0, len(text) + 1, 3):
        hover(document, index, offset), complete(document, index, offset)
    formatted = apply(text, format_document(document))
    assert [t[:2] for t in Document(formatted).all_tokens] == [t[:2] for t in document.all_tokens]
    for found in find_diagnostics(text):
        start, end = span(document, found)
        assert 0 <= start <= end <= len(text)


def test_a_diagnostic_underlines_its_words():
    text = BODY + "\tadd.s32 %r1, %r7, 1;\n ret; }"
    [found] = find_diagnostics(text)
    start, end = span(Document(text), found)
    assert text[start:end].startswith("add.s32") or text[start:end] == "%r7"


def test_a_text_that_is_too_long_is_not_checked():
    [found] = find_diagnostics("\n" * (MAX_CHARACTERS + 1))
    assert found.severity == "warning" and "checked while typing" in found.message


@pytest.mark.sampled(3)
@pytest.mark.parametrize("line", [".reg\n", "{\n", "L:\n", ".reg .b32 a,", "("])
def test_time_and_output_are_proportional_to_the_text(line):
    document = Document(line * 20_000)
    build_index(document)
    formatted = sum(len(edit.text) for edit in format_document(document))
    assert formatted <= 20_000 * 202  # indentation is bounded


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES)
def test_every_prefix_of_a_file_has_all_features(file):
    """As it is while the file is typed."""
    text = (CORPUS / file).read_bytes().decode()[:6000]
    for end in range(0, len(text), 41):
        document = Document(text[:end])
        index = build_index(document)
        outline(index), find_folds(document), list(classify(document, index)), complete(document, index, end)
        formatted = apply(document.text, format_document(document))
        assert [t[:2] for t in Document(formatted).all_tokens] == [t[:2] for t in document.all_tokens]
        for found in find_diagnostics(document.text):
            start, stop = span(document, found)
            assert 0 <= start <= stop <= end
