"""Tokens of PTX text, for tools that need a token stream. The parser itself does not build them."""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple

__all__ = ["Token", "TokenKind"]


class TokenKind(Enum):
    """Kind of a token."""

    INTEGER = auto()
    FLOAT = auto()
    STRING = auto()
    IDENTIFIER = auto()
    REGISTER = auto()  # %r1, with its selector: %v.x
    DIRECTIVE = auto()  # .entry, .shared::cta
    LBRACE = auto()
    RBRACE = auto()
    LPAREN = auto()
    RPAREN = auto()
    LBRACKET = auto()
    RBRACKET = auto()
    COMMA = auto()
    SEMICOLON = auto()
    COLON = auto()
    AT = auto()
    BANG = auto()
    PLUS = auto()
    MINUS = auto()
    PIPE = auto()
    LESS = auto()
    GREATER = auto()
    EQUALS = auto()
    STAR = auto()
    SLASH = auto()
    TILDE = auto()
    AMPERSAND = auto()
    CARET = auto()
    QUESTION = auto()
    PERCENT = auto()
    OPERATOR = auto()  # two characters: << >> <= >= == != && ||
    NEWLINE = auto()
    COMMENT = auto()
    EOF = auto()


class Token(NamedTuple):
    """Token at a 1-based `line` and `col`. Joining `leading_whitespace + text` of all tokens restores the source."""

    kind: TokenKind
    text: str
    line: int
    col: int
    leading_whitespace: str = ""
