"""Parser: PTX text to IR."""

from pyptx.parser.errors import LexError, ParseError
from pyptx.parser.lexer import tokenize
from pyptx.parser.parser import parse, statements

__all__ = ["LexError", "ParseError", "parse", "statements", "tokenize"]
