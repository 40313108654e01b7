"""Cursor over PTX text: the current token, its leading trivia, and errors located at it."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NoReturn

from pyptx.ir.formatting import FormattingInfo, Layout, LayoutEntries, compress_layout
from pyptx.ir.nodes import Operand
from pyptx.parser.errors import LexError, ParseError
from pyptx.parser.lexer import TOKEN, describe_invalid_token

__all__ = ["END_OF_LINE", "MAX_DEPTH", "MAX_OPERAND_DEPTH", "Cursor", "Source"]

MAX_DEPTH = 200  # nesting of blocks, and of parentheses in an expression
MAX_OPERAND_DEPTH = 50  # nesting of vectors, lists and addresses

# Whitespace and comments up to and including the end of the line.
END_OF_LINE = re.compile(r"((?>(?:[ \t\r\f\v]++|/\*[^*\n]*+(?:\*(?!/)[^*\n]*+)*\*/)*)(?>(?://[^\n]*+)?))(\n|\Z)")


class Source:
    """Source text, its line table, and the tables shared by all cursors of one parse."""

    def __init__(self, text: str):
        self.text = text
        self._lines: list[int] | None = None
        self._interned: dict[tuple[object, ...], FormattingInfo] = {}
        self.operands: dict[str, Operand] = {}  # operands parsed so far, by their text

    def error(self, message: str, at: int, kind: type[ParseError] = ParseError, hint: str | None = None) -> ParseError:
        """Return an error located at offset `at`."""
        line, col = self.position(at)
        start = at - col + 1
        end = self.text.find("\n", start, start + 10_000)
        error = kind(message, line, col, excerpt=self.text[start : end if end >= 0 else start + 10_000], hint=hint)
        error.offset = at
        return error

    def position(self, at: int) -> tuple[int, int]:
        """Return the 1-based line and column of offset `at`."""
        if self._lines is None:
            lines, i = [0], self.text.find("\n")
            while i >= 0:
                lines.append(i + 1)
                i = self.text.find("\n", i + 1)
            self._lines = lines
        line = bisect_right(self._lines, at)
        return line, at - self._lines[line - 1] + 1

    def formatting(
        self,
        indent: str,
        trailing: str,
        newline: str,
        layout: Layout = (),
        blank_lines: int = 0,
        comments: tuple[str, ...] = (),
    ) -> FormattingInfo:
        """Return a FormattingInfo, shared by all nodes with equal formatting."""
        key = (indent, trailing, newline, layout, blank_lines, comments)
        found = self._interned.get(key)
        if found is None:
            found = self._interned[key] = FormattingInfo(indent, trailing, blank_lines, comments, newline, layout)
        return found

    def statement_formatting(self, indent: str, layout: LayoutEntries, at: int) -> tuple[FormattingInfo, int]:
        """Return the formatting of a statement that ends at `at`, and the offset where the next one starts.

        Whitespace and a comment in the rest of the line belong to the statement.
        """
        match = END_OF_LINE.match(self.text, at)
        trailing, newline, end = (match[1], match[2], match.end()) if match else ("", "", at)
        return self.formatting(indent, trailing, newline, compress_layout(layout)), end


class Cursor:
    """Reads one token at a time.

    Attributes:
        previous_end: end offset of the previous token.
        kind: "register", "identifier", "directive", "float", "integer", "string", "operator", "punctuator", "end".
        word: text of the token.
        trivia: whitespace and comments in front of the token.
        start, end: offsets of the token.
    """

    __slots__ = (
        "backtracks",
        "depth",
        "end",
        "gap",
        "kind",
        "previous_end",
        "source",
        "start",
        "text",
        "trivia",
        "word",
    )

    def __init__(self, source: Source, at: int = 0):
        self.source, self.text = source, source.text
        self.depth = 0  # nesting depth of operands
        self.backtracks = 0  # parentheses that turned out not to be an expression
        self.seek(at)

    def seek(self, at: int) -> None:
        """Read the token after offset `at`."""
        self.previous_end = at
        match = TOKEN.match(self.text, at)
        assert match is not None and match.lastgroup is not None, "TOKEN matches at every offset"
        self.kind = match.lastgroup
        self.trivia, self.end = match[1], match.end()
        self.start = at + len(self.trivia)
        self.word = self.text[self.start : self.end]
        if self.kind == "bad" or (self.word == "/" and self.text.startswith("/*", self.start)):
            raise self.source.error(describe_invalid_token(self.text, self.start), self.start, LexError)

    def advance(self) -> None:
        """Move to the next token."""
        self.seek(self.end)

    def take(self) -> str:
        """Return the text of the token and move to the next one."""
        word = self.word
        self.seek(self.end)
        return word

    def expect(self, mark: str, after: str) -> str:
        """Consume the token `mark` and return its leading trivia.

        Raises:
            ParseError: The token is a different one; `after` completes the message.
        """
        if self.word != mark or self.kind == "string":
            self.fail(f"expected {mark!r} {after}")
        trivia = self.trivia
        self.seek(self.end)
        return trivia

    def close(self, mark: str, after: str) -> str:
        """Like `expect`, for the last token of a statement: the token after it is not read."""
        if self.word != mark or self.kind == "string":
            self.fail(f"expected {mark!r} {after}")
        self.previous_end = self.end
        return self.trivia

    def fail(self, expected: str, hint: str | None = None) -> NoReturn:
        """Raise a ParseError at the current token: `expected ..., found ...`."""
        found = "the end of the text" if self.kind == "end" else repr(self.word[:60])
        raise self.source.error(f"{expected}, found {found}", self.start, hint=hint)

    def deeper(self) -> None:
        """Enter one more level of nested operands.

        Raises:
            ParseError: There are more than MAX_OPERAND_DEPTH levels.
        """
        self.depth += 1
        if self.depth > MAX_OPERAND_DEPTH:
            raise self.source.error(f"operands nested more than {MAX_OPERAND_DEPTH} levels deep", self.start)
