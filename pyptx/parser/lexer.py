"""The tokens of PTX, as one regular expression.

`TOKEN` takes the gap in front of a token (blanks, comments, line markers) and the token in one step; it never fails:
what is no token is `bad`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pyptx.ir.formatting import GAP
from pyptx.parser.errors import LexError
from pyptx.parser.tokens import Token, TokenKind

__all__ = ["FLOAT", "INTEGER", "NAME", "QUALIFIERS", "REGISTER", "TOKEN", "LexError", "Token", "TokenKind", "tokenize",
           "what_is_bad"]

NAME = r"[A-Za-z_$][\w$]*+"
REGISTER = r"%[\w$]++(?:\.[A-Za-z]\w*+)*+"
FLOAT = (r"(?:0[fF][0-9a-fA-F]{8}(?![\w$])|0[dD][0-9a-fA-F]{16}(?![\w$])"
         r"|(?:[0-9]++\.[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?+|[0-9]++[eE][+-]?[0-9]++)")
INTEGER = r"(?:0[xX][0-9a-fA-F]++|0[bB][01]++|[0-9]++)U?"
QUALIFIERS = r"(?:::\w++(?::[0-9]++)?+)*+"                   # .shared::cta, .sp::2:4
_WORDS = (rf"(?P<register>{REGISTER})|(?P<identifier>{NAME})"
          rf"|(?P<directive>\.const\[(?:10|[0-9])\]|\.[A-Za-z_][\w$]*+{QUALIFIERS}|(?<=[\w$])\.[0-9]\w*+{QUALIFIERS})"
          rf"|(?P<float>{FLOAT})|(?P<integer>{INTEGER})|(?P<string>\"[^\"\n]*+\")"
          r"|(?P<operator><<|>>|<=|>=|==|!=|&&|\|\|)")

TOKEN = re.compile(rf"(?P<gap>{GAP}*+)(?:{_WORDS}|(?P<mark>[{{}}()\[\],;:@!+\-|<>=*/~&^?%])|(?P<end>\Z)|(?P<bad>.))",
                   re.ASCII | re.DOTALL)

_FLAT = re.compile(rf"(?P<blank>[ \t\r\f\v]*+)(?:(?P<newline>\n)"
                   r"|(?P<comment>//[^\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/|\#[ \t]*+[0-9][^\n]*+)"
                   rf"|{_WORDS}|(?P<mark>[{{}}()\[\],;:@!+\-|<>=*/~&^?%])|(?P<end>\Z)|(?P<bad>.))",
                   re.ASCII | re.DOTALL)

_KINDS = {"newline": TokenKind.NEWLINE, "comment": TokenKind.COMMENT, "register": TokenKind.REGISTER,
          "identifier": TokenKind.IDENTIFIER, "directive": TokenKind.DIRECTIVE, "float": TokenKind.FLOAT,
          "integer": TokenKind.INTEGER, "string": TokenKind.STRING, "operator": TokenKind.OPERATOR,
          "end": TokenKind.EOF}
_MARKS = dict(zip("{}()[],;:@!+-|<>=*/~&^?%", (
    TokenKind.LBRACE, TokenKind.RBRACE, TokenKind.LPAREN, TokenKind.RPAREN, TokenKind.LBRACKET, TokenKind.RBRACKET,
    TokenKind.COMMA, TokenKind.SEMICOLON, TokenKind.COLON, TokenKind.AT, TokenKind.BANG, TokenKind.PLUS,
    TokenKind.MINUS, TokenKind.PIPE, TokenKind.LESS, TokenKind.GREATER, TokenKind.EQUALS, TokenKind.STAR,
    TokenKind.SLASH, TokenKind.TILDE, TokenKind.AMPERSAND, TokenKind.CARET, TokenKind.QUESTION, TokenKind.PERCENT),
    strict=True))


def what_is_bad(text: str, at: int) -> str:
    """Why no token starts at `at`."""
    if text.startswith("/*", at):
        return "a comment that starts here has no end; expected '*/'"
    if text[at] == '"':
        return "a text that starts here has no end on its line; expected '\"'"
    return f"character {text[at]!r} does not occur in PTX outside comments and texts"


def tokenize(text: str) -> list[Token]:
    """All tokens, newlines and comments among them, ended by one of kind EOF.

    Raises:
        LexError: a character that PTX does not know.
    """
    return list(_tokens(text))


def _tokens(text: str) -> Iterator[Token]:
    line, line_start, at = 1, 0, 0
    while True:
        match = _FLAT.match(text, at)
        group = match.lastgroup
        start, end = match.start(group), match.end()
        word = text[start:end]
        if group == "bad" or (word == "/" and text.startswith("/*", start)):
            raise LexError(what_is_bad(text, start), line, start - line_start + 1,
                           excerpt=text[line_start:text.find("\n", start) if "\n" in text[start:] else len(text)])
        kind = _MARKS[word] if group == "mark" else _KINDS[group]
        yield Token(kind, word, line, start - line_start + 1, text[at:start])
        if group == "end":
            return
        newlines = word.count("\n") if group in ("newline", "comment") else 0
        if newlines:
            line += newlines
            line_start = start + word.rindex("\n") + 1
        at = end
