"""Arbitrary text never crashes, hangs or loses bytes; whitespace and comments do not change the IR."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pyptx.emitter import emit
from pyptx.ir.normalize import normalize_module
from pyptx.parser import ParseError, body, module, parse, statements, tokenize
from pyptx.parser.tokens import Token, TokenKind

CORPUS = sorted((Path(__file__).parents[1] / "corpus").glob("*.ptx"))
TEXTS = {path.stem: path.read_bytes().decode() for path in CORPUS}
HEADER = ".version 8.5\n.target sm_90a\n.address_size 64\n"
WORDS = sorted(
    {token.text for text in TEXTS.values() for token in tokenize(text)}
    | {
        "\n",
        " ",
        "\t",
        "\r\n",
        "//",
        "/*",
        "*/",
        "{",
        "}",
        ";",
        '"',
        "\0",
        "\x0b",
        "é",
        "\u2028",
        "\ud800",
        "#",
        "# 1",
        "@@",
    }
)

anything = st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from(WORDS), max_size=40).map("".join),
    st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join),
)


def reads(text: str) -> None:
    """Parse with recovery without loss; parse strictly without loss, or with a ParseError."""
    assert emit(parse(text, recover=True)) == text
    try:
        tree = parse(text)
    except ParseError as refused:
        assert refused.line >= 1 and refused.col >= 1 and str(refused)
    else:
        assert emit(tree) == text


@given(anything)
@example("\u2028")
@example(".version 8.5\n.target a\n#")
@settings(max_examples=300, deadline=None)
def test_any_text_round_trips_or_is_refused(text: str):
    reads(text)
    reads(HEADER + text)
    reads(f"{HEADER}.entry f()\n{{{text}}}")


@given(st.binary(max_size=80))
@settings(max_examples=150, deadline=None)
def test_any_bytes_round_trip_with_recovery(data: bytes):
    for some in (data, HEADER.encode() + data, HEADER.encode() + b".entry f() { " + data):
        assert emit(parse(some, recover=True)).encode("utf-8", "surrogateescape") == some


@given(anything)
@settings(max_examples=150, deadline=None)
def test_any_body_fragment_parses_or_is_refused(text: str):
    try:
        found = statements(text)
    except ParseError:
        return
    assert all(node is not None for node in found)


@given(st.sampled_from(sorted(TEXTS)), st.integers(0, 2**32), st.integers(1, 6))
@settings(max_examples=150, deadline=None)
def test_a_mutated_file_round_trips_or_is_refused(name: str, seed: int, edits: int):
    text, rnd = TEXTS[name], random.Random(seed)
    for _ in range(edits):
        at, length = rnd.randrange(len(text)), rnd.choice((0, 0, 1, 1, 3, 40))
        text = text[:at] + rnd.choice(("", *WORDS)) + text[at + length :]
    reads(text)


# trivia between tokens ---------------------------------------------------------------------------------------------

GAPS = ("", "", " ", "  ", "\t", "\n", " \n\t", "/* c */", " // x;\n", "\r\n", "/*\n*/", '\n\n# 1 "f"\n', " % /* } */ ")
_WORDS = {
    TokenKind.INTEGER,
    TokenKind.FLOAT,
    TokenKind.IDENTIFIER,
    TokenKind.REGISTER,
    TokenKind.DIRECTIVE,
    TokenKind.STRING,
    TokenKind.PERCENT,
    TokenKind.SLASH,
}


def respelled(text: str, rnd: random.Random, share: float) -> str:
    """Replace the trivia in front of a share of the tokens."""
    out: list[str] = []
    previous: Token | None = None
    for token in tokenize(text):
        gap = token.leading_whitespace
        if token.kind in (TokenKind.NEWLINE, TokenKind.COMMENT, TokenKind.EOF):
            out.append(gap + token.text)
            previous = None
            continue
        if rnd.random() < share and may_part(previous, token, gap):
            other = rnd.choice(GAPS).replace(" % ", " ")
            touching = previous is not None and previous.kind in _WORDS and token.kind in _WORDS
            gap = other or (" " if gap and touching else "")
        out.append(gap + token.text)
        previous = token
    return "".join(out)


def may_part(previous: Token | None, token: Token, gap: str) -> bool:
    """Return True if trivia between two tokens does not change their meaning."""
    if previous is None:
        return True
    if ("@" in (previous.text, token.text) and previous.text == token.text) or previous.text == "%":
        return False
    if token.kind is TokenKind.DIRECTIVE and not gap:  # a modifier starting with a digit, a selector
        return not token.text[1].isdigit() and token.text not in (".x", ".b0", ".h1", ".y", ".z", ".w")
    return not (set(previous.text[-1:]) & set("=<>&|!") and set(token.text[:1]) & set("=<>&|"))


def meaning(text: str) -> str:
    """Return the normalized module as text, without whitespace inside constant expressions."""
    return re.sub(r"\s", "", repr(normalize_module(parse(text))))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", [name for name in TEXTS if "dwarf" not in name])
@pytest.mark.parametrize("share", [0.02, 0.2, 1.0])
def test_whitespace_and_comments_are_allowed_between_any_two_tokens(name: str, share: float):
    expected = meaning(TEXTS[name])
    for seed in range(2):
        text = respelled(TEXTS[name], random.Random(seed), share)
        assert emit(parse(text)) == text
        assert meaning(text) == expected


@pytest.mark.parametrize("name", TEXTS)
def test_the_fast_path_builds_the_same_ir_as_the_general_parser(name: str, monkeypatch: pytest.MonkeyPatch):
    quick = parse(TEXTS[name])
    never = re.compile(r"(?!)")
    monkeypatch.setattr(body, "INSTRUCTION_LINE", never)
    monkeypatch.setattr(body, "LABEL_OR_LOC_LINE", never)
    monkeypatch.setattr(module, "DATA_LINE", never)
    slow = parse(TEXTS[name])
    assert slow == quick and emit(slow) == emit(quick) == TEXTS[name]


# time -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "piece",
    [
        "/*\n",
        "/* ",
        "{ ",
        "mov.b32 {x; ",
        "// x\n",
        "a: ",
        "(",
        ".b8 1 ",
        "x } ",
        '"',
        "@",
        "a b c d\n",
        "[",
        "#",
        "L:\n",
        "mov a, (b|c; ",
        " \n",
        "ret; ",
        "-",
        ".reg .b32 a, ",
        "@@DWARF ",
        ".section .a { ",
    ],
)
def test_parsing_takes_linear_time(piece: str):
    """Doubling the text about doubles the number of function calls."""
    import sys

    def steps(count: int) -> int:
        text = f"{HEADER}.entry f() {{ {piece * count}"
        calls = 0

        def count_call(frame, event, argument):
            nonlocal calls
            calls += 1

        sys.setprofile(count_call)
        try:
            tree = parse(text, recover=True)
        finally:
            sys.setprofile(None)
        assert emit(tree) == text
        return calls

    assert steps(800) < 2.5 * steps(400) + 1000
