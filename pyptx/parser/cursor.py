"""A place in PTX text: the token there, the gap in front of it, and errors that name it."""

from __future__ import annotations

from bisect import bisect_right
from typing import NoReturn

from pyptx.ir.formatting import FormattingInfo, Layout
from pyptx.ir.nodes import Operand
from pyptx.parser.errors import LexError, ParseError
from pyptx.parser.lexer import TOKEN, what_is_bad

__all__ = ["MAX_DEPTH", "MAX_OPERAND_DEPTH", "Cursor", "Source"]

MAX_DEPTH = 200                                 # of blocks, and of parentheses in an expression, inside each other
MAX_OPERAND_DEPTH = 50                          # of vectors, lists and addresses inside each other


class Source:
    """A text and where its lines start; what all cursors of one parse share."""

    def __init__(self, text: str):
        self.text = text
        self._lines: list[int] | None = None
        self._interned: dict = {}
        self.operands: dict[str, Operand] = {}              # those known so far, by their text

    def error(self, message: str, at: int, kind: type[ParseError] = ParseError, hint: str | None = None) -> ParseError:
        """An error at an offset into the text."""
        line, col = self.position(at)
        start = self._lines[line - 1]
        end = self.text.find("\n", start, start + 10_000)
        error = kind(message, line, col, excerpt=self.text[start:end if end >= 0 else start + 10_000], hint=hint)
        error.offset = at
        return error

    def position(self, at: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1."""
        if self._lines is None:
            lines, i = [0], self.text.find("\n")
            while i >= 0:
                lines.append(i + 1)
                i = self.text.find("\n", i + 1)
            self._lines = lines
        line = bisect_right(self._lines, at)
        return line, at - self._lines[line - 1] + 1

    def formatting(self, indent: str, trailing: str, newline: str, layout: Layout = (), blank_lines: int = 0,
                   comments: tuple[str, ...] = ()) -> FormattingInfo:
        """One formatting object for all nodes that are formatted alike."""
        key = (indent, trailing, newline, layout, blank_lines, comments)
        found = self._interned.get(key)
        if found is None:
            found = self._interned[key] = FormattingInfo(indent, trailing, blank_lines, comments, newline, layout)
        return found


class Cursor:
    """Reads tokens one by one.

    Attributes:
        last: offset of the end of the token before.
        kind: "register", "identifier", "directive", "float", "integer", "string", "operator", "mark", "end".
        word: the token.  gap: blanks and comments in front of it.  start, end: offsets of the token.
    """

    __slots__ = ("depth", "end", "gap", "kind", "last", "source", "start", "text", "trials", "word")

    def __init__(self, source: Source, at: int = 0):
        self.source, self.text = source, source.text
        self.depth = 0                                      # of operands inside each other
        self.trials = 0                                     # parentheses that were no expression
        self.seek(at)

    def seek(self, at: int) -> None:
        """Read the token that follows offset `at`."""
        self.last = at
        match = TOKEN.match(self.text, at)
        self.kind = match.lastgroup
        self.gap, self.end = match[1], match.end()
        self.start = at + len(self.gap)
        self.word = self.text[self.start:self.end]
        if self.kind == "bad" or (self.word == "/" and self.text.startswith("/*", self.start)):
            raise self.source.error(what_is_bad(self.text, self.start), self.start, LexError)

    def advance(self) -> None:
        self.seek(self.end)

    def take(self) -> str:
        """The token's text; the cursor moves on."""
        word = self.word
        self.seek(self.end)
        return word

    def expect(self, mark: str, after: str) -> str:
        """The gap in front of `mark`, which must stand here."""
        if self.word != mark or self.kind == "string":
            self.fail(f"expected {mark!r} {after}")
        gap = self.gap
        self.seek(self.end)
        return gap

    def close(self, mark: str, after: str) -> str:
        """As `expect`, for the last token of a statement: what follows is not looked at."""
        if self.word != mark or self.kind == "string":
            self.fail(f"expected {mark!r} {after}")
        self.last = self.end
        return self.gap

    def fail(self, expected: str, hint: str | None = None) -> NoReturn:
        """Raise an error about the token here: `expected ..., found ...`."""
        found = "the end of the text" if self.kind == "end" else repr(self.word[:60])
        raise self.source.error(f"{expected}, found {found}", self.start, hint=hint)

    def deeper(self) -> None:
        """Count one more level of operands."""
        self.depth += 1
        if self.depth > MAX_OPERAND_DEPTH:
            raise self.source.error(f"operands nested more than {MAX_OPERAND_DEPTH} levels deep", self.start)
