"""Lexer: the tokens of PTX as a single regular expression.

`TOKEN` matches the leading trivia of a token (whitespace, comments, line markers) and the token itself. It always
matches: an invalid character is a token of the group `bad`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pyptx.ir.formatting import TRIVIA
from pyptx.parser.errors import LexError
from pyptx.parser.tokens import Token, TokenKind

__all__ = [
    "FLOAT",
    "INTEGER",
    "NAME",
    "QUALIFIERS",
    "REGISTER",
    "TOKEN",
    "LexError",
    "Token",
    "TokenKind",
    "tokenize",
    "describe_invalid_token",
    "scan",
]

NAME = r"[A-Za-z_$][\w$]*+"
REGISTER = r"%[\w$]++(?>(?:\.[A-Za-z]\w*+)*)"
FLOAT = (
    r"(?:0[fF][0-9a-fA-F]{8}(?![\w$])|0[dD][0-9a-fA-F]{16}(?![\w$])"
    r"|(?:[0-9]++\.[0-9]*+|\.[0-9]++)(?>(?:[eE][+-]?[0-9]++)?)|[0-9]++[eE][+-]?[0-9]++)"
)
INTEGER = r"(?:0[xX][0-9a-fA-F]++|0[bB][01]++|[0-9]++)U?"
QUALIFIERS = r"(?>(?:::\w++(?>(?::[0-9]++)?))*)"  # .shared::cta, .sp::2:4
_WORDS = (
    rf"(?P<register>{REGISTER})|(?P<identifier>{NAME})"
    rf"|(?P<directive>\.const\[(?:10|[0-9])\]|\.[A-Za-z_][\w$]*+{QUALIFIERS}|(?<=[\w$])\.[0-9]\w*+{QUALIFIERS})"
    rf"|(?P<float>{FLOAT})|(?P<integer>{INTEGER})|(?P<string>\"[^\"\n]*+\")"
    r"|(?P<operator><<|>>|<=|>=|==|!=|&&|\|\|)"
)

TOKEN = re.compile(
    rf"(?P<trivia>(?>{TRIVIA}*))(?:{_WORDS}|(?P<punctuator>[{{}}()\[\],;:@!+\-|<>=*/~&^?%])|(?P<end>\Z)|(?P<bad>.))",
    re.ASCII | re.DOTALL,
)

_FLAT = re.compile(
    rf"(?P<blank>[ \t\r\f\v]*+)(?:(?P<newline>\n)"
    r"|(?P<comment>//[^\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*\*/|\#[ \t]*+[0-9][^\n]*+)"
    rf"|{_WORDS}|(?P<punctuator>[{{}}()\[\],;:@!+\-|<>=*/~&^?%])|(?P<end>\Z)|(?P<bad>.))",
    re.ASCII | re.DOTALL,
)

_KINDS = {
    "newline": TokenKind.NEWLINE,
    "comment": TokenKind.COMMENT,
    "register": TokenKind.REGISTER,
    "identifier": TokenKind.IDENTIFIER,
    "directive": TokenKind.DIRECTIVE,
    "float": TokenKind.FLOAT,
    "integer": TokenKind.INTEGER,
    "string": TokenKind.STRING,
    "operator": TokenKind.OPERATOR,
    "end": TokenKind.EOF,
}
_PUNCTUATORS = dict(
    zip(
        "{}()[],;:@!+-|<>=*/~&^?%",
        (
            TokenKind.LBRACE,
            TokenKind.RBRACE,
            TokenKind.LPAREN,
            TokenKind.RPAREN,
            TokenKind.LBRACKET,
            TokenKind.RBRACKET,
            TokenKind.COMMA,
            TokenKind.SEMICOLON,
            TokenKind.COLON,
            TokenKind.AT,
            TokenKind.BANG,
            TokenKind.PLUS,
            TokenKind.MINUS,
            TokenKind.PIPE,
            TokenKind.LESS,
            TokenKind.GREATER,
            TokenKind.EQUALS,
            TokenKind.STAR,
            TokenKind.SLASH,
            TokenKind.TILDE,
            TokenKind.AMPERSAND,
            TokenKind.CARET,
            TokenKind.QUESTION,
            TokenKind.PERCENT,
        ),
        strict=True,
    )
)


def describe_invalid_token(text: str, at: int) -> str:
    """Return the error message for offset `at`, where no token starts."""
    if text.startswith("/*", at):
        return "unterminated comment; expected '*/'"
    if text[at] == '"':
        return "unterminated string; expected '\"' on the same line"
    return f"character {text[at]!r} is not allowed in PTX outside comments and strings"


def tokenize(text: str) -> list[Token]:
    """Return all tokens, including newlines and comments; the last one has the kind EOF.

    Raises:
        LexError: The text contains an invalid character, or an unterminated string or comment.
    """
    return list(_tokens(text))


def scan(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield (kind, start, end) of each token of any text, valid or not, for editors.

    Kinds are the group names of the lexer: "newline", "comment", "register", "identifier", "directive", "float",
    "integer", "string", "operator", "punctuator", and "bad": an invalid character, the rest of the line of an
    unterminated string, or the rest of the text of an unterminated comment. Blanks between tokens are not yielded.
    """
    at = 0
    while True:
        match = _FLAT.match(text, at)
        assert match is not None and match.lastgroup is not None, "_FLAT matches at every offset"
        kind, start, at = match.lastgroup, match.start(match.lastgroup), match.end()
        if kind == "end":
            return
        if text.startswith("/*", start) and kind != "comment":
            kind, at = "bad", len(text)
        elif kind == "bad" and text[start] == '"':
            line_end = text.find("\n", start)
            at = line_end if line_end >= 0 else len(text)
        yield kind, start, at


def _tokens(text: str) -> Iterator[Token]:
    line, line_start, at = 1, 0, 0
    while True:
        match = _FLAT.match(text, at)
        assert match is not None and match.lastgroup is not None, "_FLAT matches at every offset"
        group = match.lastgroup
        start, end = match.start(group), match.end()
        word = text[start:end]
        if group == "bad" or (word == "/" and text.startswith("/*", start)):
            raise LexError(
                describe_invalid_token(text, start),
                line,
                start - line_start + 1,
                excerpt=text[line_start : text.find("\n", start) if "\n" in text[start:] else len(text)],
            )
        kind = _PUNCTUATORS[word] if group == "punctuator" else _KINDS[group]
        yield Token(kind, word, line, start - line_start + 1, text[at:start])
        if group == "end":
            return
        newlines = word.count("\n") if group in ("newline", "comment") else 0
        if newlines:
            line += newlines
            line_start = start + word.rindex("\n") + 1
        at = end
