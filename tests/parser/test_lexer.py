"""Tokenization of PTX text."""

import re
from pathlib import Path

import pytest

import pyptx
from pyptx.parser import LexError, tokenize
from pyptx.parser.tokens import TokenKind

pytestmark = pytest.mark.quick


def kinds(text: str) -> list[str]:
    return [token.kind.name for token in tokenize(text)]


def test_joining_the_tokens_restores_the_text():
    text = "\tadd.s32 \t%r1, %r2, -0x10; // sum\r\n/* two\nlines */ }\n  "
    assert "".join(token.leading_whitespace + token.text for token in tokenize(text)) == text


def test_lines_and_columns_count_from_one():
    tokens = tokenize("a\n /* x\n y */ b")
    assert [(t.text, t.line, t.col) for t in tokens if t.kind is TokenKind.IDENTIFIER] == [("a", 1, 1), ("b", 3, 7)]


@pytest.mark.parametrize("text", ["1e10", "1.", ".5", "1.5e-3", "0f3F800000", "0d3FF0000000000000"])
def test_every_float_is_one_token(text: str):
    assert kinds(text) == ["FLOAT", "EOF"]


@pytest.mark.parametrize("text", ["0", "017", "0xFFU", "0X1f", "0b101", "255U"])
def test_every_integer_is_one_token(text: str):
    assert kinds(text) == ["INTEGER", "EOF"]


def test_directives_include_qualifiers_and_registers_include_selectors():
    assert [t.text for t in tokenize("ld.shared::cta.2d %v.x")][:-1] == ["ld", ".shared::cta", ".2d", "%v.x"]
    assert [t.text for t in tokenize("ld.sp::2:4.f32")][:-1] == ["ld", ".sp::2:4", ".f32"]


def test_each_punctuator_has_its_own_kind():
    assert kinds("{}()[],;:@!+-|<> =*/~&^?<<") == [
        "LBRACE",
        "RBRACE",
        "LPAREN",
        "RPAREN",
        "LBRACKET",
        "RBRACKET",
        "COMMA",
        "SEMICOLON",
        "COLON",
        "AT",
        "BANG",
        "PLUS",
        "MINUS",
        "PIPE",
        "LESS",
        "GREATER",
        "EQUALS",
        "STAR",
        "SLASH",
        "TILDE",
        "AMPERSAND",
        "CARET",
        "QUESTION",
        "OPERATOR",
        "EOF",
    ]


@pytest.mark.parametrize(
    "text, column, message",
    [
        ("add §", 5, "'§'"),
        ("a \0", 3, "is not allowed"),
        ('.file "x', 7, "unterminated string"),
        ("ret; /* x", 6, "'*/'"),
    ],
)
def test_an_invalid_token_is_refused_at_its_position(text: str, column: int, message: str):
    with pytest.raises(LexError, match="1:") as refused:
        tokenize(text)
    assert refused.value.col == column and message in str(refused.value)


def test_no_possessive_quantifier_of_a_group():
    """Python before 3.11.5 does not return to where a failed repetition of the group began (CPython issue 106052)."""
    possessive = re.compile(r"(?:(?<!\\)\)|[A-Z_]\})(?:[*+?]|\{[0-9,]+\})\+")
    lines = [
        (path.name, line)
        for path in Path(pyptx.__file__).parent.rglob("*.py")
        for line in path.read_text().splitlines()
    ]
    assert [line for line in lines if re.search(r"\br?f?[\"']", line[1]) and possessive.search(line[1])] == []
